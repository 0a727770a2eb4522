"""The derived index of one store: opened, checked against the files, refreshed, rebuilt.

The files are the only truth. Whatever is wrong with the cache (missing, damaged,
written by another version, locked by another process, not writable) a snapshot
answers with what the files say: from the index when it can be brought up to
date at once, else from the index with the changed files laid over it, else
from the files alone.
"""

from __future__ import annotations

import os
import time

from memx.errors import FrontMatterError, IndexUnavailableError, StoreError
from memx.index import freshness, manifest
from memx.index.analysis import Analyser, piece_of_plural
from memx.index.freshness import STAT_ALL_LIMIT
from memx.index.linear import LinearIndex
from memx.index.manifest import Head
from memx.index.packed import load, pack
from memx.index.snapshot import Snapshot
from memx.model import Problem, StoredBullet
from memx.record import record, replace
from memx.store.paths import name_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from memx.index.freshness import Stat
    from memx.index.lexical import LexicalIndex
    from memx.index.manifest import Entry
    from memx.index.packed import PackedBullet
    from memx.index.vectors import Vectors
    from memx.model import Bullet

OVERLAY_LIMIT = 500
"""More changed files than this are indexed in memory rather than scanned."""

FULL_CHECK_SECONDS = 2.0

SPREAD_ABOVE, BATCH = 5_000, 500
"""More files than this are read by several processes, so many at a time."""

LOG_LEAST, LOG_SHARE = 50, 20
"""Changes are appended to a log until it holds a twentieth of the store's files (at least so many)."""


@record
class IndexPlace:
    """Where a store and its cache lie, and what the store is called in answers.

    `root` is the store's folder (`.memx`); `git_files` are git's index and
    HEAD of its work tree, whose stats belong to the stamp; an empty
    `cache_dir` means that nothing can be written.
    """

    root: str
    cache_dir: str
    store: str = "project"
    git_files: tuple[str, ...] = ()


@record
class RefreshOutcome:
    """What a refresh did: counts of files and what is wrong with some of them."""

    indexed: int
    removed: int
    rebuilt: bool
    problems: tuple[Problem, ...] = ()


@record
class Changes:
    """What differs between the files and a generation; `stats` and `digests` are the new tables.

    `entries` is what changes in the tables: {path: (stat, digest)}, None for what is no longer there.
    `touched`: something has to be written, if only a stat.
    """

    bullets: tuple[PackedBullet, ...]
    gone: tuple[str, ...]
    stats: dict[str, Stat]
    digests: dict[str, bytes]
    problems: tuple[Problem, ...]
    touched: bool
    entries: dict[str, Entry]

    @property
    def paths(self) -> frozenset[str]:
        """The paths whose indexed form no longer holds."""
        return frozenset(self.gone) | {bullet.path for bullet in self.bullets}


