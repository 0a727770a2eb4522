"""The journal: recalls counted beside the store, so that a search never dirties the work tree.

One text file, a line an entry, each closed with a full stop: a line that a crash
tore lacks it and is skipped.

    r TIME WINDOW ID... .               recalled at TIME; a repeat within WINDOW seconds counts once
    s TIME WINDOW ID... .               shown without being asked for
    R ID COUNT LAST .                   recalls summed up when the file grew large, the last one counted at LAST
    S ID COUNT LAST .
    F ID TAKEN KNOWN [OLD NEW] .        folds have taken TAKEN recalls in all; no count was ever above KNOWN;
                                        the last fold was to turn OLD into NEW in the bullet's file
    d ID... .                           and did
    c BYTES .                           first in a file that was summed up: how long it was then
    m DIGEST .                          the journal kept elsewhere, of this digest, was taken over

Nothing is ever taken away: what is pending is what was counted less what was
taken. A fold is one line, written before the file it changes, so a crash in
between neither counts a recall twice nor loses it. Writers hold a lock for the
append, because another may be replacing the file. Where the repository cannot be
written, recalls are counted in a second journal elsewhere, as if by a clone of its
own; readers add both up, and the next who may write the first takes the second
over. The hot path imports this module.
"""

from __future__ import annotations

import os

from memx.errors import StoreError
from memx.record import record
from memx.store.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memx.store.usage import Usage

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
    """All that the file says; counts are of this clone's whole life."""

    __slots__ = ("known", "recalled", "shown", "taken", "taken_over", "unsettled")

    def __init__(self) -> None:
        self.taken_over = ""
        self.recalled = _Tally()
        self.shown = _Tally()
        self.taken: dict[str, int] = {}
        self.known: dict[str, int] = {}
        self.unsettled: dict[str, tuple[int, int]] = {}

    def pending(self, identifier: str) -> int:
        # A sum that was lost with a damaged line must not make a count shrink.
        return max(0, self.recalled.counts.get(identifier, 0) - self.taken.get(identifier, 0))

    def take_in(self, other: _Ledger) -> None:
        """Add what another journal of the same store counted and folded."""
        for own, more in ((self.recalled, other.recalled), (self.shown, other.shown)):
            for identifier, count in more.counts.items():
                own.add(identifier, count, more.last[identifier])
        for identifier, taken in other.taken.items():
            self.taken[identifier] = self.taken.get(identifier, 0) + taken
        for identifier, known in other.known.items():
            self.known[identifier] = max(known, self.known.get(identifier, 0))
        self.unsettled.update(other.unsettled)


class Counts:
    """What this clone knows of recalls at one moment."""

    __slots__ = ("_ledger", "_others")

    def __init__(self, ledger: _Ledger, others: Usage) -> None:
        """Take what the journal and the shared counters say; made by `Journal.counts`."""
        self._ledger = ledger
        self._others = others

    @property
    def ids(self) -> frozenset[str]:
        """The ids that anything is known of; the count of all others is that of their files."""
        ledger = self._ledger
        return frozenset(ledger.known).union(ledger.recalled.counts, self._others)

    def effective(self, identifier: str, file_count: int) -> int:
        """Return how often a bullet was recalled, by its file, this clone and the team.

        By this clone: max(the file's value, the highest known here) + what is pending. With shared
        counters: every clone's recalls, and what the file held at the last sync beyond their folds.
        """
        ledger = self._ledger
        own = max(file_count, ledger.known.get(identifier, 0)) + ledger.pending(identifier)
        others = self._others.get(identifier)
        if others is None:
            return own
        return max(own, ledger.recalled.counts.get(identifier, 0) + sum(others))

    def most_recalled(self, limit: int) -> list[str]:
        """Return the ids that this clone recalled most often, at most `limit`."""
        counts = self._ledger.recalled.counts
        return sorted(counts, key=lambda name: (-counts[name], name))[:limit]


