"""What decay needs of a store's files, remembered by their stats: a second look reads only what changed.

One marshalled value behind a checksum in the cache folder. It is derived and
never trusted: another version, a damaged file or a stat that differs means
that the bullets are read again.
"""

from __future__ import annotations

import marshal
import os
import time
from binascii import crc32

from memx import __version__
from memx.store.atomic import write_atomically
from memx.store.halves import in_halves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Row = tuple[object, ...]
    State = tuple[int, int, int, int]

HEAD, UNDATED, PROBLEM = 1, 2, 0
"""What a row begins with; UNDATED: a head whose date came from history and not from its file."""

WORTH_REMEMBERING = 2_000
_FORMAT = f"2 {__version__}"
_CHECK_BYTES = 4
_RACY_NS = 20_000_000
"""A file that changed this shortly before it was read may change again within one tick of the file system's clock."""
_UNPROVEN = (0, 0, 0, 0)


def read_remembered(
    path: str, root: str, files: list[str], read: Callable[[list[str]], list[Row]]
) -> list[Row]:
    """Return `read(files)`, a row a file, from the cache at `path` where the files are as they were then."""
    read_ns = time.time_ns()
    states = in_halves(lambda part: [_state(f"{root}/{file}") for file in part], files)
    known_files, known_states, known_rows = _load(path)
    if known_files == files and known_states == states:
        return known_rows
    known = dict(zip(known_files, zip(known_states, known_rows, strict=True), strict=True))
    nothing = (_UNPROVEN, None)
    rows = [
        row if state == was and state != _UNPROVEN else None
        for state, (was, row) in zip(states, (known.get(file, nothing) for file in files), strict=True)
    ]
    new = iter(read([file for file, row in zip(files, rows, strict=True) if row is None]))
    whole = [next(new) if row is None else row for row in rows]
    _save(path, files, [_proven(s, row, read_ns) for s, row in zip(states, whole, strict=True)], whole)
    return whole


def _state(path: str) -> State:
    try:
        found = os.lstat(path)
    except OSError:
        return _UNPROVEN
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns


def _proven(state: State, row: Row, read_ns: int) -> State:
    """Return the state to remember: what may say something else next time is read again then."""
    is_old = state[0] < read_ns - _RACY_NS and state[3] < read_ns - _RACY_NS
    return state if is_old and row[0] == HEAD else _UNPROVEN


def _load(path: str) -> tuple[list[str], list[State], list[Row]]:
    try:
        with open(path, "rb") as file:
            check, body = file.read(_CHECK_BYTES), file.read()
        if crc32(body) == int.from_bytes(check, "little"):
            form, files, states, rows = marshal.loads(body)  # noqa: S302 (our own cache, behind a checksum)
            if form == _FORMAT:
                return files, states, rows
    except (OSError, ValueError, EOFError, TypeError):
        pass
    return [], [], []


def _save(path: str, files: Sequence[str], states: Sequence[State], rows: Sequence[Row]) -> None:
    value: Any = (_FORMAT, files, states, rows)
    body = marshal.dumps(value)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_atomically(path, crc32(body).to_bytes(_CHECK_BYTES, "little") + body, durable=False)
    except OSError:
        return  # a cache that cannot be written is done without
