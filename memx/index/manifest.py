"""What an index generation was made from, and whether this program can use it.

    cache_dir/CURRENT            "gen-3": swapped by one rename
    cache_dir/gen-3/lexical/     tantivy's files
    cache_dir/gen-3/head         Head: small, read by every search
    cache_dir/gen-3/files        {folder: listing}: read when files are checked
    cache_dir/gen-3/digests      {folder: (names, digests)}: read when a stat differs
    cache_dir/gen-3/log          what changed in these two tables since they were written
    cache_dir/gen-3/kept         where bullets of other branches are in tantivy's files: see memx.index.kept

Head, tables and log are marshalled values behind checksums. The two tables have one part a folder, and only
the parts of folders that changed are taken apart; the log has one entry a refresh, so that a refresh
of one file does not write two tables of 100,000. A generation is written before its manifest is: after a
kill the manifest is older than the index, which shows in `Head.commit`, and the same files are indexed once more.
"""

from __future__ import annotations

import marshal
import os
from binascii import crc32

from memx.errors import IndexUnavailableError
from memx.index.freshness import columns_of, read_listing, stat_file
from memx.model import Problem
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from memx.index.freshness import Stat

    Entry = tuple[Stat | None, bytes | None]

MANIFEST_VERSION = 4
CURRENT = "CURRENT"
LEXICAL = "lexical"

FILES = "files"
DIGESTS = "digests"
LOG = "log"
"""Tables of the store's files: stat as in PackedBullet, digest the first 16 bytes of the file's SHA-256;
and the log of what changed in them."""

DIGEST_BYTES = 16

_FRAME = 8
"""Bytes before a value of the log: its checksum and its length."""


@record
class Head:
    """The small part: versions, the stamp of the last full check, scopes in use, broken files.

    `commit` is the state of the index that the tables belong to; `dead` counts its bullets that are not alive.
    """

    tantivy: str
    schema: str
    stamp: tuple[tuple[str, int, int, int], ...] = ()
    checked: float = 0.0
    file_count: int = 0
    scopes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    fingerprint: str = ""
    commit: int = 0
    dead: int = 0
    version: int = MANIFEST_VERSION


def current_generation(cache_dir: str) -> str | None:
    """Return the folder of the generation in use, None when there is none."""
    try:
        with open(os.path.join(cache_dir, CURRENT), encoding="utf-8") as file:
            name = file.read(64).strip()
    except (OSError, ValueError):
        return None
    folder = os.path.join(cache_dir, name)
    return folder if name.startswith("gen-") and name[4:].isdigit() and os.path.isdir(folder) else None


def next_generation(cache_dir: str) -> str:
    """Return the name of a generation that does not exist yet."""
    taken = [int(name[4:]) for name in _list(cache_dir) if name.startswith("gen-") and name[4:].isdigit()]
    return f"gen-{max(taken, default=0) + 1}"


def swap_generation(cache_dir: str, name: str) -> None:
    """Make a finished generation the current one and remove the others; readers keep what they opened."""
    write_file(os.path.join(cache_dir, CURRENT), f"{name}\n".encode("ascii"))
    for other in other_generations(cache_dir, name):
        remove_tree(os.path.join(cache_dir, other))


def other_generations(cache_dir: str, name: str) -> list[str]:
    """Return the names of all generations but one: being built while somebody holds the lock, else left behind."""
    return [other for other in _list(cache_dir) if other.startswith("gen-") and other != name]


def remove_tree(folder: str) -> None:
    """Remove a folder of the cache; what cannot be removed is left for the next time."""
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def load_head(generation: str) -> Head:
    """Read the head; raises IndexUnavailableError when it is missing, damaged or of another version."""
    values = load_value(os.path.join(generation, "head"))
    try:
        tantivy, schema, stamp, checked, file_count, scopes, problems, *state = values
        broken = tuple(Problem(*problem) for problem in problems)
        fingerprint, commit, dead, version = state
        head = Head(
            tantivy, schema, stamp, checked, file_count, scopes, broken, fingerprint, commit, dead, version
        )
    except (TypeError, ValueError) as error:
        raise IndexUnavailableError("the index manifest is of another version") from error
    if head.version != MANIFEST_VERSION:
        raise IndexUnavailableError("the index manifest is of another version")
    return head


