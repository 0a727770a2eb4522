"""The segments of a tantivy index as files, and which of their bullets are alive.

A bullet that leaves the store stays where it is with its *alive bit* off, and coming back turns the bit on: neither
costs more than two small files. What tantivy keeps for that is `SEGMENT.OPSTAMP.del`: the number of documents,
one bit for each (on: alive), and the footer of all of tantivy's files; `meta.json` says which of these files is in
use. A segment without a living bullet is *parked*, if it is worth it: no search opens it, and it is on a list of its
own in the part of meta.json that tantivy leaves to its users.

Only one process may write, which is the caller's to see to. Whatever was written is unknown until meta.json is
replaced, the last step; what a killed writer left behind is removed by the next one.
"""

from __future__ import annotations

import json
import os
from binascii import crc32

from memx.errors import IndexUnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Address = tuple[str, int]
    """A segment's name and a document's number in it."""

META, LOCK = "meta.json", ".tantivy-meta.lock"
"""The list of segments, and what readers hold while they open what it names."""

_WORD = 8
"""Alive bits are written in words of so many bytes, the least significant first."""

_MAGIC = 1337

SMALL, MANY, FAR_TOO_MANY, MERGED = 10_000, 10, 20, 8
"""Ten segments of fewer bullets each are too many for a search: the eight smallest become one. tantivy's own policy
merges eight at least, and these without looking at their sizes up to 10,000 documents each."""

FEW_DEAD = 20
"""More dead bullets than this in a segment may be those of another branch: such a segment is merged only when there
are far too many, because a merge drops them, and it is parked when no bullet in it is left alive."""

PARKED_AT_MOST = 32
"""Segments of other branches that are kept, the newest; each is seven files."""


class Segments:
    """The segments of an index in a folder; nothing changes before `save`."""

    def __init__(self, folder: str) -> None:
        """Read the list; raises IndexUnavailableError when it is missing or damaged."""
        self._folder = folder
        try:
            with open(os.path.join(folder, META), "rb") as file:
                self._meta: dict[str, Any] = json.loads(file.read())
            self._opened = [_Segment(folder, entry) for entry in self._meta["segments"]]
            parked = json.loads(self._meta.get("payload") or "[]")
            self._parked = [_Segment(folder, entry) for entry in parked]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise _damaged() from error
        self._by_name = {segment.name: segment for segment in self._all()}

    def _all(self) -> list[_Segment]:
        return self._parked + self._opened

    @property
    def opstamp(self) -> int:
        """What names the state that was read: another one after each change."""
        return int(self._meta["opstamp"])

    @property
    def names(self) -> list[str]:
        """The names of the segments that a search opens, in tantivy's order."""
        return [segment.name for segment in self._opened]

    @property
    def dead(self) -> int:
        """The number of bullets that take space and are not alive."""
        return sum(segment.dead for segment in self._all())

    def holds(self, address: Address) -> bool:
        """Return whether there is such a document, alive or not."""
        segment = self._by_name.get(address[0])
        return segment is not None and 0 <= address[1] < segment.count

    def turn(self, addresses: Iterable[Address], *, alive: bool) -> None:
        """Turn alive bits on or off; raises IndexUnavailableError for damaged ones."""
        for name, number in addresses:
            self._by_name[name].turn(number, alive=alive)

    def adopt(self, folder: str) -> None:
        """Take over the segments of another index, whose folder is used up."""
        part = Segments(folder)
        for name in os.listdir(folder):
            if name.partition(".")[0] in part._by_name:
                os.rename(os.path.join(folder, name), os.path.join(self._folder, name))
        for segment in part._opened:
            moved = _Segment(self._folder, segment.entry())
            self._opened.append(moved)
            self._by_name[moved.name] = moved

    def drop(self, names: Iterable[str]) -> None:
        """Forget segments; their files are removed by `collect`."""
        for name in names:
            del self._by_name[name]
        self._opened = [segment for segment in self._opened if segment.name in self._by_name]

    def save(self) -> None:
        """Write the bits that changed and then the list; raises OSError."""
        opstamp = self.opstamp + 1
        for segment in self._all():
            segment.save(opstamp)
        segments = self._all()
        opened = [segment for segment in segments if segment.dead < segment.count]
        # As tantivy orders them: bullets that weigh the same come in the order of the segments, whatever was parked.
        self._opened = sorted(opened, key=lambda segment: -segment.count)
        parked = [segment for segment in segments if FEW_DEAD < segment.dead == segment.count]
        self._parked = parked[-PARKED_AT_MOST:]
        self._by_name = {segment.name: segment for segment in self._all()}
        self._meta |= {
            "segments": [segment.entry() for segment in self._opened],
            "payload": json.dumps([segment.entry() for segment in self._parked]),
            "opstamp": opstamp,
        }
        temporary = os.path.join(self._folder, f"{META}.tmp")
        _write_through(temporary, json.dumps(self._meta).encode())
        os.replace(temporary, os.path.join(self._folder, META))

    def collect(self) -> None:
        """Remove files that the list does not name, unless somebody is just opening some of them."""
        from memx.errors import StoreError
        from memx.store.lock import Lock

        lock = Lock(os.path.join(self._folder, LOCK))
        try:
            if lock.try_acquire():
                try:
                    self._remove_unnamed()
                finally:
                    lock.release()
        except (OSError, StoreError):
            return  # where nothing can be removed now, the next writer tries again

    def _remove_unnamed(self) -> None:
        bits = {segment.bits_name for segment in self._all()}
        for name in os.listdir(self._folder):
            is_named = name in bits if name.endswith(".del") else name.partition(".")[0] in self._by_name
            if not is_named and name != META and not name.startswith("."):
                try:  # noqa: SIM105 (contextlib stays unloaded)
                    os.unlink(os.path.join(self._folder, name))
                except OSError:
                    pass  # mapped by a reader, on Windows

    def too_many(self) -> list[str]:
        """Return the names of segments to merge, none while there are few."""
        small = [segment for segment in self._opened if segment.count - segment.dead < SMALL]
        if len(small) < MANY:
            return []
        if len(small) < FAR_TOO_MANY:
            small = [segment for segment in small if segment.dead <= FEW_DEAD]
        smallest = sorted(small, key=lambda segment: segment.count)[:MERGED]
        return [segment.name for segment in smallest] if len(smallest) == MERGED else []

    def lend(self, names: Sequence[str], folder: str) -> None:
        """Make an index of some of the segments in another, empty folder; their files are linked where possible."""
        for name in os.listdir(self._folder):
            if name.partition(".")[0] in names:
                _link(os.path.join(self._folder, name), os.path.join(folder, name))
        entries = [self._by_name[name].entry() for name in names]
        meta = {key: value for key, value in self._meta.items() if key != "payload"} | {"segments": entries}
        _write_through(os.path.join(folder, META), json.dumps(meta).encode())


