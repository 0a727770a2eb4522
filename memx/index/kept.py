"""Analysed bullets that left the index: going back to a branch analyses nothing that was analysed before.

A generation keeps what a switch of branch took out of it, by the digest of the file's content, up to
MOST bullets, the oldest of which go first. It is a cache of a cache: whatever is wrong with it, it is empty.
"""

from __future__ import annotations

import os

from memx.errors import IndexUnavailableError
from memx.index.manifest import load_value, save_value
from memx.index.packed import dump, load_moved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.index.freshness import Stat
    from memx.index.packed import PackedBullet

NAME = "kept"
MOST = 4_096


class Kept:
    """The analysed bullets that a generation keeps."""

    def __init__(self, generation: str) -> None:
        """Read them; what is missing or damaged is empty."""
        self._path = os.path.join(generation, NAME)
        try:
            found = load_value(self._path)
        except IndexUnavailableError:
            found = {}
        self._bullets: dict[bytes, bytes] = found if isinstance(found, dict) else {}

    def __contains__(self, digest: bytes) -> bool:
        """Return whether a bullet is kept."""
        return digest in self._bullets

    def get(self, digest: bytes, path: str, store: str, stat: Stat) -> PackedBullet | None:
        """Return what was analysed from a file with this content at this path."""
        data = self._bullets.get(digest)
        if data is None:
            return None
        try:
            packed = load_moved(data, stat)
        except IndexUnavailableError:
            return None
        return packed if (packed.path, packed.store) == (path, store) else None

    def add(self, bullets: Iterable[tuple[bytes, PackedBullet]]) -> None:
        """Keep bullets by the digests of their files; where that cannot be written, do without."""
        for digest, packed in bullets:
            self._bullets.pop(digest, None)  # a bullet that leaves again is among the newest
            self._bullets[digest] = dump(packed)
        newest = list(self._bullets.items())[-MOST:]
        try:
            save_value(self._path, dict(newest))
        except IndexUnavailableError:
            return
