"""The journal: recalls counted beside the store, so that a search never dirties the work tree.

One text file, a line an entry, each closed with a full stop: a line that a crash
tore lacks it and is skipped.

    r TIME WINDOW ID... .      recalled at TIME; a repeat within WINDOW seconds counts once
    s TIME WINDOW ID... .      shown without being asked for
    R ID COUNT LAST .          recalls summed up when the file grew large, the last one counted at LAST
    S ID COUNT LAST .
    f ID HIGHEST LAST .        the highest recall count ever folded into the bullet's file

Sums, folds and events live in one file, so one atomic replace moves a count from
pending to folded: no crash counts it twice. Writers hold a lock for the append,
because a fold may be replacing the file. The hot path imports this module.
"""

from __future__ import annotations

import os

from memx.errors import StoreError
from memx.record import record
from memx.store.atomic import write_atomically
from memx.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COMPACT_ABOVE_BYTES = 512 * 1024
RECORD_TIMEOUT_S = 0.25

_END = " ."
_KINDS = {"recall": "r", "shown": "s"}


@record
class Recalls:
    """How often a bullet was recalled in all, and when last, in seconds since the epoch."""

    count: int
    last: float | None = None


class _Tally:
    """Counts by id, from sums and events."""

    __slots__ = ("counts", "last")

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.last: dict[str, float] = {}

    def count(self, identifier: str, at: float, window: float) -> None:
        last = self.last.get(identifier)
        if last is not None and abs(at - last) < window:
            return
        self.counts[identifier] = self.counts.get(identifier, 0) + 1
        self.last[identifier] = at if last is None else max(at, last)

    def add(self, identifier: str, count: int, last: float) -> None:
        self.counts[identifier] = self.counts.get(identifier, 0) + count
        self.last[identifier] = max(last, self.last.get(identifier, last))


class _Ledger:
    """All that the file says."""

    __slots__ = ("folded", "recalled", "shown")

    def __init__(self) -> None:
        self.recalled = _Tally()
        self.shown = _Tally()
        self.folded: dict[str, int] = {}


