"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TEMPORARY_PREFIX = ".memx-tmp-"
"""Hidden and without `.md`: no scan takes an unfinished file for a bullet."""

PLACEHOLDER = ".gitkeep"
"""The name that people know from empty folders in repositories."""

_STALE_SECONDS = 3600.0


def write_atomically(path: str, data: bytes | Iterable[bytes], *, durable: bool = True) -> None:
    """Replace a file, in one or in pieces; keep the mode of the one there, else follow the umask.

    It is fsynced when `durable`. The caller syncs the folder: once for many files.

    Raises OSError; then the old file is untouched and no temporary file is left.
    """
    folder = os.path.dirname(path)
    temporary = os.path.join(folder, f"{TEMPORARY_PREFIX}{os.getpid()}-{os.urandom(6).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(temporary, flags, 0o666)
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)
        descriptor = os.open(temporary, flags, 0o666)
    try:
        try:
            _copy_mode(path, descriptor)
            for piece in (data,) if isinstance(data, bytes) else data:
                _write_all(descriptor, piece)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        _unlink_if_there(temporary)
        raise


def keep_emptied_folder(folder: str) -> None:
    """Leave a placeholder in a folder that the last file was just moved out of.

    git takes a folder that is gone for renamed, and a file that another branch adds in it for misplaced: a conflict
    nobody understands, and some versions of git abort in the middle of the merge.
    """
    try:
        if not os.listdir(folder):
            os.close(os.open(os.path.join(folder, PLACEHOLDER), os.O_WRONLY | os.O_CREAT, 0o666))
    except OSError:
        return  # The move itself is done; git copes in most cases without.


def drop_placeholder(folder: str) -> None:
    """Take the placeholder out of a folder that a file was just moved into."""
    path = os.path.join(folder, PLACEHOLDER)
    try:
        if os.path.getsize(path) == 0:
            os.unlink(path)
    except OSError:
        return  # There is none, or it stays where it does no harm.


def sync_folder(folder: str) -> None:
    """Make renames and removals in a folder durable where the system can."""
    if os.name != "posix":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        # Some network file systems refuse to sync a folder; the file itself is safe.
        return
    finally:
        os.close(descriptor)


def remove_stale_temporaries(folder: str) -> int:
    """Remove what killed writers left in a folder more than an hour ago; return how many."""
    oldest = time.time() - _STALE_SECONDS
    removed = 0
    for entry in os.scandir(folder):
        if entry.name.startswith(TEMPORARY_PREFIX) and entry.stat(follow_symlinks=False).st_mtime < oldest:
            _unlink_if_there(entry.path)
            removed += 1
    return removed


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _copy_mode(path: str, descriptor: int) -> None:
    try:
        mode = os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        return
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)


def _unlink_if_there(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
