"""The vector file: one int8 row a text, keyed by the hash of the text.

A folder a model (named by its fingerprint, so another model's rows never
mix) holds `manifest`, `rows-N`, `norms-N` (1 / length a row, as float32),
`tokens-N` (see `tokens`) and `keys-N`. All are appended before their keys, so a
key that a reader sees has its row; what a killed writer left
behind is cut off by the next one. Compaction writes generation N+1 aside and
swaps the manifest. It is a cache: nothing is synced to disk, and a row of
zeros (a block that never reached the disk) counts as absent.
"""

from __future__ import annotations

import os
import time

from memx.errors import IndexUnavailableError, StoreError
from memx.index.dense.scan import iter_nearest, make_inverse_norms
from memx.index.dense.text import KEY_BYTES
from memx.index.dense.tokens import NO_TOKENS, TOKENS_BYTES
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from memx.store.lock import Lock

_HEAD = "memx-vectors 2"
_KINDS = ("rows", "norms", "tokens", "keys")
_MANIFEST = "manifest"
_USED = "used-"
_USED_FOR_S = 90 * 86_400
_OPEN_ATTEMPTS = 5
_NORM_BYTES, _NO_NORM = 4, bytes(4)
_MANY_KEYS = 5_000
_SAME_NORM = 1e-3
_FEW_KEYS = 128
"""Up to here searching the key file beats building a table of it."""


@record
class _Manifest:
    fingerprint: str
    dimension: int
    generation: int