class Journal:
    """The recalls of one store's bullets, in `state_dir`, safe for many processes."""

    def __init__(
        self, state_dir: str, *, is_shared: bool = False, beside: str = "", takes_over: bool = False
    ) -> None:
        """Name the folder; nothing is read or made yet. `is_shared`: other clones' counters count too.

        `beside` is the folder of a second journal that counts too: with `takes_over` the next write moves it
        here, otherwise it is only read.
        """
        self._path = os.path.join(state_dir, "journal")
        self._beside = os.path.join(beside, "journal") if beside else ""
        self._takes_over = takes_over
        self._usage_path = ""
        if is_shared:
            from memx.store.usage import USAGE_FILE

            self._usage_path = os.path.join(state_dir, USAGE_FILE)
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
                self._take_over()
                if self._is_long(self._append(entry)):
                    self._replace(self._read_own())
            finally:
                self._lock.release()
        except (OSError, StoreError):
            return False
        return True

    def pending(self, kind: str = "recall") -> dict[str, int]:
        """Return the counts by id that no fold has taken yet."""
        ledger = self._read()
        if kind == "shown":
            return dict(ledger.shown.counts)
        return {name: count for name in ledger.recalled.counts if (count := ledger.pending(name))}

    def unfolded(self) -> set[str]:
        """Return the ids that a fold has something to do for: pending recalls, or a file left behind by a crash."""
        ledger = self._read()
        return {name for name in ledger.recalled.counts if ledger.pending(name)} | ledger.unsettled.keys()

    def known(self) -> dict[str, int]:
        """Return the highest count by id that this clone has seen come out of a fold."""
        return self._read().known

    def counts(self) -> Counts:
        """Return what is known now, to ask about many bullets."""
        others: Usage = {}
        if self._usage_path:
            from memx.store.usage import read_usage

            others = read_usage(self._usage_path)
        return Counts(self._read(), others)

    def effective(self, file_counts: Mapping[str, int]) -> dict[str, int]:
        """Return the effective count for each id given, from the value in its file."""
        counts = self.counts()
        return {name: counts.effective(name, count) for name, count in file_counts.items()}

    def totals(self) -> dict[str, tuple[int, int]]:
        """Return (recalled, taken by folds) by id over this clone's whole life: what `memx sync` shares."""
        ledger = self._read()
        return {name: (count, ledger.taken.get(name, 0)) for name, count in ledger.recalled.counts.items()}

    def fold(self, file_counts: Mapping[str, int], *, catch_up: bool = False) -> dict[str, Recalls]:
        """Take pending recalls for these files; return the new counts of those that must be written.

        A fold adds what is pending to the file's own value, so that two branches that fold one after
        the other merge to the sum. The fold is in the journal before any file is written; a file that a
        crash left behind comes back with the next fold until `settle`. With `catch_up` a file also gets
        what another branch's fold took: for when that branch was thrown away. Ids not given stay
        pending. Raise StoreError.
        """
        with self._lock:
            self._take_over()
            # A second journal folds what it counted itself: this one may be read only.
            ledger, known_here = self._read_own(), self._read().known
            lines: list[str] = []
            due: dict[str, Recalls] = {}
            for identifier, count in file_counts.items():
                base = max(count, known_here.get(identifier, 0)) if catch_up else count
                old, new = ledger.unsettled.get(identifier, (-1, 0))
                # Only the value from before the crash says that the write never happened.
                start = new if old == count and new > base else base
                pending = ledger.pending(identifier)
                if start + pending == count:
                    if identifier in ledger.unsettled:
                        lines.append(f"d {identifier}{_END}\n")
                    continue
                taken = ledger.taken.get(identifier, 0) + pending
                # The file that a crash left behind is already in what is known.
                known = max(start, known_here.get(identifier, 0)) + pending
                lines.append(f"F {identifier} {taken} {known} {count} {start + pending}{_END}\n")
                due[identifier] = Recalls(start + pending, ledger.recalled.last.get(identifier))
            self._append_safely("".join(lines))
            return due

    def settle(self, ids: Iterable[str]) -> None:
        """Note that the files of these bullets hold what the last fold said; raise StoreError."""
        names = " ".join(ids)
        if names:
            with self._lock:
                self._append_safely(f"d {names}{_END}\n")

    def compact(self) -> None:
        """Sum up the events; raise StoreError when the file cannot be replaced."""
        with self._lock:
            self._replace_safely()

    def _append_safely(self, lines: str) -> None:
        if not lines:
            return
        try:
            if self._is_long(self._append(lines.encode("ascii", "replace"), sync=True)):
                self._replace(self._read_own())
        except OSError as error:
            raise StoreError(f"cannot write the journal ({error.strerror})", path=self._path) from error

    def _take_over(self) -> None:
        """Move the second journal in here, under the own lock; a crash in between moves nothing twice."""
        if not self._takes_over or not os.path.exists(self._beside):
            return
        lock = Lock(os.path.join(os.path.dirname(self._beside), "journal.lock"), RECORD_TIMEOUT_S)
        try:
            with lock:
                data = _read_bytes(self._beside)
                digest = _digest(data)
                ledger = self._read_own()
                if data and ledger.taken_over != digest:
                    ledger.take_in(_read_ledger(data))
                    ledger.taken_over = digest
                    self._replace(ledger)
                os.unlink(self._beside)
        except (OSError, StoreError):
            # What cannot be moved now is still read, and moved another day.
            return

    def _replace_safely(self) -> None:
        try:
            self._replace(self._read_own())
        except OSError as error:
            raise StoreError(f"cannot write the journal ({error.strerror})", path=self._path) from error

    def _append(self, entry: bytes, *, sync: bool = False) -> int:
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
            written = os.write(descriptor, entry)
            if sync:
                # The bullet's file is synced after this; it must not survive a power cut alone.
                os.fsync(descriptor)
            return size + written
        finally:
            os.close(descriptor)

    def _is_long(self, size: int) -> bool:
        """Say whether summing up pays: sums that are long themselves must not be written with each recall."""
        if size <= COMPACT_ABOVE_BYTES:
            return False
        with open(self._path, "rb") as file:
            words = file.readline(64).split(b" ")
        summed = int(words[1]) if words[0] == b"c" and len(words) > 1 and words[1].isdigit() else 0
        return size > COMPACT_ABOVE_BYTES + 2 * summed

    def _read(self) -> _Ledger:
        """Return what this journal and the one beside it say."""
        ledger = self._read_own()
        if self._beside:
            try:
                data = _read_bytes(self._beside)
            except StoreError:
                # Another user's, perhaps.
                data = b""
            # A crash may have left the second journal behind after it was taken over.
            if data and not (ledger.taken_over and _digest(data) == ledger.taken_over):
                ledger.take_in(_read_ledger(data))
        return ledger

    def _read_own(self) -> _Ledger:
        return _read_ledger(_read_bytes(self._path))

    def _replace(self, ledger: _Ledger) -> None:
        """Write the ledger over the file. Unsynced folder: losing the rename brings the old, whole file back."""
        lines = []
        for letter, tally in (("R", ledger.recalled), ("S", ledger.shown)):
            lines += [
                f"{letter} {identifier} {count} {tally.last[identifier]:.3f}{_END}"
                for identifier, count in tally.counts.items()
            ]
        for identifier, known in ledger.known.items():
            change = "".join(f" {count}" for count in ledger.unsettled.get(identifier, ()))
            lines.append(f"F {identifier} {ledger.taken.get(identifier, 0)} {known}{change}{_END}")
        if ledger.taken_over:
            lines.append(f"m {ledger.taken_over}{_END}")
        text = "".join(line + "\n" for line in lines)
        from memx.store.atomic import write_atomically

        write_atomically(self._path, f"c {len(text)}{_END}\n{text}".encode("ascii", "replace"))


