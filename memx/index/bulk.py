"""Files to a part of an index: what a rebuild does, in one process or in several at once.

Each process reads, parses, analyses and indexes its own share of the files into a folder of its own; the
parts are joined by `memx.index.lexical.join`. What comes back is small: no bullet travels between processes.
"""

from __future__ import annotations

import os

from memx.digest import load_quick_sha256, sha256
from memx.errors import FrontMatterError
from memx.index import freshness
from memx.index.manifest import DIGEST_BYTES, digest_part
from memx.index.packed import FIELDS, TAKEN, dump_values, entry, pack_values
from memx.model import Bullet, Problem
from memx.record import record
from memx.store.bounded import read_bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from memx.index.analysis import Analyser
    from memx.index.freshness import Stat

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)

_NEEDED = ("id", *TAKEN)
_KEY, _SCOPE, _CREATED = map(FIELDS.index, ("vector_key", "scope", "created"))

BATCH = 256
"""Files that take each step together: file by file, what one step needs drives what the others need out of the
caches, which costs a quarter of all time."""


@record
class Share:
    """The files that one process indexes, {folder: names in the order of its listing}, and where its part goes to."""

    part: str
    files: dict[str, list[str]]


@record
class Part:
    """What became of a share.

    `tables`: {folder: (listing, digests)} of the files that can be read, as the manifest keeps them; `keys`:
    the vector keys of the indexed bullets; `undated`: packed bullets that wait for a date and are not in the part.
    """

    folder: str
    tables: dict[str, tuple[bytes, bytes]]
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
        return read_bounded(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def read_listed(root: str, path: str) -> tuple[Stat, bytes] | None:
    """Return the stat of a listed file before it was read, and its bytes; None when it cannot be read any more."""
    if os.name != "posix":  # elsewhere an open file may be described in other words than its path
        stat = freshness.stat_bullet(root, path)
        data = None if stat is None else read_bytes(root, path)
        return None if stat is None or data is None else (stat, data)
    try:
        descriptor = os.open(f"{root}/{path}", _READ_FLAGS | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        s = os.fstat(descriptor)
        if s.st_mode & freshness.FORMAT_BITS != freshness.REGULAR:
            return None
        return (s.st_mtime_ns, s.st_size, s.st_ino, s.st_ctime_ns), read_bounded(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def index_shares(
    shares: Sequence[Share], root: str, store: str, read_ns: int, parse: Callable[..., Bullet] | None = None
) -> list[Part]:
    """Index each share into its folder; `read_ns` is from before the files were listed.

    Raises IndexUnavailableError when that cannot be written.
    """
    return [_IndexingShare(share, root, store, parse).run(read_ns) for share in shares]


class _IndexingShare:
    def __init__(self, share: Share, root: str, store: str, parse: Callable[..., Bullet] | None) -> None:
        from operator import itemgetter

        from memx.index.index import make_analyser

        self._take = itemgetter(*TAKEN)
        self._sha256 = load_quick_sha256()
        self._share = share
        self._root = root
        self._store = store
        self._fields = _quick_reader() if parse is None else _reader(parse)
        self._analyser: Analyser = make_analyser()
        self._read: dict[str, tuple[Stat, bytes]] = {}
        self._keys: list[bytes] = []
        self._scopes: set[str] = set()
        self._problems: list[Problem] = []
        self._undated: list[bytes] = []

    def run(self, read_ns: int) -> Part:
        from memx.index.lexical import LexicalIndex

        os.makedirs(self._share.part)
        LexicalIndex.create(self._share.part).fill(self._dated())
        return Part(
            self._share.part,
            {folder: self._tables(folder, names, read_ns) for folder, names in self._share.files.items()},
            tuple(self._keys),
            tuple(self._scopes),
            tuple(self._problems),
            tuple(self._undated),
        )

    def _tables(self, folder: str, names: list[str], read_ns: int) -> tuple[bytes, bytes]:
        found = {name: read for name in names if (read := self._read.get(f"{folder}/{name}")) is not None}
        stats = {name: freshness.proven(stat, read_ns) for name, (stat, _) in found.items()}
        return freshness.make_listing(stats), digest_part(
            {name: digest for name, (_, digest) in found.items()}
        )

    def _dated(self) -> Iterator[dict[str, Any]]:
        """Yield what the index is given of each bullet that has a date."""
        paths = sorted([f"{folder}/{name}" for folder, names in self._share.files.items() for name in names])
        for at in range(0, len(paths), BATCH):
            yield from self._entries(paths[at : at + BATCH])

    def _entries(self, paths: list[str]) -> list[dict[str, Any]]:
        """Take one step after the other for all of some files; the order of the results is that of the paths."""
        read = [(path, found) for path in paths if (found := read_listed(self._root, path)) is not None]
        sha256 = self._sha256
        digests = [sha256(data).digest()[:DIGEST_BYTES] for _, (_, data) in read]
        self._read.update(
            [(path, (stat, digest)) for (path, (stat, _)), digest in zip(read, digests, strict=True)]
        )
        parsed = [(path, stat, self._parsed(data, path)) for path, (stat, data) in read]
        packed = [self._packed(path, stat, fields) for path, stat, fields in parsed if fields is not None]
        self._keys += [values[_KEY] for values in packed]
        self._scopes.update([values[_SCOPE] for values in packed])
        self._undated += [dump_values(values) for values in packed if values[_CREATED] is None]
        return [entry(values) for values in packed if values[_CREATED] is not None]

    def _parsed(self, data: bytes, path: str) -> dict[str, Any] | None:
        try:
            return self._fields(data, path)
        except FrontMatterError as error:
            self._problems.append(front_matter_problem(error, path))
            return None

    def _packed(self, path: str, stat: Stat, fields: dict[str, Any]) -> tuple[Any, ...]:
        return pack_values(
            fields["id"],
            self._take(fields),
            path,
            self._store,
            path.startswith("archive/"),
            stat,
            self._analyser,
            self._sha256,
        )


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