class _Segment:
    """One segment: how many documents it has and which of them are alive."""

    def __init__(self, folder: str, entry: dict[str, Any]) -> None:
        self._folder = folder
        self._id = str(entry["segment_id"])
        self.name = self._id.replace("-", "")
        self.count = int(entry["max_doc"])
        deletes = entry.get("deletes")
        self.dead, self._opstamp = (
            (int(deletes["num_deleted_docs"]), int(deletes["opstamp"])) if deletes else (0, 0)
        )
        self._bits: bytearray | None = None

    @property
    def bits_name(self) -> str:
        """The name of the file with the bits, empty when all are alive."""
        return f"{self.name}.{self._opstamp}.del" if self.dead else ""

    def entry(self) -> dict[str, Any]:
        """Return what the list says of the segment."""
        deletes = {"num_deleted_docs": self.dead, "opstamp": self._opstamp} if self.dead else None
        return {"segment_id": self._id, "max_doc": self.count, "deletes": deletes}

    def turn(self, number: int, *, alive: bool) -> None:
        """Turn one bit."""
        if self._bits is None:
            self._bits = self._read()
        bit = 1 << number % 8
        if alive:
            self._bits[number // 8] |= bit
        else:
            self._bits[number // 8] &= ~bit

    def save(self, opstamp: int) -> None:
        """Write the bits under a new name if any was turned."""
        if self._bits is None:
            return
        self.dead = self.count - int.from_bytes(self._bits, "little").bit_count()
        self._opstamp = opstamp
        if self.dead:
            data = self.count.to_bytes(4, "little") + bytes(self._bits)
            _write_through(os.path.join(self._folder, self.bits_name), data + self._footer(data))
        self._bits = None

    def _read(self) -> bytearray:
        size = -(-self.count // (8 * _WORD)) * _WORD
        if not self.dead:
            return bytearray(((1 << self.count) - 1).to_bytes(size, "little"))
        try:
            with open(os.path.join(self._folder, self.bits_name), "rb") as file:
                data = file.read()
        except OSError as error:
            raise _damaged() from error
        body, footer = data[: 4 + size], _read_footer(data)
        if crc32(body) != footer["crc"] or int.from_bytes(body[:4], "little") != self.count:
            raise _damaged()
        return bytearray(body[4:])

    def _footer(self, data: bytes) -> bytes:
        """Return tantivy's footer for the bits: its version is that of the segment's other files."""
        with open(os.path.join(self._folder, f"{self.name}.fieldnorm"), "rb") as file:
            file.seek(-min(_FOOTER_AT_MOST, file.seek(0, os.SEEK_END)), os.SEEK_END)
            version = _read_footer(file.read())["version"]
        text = json.dumps({"version": version, "crc": crc32(data)}, separators=(",", ":")).encode()
        return text + len(text).to_bytes(4, "little") + _MAGIC.to_bytes(4, "little")


_FOOTER_AT_MOST = 1_024


def _read_footer(data: bytes) -> dict[str, Any]:
    size, magic = (int.from_bytes(data[at : at + 4], "little") for at in (len(data) - 8, len(data) - 4))
    if magic != _MAGIC or len(data) < 8 + size:
        raise _damaged()
    try:
        footer: dict[str, Any] = json.loads(data[len(data) - 8 - size : len(data) - 8])
    except ValueError as error:
        raise _damaged() from error
    return footer


def _damaged() -> IndexUnavailableError:
    return IndexUnavailableError("the lexical index is damaged", hint="memx reindex")


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        from shutil import copyfile

        copyfile(source, target)


def _write_through(path: str, data: bytes) -> None:
    """Write a file to the disk itself: after a loss of power the list must not name bits that are not there."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
