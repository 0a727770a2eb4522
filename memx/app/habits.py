"""In how many sessions each command step was run, over all runs of memx.

One JSON file in the state folder holds digests alone: a command may hold a
secret, and to count it nobody needs to read it.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b

from memx.record import record
from memx.store.atomic import write_atomically

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME = "steps.json"
_VERSION = 1
_MOST_STEPS = 20_000
_MOST_SESSIONS = 32


@record
class RunSteps:
    """What this run saw: the most runs of each step in one session, and in how many sessions it was ever seen."""

    counted: Mapping[str, int]
    sessions: Mapping[str, int]


class Habits:
    """The sessions of each step; `save` writes them at once."""

    def __init__(self, state_dir: str) -> None:
        """Load what was saved; a missing or damaged file means that nothing was seen yet."""
        self._path = os.path.join(state_dir, FILE_NAME)
        self._sessions = _load(self._path)
        self._counted: dict[str, int] = {}

    def note(self, session: str, counted: Mapping[str, int]) -> None:
        """Enter the steps of a session; the same session read again changes nothing."""
        seen = _digest(session)
        for step, runs in counted.items():
            if step not in self._counted and len(self._counted) >= _MOST_STEPS:
                continue
            self._counted[step] = max(runs, self._counted.get(step, 0))
            key = _digest(step)
            known = self._sessions.pop(key, [])
            # What was met last stands last, so that what nobody runs any more is dropped first.
            self._sessions[key] = known if seen in known else [*known, seen][-_MOST_SESSIONS:]

    def of_run(self) -> RunSteps:
        """Return the steps that were noted since loading."""
        sessions = {step: len(self._sessions[_digest(step)]) for step in self._counted}
        return RunSteps(self._counted, sessions)

    def save(self) -> None:
        """Write all counts atomically; the oldest are dropped over 20,000. Raises OSError."""
        kept = dict(list(self._sessions.items())[-_MOST_STEPS:])
        content = {"version": _VERSION, "steps": kept}
        write_atomically(self._path, json.dumps(content, separators=(",", ":")).encode("ascii"))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _load(path: str) -> dict[str, list[str]]:
    try:
        with open(path, "rb") as stream:
            content = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return {}
    steps = content.get("steps") if isinstance(content, dict) and content.get("version") == _VERSION else None
    if not isinstance(steps, dict):
        return {}
    return {
        key: [seen for seen in sessions if isinstance(seen, str)][-_MOST_SESSIONS:]
        for key, sessions in steps.items()
        if isinstance(sessions, list)
    }
