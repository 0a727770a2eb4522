"""What an index generation was made from, and whether this program can use it.

    cache_dir/CURRENT            "gen-3": swapped by one rename
    cache_dir/gen-3/lexical/     tantivy's files
    cache_dir/gen-3/head         Head: small, read by every search
    cache_dir/gen-3/files        {path: stat}: read when files are checked
    cache_dir/gen-3/digests      {path: digest}: read when a stat differs
    cache_dir/gen-3/log          what changed in these two tables since they were written

The last four are marshalled values behind a checksum; the log has one a refresh, so
that a refresh of one file does not write two tables of 100,000. A generation is written
before its manifest is: after a kill the manifest is older than the index, and
the same files are merely indexed once more.
"""

from __future__ import annotations

import marshal
import os
from binascii import crc32

from memx.errors import IndexUnavailableError
from memx.model import Problem
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memx.index.freshness import Stat

    Entry = tuple[Stat | None, bytes | None]

MANIFEST_VERSION = 1
CURRENT = "CURRENT"
LEXICAL = "lexical"

FILES = "files"
DIGESTS = "digests"
LOG = "log"
"""Tables of the store's files: stat as in PackedBullet, digest the first 16 bytes of the file's SHA-256;
and the log of what changed in them."""

_FRAME = 8
"""Bytes before a value of the log: its checksum and its length."""


@record
class Head:
    """The small part: versions, the stamp of the last full check, scopes in use, broken files."""

    tantivy: str
    schema: str
    stamp: tuple[tuple[str, int, int, int], ...] = ()
    checked: float = 0.0
    file_count: int = 0
    scopes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    fingerprint: str = ""
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
    for other in _list(cache_dir):
        if other.startswith("gen-") and other != name:
            remove_tree(os.path.join(cache_dir, other))


def remove_tree(folder: str) -> None:
    """Remove a folder of the cache; what cannot be removed is left for the next time."""
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def load_head(generation: str) -> Head:
    """Read the head; raises IndexUnavailableError when it is missing, damaged or of another version."""
    values = _load(os.path.join(generation, "head"))
    try:
        tantivy, schema, stamp, checked, file_count, scopes, problems, fingerprint, version = values
        broken = tuple(Problem(*problem) for problem in problems)
        head = Head(tantivy, schema, stamp, checked, file_count, scopes, broken, fingerprint, version)
    except (TypeError, ValueError) as error:
        raise IndexUnavailableError("the index manifest is of another version") from error
    if head.version != MANIFEST_VERSION:
        raise IndexUnavailableError("the index manifest is of another version")
    return head


def save_head(generation: str, head: Head) -> None:
    """Write the head."""
    problems = tuple((p.message, p.path, p.line, p.hint, p.kind) for p in head.problems)
    _save(
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
            head.version,
        ),
    )


def load_stats(generation: str) -> dict[str, Stat]:
    """Return {path: stat} as of the last check; raises IndexUnavailableError."""
    return _load_table(generation, FILES, 0)


def load_digests(generation: str) -> dict[str, bytes]:
    """Return {path: digest} as of the last check; raises IndexUnavailableError."""
    return _load_table(generation, DIGESTS, 1)


def _load_table(generation: str, name: str, part: int) -> dict[str, Any]:
    table = _load(os.path.join(generation, name))
    if not isinstance(table, dict):
        raise IndexUnavailableError("the index manifest is damaged")
    for entries in _read_log(generation)[0]:
        for path, entry in entries.items():
            if entry[part] is None:
                table.pop(path, None)
            else:
                table[path] = entry[part]
    return table


def save_tables(generation: str, stats: dict[str, Stat], digests: dict[str, bytes]) -> None:
    """Write both tables whole and begin the log anew.

    Stats last: digests that are newer than the stats, or a log that is older than both, only make the
    next check read a file again.
    """
    _save(os.path.join(generation, DIGESTS), digests)
    _save(os.path.join(generation, FILES), stats)
    try:
        os.unlink(os.path.join(generation, LOG))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise IndexUnavailableError(f"the index cannot be written: {error.strerror}") from error


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
    except OSError:
        return found, end
    while end < len(data):
        check, size = (int.from_bytes(data[i : i + 4], "little") for i in (end, end + 4))
        body = data[end + _FRAME : end + _FRAME + size]
        if len(body) != size or crc32(body) != check:
            break  # without the rest, the files that it names are merely read again
        found.append(marshal.loads(body))  # noqa: S302 (our own cache, behind a checksum)
        end += _FRAME + size
    return found, end


def write_file(path: str, data: bytes) -> None:
    """Replace a file of the cache atomically, without fsync: a cache can be rebuilt."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        raise IndexUnavailableError(f"the index cannot be written: {error.strerror}", path=path) from error


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _load(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise IndexUnavailableError("the index manifest is missing", path=path) from error
    body = data[4:]
    if crc32(body) != int.from_bytes(data[:4], "little"):
        raise IndexUnavailableError("the index manifest is damaged", path=path)
    try:
        return marshal.loads(body)  # noqa: S302 (our own cache, behind a checksum)
    except (ValueError, EOFError, TypeError) as error:
        raise IndexUnavailableError("the index manifest is damaged", path=path) from error


def _save(path: str, value: Any) -> None:
    data = marshal.dumps(value)
    write_file(path, crc32(data).to_bytes(4, "little") + data)