class Index:
    """The index of one store."""

    def __init__(
        self,
        place: IndexPlace,
        vectors: Vectors | None = None,
        *,
        parse: Callable[..., Bullet] | None = None,
        created_of: Callable[[str], float | None] | None = None,
        spread: Callable[..., Iterable[Any]] | None = None,
    ) -> None:
        """Remember the place; nothing is opened yet.

        `parse` reads a file's bytes (default: the store's codec); `created_of`
        dates a file that has no `created` of its own. Without `vectors` there
        is no dense side. `spread(function, batches, *more)` maps on several
        processes; without it a large rebuild uses one.
        """
        self._place = place
        self.vectors = vectors
        self._created_of = created_of
        self._parse = parse
        self._spread = spread
        self._analyser: Analyser | None = None

    # Reading

    def snapshot(self, *, fresh: bool = False) -> Snapshot:
        """Return what the files say now, without ever waiting for a writer.

        With `fresh` every file is checked, however many there are.
        """
        try:
            return self._snapshot(fresh=fresh)
        except IndexUnavailableError:
            return self.recover()

    def recover(self) -> Snapshot:
        """Return a snapshot when the index turned out to be unusable: rebuilt aside, else from the files."""
        try:
            if self.rebuild(wait=False) is not None:
                return self._snapshot(fresh=False)
        except (IndexUnavailableError, StoreError):
            pass
        return self._from_files()

    def _snapshot(self, *, fresh: bool) -> Snapshot:
        generation, head = self._open_manifest()
        stamp = None
        if head.file_count > STAT_ALL_LIMIT and not fresh:
            stamp = freshness.make_stamp(self._place.root, self._place.git_files)
            if stamp == head.stamp:
                lexical = self._open_lexical(generation)
                due = time.time() - head.checked > FULL_CHECK_SECONDS or not self._is_embedded(head)
                return Snapshot(lexical, head.scopes, head.problems, check_due=due, checks_hits=True)
        changes = self._changes(generation, head)
        if not changes.touched:
            lexical = self._open_lexical(generation)
            if stamp is not None:
                self._remember_stamp(generation, head, stamp)
            due = not self._is_embedded(head)
            return Snapshot(lexical, head.scopes, head.problems, check_due=due)
        if self._apply(generation, head, changes, wait=False):
            generation, head = self._open_manifest()
            due = not self._is_embedded(head)
            return Snapshot(self._open_lexical(generation), head.scopes, head.problems, check_due=due)
        return self._overlaid(self._open_lexical(generation), head, changes)

    def _overlaid(self, lexical: LexicalIndex, head: Head, changes: Changes) -> Snapshot:
        scopes = {*head.scopes, *(bullet.scope for bullet in changes.bullets)}
        overlay = _in_memory(changes.bullets)
        return Snapshot(
            lexical,
            tuple(sorted(scopes)),
            changes.problems,
            overlay=overlay,
            masked=tuple(sorted(changes.paths)),
            check_due=True,
        )

    def _from_files(self) -> Snapshot:
        changes = self._changes(None, None)
        return make_snapshot(changes.bullets, changes.problems, check_due=True)

    def linear(self, reason: str) -> Snapshot:
        """Return the files without tantivy, which fails for this reason even on a new index."""
        changes = self._changes(None, None)
        scopes = tuple(sorted({bullet.scope for bullet in changes.bullets}))
        index = LinearIndex(changes.bullets)
        return Snapshot(index, scopes, changes.problems, degraded=f"index: {reason}")

    # Writing

    def refresh(self, *, wait: bool = True) -> RefreshOutcome | None:
        """Bring the index up to date; None when another process is at it and `wait` is False."""
        try:
            generation, head = self._open_manifest()
            lexical = self._open_lexical(generation)
        except IndexUnavailableError:
            return self.rebuild(wait=wait)
        if self.vectors is not None and not self._is_embedded(head):
            # An interrupted or impossible embedding is made up for, whatever the files say.
            head = replace(head, fingerprint=self._embedded(lexical.everything()))
        stamp = freshness.make_stamp(self._place.root, self._place.git_files)
        changes = self._changes(generation, head)
        if not changes.touched:
            self._remember_stamp(generation, head, stamp)
        elif not self._apply(generation, head, changes, wait=wait):
            return None
        return RefreshOutcome(
            len(changes.bullets), len(changes.gone), rebuilt=False, problems=changes.problems
        )

    def rebuild(self, *, wait: bool = True) -> RefreshOutcome | None:
        """Index every file into a new generation and swap it in; None as for `refresh`.

        Raises IndexUnavailableError when the cache cannot be written.
        """
        with _Writing(self._place.cache_dir, wait=wait) as is_held:
            if not is_held:
                return None
            return self._rebuild()

    def _rebuild(self) -> RefreshOutcome:
        lexical = _load_lexical()
        name = manifest.next_generation(self._place.cache_dir)
        folder = os.path.join(self._place.cache_dir, name)
        stamp = freshness.make_stamp(self._place.root, self._place.git_files)
        changes = self._changes(None, None)
        try:
            os.makedirs(os.path.join(folder, manifest.LEXICAL))
            index = lexical.LexicalIndex.create(os.path.join(folder, manifest.LEXICAL))
            index.apply(changes.bullets, bulk=True)
            manifest.save_tables(folder, changes.stats, changes.digests)
            head = Head(lexical.TANTIVY_VERSION, lexical.SCHEMA_VERSION, stamp, time.time())
            head = replace(head, fingerprint=self._embedded(changes.bullets))
            manifest.save_head(folder, _with_changes(head, changes))
            manifest.swap_generation(self._place.cache_dir, name)
        except (IndexUnavailableError, OSError) as error:
            manifest.remove_tree(folder)
            raise IndexUnavailableError(f"the index cannot be built: {error}") from error
        return RefreshOutcome(len(changes.bullets), 0, rebuilt=True, problems=changes.problems)

    def _apply(self, generation: str, head: Head, changes: Changes, *, wait: bool) -> bool:
        """Write changes into a generation; False when that is not possible now."""
        try:
            with _Writing(self._place.cache_dir, wait=wait) as is_held:
                if not is_held or manifest.current_generation(self._place.cache_dir) != generation:
                    return False
                stamp = freshness.make_stamp(self._place.root, self._place.git_files)
                if changes.paths:
                    lexical = self._open_lexical(generation)
                    lexical.apply(changes.bullets, sorted(changes.paths))
                _save_changes(generation, changes)
                fingerprint = self._embedded(changes.bullets) and head.fingerprint
                head = replace(head, stamp=stamp, checked=time.time(), fingerprint=fingerprint)
                manifest.save_head(generation, _with_changes(head, changes))
        except IndexUnavailableError:
            return False
        return True

    def _remember_stamp(self, generation: str, head: Head, stamp: freshness.Stamp) -> None:
        try:
            manifest.save_head(generation, replace(head, stamp=stamp, checked=time.time()))
        except IndexUnavailableError:
            return  # a cache that cannot be written is checked again next time

    def _embedded(self, bullets: Iterable[PackedBullet]) -> str:
        """Embed what is new; return the model's fingerprint when all of it has vectors now, else nothing."""
        if self.vectors is None:
            return ""
        return self.vectors.fingerprint if self.vectors.ensure(bullets) else ""

    def _is_embedded(self, head: Head) -> bool:
        if self.vectors is None:
            return True
        has_rows = head.file_count == 0 or len(self.vectors.store) > 0
        return head.fingerprint == self.vectors.fingerprint and has_rows

    # Parts

    def _open_manifest(self) -> tuple[str, Head]:
        generation = manifest.current_generation(self._place.cache_dir) if self._place.cache_dir else None
        if generation is None:
            raise IndexUnavailableError("there is no index yet")
        lexical = _load_lexical()
        head = manifest.load_head(generation)
        if (head.tantivy, head.schema) != (lexical.TANTIVY_VERSION, lexical.SCHEMA_VERSION):
            raise IndexUnavailableError("the index is of another version")
        return generation, head

    def _open_lexical(self, generation: str) -> LexicalIndex:
        folder = os.path.join(generation, manifest.LEXICAL)
        opened: LexicalIndex = _load_lexical().LexicalIndex.open(folder)
        return opened

    def _changes(self, generation: str | None, head: Head | None) -> Changes:
        """Compare the files with a generation; None: with nothing, so all files are new."""
        read_ns = freshness.now_ns()
        known = manifest.load_stats(generation) if generation else {}
        found = freshness.stat_files(self._place.root)
        if found == known and head is not None:
            return Changes((), (), known, {}, head.problems, touched=False, entries={})
        digests = manifest.load_digests(generation) if generation else {}
        return self._read_changes(known, found, digests, head.problems if head else (), read_ns)

    def _read_changes(
        self,
        known: dict[str, Stat],
        found: dict[str, Stat],
        digests: dict[str, bytes],
        problems: tuple[Problem, ...],
        read_ns: int,
    ) -> Changes:
        from memx.index.bulk import digest_of, front_matter_problem

        suspects, gone = freshness.difference(known, found)
        broken = {problem.path: problem for problem in problems if problem.path in found}
        bullets: list[PackedBullet] = []
        stats = dict(found)
        if not known and self._spread is not None and self._parse is None and len(suspects) > SPREAD_ABOVE:
            try:
                return self._spread_changes(self._spread, found, read_ns)
            except (OSError, RuntimeError):
                pass  # no processes to be had, or one was killed: alone then
        for path in suspects:
            misnamed = name_problem(path)
            if misnamed is not None:
                # No index can hold such a name, so none of the tables does either: it is asked again each time.
                broken[path] = misnamed
                stats.pop(path)
                continue
            data = self._read(path)
            if data is None:
                gone.append(path)
                stats.pop(path)
                continue
            stats[path] = freshness.proven(found[path], read_ns)
            digest = digest_of(data)
            if digests.get(path) == digest:
                continue
            digests[path] = digest
            broken.pop(path, None)
            try:
                bullets.append(self._pack(path, data, found[path]))
            except FrontMatterError as error:
                broken[path] = front_matter_problem(error, path)
                gone.append(path)
        for path in gone:
            if path not in stats:
                digests.pop(path, None)
        reported = tuple(broken[path] for path in sorted(broken))
        return Changes(
            tuple(bullets),
            tuple(sorted(gone)),
            stats,
            digests,
            reported,
            touched=stats != known or bool(gone or bullets or reported != problems),
            entries={path: (stats.get(path), digests.get(path)) for path in (*suspects, *gone)},
        )

    def _spread_changes(
        self, spread: Callable[..., Iterable[Any]], found: dict[str, Stat], read_ns: int
    ) -> Changes:
        """Read, parse and analyse all files in several processes: what a rebuild of a large store spends most on."""
        from memx.index.bulk import pack_files

        broken = {path: problem for path in found if (problem := name_problem(path)) is not None}
        files = [(path, found[path]) for path in sorted(found) if path not in broken]
        batches = [files[at : at + BATCH] for at in range(0, len(files), BATCH)]
        bullets: list[PackedBullet] = []
        stats: dict[str, Stat] = {}
        digests: dict[str, bytes] = {}
        for results in spread(pack_files, batches, self._place.root, self._place.store):
            for path, digest, data, problem in results:
                if digest is None:
                    continue  # removed while we looked
                stats[path], digests[path] = freshness.proven(found[path], read_ns), digest
                if data is not None:
                    bullets.append(self._dated(load(data)))
                else:
                    broken[path] = problem
        reported = tuple(broken[path] for path in sorted(broken))
        return Changes(tuple(bullets), (), stats, digests, reported, touched=True, entries={})

    def _dated(self, packed: PackedBullet) -> PackedBullet:
        if packed.created is not None or self._created_of is None:
            return packed
        return replace(packed, created=self._created_of(packed.path))

    def _read(self, path: str) -> bytes | None:
        try:
            with open(os.path.join(self._place.root, path), "rb") as file:
                return file.read()
        except OSError:
            return None

    def _pack(self, path: str, data: bytes, state: Stat) -> PackedBullet:
        if self._parse is None:
            from memx.store.codec import parse_bullet

            self._parse = parse_bullet
        bullet = self._parse(data, path=path)
        if bullet.created is None and self._created_of is not None:
            bullet = replace(bullet, created=self._created_of(path))
        stored = StoredBullet(bullet, path, self._place.store, path.startswith("archive/"))
        return pack(stored, self.analyser, state)

    @property
    def store(self) -> str:
        """What the store is called in answers."""
        return self._place.store

    @property
    def analyser(self) -> Analyser:
        """The analyser of this process: with tantivy's stemmers, or a poor man's without."""
        if self._analyser is None:
            self._analyser = make_analyser()
        return self._analyser


