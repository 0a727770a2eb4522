"""How far each session log was read, so that every turn is distilled once.

One JSON file in the state folder. Beside the offset stands a digest of the
file's first bytes: a log that was written anew is read from its start.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from hashlib import blake2b

from memx.errors import StoreError
from memx.record import record

FILE_NAME = "sessions.json"
_VERSION = 1
# Few: tools change a date near the start of a document each time they write it.
_DIGESTED_BYTES = 64
_SQLITE = b"SQLite format 3\0"
_MAX_ENTRIES = 20_000


@record
class ReadMark:
    """Where to go on: offsets as `SessionRead` gave them, and the file as it was then."""

    offset: int
    turn_offset: int
    size: int
    head: str
    head_bytes: int


class Offsets:
    """The marks of all session logs; `save` writes them at once."""

    def __init__(self, state_dir: str) -> None:
        """Load what was saved; a missing or damaged file means that nothing was read yet."""
        self._path = os.path.join(state_dir, FILE_NAME)
        self._marks = _load(self._path)

    def offset_of(self, path: str, session_id: str = "") -> int:
        """Return where to go on in a log, 0 when it is new or was written anew.

        A log that grew is read again from the last turn of a person: what the
        agent did before and after the last read belongs together.
        """
        mark = self._marks.get(_key(path, session_id))
        if mark is None:
            return 0
        digest, _ = _head_digest(path, mark.head_bytes)
        if digest != mark.head:
            return 0
        return mark.offset if _size(path) == mark.size else mark.turn_offset

    def advance(
        self, path: str, offset: int, session_id: str = "", *, turn_offset: int | None = None
    ) -> None:
        """Remember how far a log was read; call it after what was read is safely stored.

        Without `turn_offset` a log that grew is read on from `offset`.
        """
        digest, head_bytes = _head_digest(path, _DIGESTED_BYTES)
        key = _key(path, session_id)
        self._marks.pop(key, None)
        end = max(offset, 0)
        turn = end if turn_offset is None else min(max(turn_offset, 0), end)
        self._marks[key] = ReadMark(end, turn, _size(path), digest, head_bytes)

    def forget(self, path: str, session_id: str = "") -> None:
        """Read a log from its start the next time."""
        self._marks.pop(_key(path, session_id), None)

    def save(self) -> None:
        """Write all marks atomically; the oldest are dropped over 20,000. Raises StoreError."""
        marks = dict(list(self._marks.items())[-_MAX_ENTRIES:])
        content = {
            "version": _VERSION,
            "sessions": {
                key: [mark.offset, mark.turn_offset, mark.size, mark.head, mark.head_bytes]
                for key, mark in marks.items()
            },
        }
        data = json.dumps(content, ensure_ascii=True, indent=0).encode("ascii")
        try:
            _replace(self._path, data)
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(f"cannot save session offsets ({reason})", path=self._path) from error


def _key(path: str, session_id: str) -> str:
    place = os.path.realpath(path)
    return f"{place}\n{session_id}" if session_id else place


def _head_digest(path: str, size: int) -> tuple[str, int]:
    try:
        with open(path, "rb") as stream:
            head = stream.read(size)
    except OSError:
        head = b""
    if head.startswith(_SQLITE):
        head = _SQLITE  # what follows counts the changes
    return blake2b(head, digest_size=8).hexdigest(), len(head)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _replace(path: str, data: bytes) -> None:
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".sessions-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _load(path: str) -> dict[str, ReadMark]:
    try:
        with open(path, "rb") as stream:
            content = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return {}
    sessions = content.get("sessions") if isinstance(content, dict) else None
    if not isinstance(sessions, dict) or content.get("version") != _VERSION:
        return {}
    marks: dict[str, ReadMark] = {}
    for key, value in sessions.items():
        mark = _mark(value)
        if mark is not None:
            marks[key] = mark
    return marks


def _mark(value: object) -> ReadMark | None:
    if not isinstance(value, list) or len(value) != 5:  # noqa: PLR2004 (the fields of a mark)
        return None
    offset, turn_offset, size, head, head_bytes = value
    numbers = [number for number in (offset, turn_offset, size, head_bytes) if isinstance(number, int)]
    if len(numbers) != 4 or min(numbers) < 0 or not isinstance(head, str):  # noqa: PLR2004
        return None
    return ReadMark(offset, turn_offset, size, head, head_bytes)
