"""Files to a part of an index: what a rebuild does, in one process or in several at once.

Each process reads, parses, analyses and indexes its own share of the files into a folder of its own; the
parts are joined by `memx.index.lexical.join`. What comes back is small: no bullet travels between processes.
"""

from __future__ import annotations

import os

from memx.digest import sha256
from memx.errors import FrontMatterError
from memx.index.manifest import DIGEST_BYTES
from memx.index.packed import dump, pack
from memx.model import Problem, StoredBullet
from memx.record import record
from memx.store.codec import parse_bullet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memx.index.analysis import Analyser
    from memx.index.freshness import Stat
    from memx.index.packed import PackedBullet
    from memx.model import Bullet

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_CHUNK_BYTES = 1 << 16


@record
class Share:
    """The files that one process indexes, with their stats, and the folder that its part goes to."""

    folder: str
    files: tuple[tuple[str, Stat], ...]


@record
class Part:
    """What became of a share.

    `digests`: one a file, in order, None for one that cannot be read; `keys`: the vector keys of the
    indexed bullets; `undated`: packed bullets that are not in the part, because they wait for a date.
    """

    folder: str
    digests: tuple[bytes | None, ...]
    keys: tuple[bytes, ...]
    scopes: tuple[str, ...]
    problems: tuple[Problem, ...]
    undated: tuple[bytes, ...]


def digest_of(data: bytes) -> bytes:
    """Return the digest of a file's content."""
    return sha256(data).digest()[:DIGEST_BYTES]


def front_matter_problem(error: FrontMatterError, path: str) -> Problem:
    """Return what is wrong with a file that cannot be parsed."""
    return Problem(error.message, path, error.line, error.hint or "", "front-matter")


def read_bytes(root: str, path: str) -> bytes | None:
    """Return the bytes of a file, None when it cannot be read."""
    try:
        # A file object costs as much as the read itself, 100,000 times.
        descriptor = os.open(f"{root}/{path}", _READ_FLAGS)
    except OSError:
        return None
    try:
        data = os.read(descriptor, _CHUNK_BYTES)
        if len(data) == _CHUNK_BYTES:
            while chunk := os.read(descriptor, _CHUNK_BYTES):
                data += chunk
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data


def index_shares(
    shares: Sequence[Share], root: str, store: str, parse: Callable[..., Bullet] | None = None
) -> list[Part]:
    """Index each share into its folder; raises IndexUnavailableError when that cannot be written."""
    return [_IndexingShare(share, root, store, parse or parse_bullet).run() for share in shares]


class _IndexingShare:
    def __init__(self, share: Share, root: str, store: str, parse: Callable[..., Bullet]) -> None:
        from memx.index.index import make_analyser

        self._share = share
        self._root = root
        self._store = store
        self._parse = parse
        self._analyser: Analyser = make_analyser()
        self._digests: list[bytes | None] = []
        self._keys: list[bytes] = []
        self._scopes: set[str] = set()
        self._problems: list[Problem] = []
        self._undated: list[bytes] = []

    def run(self) -> Part:
        from memx.index.lexical import LexicalIndex

        os.makedirs(self._share.folder)
        LexicalIndex.create(self._share.folder).apply(self._dated(), bulk=True)
        return Part(
            self._share.folder,
            tuple(self._digests),
            tuple(self._keys),
            tuple(self._scopes),
            tuple(self._problems),
            tuple(self._undated),
        )

    def _dated(self) -> Iterator[PackedBullet]:
        for path, stat in self._share.files:
            packed = self._pack(path, stat)
            if packed is None:
                continue
            self._keys.append(packed.vector_key)
            self._scopes.add(packed.scope)
            if packed.created is None:
                self._undated.append(dump(packed))
            else:
                yield packed

    def _pack(self, path: str, stat: Stat) -> PackedBullet | None:
        data = read_bytes(self._root, path)
        self._digests.append(None if data is None else digest_of(data))
        if data is None:
            return None
        try:
            bullet = self._parse(data, path=path)
        except FrontMatterError as error:
            self._problems.append(front_matter_problem(error, path))
            return None
        stored = StoredBullet(bullet, path, self._store, path.startswith("archive/"))
        return pack(stored, self._analyser, stat)