def make_analyser() -> Analyser:
    """Return an analyser with tantivy's stemmers; without tantivy plurals alone are understood."""
    try:
        return Analyser(_load_lexical().make_stem())
    except IndexUnavailableError:
        return Analyser(lambda word: (piece_of_plural(word),))


def _load_lexical() -> Any:
    try:
        from memx.index import lexical
    except ImportError as error:
        raise IndexUnavailableError(f"tantivy cannot be loaded: {error}") from error
    return lexical


def make_snapshot(
    bullets: tuple[PackedBullet, ...], problems: tuple[Problem, ...], *, check_due: bool = False
) -> Snapshot:
    """Return a snapshot of bullets in memory."""
    scopes = tuple(sorted({bullet.scope for bullet in bullets}))
    index = _in_memory(bullets)
    return Snapshot(index, scopes, problems, check_due=check_due, degraded=_why_not_tantivy())


def _in_memory(bullets: tuple[PackedBullet, ...]) -> LexicalIndex | LinearIndex:
    if len(bullets) <= OVERLAY_LIMIT:
        return LinearIndex(bullets)
    try:
        index: LexicalIndex = _load_lexical().LexicalIndex.in_memory()
        index.apply(bullets, bulk=True)
    except IndexUnavailableError:
        return LinearIndex(bullets)
    return index