class Journal:
    """The recalls of one store's bullets, in `state_dir`, safe for many processes."""

    def __init__(self, state_dir: str) -> None:
        """Name the folder; nothing is read or made yet."""
        self._path = os.path.join(state_dir, "journal")
        self._lock = Lock(os.path.join(state_dir, "journal.lock"))

    def record(self, ids: Iterable[str], now: float, window_minutes: float, kind: str = "recall") -> bool:
        """Note that bullets were recalled or shown; return False when it could not be counted.

        Never raises for the file system: a recall matters more than its count.
        """
        names = " ".join(ids)
        if not names:
            return True
        entry = f"{_KINDS[kind]} {now:.3f} {window_minutes * 60:g} {names}{_END}\n".encode()
        try:
            self._lock.acquire(RECORD_TIMEOUT_S)
            try:
                if self._append(entry) > COMPACT_ABOVE_BYTES:
                    self._replace(self._read())
            finally:
                self._lock.release()
        except (OSError, StoreError):
            return False
        return True

    def pending(self, kind: str = "recall") -> dict[str, int]:
        """Return the counts by id that no fold has taken yet."""
        ledger = self._read()
        counts = ledger.recalled.counts if kind == "recall" else ledger.shown.counts
        return {identifier: count for identifier, count in counts.items() if count}

    def folded(self) -> dict[str, int]:
        """Return the highest count by id that this clone has folded into a file."""
        return self._read().folded

    def effective(self, file_counts: Mapping[str, int]) -> dict[str, int]:
        """Return max(the file's value, the highest folded) + pending for each id given."""
        ledger = self._read()
        return {
            identifier: max(count, ledger.folded.get(identifier, 0))
            + ledger.recalled.counts.get(identifier, 0)
            for identifier, count in file_counts.items()
        }

    def fold(self, file_counts: Mapping[str, int]) -> dict[str, Recalls]:
        """Turn pending recalls into counts for the files; return those whose file lags behind.

        The fold is in the journal before any file is written, and files that still lag come
        back with the next fold: stopping anywhere loses nothing and counts nothing twice.
        Ids not given (bullets of another branch) stay pending. Raise StoreError.
        """
        try:
            with self._lock:
                ledger = self._read()
                for identifier, count in file_counts.items():
                    pending = ledger.recalled.counts.get(identifier, 0)
                    if pending:
                        ledger.folded[identifier] = max(count, ledger.folded.get(identifier, 0)) + pending
                        ledger.recalled.counts[identifier] = 0
                self._replace(ledger)
        except OSError as error:
            raise StoreError(f"cannot write the journal ({error.strerror})", path=self._path) from error
        return {
            identifier: Recalls(ledger.folded[identifier], ledger.recalled.last.get(identifier))
            for identifier, count in file_counts.items()
            if ledger.folded.get(identifier, 0) > count
        }

    def compact(self) -> None:
        """Sum up the events; raise StoreError when the file cannot be replaced."""
        try:
            with self._lock:
                self._replace(self._read())
        except OSError as error:
            raise StoreError(f"cannot write the journal ({error.strerror})", path=self._path) from error

    def _append(self, entry: bytes) -> int:
        """Write one entry in one call and return the size of the file."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, flags, 0o666)
        try:
            size = os.lseek(descriptor, 0, os.SEEK_END)
            if size:
                os.lseek(descriptor, size - 1, os.SEEK_SET)
                if os.read(descriptor, 1) != b"\n":
                    # A writer died in the middle of its line: begin a new one.
                    entry = b"\n" + entry
            return size + os.write(descriptor, entry)
        finally:
            os.close(descriptor)

    def _read(self) -> _Ledger:
        ledger = _Ledger()
        try:
            with open(self._path, "rb") as file:
                text = file.read().decode("ascii", "replace")
        except FileNotFoundError:
            return ledger
        except OSError as error:
            raise StoreError(f"cannot read the journal ({error.strerror})", path=self._path) from error
        events: list[tuple[float, float, _Tally, list[str]]] = []
        for line in text.split("\n"):
            if line.endswith(_END):
                _read_line(line[: -len(_END)].split(" "), ledger, events)
        # Processes append in the order in which they got the lock, which is not that of their clocks.
        events.sort(key=_time_of)
        for at, window, tally, ids in events:
            for identifier in ids:
                tally.count(identifier, at, window)
        return ledger

    def _replace(self, ledger: _Ledger) -> None:
        """Write the ledger over the file. Unsynced folder: losing the rename brings the old, whole file back."""
        lines = [f"f {identifier} {count} 0{_END}" for identifier, count in ledger.folded.items()]
        for letter, tally in (("R", ledger.recalled), ("S", ledger.shown)):
            # A sum of nothing stays for its time: a repeat just after a fold must not count again.
            lines += [
                f"{letter} {identifier} {count} {tally.last[identifier]:.3f}{_END}"
                for identifier, count in tally.counts.items()
            ]
        write_atomically(self._path, "".join(line + "\n" for line in lines).encode("ascii", "replace"))


def _read_line(
    words: list[str], ledger: _Ledger, events: list[tuple[float, float, _Tally, list[str]]]
) -> None:
    """Take in one whole line; what no version of ours wrote is skipped."""
    try:
        kind, first, second, *rest = words
        if kind in ("r", "s"):
            tally = ledger.recalled if kind == "r" else ledger.shown
            events.append((float(first), float(second), tally, rest))
        elif kind in ("R", "S"):
            tally = ledger.recalled if kind == "R" else ledger.shown
            tally.add(first, int(second), float(rest[0]))
        elif kind == "f":
            ledger.folded[first] = max(int(second), ledger.folded.get(first, 0))
    except (ValueError, IndexError):
        return


def _time_of(event: tuple[float, float, _Tally, list[str]]) -> float:
    return event[0]
