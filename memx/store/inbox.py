"""The inbox: candidates that no person has accepted yet, and the ids that were decided.

`inbox.jsonl` holds one candidate a line, its id first, so that ids are read without
parsing JSON; `decided` holds one `ID WORD` a line. Both are local to the clone.
"""

from __future__ import annotations

import os

from memx.errors import StoreError
from memx.model import Candidate, Span
from memx.store.atomic import write_atomically
from memx.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

DECISIONS = ("accepted", "rejected", "removed")

_OPENING = b'{"id":"'
_FIELDS: tuple[str, ...] = Candidate.__slots__  # type: ignore[attr-defined]


class Inbox:
    """The candidates of one store, in `state_dir`, safe for many processes.

    `redact`, if given, is applied to every text that is written.
    """

    def __init__(self, state_dir: str, *, redact: Callable[[str], str] | None = None) -> None:
        """Name the folder; nothing is read or made yet."""
        self._path = os.path.join(state_dir, "inbox.jsonl")
        self._decided_path = os.path.join(state_dir, "decided")
        self._lock = Lock(os.path.join(state_dir, "inbox.lock"))
        self._redact = redact

    def add(self, candidates: Iterable[Candidate], *, again: bool = False) -> list[Candidate]:
        """Keep and return the candidates that are neither here nor decided; `again` ignores decisions."""
        chosen = list(candidates)
        if not chosen:
            return []
        with self._lock:
            known = {_id_of(line) for line in self._lines()}
            if not again:
                known |= self.decided().keys()
            fresh: list[Candidate] = []
            for candidate in chosen:
                if candidate.id not in known:
                    known.add(candidate.id)
                    fresh.append(candidate)
            if fresh:
                self._append(self._path, b"".join(self._format(candidate) for candidate in fresh))
            return fresh

    def all(self) -> list[Candidate]:
        """Return the candidates, oldest first; torn and foreign lines are skipped."""
        found: dict[str, Candidate] = {}
        for line in self._lines():
            candidate = parse_candidate(line)
            if candidate is not None:
                found.setdefault(candidate.id, candidate)
        return list(found.values())

    def ids(self) -> list[str]:
        """Return the ids of the candidates without reading the rest of them."""
        return list(dict.fromkeys(_id_of(line) for line in self._lines()))

    def find(self, reference: str) -> Candidate:
        """Return the candidate with this id or unique prefix; raise StoreError."""
        found = [candidate for candidate in self.all() if candidate.id.startswith(reference)]
        exact = [candidate for candidate in found if candidate.id == reference] or found
        if len(exact) != 1 or not reference:
            what = "more than one candidate fits" if exact and reference else "there is no candidate"
            raise StoreError(f"{what} {reference!r}", hint="memx inbox")
        return exact[0]

    def replace(self, candidate: Candidate) -> None:
        """Write a changed candidate over the one with its id; raise StoreError when it is gone."""
        with self._lock:
            lines = self._lines()
            if all(_id_of(line) != candidate.id for line in lines):
                raise StoreError(f"there is no candidate {candidate.id!r}", hint="memx inbox")
            fresh = self._format(candidate).rstrip(b"\n")
            self._rewrite([fresh if _id_of(line) == candidate.id else line for line in lines])

    def remove(self, identifier: str) -> bool:
        """Take a candidate out without deciding it; return whether it was there."""
        return self.remove_all((identifier,)) > 0

    def remove_all(self, identifiers: Iterable[str]) -> int:
        """Take candidates out without deciding them; return how many were there."""
        gone = frozenset(identifiers)
        with self._lock:
            lines = self._lines()
            kept = [line for line in lines if _id_of(line) not in gone]
            if len(kept) < len(lines):
                self._rewrite(kept)
            return len(lines) - len(kept)

    def decide(self, identifier: str, decision: str) -> None:
        """Remember that an id was accepted, rejected or removed, and take it out of the inbox."""
        if decision not in DECISIONS:
            raise StoreError(f"there is no decision {decision!r}", hint="decisions: " + ", ".join(DECISIONS))
        with self._lock:
            if self.decided().get(identifier) != decision:
                self._append(self._decided_path, f"{identifier} {decision}\n".encode())
            self.remove(identifier)

    def decided(self) -> dict[str, str]:
        """Return the last decision by id."""
        decisions: dict[str, str] = {}
        for line in _read_lines(self._decided_path):
            identifier, _, decision = line.decode("ascii", "replace").partition(" ")
            if decision in DECISIONS:
                decisions[identifier] = decision
        return decisions

    def is_decided(self, identifier: str) -> bool:
        """Say whether an id was ever accepted, rejected or removed here."""
        return identifier in self.decided()

    def _lines(self) -> list[bytes]:
        return [line for line in _read_lines(self._path) if line[:7] == _OPENING and line[-1:] == b"}"]

    def _rewrite(self, lines: list[bytes]) -> None:
        try:
            write_atomically(self._path, b"".join(line + b"\n" for line in lines))
        except OSError as error:
            raise StoreError(f"cannot write the inbox ({error.strerror})", path=self._path) from error

    def _append(self, path: str, data: bytes) -> None:
        try:
            with open(path, "a+b") as file:
                if file.tell():
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":
                        # A writer died in the middle of its line: begin a new one.
                        data = b"\n" + data
                file.write(data)
        except OSError as error:
            raise StoreError(f"cannot write the inbox ({error.strerror})", path=path) from error

    def _format(self, candidate: Candidate) -> bytes:
        return format_candidate(candidate, self._redact)


def format_candidate(candidate: Candidate, redact: Callable[[str], str] | None = None) -> bytes:
    """Return a candidate as one line of JSON, its id first, every text redacted."""
    import json  # 8 ms that a hook without candidates does not pay

    values = {name: getattr(candidate, name) for name in _FIELDS}
    values["evidence"] = [[s.start, s.end, s.text, s.label] for s in candidate.evidence]
    if redact is not None:
        values = {"id": candidate.id, **_redacted(values, redact)}
    return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _redacted(values: dict[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    def apply(value: Any) -> Any:
        if isinstance(value, str):
            return redact(value)
        return [apply(item) for item in value] if isinstance(value, list | tuple) else value

    return {name: apply(value) for name, value in values.items() if name != "id"}


def parse_candidate(line: bytes) -> Candidate | None:
    """Return the candidate in a line of JSON, None when it is torn or foreign."""
    import json

    try:
        values = json.loads(line)
        known = {name: values[name] for name in _FIELDS if name in values}
        known["evidence"] = tuple(Span(*span) for span in values.get("evidence", ()))
        for name, value in known.items():
            if isinstance(value, list):
                known[name] = tuple(value)
        return Candidate(**known)
    except (ValueError, TypeError, KeyError):
        return None


def _id_of(line: bytes) -> str:
    return line[len(_OPENING) : line.find(b'"', len(_OPENING))].decode("ascii", "replace")


def _read_lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            return file.read().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"cannot read the inbox ({error.strerror})", path=path) from error
