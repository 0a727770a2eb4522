"""Files to a part of an index: what a rebuild does, in one process or in several at once.

Each process reads, parses, analyses and indexes its own share of the files into a folder of its own; the
parts are joined by `memx.index.lexical.join`. What comes back is small: no bullet travels between processes.
"""

from __future__ import annotations

import os

from memx.digest import sha256
from memx.errors import FrontMatterError
from memx.index.manifest import DIGEST_BYTES
from memx.index.packed import FIELDS, TAKEN, dump_values, entry, pack_values
from memx.model import Bullet, Problem
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from memx.index.analysis import Analyser
    from memx.index.freshness import Stat

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_CHUNK_BYTES = 1 << 16

_NEEDED = ("id", *TAKEN)
_KEY = FIELDS.index("vector_key")


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
    return [_IndexingShare(share, root, store, parse).run() for share in shares]


class _IndexingShare:
    def __init__(self, share: Share, root: str, store: str, parse: Callable[..., Bullet] | None) -> None:
        from operator import itemgetter

        from memx.index.index import make_analyser

        self._take = itemgetter(*TAKEN)
        self._share = share
        self._root = root
        self._store = store
        self._fields = _quick_reader() if parse is None else _reader(parse)
        self._analyser: Analyser = make_analyser()
        self._digests: list[bytes | None] = []
        self._keys: list[bytes] = []
        self._scopes: set[str] = set()
        self._problems: list[Problem] = []
        self._undated: list[bytes] = []

    def run(self) -> Part:
        from memx.index.lexical import LexicalIndex

        os.makedirs(self._share.folder)
        LexicalIndex.create(self._share.folder).fill(self._dated())
        return Part(
            self._share.folder,
            tuple(self._digests),
            tuple(self._keys),
            tuple(self._scopes),
            tuple(self._problems),
            tuple(self._undated),
        )

    def _dated(self) -> Iterator[dict[str, Any]]:
        """Yield what the index is given of each bullet that has a date."""
        for path, stat in self._share.files:
            fields = self._read(path)
            if fields is None:
                continue
            taken = self._take(fields)
            is_archived = path.startswith("archive/")
            values = pack_values(fields["id"], taken, path, self._store, is_archived, stat, self._analyser)
            self._keys.append(values[_KEY])
            self._scopes.add(fields["scope"])
            if fields["created"] is None:
                self._undated.append(dump_values(values))
            else:
                yield entry(values)

    def _read(self, path: str) -> dict[str, Any] | None:
        data = read_bytes(self._root, path)
        self._digests.append(None if data is None else digest_of(data))
        if data is None:
            return None
        try:
            return self._fields(data, path)
        except FrontMatterError as error:
            self._problems.append(front_matter_problem(error, path))
            return None


def _reader(parse: Callable[..., Bullet]) -> Callable[[bytes, str], dict[str, Any]]:
    """Return what gives the fields of the bullet in a file; it raises FrontMatterError as `parse` does."""

    def fields(data: bytes, path: str) -> dict[str, Any]:
        bullet = parse(data, path=path)
        return {name: getattr(bullet, name) for name in _NEEDED}

    return fields


def _quick_reader() -> Callable[[bytes, str], dict[str, Any]]:
    """Return the same with the store's codec, which sees only files that are not in canonical form."""
    from memx.store.bulk_reader import read_canonical
    from memx.store.codec import parse_bullet

    fields_of = _reader(parse_bullet)
    plain = Bullet(id="", text="")
    absent = {name: getattr(plain, name) for name in _NEEDED}

    def fields(data: bytes, path: str) -> dict[str, Any]:
        found = read_canonical(data, path)
        return fields_of(data, path) if found is None else absent | found

    return fields
