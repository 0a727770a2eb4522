"""Whether a file of the store changed since it was indexed.

Up to STAT_ALL_LIMIT files, every file is stat-ed; above, a stamp of the folders
and of git's own files says whether a full check is needed at all.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Stat = tuple[int, int, int, int]
    Stamp = tuple[tuple[str, int, int, int], ...]

STAT_ALL_LIMIT = 2_000
FOLDERS = ("bullets", "archive")
SUFFIX = ".md"
FORMAT_BITS, REGULAR = 0o170000, 0o100000
"""The kind of a file in st_mode; the module `stat` costs a millisecond."""

RACY_NS = 20_000_000
"""A file that changed this shortly before it was read may change again within one tick of the file
system's clock, so its stat proves nothing yet: the digest decides at the next check."""

UNPROVEN = (0, 0, 0, 0)


def stat_files(root: str) -> dict[str, Stat]:
    """Return {path relative to root: (mtime_ns, size, inode, ctime_ns)} of all bullet files.

    Symbolic links are not followed, hidden and temporary files are passed over:
    as Store.paths does. Every search runs this loop, so it is one plain loop.
    """
    found: dict[str, Stat] = {}
    pending = list(FOLDERS)
    while pending:
        folder = pending.pop()
        try:
            entries = os.scandir(f"{root}/{folder}")
        except OSError:
            continue
        with entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if not name.endswith(SUFFIX):
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(f"{folder}/{name}")
                    continue
                try:
                    s = entry.stat(follow_symlinks=False)
                except OSError:
                    continue  # removed while we looked
                if s.st_mode & FORMAT_BITS == REGULAR:
                    found[f"{folder}/{name}"] = (s.st_mtime_ns, s.st_size, s.st_ino, s.st_ctime_ns)
                elif entry.is_dir(follow_symlinks=False):
                    pending.append(f"{folder}/{name}")
    return found


def stat_file(path: str) -> Stat | None:
    """Return the state of one file, None when it is gone."""
    try:
        return _key(os.lstat(path))
    except OSError:
        return None


def _key(state: os.stat_result) -> Stat:
    return (state.st_mtime_ns, state.st_size, state.st_ino, state.st_ctime_ns)


def make_stamp(root: str, git_files: Sequence[str]) -> Stamp:
    """Return the states of the store's folders and of git's index and HEAD: about ten stats."""
    paths = [*git_files]
    for folder in FOLDERS:
        top = f"{root}/{folder}"
        paths.append(top)
        try:
            with os.scandir(top) as entries:
                paths.extend(sorted(e.path for e in entries if e.is_dir(follow_symlinks=False)))
        except OSError:
            continue
    stamp = []
    for path in paths:
        state = stat_file(path)
        if state is not None:
            stamp.append((path, state[0], state[1], state[2]))
    return tuple(stamp)


def proven(state: Stat, read_ns: int) -> Stat:
    """Return a stat to remember: one that is too young to prove anything is remembered as unknown."""
    return state if state[3] < read_ns - RACY_NS and state[0] < read_ns - RACY_NS else UNPROVEN


def now_ns() -> int:
    """Return the clock that file systems stamp files with."""
    return time.time_ns()


def difference(known: dict[str, Stat], found: dict[str, Stat]) -> tuple[list[str], list[str]]:
    """Return (paths whose content may be new, paths that are gone), each sorted."""
    suspects = [path for path, state in found.items() if known.get(path) != state]
    return sorted(suspects), sorted(known.keys() - found.keys())
