"""Where bullets of other branches are in the index: going back to a branch analyses and indexes nothing anew.

A generation remembers where the bullets are that a switch of branch took out, by path and digest of the file's
content, up to MOST of them, the oldest of which are forgotten first. They hold while the segment that they are in
does, and while the vectors do that were there when they left. It is a cache of a cache: whatever is wrong with
it, it is empty.
"""

from __future__ import annotations

import os

from memx.errors import IndexUnavailableError
from memx.index.manifest import load_value, save_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memx.index.segments import Address

NAME = "kept"
MOST = 4_096


class Kept:
    """The addresses that a generation remembers; `vectors` is the state of the vectors that the index relies on."""

    def __init__(self, generation: str, vectors: str) -> None:
        """Read them; what is missing, damaged or of another state is empty."""
        self._path = os.path.join(generation, NAME)
        self._vectors = vectors
        try:
            found = load_value(self._path)
        except IndexUnavailableError:
            found = None
        is_ours = isinstance(found, tuple) and found[0] == vectors
        self._addresses: dict[bytes, Address] = found[1] if is_ours else {}

    def get(self, path: str, digest: bytes) -> Address | None:
        """Return where the bullet of a file with this content is."""
        return self._addresses.get(digest + path.encode())

    def add(self, addresses: Mapping[tuple[str, bytes], Address]) -> None:
        """Remember the addresses of bullets by path and digest; where that cannot be written, do without."""
        found = {digest + path.encode(): address for (path, digest), address in addresses.items()}
        if found.items() <= self._addresses.items():
            return  # as after the second switch there and back
        for key in found:
            self._addresses.pop(key, None)  # a bullet that leaves again is among the newest
        newest = list((self._addresses | found).items())[-MOST:]
        try:
            save_value(self._path, (self._vectors, dict(newest)))
        except IndexUnavailableError:
            return


def forget(generation: str) -> None:
    """Forget where bullets of other branches are."""
    try:  # noqa: SIM105 (contextlib stays unloaded)
        os.unlink(os.path.join(generation, NAME))
    except OSError:
        pass