def save_head(generation: str, head: Head) -> None:
    """Write the head."""
    problems = tuple((p.message, p.path, p.line, p.hint, p.kind) for p in head.problems)
    save_value(
        os.path.join(generation, "head"),
        (
            head.tantivy,
            head.schema,
            head.stamp,
            head.checked,
            head.file_count,
            head.scopes,
            problems,
            head.fingerprint,
            head.commit,
            head.dead,
            head.version,
        ),
    )


class Tables:
    """Stats and digests of the store's files as of the last check; without a generation there are none.

    Raises IndexUnavailableError for what is missing or damaged, if only when that part is read.
    """

    def __init__(self, generation: str | None) -> None:
        """Open the tables; nothing is taken apart yet."""
        self.generation = generation
        self.version = tables_version(generation) if generation else ()
        self._parts: dict[str, _Parts] = {}
        self._logged: dict[str, dict[str, Entry]] = {}
        self._taken: tuple[str, list[str], list[int]] = ("", [], [])
        self._taken_digests: dict[str, tuple[list[str], bytes]] = {}
        self._positions: dict[str, dict[str, int]] = {}
        for entries in _read_log(generation)[0] if generation else ():
            for path, entry in entries.items():
                folder, _, name = path.rpartition("/")
                self._logged.setdefault(folder, {})[name] = entry

    def is_current(self) -> bool:
        """Return whether nobody wrote the tables since they were opened; to be asked by who holds the lock."""
        return self.generation is not None and self.version == tables_version(self.generation)

    def _part(self, table: str, folder: str) -> bytes | None:
        """Return a folder's part of a table, which is read when it is first asked for."""
        if self.generation is None:
            return None
        if table not in self._parts:
            self._parts[table] = _Parts(os.path.join(self.generation, table))
        return self._parts[table].get(folder)

    def folders(self) -> set[str]:
        """Return the folders that held files."""
        self._part(FILES, "")
        return {*(self._parts[FILES].names() if self.generation else ()), *self._logged}

    def is_as_listed(self, folder: str, listing: bytes | None) -> bool:
        """Return whether a folder is surely as it was."""
        return (
            folder not in self._logged
            and self.generation is not None
            and self._part(FILES, folder) == listing
        )

    def stats(self, folder: str) -> dict[str, Stat]:
        """Return {name: stat} of the files in a folder."""
        part = self._part(FILES, folder)
        return self._with_log(folder, {} if part is None else read_listing(part), 0)

    def differences(self, folder: str, listing: bytes | None) -> tuple[dict[str, Stat], dict[str, Stat]]:
        """Return {name: stat}, as it was and as it is now, of the files of a folder that are not as they were."""
        names, values = ([], []) if listing is None else columns_of(listing)
        names_before, values_before = self._columns(folder)
        if names != names_before:
            return _differences(self.stats(folder), dict(zip(names, _stats(values), strict=True)))
        # A folder's order stays as long as its names do. Only what differs gets a name: a folder may hold
        # 10,000 files of which one changed.
        pairs = enumerate(zip(values_before, values, strict=True))
        differing = {names[place // 4]: place // 4 * 4 for place, (one, other) in pairs if one != other}
        logged = self._logged.get(folder)
        if logged:
            places = dict(zip(names, range(0, len(values), 4), strict=True))
            differing |= {name: places[name] for name in logged if name in places}
        before, now = (
            {name: (v[at], v[at + 1], v[at + 2], v[at + 3]) for name, at in differing.items()}
            for v in (values_before, values)
        )
        return _differences(self._with_log(folder, before, 0), now)

    def numbers(self, folder: str) -> dict[str, int]:
        """Return {name: inode} of the files in a folder."""
        names, values = self._columns(folder)
        table = dict(zip(names, values[2::4], strict=True))
        for name, (stat, _) in self._logged.get(folder, {}).items():
            if stat is None:
                table.pop(name, None)
            else:
                table[name] = stat[2]
        return table

    def some_stats(self, folder: str, wanted: Iterable[str]) -> dict[str, Stat]:
        """Return {name: stat} of those of some files in a folder that were there."""
        names, values = self._columns(folder)
        logged = self._logged.get(folder, {})
        found: dict[str, Stat] = {}
        for name in wanted:
            if name in logged:
                stat = logged[name][0]
                if stat is not None:
                    found[name] = stat
            elif name in names:
                at = 4 * names.index(name)
                found[name] = (values[at], values[at + 1], values[at + 2], values[at + 3])
        return found

    def _columns(self, folder: str) -> tuple[list[str], list[int]]:
        """Return the table's names and values of a folder, without the log; the last one is remembered."""
        if self._taken[0] != folder:
            part = self._part(FILES, folder)
            self._taken = (folder, *(([], []) if part is None else columns_of(part)))
        return self._taken[1:]

    def digests(self, folder: str) -> dict[str, bytes]:
        """Return {name: digest} of the files in a folder, those that cannot be parsed among them."""
        names, joined = self._digest_columns(folder)
        digests = (joined[at : at + DIGEST_BYTES] for at in range(0, len(joined), DIGEST_BYTES))
        return self._with_log(folder, dict(zip(names, digests, strict=True)), 1)

    def digest(self, folder: str, name: str, *, of_many: bool = False) -> bytes | None:
        """Return the digest of one file; `of_many`: of so many in its folder that finding them by a table pays."""
        logged = self._logged.get(folder, {})
        if name in logged:
            return logged[name][1]
        names, joined = self._digest_columns(folder)
        if of_many:
            if folder not in self._positions:
                self._positions[folder] = dict(zip(names, range(len(names)), strict=True))
            position = self._positions[folder].get(name)
        else:
            position = names.index(name) if name in names else None
        if position is None:
            return None
        return joined[DIGEST_BYTES * position : DIGEST_BYTES * (position + 1)]

    def _digest_columns(self, folder: str) -> tuple[list[str], bytes]:
        """Return the names of a folder and their digests in one piece, without the log."""
        if folder not in self._taken_digests:
            part = self._part(DIGESTS, folder)
            columns = ([], b"") if part is None else marshal.loads(part)  # noqa: S302 (our own cache)
            self._taken_digests[folder] = columns
        return self._taken_digests[folder]

    def _with_log(self, folder: str, table: dict[str, Any], part: int) -> dict[str, Any]:
        for name, entry in self._logged.get(folder, {}).items():
            if entry[part] is None:
                table.pop(name, None)
            else:
                table[name] = entry[part]
        return table


def _stats(values: list[int]) -> Iterable[Stat]:
    """Return the stats of a listing's values, of which each has four."""
    return zip(*[iter(values)] * 4, strict=True)


def _differences(before: dict[str, Stat], now: dict[str, Stat]) -> tuple[dict[str, Stat], dict[str, Stat]]:
    found = {name: stat for name, stat in now.items() if before.get(name) != stat}
    return {name: stat for name, stat in before.items() if name in found or name not in now}, found


def tables_version(generation: str) -> tuple[Stat | None, ...]:
    """Return what changes whenever somebody writes the tables."""
    return tuple(stat_file(os.path.join(generation, name)) for name in (FILES, LOG))


def load_stats(generation: str) -> dict[str, Stat]:
    """Return {path: stat} as of the last check; raises IndexUnavailableError."""
    tables = Tables(generation)
    return {
        f"{folder}/{name}": stat for folder in tables.folders() for name, stat in tables.stats(folder).items()
    }


def load_digests(generation: str) -> dict[str, bytes]:
    """Return {path: digest} as of the last check; raises IndexUnavailableError."""
    tables = Tables(generation)
    return {
        f"{folder}/{name}": d for folder in tables.folders() for name, d in tables.digests(folder).items()
    }


def save_tables(generation: str, listings: dict[str, bytes], digests: dict[str, dict[str, bytes]]) -> None:
    """Write both tables whole and begin the log anew: {folder: listing} and {folder: {name: digest}}."""
    save_parts(generation, listings, {folder: digest_part(table) for folder, table in digests.items()})


def save_parts(generation: str, listings: dict[str, bytes], digests: dict[str, bytes]) -> None:
    """Write both tables from the parts of their folders, and begin the log anew.

    Stats last: digests that are newer than the stats, or a log that is older than both, only make the
    next check read a file again.
    """
    _save_parts(os.path.join(generation, DIGESTS), digests)
    _save_parts(os.path.join(generation, FILES), listings)
    try:
        os.unlink(os.path.join(generation, LOG))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise IndexUnavailableError(f"the index cannot be written: {error.strerror}") from error


def digest_part(table: dict[str, bytes]) -> bytes:
    """Return the part of a folder: two values are read in half the time of a digest a name."""
    return marshal.dumps((list(table), b"".join(table.values())))


def read_digest_part(part: bytes) -> dict[str, bytes]:
    """Return {name: digest} of the part of a folder."""
    names, joined = marshal.loads(part)  # noqa: S302 (our own cache, behind a checksum)
    digests = (joined[at : at + DIGEST_BYTES] for at in range(0, len(joined), DIGEST_BYTES))
    return dict(zip(names, digests, strict=True))


class _Parts:
    """A file of named parts, each behind its own checksum: a table of contents, then the parts."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._data = _read(path)
        size = int.from_bytes(self._data[:4], "little")
        self._contents: dict[str, tuple[int, int, int]] = _unframe(self._data[4 : 4 + size], path)
        self._start = 4 + size

    def names(self) -> Iterable[str]:
        return self._contents

    def get(self, name: str) -> bytes | None:
        if name not in self._contents:
            return None
        at, size, check = self._contents[name]
        part = self._data[self._start + at : self._start + at + size]
        if len(part) != size or crc32(part) != check:
            raise IndexUnavailableError("the index manifest is damaged", path=self._path)
        return part


def _save_parts(path: str, parts: dict[str, bytes]) -> None:
    contents = {}
    at = 0
    for name, part in parts.items():
        contents[name] = (at, len(part), crc32(part))
        at += len(part)
    head = _frame(contents)
    write_file(path, b"".join((len(head).to_bytes(4, "little"), head, *parts.values())))


def append_log(generation: str, entries: dict[str, Entry], limit: int) -> bool:
    """Append what changed in the tables; False when the log would hold more than `limit` entries."""
    known, end = _read_log(generation)
    if sum(map(len, known)) + len(entries) > limit:
        return False
    data = marshal.dumps(entries)
    frame = crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    path = os.path.join(generation, LOG)
    try:
        with open(path, "r+b" if end else "wb") as file:
            file.seek(end)
            file.write(frame + data)
            file.truncate()
    except OSError as error:
        raise IndexUnavailableError(f"the index cannot be written: {error.strerror}", path=path) from error
    return True


def _read_log(generation: str) -> tuple[list[dict[str, Entry]], int]:
    """Return what each refresh appended, and where the log ends: before what a killed one tore."""
    found: list[dict[str, Entry]] = []
    end = 0
    try:
        with open(os.path.join(generation, LOG), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return found, end
    except OSError as error:
        raise IndexUnavailableError("the index manifest is damaged") from error
    while end < len(data):
        check, size = (int.from_bytes(data[i : i + 4], "little") for i in (end, end + 4))
        body = data[end + _FRAME : end + _FRAME + size]
        if not size or len(body) != size or crc32(body) != check:
            break  # without the rest, the files that it names are merely read again
        found.append(_loads(body))
        end += _FRAME + size
    return found, end


def write_file(path: str, data: bytes) -> None:
    """Replace a file of the cache atomically, without fsync: a cache can be rebuilt."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        try:
            os.replace(temporary, path)
        except OSError:
            if not os.path.isdir(path):
                raise
            remove_tree(path)  # nobody's, for no folder of a cache has the name of a file
            os.replace(temporary, path)
    except OSError as error:
        try:  # noqa: SIM105 (contextlib stays unloaded)
            os.unlink(temporary)  # on a full disk, half a file is in the way of all the others
        except OSError:
            pass
        raise IndexUnavailableError(f"the index cannot be written: {error.strerror}", path=path) from error


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def load_value(path: str) -> Any:
    """Return a marshalled value from behind its checksum; raises IndexUnavailableError."""
    return _unframe(_read(path), path)


def save_value(path: str, value: Any) -> None:
    """Write what `load_value` reads."""
    write_file(path, _frame(value))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise IndexUnavailableError("the index manifest is missing", path=path) from error


def _frame(value: Any) -> bytes:
    data = marshal.dumps(value)
    return crc32(data).to_bytes(4, "little") + data


def _unframe(data: bytes, path: str) -> Any:
    body = data[4:]
    if crc32(body) != int.from_bytes(data[:4], "little"):
        raise IndexUnavailableError("the index manifest is damaged", path=path)
    return _loads(body, path)


def _loads(body: bytes, path: str = "") -> Any:
    try:
        return marshal.loads(body)  # noqa: S302 (our own cache, behind a checksum)
    except (ValueError, EOFError, TypeError) as error:
        raise IndexUnavailableError("the index manifest is damaged", path=path) from error