def _read_bytes(path: str) -> bytes:
    """Return what a journal holds, nothing where there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise StoreError(f"cannot read the journal ({error.strerror})", path=path) from error


def _digest(data: bytes) -> str:
    from memx.digest import sha256

    return sha256(data).hexdigest()[:16]


def _read_ledger(data: bytes) -> _Ledger:
    ledger = _Ledger()
    events: list[tuple[float, float, _Tally, list[str]]] = []
    for line in data.decode("ascii", "replace").split("\n"):
        if line.endswith(_END):
            _read_line(line[: -len(_END)].split(" "), ledger, events)
    # Processes append in the order in which they got the lock, which is not that of their clocks.
    events.sort(key=_time_of)
    for at, window, tally, ids in events:
        for identifier in ids:
            tally.count(identifier, at, window)
    return ledger


def _read_line(
    words: list[str], ledger: _Ledger, events: list[tuple[float, float, _Tally, list[str]]]
) -> None:
    """Take in one whole line; what no version of ours wrote is skipped."""
    try:
        kind, first, *rest = words
        if kind in ("r", "s"):
            tally = ledger.recalled if kind == "r" else ledger.shown
            events.append((float(first), float(rest[0]), tally, rest[1:]))
        elif kind in ("R", "S"):
            tally = ledger.recalled if kind == "R" else ledger.shown
            tally.add(first, int(rest[0]), float(rest[1]))
        elif kind == "F":
            _read_fold(first, [int(word) for word in rest], ledger)
        elif kind == "m":
            ledger.taken_over = first
        elif kind == "d":
            for identifier in (first, *rest):
                ledger.unsettled.pop(identifier, None)
    except (ValueError, IndexError):
        return


def _read_fold(identifier: str, numbers: list[int], ledger: _Ledger) -> None:
    taken, known, *change = numbers
    ledger.taken[identifier] = max(taken, ledger.taken.get(identifier, 0))
    ledger.known[identifier] = max(known, ledger.known.get(identifier, 0))
    if len(change) == 2:  # noqa: PLR2004 (the file's old value and the new one)
        ledger.unsettled[identifier] = (change[0], change[1])


def _time_of(event: tuple[float, float, _Tally, list[str]]) -> float:
    return event[0]
