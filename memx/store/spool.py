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
        data = b"".join(format_candidate(candidate, self._redact) for candidate in candidates)
        if not data:
            return
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            with open(self._path, "ab") as file:
                # A line that a killed writer left torn ends here, and is passed over when it is read.
                file.write(b"\n" + data)
        except OSError as error:
            raise StoreError(f"cannot keep the candidates ({error.strerror})", path=self._path) from error

    def all(self) -> list[Candidate]:
        """Return what a run that did not end has left; torn lines are skipped."""
        try:
            with open(self._path, "rb") as file:
                found = [parse_candidate(line) for line in file if line.strip()]
        except OSError:
            return []
        return [candidate for candidate in found if candidate is not None]

    def clear(self) -> None:
        """Forget the candidates: they are in the inbox now."""
        with suppress(OSError):
            os.unlink(self._path)
