"""Which bullet files can hold one of a few ids: by their bytes, without parsing them."""

from __future__ import annotations

import os

from memx.store.bounded import read_bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDERS = ("bullets", "archive")
_CANONICAL = b"---\nid: "
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)


def find_mentions(root: str, ids: Iterable[str]) -> list[str]:
    """Return the paths, below the store's `root`, of the files that hold one of these ids or do not begin with an id.

    The id of a file that names none is the digest of its text, so such a file can have any.
    """
    words = [identifier.encode() for identifier in ids]
    found = []
    for folder in FOLDERS:
        for path in _walk(os.path.join(root, folder), folder):
            data = _read(f"{root}/{path}")
            if not data.startswith(_CANONICAL) or any(word in data for word in words):
                found.append(path)
    return found


def _walk(folder: str, path: str) -> Iterator[str]:
    """Yield what may be a bullet: neither hidden nor linked."""
    try:
        with os.scandir(folder) as entries:
            children = list(entries)
    except OSError:
        return
    for entry in children:
        below = f"{path}/{entry.name}"
        if entry.name[0] == "." or entry.is_symlink():
            continue
        if entry.is_dir():
            yield from _walk(entry.path, below)
        elif below.endswith(".md") and entry.is_file():
            yield below


def _read(path: str) -> bytes:
    try:
        # Unbuffered: a file object costs as much as the read itself.
        descriptor = os.open(path, _READ_FLAGS)
        try:
            return read_bounded(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        return b""
