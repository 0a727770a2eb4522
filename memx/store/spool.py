"""Candidates of a run that has not ended yet: a killed run loses none of what it found."""

from __future__ import annotations

import os
from contextlib import suppress

from memx.errors import StoreError
from memx.store.inbox import format_candidate, parse_candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memx.model import Candidate


_PROPOSED = b"proposed "


class Spool:
    """`distilling.jsonl` in `state_dir`: one candidate a line, appended as they are found.

    `redact`, if given, is applied to every text that is written.
    """

    def __init__(self, state_dir: str, *, redact: Callable[[str], str] | None = None) -> None:
        """Name the file; nothing is read or made yet."""
        self._path = os.path.join(state_dir, "distilling.jsonl")
        self._redact = redact

    def append(self, candidates: Iterable[Candidate]) -> None:
        """Add candidates; raise StoreError when they cannot be written."""
        self._append(b"".join(format_candidate(candidate, self._redact) for candidate in candidates))

    def append_lines(self, lines: bytes) -> None:
        """Add candidates as `format_candidate` gave them, redacted; raise StoreError when they cannot be written."""
        self._append(lines)

    def propose(self, identifiers: Iterable[str]) -> None:
        """Remember which candidates went into the inbox before the run had seen everything."""
        self._append(b"".join(_PROPOSED + identifier.encode() + b"\n" for identifier in sorted(identifiers)))

    def all(self) -> list[Candidate]:
        """Return what a run that did not end has left; torn lines are skipped."""
        found = [parse_candidate(line) for line in self._lines() if not line.startswith(_PROPOSED)]
        return [candidate for candidate in found if candidate is not None]

    def proposed(self) -> frozenset[str]:
        """Return the ids of the candidates that went into the inbox before the run had seen everything."""
        lines = (line for line in self._lines() if line.startswith(_PROPOSED))
        return frozenset(line[len(_PROPOSED) :].strip().decode("ascii", "replace") for line in lines)

    def clear(self) -> None:
        """Forget the candidates: they are in the inbox now."""
        with suppress(OSError):
            os.unlink(self._path)

    def _append(self, data: bytes) -> None:
        if not data:
            return
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            with open(self._path, "ab") as file:
                # A line that a killed writer left torn ends here, and is passed over when it is read.
                file.write(b"\n" + data)
        except OSError as error:
            raise StoreError(f"cannot keep the candidates ({error.strerror})", path=self._path) from error

    def _lines(self) -> list[bytes]:
        try:
            with open(self._path, "rb") as file:
                return [line for line in file if line.strip()]
        except OSError:
            return []
