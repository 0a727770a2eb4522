"""Whether a file of the store changed since it was indexed.

Up to STAT_ALL_LIMIT files, every file is stat-ed; above, a stamp of the folders
and of git's own files says whether a full check is needed at all.
"""

from __future__ import annotations

import marshal
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Stat = tuple[int, int, int, int]
    Stamp = tuple[tuple[str, int, int, int], ...]

STAT_ALL_LIMIT = 2_000
FOLDERS = ("bullets", "archive")
SUFFIX = ".md"
FORMAT_BITS, REGULAR, FOLDER = 0o170000, 0o100000, 0o040000
"""The kind of a file in st_mode; the module `stat` costs a millisecond."""

RACY_NS = 20_000_000
"""A file that changed this shortly before it was read may change again within one tick of the file
system's clock, so its stat proves nothing yet: the digest decides at the next check."""

UNPROVEN = (0, 0, 0, 0)

_UNKNOWN = -1
_HAS_DESCRIPTORS = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_LISTING_FORMAT = 2
"""Later formats of marshal may write equal values in different ways."""


def list_folders(root: str, only: Sequence[str] = FOLDERS) -> dict[str, bytes]:
    """Return {folder: listing} of all folders at or below `only` that hold bullet files; paths relative to root.

    A listing is one value (`read_listing`), so that a folder in which nothing changed is compared at the speed
    of memory and never taken apart. Symbolic links are not followed, hidden folders and temporary files are passed
    over: as Store.paths does. A file whose name alone keeps it from being a bullet is listed, to be named.
    """
    found: dict[str, bytes] = {}
    pending = list(only)
    while pending:
        folder = pending.pop()
        path = f"{root}/{folder}"
        try:
            descriptor = os.open(path, _FOLDER_FLAGS) if _HAS_DESCRIPTORS else None
        except OSError:
            continue
        try:
            names, values, below = _list_folder(path, descriptor)
        except OSError:
            continue
        finally:
            if descriptor is not None:
                os.close(descriptor)
        pending += [f"{folder}/{name}" for name in below]
        if names:
            found[folder] = marshal.dumps((names, values), _LISTING_FORMAT)
    return found


def _list_folder(path: str, descriptor: int | None) -> tuple[list[str], list[int], list[str]]:
    """Return the bullet files of a folder, the four values of each, and the folders in it."""
    names: list[str] = []
    values: list[int] = []
    below: list[str] = []
    stat = os.stat
    # From a descriptor, the way to the folder is walked once and not once a file: a quarter of the time.
    before = "" if descriptor is not None else f"{path}/"
    for name in os.listdir(path if descriptor is None else descriptor):
        if name[0] == "." and not name.endswith(SUFFIX):
            continue
        try:
            s = stat(before + name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            continue  # removed while we looked
        kind = s.st_mode & FORMAT_BITS
        if kind == FOLDER:
            if name[0] != ".":
                below.append(name)
        elif kind == REGULAR and (name.endswith(SUFFIX) or name[-3:].lower() == SUFFIX):
            names.append(name)
            values += (s.st_mtime_ns, s.st_size, s.st_ino, s.st_ctime_ns)
    return names, values, below


def list_numbers(root: str, only: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return {folder: {name: inode}} of the bullet files at or below some folders, without asking for a stat.

    Who replaces a file makes the new one beside the old one, so that it has another number; who removes a file
    and makes it anew, as git does, may be given the same one.
    """
    found: dict[str, dict[str, int]] = {}
    pending = list(only)
    while pending:
        folder = pending.pop()
        numbers: dict[str, int] = {}
        try:
            entries = os.scandir(f"{root}/{folder}")
        except OSError:
            continue
        with entries:
            for entry in entries:
                name = entry.name
                if name[0] == "." and not name.endswith(SUFFIX):
                    continue
                is_named = name.endswith(SUFFIX) or name[-3:].lower() == SUFFIX
                if is_named and entry.is_file(follow_symlinks=False):
                    numbers[name] = entry.inode()
                elif name[0] != "." and entry.is_dir(follow_symlinks=False):
                    pending.append(f"{folder}/{name}")
        if numbers:
            found[folder] = numbers
    return found


def make_listing(files: Mapping[str, Stat]) -> bytes:
    """Return the listing of a folder from {name: stat}."""
    values = [value for stat in files.values() for value in stat]
    return marshal.dumps((list(files), values), _LISTING_FORMAT)


def read_listing(listing: bytes) -> dict[str, Stat]:
    """Return {name: stat} in the order of the listing."""
    names, values = columns_of(listing)
    return dict(zip(names, zip(*[iter(values)] * 4, strict=True), strict=True))


def columns_of(listing: bytes) -> tuple[list[str], list[int]]:
    """Return the names of a listing, and the four values of each one after the other."""
    names, values = marshal.loads(listing)  # noqa: S302 (our own cache, behind a checksum)
    return names, values


def stat_bullet(root: str, path: str) -> Stat | None:
    """Return the state of one file if it is what `list_folders` would list."""
    name = path.rpartition("/")[2]
    if name[-3:].lower() != SUFFIX:
        return None
    try:
        state = os.lstat(f"{root}/{path}")
    except OSError:
        return None
    return _key(state) if state.st_mode & FORMAT_BITS == REGULAR else None


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
                paths.extend(sorted(f"{top}/{e.name}" for e in entries if e.is_dir(follow_symlinks=False)))
        except OSError:
            continue
    stamp = []
    for path in paths:
        state = stat_file(path)
        if state is not None:
            stamp.append((path, state[0], state[1], state[2]))
    return tuple(stamp)


def is_git_still(git_files: Sequence[str], known: Stamp) -> bool:
    """Return whether git surely wrote no file of the work tree between two moments: when `known` was taken, and now.

    Git locks its index before it writes files and gives it another stat afterwards.
    """
    if not git_files or stat_file(f"{git_files[0]}.lock") is not None:
        return False
    states = {path: (m, size, inode) for path, m, size, inode in known}
    return all(states.get(path) == (stat_file(path) or UNPROVEN)[:3] for path in git_files)


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


def remembered(stamp: Stamp, read_ns: int) -> Stamp:
    """Return a stamp to remember: a folder that changed a moment ago may change again within the same tick."""
    return tuple(
        (path, m if m < read_ns - RACY_NS else _UNKNOWN, size, inode) for path, m, size, inode in stamp
    )


def moved_folders(root: str, known: Stamp, found: Stamp) -> tuple[str, ...] | None:
    """Return the folders of the store that changed between two stamps; None when all have to be looked at.

    Git writes a file of the work tree by removing it and making it anew, so a checkout, a merge or a stash
    shows in the folders; that git's own index changed says nothing about files, and is left to the next
    full check.
    """
    before, after = (_folders_of(stamp, root) for stamp in (known, found))
    if not known or before.keys() != after.keys():
        return None
    moved = tuple(folder for folder, state in after.items() if state != before[folder])
    return None if any(folder in FOLDERS for folder in moved) else moved


def _folders_of(stamp: Stamp, root: str) -> dict[str, tuple[int, int, int]]:
    """Return the states of the store's folders, by their path relative to its root."""
    inside = {
        path[len(root) + 1 :]: (m, size, inode) for path, m, size, inode in stamp if path.startswith(root)
    }
    return {path: state for path, state in inside.items() if path.partition("/")[0] in FOLDERS}