class VectorStore:
    """Vectors of one model; readers need no lock, writers take one."""

    def __init__(self, folder: str, fingerprint: str) -> None:
        """Open the vectors of a model; a missing or foreign folder is an empty store."""
        self.fingerprint = fingerprint
        self.folder = os.path.join(folder, _folder_name(fingerprint))
        self._rows_of_key: dict[bytes, int] | None = None
        self._lookups = 0
        self._first_bytes = self._second_bytes = b""
        self._manifest: _Manifest | None = None
        self._rows = self._keys = memoryview(b"")
        self._norms: memoryview | None = None
        self._tokens: memoryview | None = None
        self._met: dict[bytes, int] = {}
        self._count = 0
        self.reload()

    def __len__(self) -> int:
        """Return the number of rows, live or not."""
        return self._count

    @property
    def dimension(self) -> int:
        """The number of components of a row; 0 while the store is empty."""
        return self._manifest.dimension if self._manifest else 0

    @property
    def generation(self) -> int:
        """Which writing of the files this is; it changes when rows go. 0 while the store is empty."""
        return self._manifest.generation if self._manifest else 0

    def keys(self) -> list[bytes]:
        """Return all keys, the oldest first."""
        return list(self._table())

    def remember_use(self, user: str, live: Collection[bytes]) -> set[bytes]:
        """Note which keys one user needs now; return those that any user has noted within the last months."""
        from memx.digest import sha256

        used = set(live)
        mine = f"{_USED}{sha256(user.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        os.makedirs(self.folder, exist_ok=True)
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if name.startswith(_USED) and name != mine and os.stat(path).st_mtime > time.time() - _USED_FOR_S:
                with open(path, "rb") as file:
                    data = file.read()
                used.update(data[at : at + KEY_BYTES] for at in range(0, len(data), KEY_BYTES))
        _write(os.path.join(self.folder, mine), b"".join(live))
        return used

    def reload(self) -> None:
        """See what other processes have added or compacted since."""
        if self._is_as_mapped():
            return
        for _ in range(_OPEN_ATTEMPTS):
            self._rows_of_key, self._lookups, self._first_bytes, self._norms = None, 0, b"", None
            self._tokens, self._met = None, {}
            self._manifest = self._read_manifest()
            if self._manifest is None:
                self._rows = self._keys = memoryview(b"")
                self._count = 0
                return
            try:
                keys = _map(self._path("keys"))
                rows = _map(self._path("rows"))
            except FileNotFoundError:
                continue  # compacted between the two reads
            except OSError:
                break  # a folder of that name, a disk that fails: the vectors are lost and made again
            self._keys, self._rows = keys, rows
            self._count = min(len(keys) // KEY_BYTES, len(rows) // self._manifest.dimension)
            return
        self._manifest = None
        self._rows = self._keys = memoryview(b"")
        self._count = 0

    def _is_as_mapped(self) -> bool:
        """Return whether the files are those that are mapped: what was worked out of them still holds."""
        if not self._count or self._read_manifest() != self._manifest:
            return False
        try:
            return os.stat(self._path("keys")).st_size == len(self._keys) and os.stat(
                self._path("rows")
            ).st_size == len(self._rows)
        except OSError:
            return False

    def has(self, keys: Iterable[bytes]) -> set[bytes]:
        """Return those of the keys that have a vector."""
        if not self._count:
            return set()
        keys = list(keys)
        if len(keys) > _MANY_KEYS and not self._has_zero_bytes():
            return set(keys).intersection(self._table())
        return {key for key in keys if self._row(key) is not None}

    def _has_zero_bytes(self) -> bool:
        """Return whether any row may be of zeros; all rows are looked at in the time of some thousand keys."""
        mapped = self._rows.obj
        return not hasattr(mapped, "find") or mapped.find(bytes(self.dimension)) >= 0

    def get(self, key: bytes) -> bytes | None:
        """Return the vector of a key, or None."""
        row = self._place(key)
        vector = b"" if row is None else self._vector(row)
        return vector if any(vector) else None

    def tokens(self, key: bytes) -> memoryview | bytes:
        """Return the telling tokens of a key's text as they are packed; none when they are not known."""
        row = self._place(key)
        if row is None:
            return NO_TOKENS
        if self._tokens is None:
            try:
                self._tokens = _map(self._path("tokens"))
            except OSError:
                self._tokens = memoryview(b"")
        cell = self._tokens[row * TOKENS_BYTES : (row + 1) * TOKENS_BYTES]
        return cell if len(cell) == TOKENS_BYTES else NO_TOKENS

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the vectors of those keys that have one."""
        found = {}
        for key in keys:
            row = self._row(key)
            if row is not None:
                found[key] = self._vector(row)
        return found

    def scan(
        self, query: bytes | None, limit: int, accept: Callable[[bytes], bool] | None = None
    ) -> list[tuple[bytes, float]]:
        """Return the `limit` best (key, cosine), best first, of all rows that `accept` lets pass.

        Exact; zero rows are never returned. `accept` is asked for near rows
        only: pass what is live here, because the file also holds the vectors
        of other branches and of earlier wordings.
        """
        if query is None or not self._count or len(query) != self.dimension:
            return []
        hits: list[tuple[bytes, float]] = []
        seen = set()
        for cosine, row in iter_nearest(query, self._rows, self._count, limit, self._inverse_norms()):
            if len(hits) >= limit:
                break
            key = bytes(self._keys[row * KEY_BYTES : (row + 1) * KEY_BYTES])
            if key not in seen and (accept is None or accept(key)):
                seen.add(key)
                self._met[key] = row
                hits.append((key, cosine))
        return hits

    def _inverse_norms(self) -> memoryview:
        """Return the stored norms; nothing when some are missing or never reached the disk: a scan can do without."""
        if self._norms is None:
            try:
                norms = _map(self._path("norms"))[: self._count * _NORM_BYTES]
            except OSError:
                norms = memoryview(b"")
            is_whole = len(norms) == self._count * _NORM_BYTES and _NO_NORM not in bytes(norms)
            self._norms = norms if is_whole else memoryview(b"")
        return self._norms

    def add(
        self,
        pairs: Iterable[tuple[bytes, bytes | None]],
        patience_s: float | None = None,
        tokens: Mapping[bytes, bytes] | None = None,
    ) -> int:
        """Append the vectors whose keys are new and return how many; None (a zero vector) is left out.

        `tokens` has the packed tokens of the texts of these keys, as far as they are known.
        Raises IndexUnavailableError where nothing can be written, or when another
        writer keeps the lock for longer than `patience_s` (default: the lock's own).
        """
        new = {key: row for key, row in pairs if row is not None and any(row)}
        if not new:
            return 0
        _check(new)
        lock = self._lock(patience_s)
        try:
            self.reload()
            dimension = len(next(iter(new.values())))
            if self._manifest is None:
                self._begin(dimension)
            elif self._manifest.dimension != dimension:
                raise IndexUnavailableError(
                    f"vectors have {self._manifest.dimension} components, not {dimension}", path=self.folder
                )
            for key in self.has(new):
                del new[key]
            self._append(new, tokens or {})
        finally:
            lock.release()
        self.reload()
        return len(new)

    def is_whole(self) -> bool:
        """Return whether rows, norms and tokens are those that were written, as far as they tell of each other."""
        if not self._count:
            return True
        dimension = self.dimension
        norms = make_inverse_norms(bytes(self._rows[: self._count * dimension]), dimension)
        try:
            stored = bytes(_map(self._path("norms"))[: len(norms)])
            has_tokens = len(_map(self._path("tokens"))) >= self._count * TOKENS_BYTES
        except OSError:
            return False
        if len(stored) != len(norms) or not has_tokens:
            return False
        pairs = zip(memoryview(norms).cast("f"), memoryview(stored).cast("f"), strict=True)
        # Another library may have computed them, so the last bits may differ.
        return all(abs(a - b) <= _SAME_NORM * a for a, b in pairs)

    def seems_whole(self) -> bool:
        """Return whether the newest row has the norm that was stored with it: a file that was overwritten has not."""
        norms = self._inverse_norms()
        if not norms:
            return True
        row = self._count - 1
        stored = norms[row * _NORM_BYTES : (row + 1) * _NORM_BYTES].cast("f")[0]
        found = memoryview(make_inverse_norms(self._vector(row), self.dimension)).cast("f")[0]
        return abs(stored - found) <= _SAME_NORM * stored

    def clear(self) -> None:
        """Forget all rows; raises IndexUnavailableError where nothing can be written."""
        lock = self._lock()
        try:
            self.reload()
            if self._manifest is not None:
                self._begin(self._manifest.dimension)
        finally:
            lock.release()

    def compact(self, live: Collection[bytes]) -> int:
        """Keep the rows of `live` only, in a new generation, and return how many rows went."""
        lock = self._lock()
        try:
            self.reload()
            if self._manifest is None:
                return 0
            old, before = self._manifest, self._count
            kept = self.get_many(dict.fromkeys(live))
            new = _Manifest(old.fingerprint, old.dimension, old.generation + 1)
            rows = b"".join(kept.values())
            _write(self._path("rows", new), rows)
            _write(self._path("norms", new), make_inverse_norms(rows, new.dimension))
            _write(self._path("tokens", new), b"".join([self.tokens(key) for key in kept]))
            _write(self._path("keys", new), b"".join(kept))
            self._write_manifest(new)
            self._rows = self._keys = memoryview(b"")
            self._norms = self._tokens = None
            self._drop(old.generation)
        finally:
            lock.release()
        self.reload()
        return before - len(kept)

    def _row(self, key: bytes) -> int | None:
        """Return the last row of a key whose vector is not zero."""
        row = self._place(key)
        return row if row is not None and any(self._vector(row)) else None

    def _place(self, key: bytes) -> int | None:
        """Return the last row of a key."""
        if not self._count:
            return None
        row = self._met.get(key)
        if row is None:
            row = self._find(key) if self._rows_of_key is None else self._rows_of_key.get(key)
            if row is not None:
                self._met[key] = row
        return row

    def _find(self, key: bytes) -> int | None:
        """Look a key up in the mapped file; from some number of look-ups on, through a table of it.

        The column of the keys' first bytes says where to look: the search in it runs at the speed of memory.
        That of their second bytes spares cutting a key out of the file for all but one in 256 of these places.
        """
        self._lookups += 1
        if self._lookups > _FEW_KEYS:
            self._rows_of_key = self._table()
            return self._rows_of_key.get(key)
        if not self._first_bytes:
            self._first_bytes = bytes(self._keys[: self._count * KEY_BYTES : KEY_BYTES])
            self._second_bytes = bytes(self._keys[1 : self._count * KEY_BYTES : KEY_BYTES])
        first, second, keys = key[0], key[1], self._keys
        before, seconds = self._first_bytes.rfind, self._second_bytes
        row = before(first)
        while row >= 0:
            if seconds[row] == second and keys[row * KEY_BYTES : (row + 1) * KEY_BYTES] == key:
                return row
            row = before(first, 0, row)
        return None

    def _table(self) -> dict[bytes, int]:
        keys = bytes(self._keys[: self._count * KEY_BYTES])
        return {keys[at : at + KEY_BYTES]: at // KEY_BYTES for at in range(0, len(keys), KEY_BYTES)}

    def _vector(self, row: int) -> bytes:
        return bytes(self._rows[row * self.dimension : (row + 1) * self.dimension])

    def _append(self, new: dict[bytes, bytes], tokens: Mapping[bytes, bytes]) -> None:
        rows = b"".join(new.values())
        _append_at(self._path("rows"), self._count * self.dimension, rows)
        self._append_norms(rows)
        cells = b"".join([tokens.get(key, NO_TOKENS) for key in new])
        _append_at(self._path("tokens"), self._count * TOKENS_BYTES, cells)
        _append_at(self._path("keys"), self._count * KEY_BYTES, b"".join(new))

    def _append_norms(self, rows: bytes) -> None:
        """Append the norms of new rows, after those of all rows where an earlier writer left some out."""
        if self._count and not self._inverse_norms():
            whole = bytes(self._rows[: self._count * self.dimension]) + rows
            path = self._path("norms")
            _write(f"{path}.tmp", make_inverse_norms(whole, self.dimension))
            os.replace(f"{path}.tmp", _cleared(path))  # a reader may have mapped the old one
            return
        start = self._count * _NORM_BYTES
        _append_at(self._path("norms"), start, make_inverse_norms(rows, self.dimension))

    def _begin(self, dimension: int) -> None:
        """Start a generation whose number no earlier file has."""
        taken = {0}
        for name in os.listdir(self.folder):
            kind, _, number = name.partition("-")
            if kind in _KINDS and number.isdigit():
                taken.add(int(number))
        manifest = _Manifest(self.fingerprint, dimension, max(taken) + 1)
        for kind in _KINDS:
            _write(self._path(kind, manifest), b"")
        self._write_manifest(manifest)
        for earlier in taken:
            self._drop(earlier)
        self.reload()

    def _drop(self, generation: int) -> None:
        """Remove the files of a generation."""
        for kind in _KINDS:
            try:  # noqa: SIM105 (contextlib stays unloaded)
                os.unlink(_cleared(os.path.join(self.folder, f"{kind}-{generation}")))
            except OSError:
                pass  # gone, or mapped by another process: Windows keeps it then

    def _lock(self, patience_s: float | None = None) -> Lock:
        """Return the folder's lock, taken; raises IndexUnavailableError where it cannot be."""
        from memx.store.lock import Lock

        lock = Lock(os.path.join(self.folder, "lock"))
        try:
            os.makedirs(self.folder, exist_ok=True)
            lock.acquire(patience_s)
        except (OSError, StoreError) as error:
            raise IndexUnavailableError("vectors cannot be written", path=self.folder) from error
        return lock

    def _path(self, kind: str, manifest: _Manifest | None = None) -> str:
        manifest = manifest or self._manifest
        generation = manifest.generation if manifest else 0
        return os.path.join(self.folder, f"{kind}-{generation}")

    def _read_manifest(self) -> _Manifest | None:
        try:
            with open(os.path.join(self.folder, _MANIFEST), encoding="utf-8") as file:
                head, fingerprint, dimension, generation = file.read().splitlines()
            manifest = _Manifest(fingerprint, int(dimension), int(generation))
        except (OSError, ValueError):
            return None
        is_ours = head == _HEAD and fingerprint == self.fingerprint and manifest.dimension > 0
        return manifest if is_ours else None

    def _write_manifest(self, manifest: _Manifest) -> None:
        lines = (_HEAD, manifest.fingerprint, str(manifest.dimension), str(manifest.generation))
        path = os.path.join(self.folder, _MANIFEST)
        _write(f"{path}.tmp", "\n".join(lines).encode() + b"\n")
        os.replace(f"{path}.tmp", _cleared(path))


def _folder_name(fingerprint: str) -> str:
    """Return a portable folder name for a fingerprint (the manifest has it in full)."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-.") else "_" for c in fingerprint)
    return kept[-100:].strip(".") or "_"


def _check(pairs: dict[bytes, bytes]) -> None:
    lengths = {len(row) for row in pairs.values()}
    if len(lengths) > 1 or any(len(key) != KEY_BYTES for key in pairs):
        raise ValueError("keys have 16 bytes, and the vectors of a model one length")


def _map(path: str) -> memoryview:
    from mmap import ACCESS_READ, mmap

    with open(path, "rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return memoryview(b"")
        return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))


def _cleared(path: str) -> str:
    """Return the path of a file after removing a folder of that name: none of ours, and it would be in the way."""
    if os.path.isdir(path) and not os.path.islink(path):
        from shutil import rmtree

        rmtree(path, ignore_errors=True)
    return path


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _append_at(path: str, offset: int, data: bytes) -> None:
    """Write `data` at `offset` and end the file there, dropping what an interrupted writer left.

    Opened for update, not for appending: a torn tail must be overwritten. The
    file is not cut first, because on Windows a mapped file cannot shrink. One
    that is gone begins with zeros, which count as absent.
    """
    with open(_cleared(path), "r+b" if os.path.exists(path) else "w+b") as file:
        file.seek(offset)
        file.write(data)
        if file.seek(0, os.SEEK_END) > offset + len(data):
            try:  # noqa: SIM105 (contextlib stays unloaded)
                file.truncate(offset + len(data))
            except OSError:
                pass  # mapped by another process on Windows; the key file decides the count
