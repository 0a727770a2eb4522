"""Files to packed bullets, a batch at a time: what the worker processes of a large rebuild do."""

from __future__ import annotations

import os

from memx.digest import sha256
from memx.errors import FrontMatterError
from memx.index.packed import dump, pack
from memx.model import Problem, StoredBullet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memx.index.analysis import Analyser
    from memx.index.freshness import Stat
    from memx.model import Bullet

    Packed = tuple[str, bytes | None, bytes | None, Problem | None]

DIGEST_BYTES = 16

_analyser: Analyser | None = None


def digest_of(data: bytes) -> bytes:
    """Return the digest of a file's content."""
    return sha256(data).digest()[:DIGEST_BYTES]


def front_matter_problem(error: FrontMatterError, path: str) -> Problem:
    """Return what is wrong with a file that cannot be parsed."""
    return Problem(error.message, path, error.line, error.hint or "", "front-matter")


def pack_files(files: Sequence[tuple[str, Stat]], root: str, store: str) -> list[Packed]:
    """Return (path, digest, packed bytes, problem) of each file; no digest: it cannot be read.

    The analyser stays for the next batch: it remembers every word that it has met.
    """
    from memx.store.codec import parse_bullet

    global _analyser  # noqa: PLW0603 (one a process)
    if _analyser is None:
        from memx.index.index import make_analyser

        _analyser = make_analyser()
    return [_pack_file(path, stat, root, store, parse_bullet, _analyser) for path, stat in files]


def _pack_file(
    path: str, stat: Stat, root: str, store: str, parse: Callable[..., Bullet], analyser: Analyser
) -> Packed:
    try:
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
    except OSError:
        return path, None, None, None
    try:
        bullet = parse(data, path=path)
    except FrontMatterError as error:
        return path, digest_of(data), None, front_matter_problem(error, path)
    stored = StoredBullet(bullet, path, store, path.startswith("archive/"))
    return path, digest_of(data), dump(pack(stored, analyser, stat)), None