def _why_not_tantivy() -> str:
    try:
        _load_lexical()
    except IndexUnavailableError as error:
        return f"index: {error.message}"
    return ""


def _save_changes(generation: str, changes: Changes) -> None:
    """Write the tables anew only when most of them changed, or when the log of changes has grown long."""
    few = max(LOG_LEAST, len(changes.stats) // LOG_SHARE)
    if len(changes.entries) > few or not manifest.append_log(generation, changes.entries, few):
        manifest.save_tables(generation, changes.stats, changes.digests)


def _with_changes(head: Head, changes: Changes) -> Head:
    scopes = {*head.scopes, *(bullet.scope for bullet in changes.bullets)}
    return replace(
        head, file_count=len(changes.stats), scopes=tuple(sorted(scopes)), problems=changes.problems
    )


class _Writing:
    """The right to write a cache, held by one process at a time; entering says whether it was got."""

    def __init__(self, cache_dir: str, *, wait: bool) -> None:
        self._cache_dir = cache_dir
        self._wait = wait

    def __enter__(self) -> bool:
        from memx.store.lock import Lock

        if not self._cache_dir:
            raise IndexUnavailableError("no folder for the index can be written")
        try:
            os.makedirs(self._cache_dir, exist_ok=True)
            self._lock = Lock(os.path.join(self._cache_dir, "lock"))
            if self._wait:
                self._lock.acquire()
                return True
            return self._lock.try_acquire()
        except (OSError, StoreError) as error:
            raise IndexUnavailableError(f"the index cannot be written: {error}") from error

    def __exit__(self, *exception: object) -> None:
        self._lock.release()
