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

from memx.errors import FrontMatterError, IndexUnavailableError, ModelUnavailableError, StoreError
from memx.index import freshness, manifest
from memx.index.analysis import Analyser, piece_of_plural
from memx.index.freshness import FOLDERS, STAT_ALL_LIMIT
from memx.index.linear import LinearIndex
from memx.index.manifest import Head, Tables
from memx.index.packed import pack
from memx.index.snapshot import Snapshot
from memx.model import Problem, StoredBullet
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from memx.index.building import Built
    from memx.index.freshness import Stat
    from memx.index.kept import Kept
    from memx.index.lexical import LexicalIndex
    from memx.index.manifest import Entry
    from memx.index.packed import PackedBullet
    from memx.index.segments import Address, Segments
    from memx.index.vectors import Vectors
    from memx.model import Bullet

OTHER_MODEL = (
    "vectors: those of this model are still being made, so hits by meaning may be missing; memx reindex waits"
)
"""What a search says between the choice of another model and the end of the work behind its back."""

NEW_TEXTS = (
    "vectors: those of new texts are still being made, so hits by meaning may be missing; memx reindex waits"
)
"""What a search says while another process embeds many texts that a switch of branch or a clone brought."""

OVERLAY_LIMIT = 500
"""More changed files than this are indexed in memory rather than scanned."""

FULL_CHECK_SECONDS = 2.0

REFRESH_ROUNDS = 3
"""How often a refresh that may wait looks again because another process wrote while it looked."""

FEW = 20
"""Up to so many changed files are analysed sooner than what is remembered of other branches is read or written."""

UNSOUND = -1
"""The state of an index to which no tables belong."""

DEAD_LEAST = 4_096
"""An index is rebuilt when more of its bullets are dead than this, and than are alive."""

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
    """What differs between the files and a generation.

    `bullets` are new; `returning` says where those are, by path, that the index holds but that are not alive.
    `entries` is what changes in the tables: {path: (stat, digest)}, None for what is no longer there.
    `listings`: the folders that were looked at, as they were found. `touched`: something has to be written,
    if only a stat. `stamp` was taken before the files were looked at; None: it says nothing new.
    """

    bullets: tuple[PackedBullet, ...]
    returning: dict[str, Address]
    gone: tuple[str, ...]
    problems: tuple[Problem, ...]
    touched: bool
    entries: dict[str, Entry]
    listings: dict[str, bytes]
    tables: Tables
    file_count: int
    stamp: freshness.Stamp | None
    is_complete: bool

    @property
    def paths(self) -> frozenset[str]:
        """The paths whose indexed form no longer holds."""
        return frozenset(self.gone) | self.returning.keys() | {bullet.path for bullet in self.bullets}


class Index:
    """The index of one store."""

    follows_files = True
    """Whether its bullets are the state of the files now."""

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

    def snapshot(self, *, fresh: bool = False, changed: Sequence[str] = ()) -> Snapshot:
        """Return what the files say now, without ever waiting for a writer.

        With `fresh` every file is checked, however many there are. `changed` names files that are known to
        differ from the index: then nothing else is looked at.
        """
        try:
            return self._snapshot(fresh=fresh, changed=changed)
        except IndexUnavailableError:
            return self.recover()

    def recover(self) -> Snapshot:
        """Return a snapshot when the index turned out to be unusable: rebuilt aside, else from the files."""
        try:
            if self.rebuild(wait=False) is not None:
                return self._snapshot()
        except (IndexUnavailableError, StoreError) as error:
            return self._from_files(f"index: {error.message}")
        return self._from_files()

    def _snapshot(self, *, fresh: bool = False, changed: Sequence[str] = ()) -> Snapshot:
        generation, head = self._open_manifest()
        only: tuple[str, ...] | None = None
        if head.file_count > STAT_ALL_LIMIT and not fresh and not changed:
            only = freshness.moved_folders(self._place.root, head.stamp, self._stamp())
            if only == ():
                return self._view(generation, head, checks_hits=True)
        changes = self._named(generation, head, changed) if changed else self._changes(generation, head, only)
        checks_hits = not changes.is_complete
        if not changes.touched:
            view = self._view(generation, head, checks_hits=checks_hits)
            if head.file_count > STAT_ALL_LIMIT:
                self._remember_stamp(generation, head, changes)
            return view
        try:
            is_applied, degraded = self._apply(generation, head, changes, wait=False), ""
        except IndexUnavailableError as error:
            is_applied, degraded = False, f"index: {error.message}"
        if not is_applied:
            return self._overlaid(self._open_lexical(generation), head, changes, degraded)
        return self._view(*self._open_manifest(), checks_hits=checks_hits)

    def _view(self, generation: str, head: Head, *, checks_hits: bool) -> Snapshot:
        """Return what a generation holds; a check is due when the last is old or vectors are missing."""
        is_old = head.file_count > STAT_ALL_LIMIT and time.time() - head.checked > FULL_CHECK_SECONDS
        is_other_model = self.vectors is not None and head.fingerprint.rpartition(" ")[0] not in (
            "",
            self.vectors.fingerprint,
        )
        lacks_vectors = self._is_unembedded(head)
        stat_of = _stat_of(generation) if checks_hits else None
        return Snapshot(
            self._open_lexical(generation),
            head.scopes,
            head.problems,
            check_due=is_old or _has_too_many_dead(head) or not self._is_embedded(head),
            checks_hits=checks_hits,
            stat_of=stat_of,
            degraded=OTHER_MODEL if is_other_model else self._new_texts() if lacks_vectors else "",
        )

    def _is_unembedded(self, head: Head) -> bool:
        """Return whether so many texts of an index may have no vector that a search does not embed them itself."""
        if self.vectors is None:
            return False
        from memx.index.vectors import FEW_TEXTS

        return head.file_count > FEW_TEXTS and (not head.fingerprint or not len(self.vectors.store))

    def _new_texts(self) -> str:
        """Return what a search says of texts without a vector: they are being embedded, or cannot be kept."""
        obstacle = "" if self.vectors is None else self.vectors.obstacle()
        return f"vectors: those of new texts cannot be written: {obstacle}" if obstacle else NEW_TEXTS

    def _lacks_vectors(self, bullets: Sequence[PackedBullet]) -> bool:
        """Return whether texts beside the index have no vector; a few are embedded by the way."""
        if self.vectors is None:
            return False
        from memx.index.vectors import FEW_TEXTS

        try:
            missing = self.vectors.missing(bullets)
        except IndexUnavailableError:
            return True
        return len(missing) > FEW_TEXTS or not self.vectors.ensure(bullets)

    def _overlaid(self, lexical: LexicalIndex, head: Head, changes: Changes, degraded: str) -> Snapshot:
        bullets = (*changes.bullets, *self._analysed(changes.returning))
        scopes = {*head.scopes, *(bullet.scope for bullet in bullets)}
        overlay = _in_memory(bullets)
        if not degraded and (self._is_unembedded(head) or self._lacks_vectors(bullets)):
            degraded = self._new_texts()
        return Snapshot(
            lexical,
            tuple(sorted(scopes)),
            changes.problems,
            overlay=overlay,
            masked=tuple(sorted(changes.paths)),
            check_due=True,
            checks_hits=not changes.is_complete,
            stat_of=lambda path: _known_stat(changes.tables, path),
            degraded=degraded,
        )

    def _analysed(self, paths: Iterable[str]) -> list[PackedBullet]:
        """Return the bullets at some paths from their files, as far as these can be read."""
        from memx.index.bulk import read_bytes

        bullets: list[PackedBullet] = []
        for path in paths:
            state = freshness.stat_bullet(self._place.root, path)
            data = None if state is None else read_bytes(self._place.root, path)
            if state is None or data is None:
                continue
            try:
                bullets.append(self._pack(path, data, state))
            except FrontMatterError:
                continue  # broken since it was compared: the next search says so
        return bullets

    def _from_files(self, degraded: str = "") -> Snapshot:
        changes = self._changes(None, None)
        if not degraded and self._lacks_vectors(changes.bullets):
            degraded = self._new_texts()
        return make_snapshot(changes.bullets, changes.problems, check_due=True, degraded=degraded)

    def linear(self, reason: str) -> Snapshot:
        """Return the files without tantivy, which fails for this reason even on a new index."""
        changes = self._changes(None, None)
        scopes = tuple(sorted({bullet.scope for bullet in changes.bullets}))
        index = LinearIndex(changes.bullets)
        return Snapshot(index, scopes, changes.problems, degraded=f"index: {reason}")

    # Writing

    def unembedded(self) -> int:
        """Return how many bullets have no vector, those apart of which the model knows nothing; 0 without a model.

        Every key is looked up: what an index remembers of its vectors says nothing of a damaged file.
        """
        if self.vectors is None:
            return 0
        missing = self.vectors.missing(self.snapshot().everything())
        try:
            rows = self.vectors.embed(list(missing.values()))
        except ModelUnavailableError:
            return 0
        return sum(row is not None and any(row) for row in rows)

    def refresh(self, *, wait: bool = True, is_thorough: bool = False) -> RefreshOutcome | None:
        """Bring the index up to date; None when that is not possible now, or not yet and `wait` is False.

        is_thorough: look every vector up, and embed all texts anew when some vectors are damaged.
        """
        if is_thorough and self.vectors is not None:
            try:  # noqa: SIM105 (contextlib stays unloaded)
                self.vectors.drop_damaged()
            except (IndexUnavailableError, OSError):
                pass  # `Vectors.obstacle` says why
        for _ in range(REFRESH_ROUNDS if wait else 1):
            outcome = self._refresh(wait=wait, is_thorough=is_thorough)
            if outcome is not None:
                return outcome
        return None

    def _refresh(self, *, wait: bool, is_thorough: bool) -> RefreshOutcome | None:
        try:
            generation, head = self._open_manifest()
            lexical = self._open_lexical(generation)
        except IndexUnavailableError:
            return self.rebuild(wait=wait)
        if _has_too_many_dead(head):
            return self.rebuild(wait=wait)
        self._drop_left_behind(generation)
        if self.vectors is not None and (is_thorough or not self._is_embedded(head)):
            from memx.index.kept import forget

            # An interrupted or impossible embedding is made up for, whatever the files say.
            head = replace(head, fingerprint=self._embedded(lexical.everything()))
            forget(generation)  # the vectors of bullets that are not alive were not looked for
        changes = self._changes(generation, head)
        if not changes.touched:
            self._remember_stamp(generation, head, changes)
        else:
            try:
                if not self._apply(generation, head, changes, wait=wait):
                    return None
            except IndexUnavailableError:
                return None  # the disk is full, say: each search lays the changes over the index
        indexed = len(changes.bullets) + len(changes.returning)
        return RefreshOutcome(indexed, len(changes.gone), rebuilt=False, problems=changes.problems)

    def _drop_left_behind(self, generation: str) -> None:
        """Remove the generations that a killed rebuild left; who builds one holds the lock."""
        cache_dir = self._place.cache_dir
        left = manifest.other_generations(cache_dir, os.path.basename(generation))
        if not left:
            return
        try:
            with _Writing(cache_dir, wait=False) as is_held:
                if is_held and manifest.current_generation(cache_dir) == generation:
                    for name in left:
                        manifest.remove_tree(os.path.join(cache_dir, name))
        except IndexUnavailableError:
            return  # a cache that cannot be written keeps them

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
        read_ns = freshness.now_ns()
        stamp = freshness.remembered(self._stamp(), read_ns)
        try:
            os.makedirs(folder)
            built = self._build(folder, read_ns)
            head = Head(
                lexical.TANTIVY_VERSION,
                lexical.SCHEMA_VERSION,
                stamp,
                read_ns / 1e9,
                built.file_count,
                built.scopes,
                built.problems,
                commit=built.index.segments().opstamp,
            )
            manifest.save_head(folder, replace(head, fingerprint=self._embedded_keys(built)))
            manifest.swap_generation(self._place.cache_dir, name)
        except (IndexUnavailableError, OSError) as error:
            manifest.remove_tree(folder)
            raise IndexUnavailableError(f"the index cannot be built: {error}") from error
        return RefreshOutcome(built.index.size, 0, rebuilt=True, problems=built.problems)

    def _build(self, folder: str, read_ns: int) -> Built:
        """Index all files into a generation's folder and write its tables."""
        from memx.index.building import build

        return build(
            folder,
            self._place,
            read_ns,
            parse=self._parse,
            created_of=self._created_of,
            spread=self._spread,
        )

    def _embedded_keys(self, built: Built) -> str:
        """Embed what is new of a rebuilt index, and drop vectors that nobody uses when they are too many."""
        if self.vectors is None or not self.vectors.ensure_keys(built.keys, built.index.with_keys):
            return ""
        self.vectors.tidy(built.keys, self._place.cache_dir)
        return self.vectors.state

    def _apply(self, generation: str, head: Head, changes: Changes, *, wait: bool) -> bool:
        """Write changes into a generation; False when another process is at it or wrote since they were found.

        What was found before another's write may be older than what that one found: an index never goes back.
        Raises IndexUnavailableError when the cache cannot be written.
        """
        with _Writing(self._place.cache_dir, wait=wait) as is_held:
            if not is_held or manifest.current_generation(self._place.cache_dir) != generation:
                return False
            if not changes.tables.is_current():
                return False
            # Before the index and its tables say that the files are in it: until then a search knows what is new.
            fingerprint = self._embedded(changes.bullets) and head.fingerprint
            if changes.paths:
                # What a killed writer left behind is mended by who looks at all files.
                is_sound = changes.is_complete or _is_sound(generation, head)
                segments = _write_lexical(self._open_lexical(generation), generation, head, changes)
                if segments is None:
                    return False
                head = replace(head, commit=segments.opstamp if is_sound else UNSOUND, dead=segments.dead)
            _save_changes(generation, changes)
            head = _checked(replace(head, fingerprint=fingerprint), changes)
            scopes = {*head.scopes, *(bullet.scope for bullet in changes.bullets)}
            head = replace(
                head,
                file_count=changes.file_count,
                scopes=tuple(sorted(scopes)),
                problems=changes.problems,
            )
            manifest.save_head(generation, head)
        return True

    def _remember_stamp(self, generation: str, head: Head, changes: Changes) -> None:
        if changes.stamp is None:
            return
        try:
            manifest.save_head(generation, _checked(head, changes))
        except IndexUnavailableError:
            return  # a cache that cannot be written is checked again next time

    def _embedded(self, bullets: Iterable[PackedBullet]) -> str:
        """Embed what is new; return the model's fingerprint when all of it has vectors now, else nothing."""
        if self.vectors is None:
            return ""
        return self.vectors.state if self.vectors.ensure(bullets) else ""

    def _is_embedded(self, head: Head) -> bool:
        if self.vectors is None:
            return True
        has_rows = head.file_count == 0 or len(self.vectors.store) > 0
        return head.fingerprint == self.vectors.state and has_rows

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

    def _stamp(self) -> freshness.Stamp:
        return freshness.make_stamp(self._place.root, self._place.git_files)

    def _changes(
        self, generation: str | None, head: Head | None, only: tuple[str, ...] | None = None
    ) -> Changes:
        """Compare the files with a generation; None: with nothing, so all files are new.

        `only`: the folders to look at, with what is below them.
        """
        read_ns = freshness.now_ns()
        stamp = freshness.remembered(self._stamp(), read_ns)
        tables = Tables(generation)
        if only is not None and head is not None and self._is_git_still(head):
            known, found = self._replaced(tables, only)
            if self._is_git_still(head):
                return replace(self._compare(known, found, tables, head, read_ns), stamp=stamp)
        listings = freshness.list_folders(self._place.root, FOLDERS if only is None else only)
        known, found = self._differing(tables, listings, only)
        compared = self._compare(known, found, tables, head, read_ns)
        return replace(compared, listings=listings, stamp=stamp, is_complete=only is None)

    def _is_git_still(self, head: Head) -> bool:
        return freshness.is_git_still(self._place.git_files, head.stamp)

    def _differing(
        self, tables: Tables, listings: dict[str, bytes], only: tuple[str, ...] | None
    ) -> tuple[dict[str, Stat], dict[str, Stat]]:
        """Return the stats, as they were and as they are, of the files that may differ."""
        known: dict[str, Stat] = {}
        found: dict[str, Stat] = {}
        for folder in sorted({*listings, *_below(tables.folders(), only)}):
            listing = listings.get(folder)
            if tables.is_as_listed(folder, listing):
                continue
            before, now = tables.differences(folder, listing)
            known.update({f"{folder}/{name}": stat for name, stat in before.items()})
            found.update({f"{folder}/{name}": stat for name, stat in now.items()})
        return known, found

    def _replaced(self, tables: Tables, only: tuple[str, ...]) -> tuple[dict[str, Stat], dict[str, Stat]]:
        """Return the same for files that came, went or were replaced in these folders: a stat for each of them alone.

        A file that something else than git removed and made anew may pass for the old one: as with an edit in
        place, its own stat tells where it is a hit, and the next full check everywhere.
        """
        known: dict[str, Stat] = {}
        found: dict[str, Stat] = {}
        listed = freshness.list_numbers(self._place.root, only)
        for folder in sorted({*listed, *_below(tables.folders(), only)}):
            before, now = tables.numbers(folder), listed.get(folder, {})
            differing = [name for name, number in now.items() if before.get(name) != number]
            differing += before.keys() - now.keys()
            # Many, and one table of all is the sooner way.
            stats = tables.some_stats(folder, differing) if len(differing) <= FEW else tables.stats(folder)
            for name in differing:
                path = f"{folder}/{name}"
                state = freshness.stat_bullet(self._place.root, path)
                if name in stats and stats[name] != state:
                    known[path] = stats[name]
                if state is not None and stats.get(name) != state:
                    found[path] = state
        return known, found

    def _named(self, generation: str, head: Head, paths: Sequence[str]) -> Changes:
        """Compare only these files with a generation."""
        read_ns = freshness.now_ns()
        tables = Tables(generation)
        known: dict[str, Stat] = {}
        found: dict[str, Stat] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            before = tables.some_stats(folder, (name,)).get(name)
            now = freshness.stat_bullet(self._place.root, path)
            if before is not None:
                known[path] = before
            if now is not None:
                found[path] = now
        compared = self._compare(known, found, tables, head, read_ns)
        ghosts = tuple(path for path in paths if path not in known and path not in found)
        if not ghosts:
            return compared
        # In the index, but neither in the tables nor on the disk: a writer looked before the file went
        # away, and has not written its tables yet, or was killed before it did.
        return replace(compared, gone=tuple(sorted({*compared.gone, *ghosts})), touched=True)

    def _compare(
        self,
        known: dict[str, Stat],
        found: dict[str, Stat],
        tables: Tables,
        head: Head | None,
        read_ns: int,
    ) -> Changes:
        """Read what may be new; `known` and `found` are the stats of the same part of the store."""
        suspects, gone = freshness.difference(known, found)
        # Every search comes here, and the reader of bullets costs it as much as all stats together.
        if suspects:
            from memx.index.bulk import digest_of, front_matter_problem, read_bytes
            from memx.store.paths import name_problem
        problems = head.problems if head else ()
        broken = {p.path: p for p in problems if freshness.stat_bullet(self._place.root, p.path) is not None}
        bullets: list[PackedBullet] = []
        entries: dict[str, Entry] = dict.fromkeys(gone, (None, None))
        is_sound = not suspects or _is_sound(tables.generation, head)
        returned = self._returned(tables.generation, head) if len(suspects) > FEW else None
        returning: dict[str, Address] = {}
        for path in suspects:
            misnamed = name_problem(path)
            if misnamed is not None:
                # No index can hold such a name, so none of the tables does either: it is asked again each time.
                broken[path] = misnamed
                continue
            data = read_bytes(self._place.root, path)
            if data is None:
                gone.append(path)
                if path in known:
                    entries[path] = (None, None)
                continue
            digest = digest_of(data)
            entries[path] = (freshness.proven(found[path], read_ns), digest)
            if is_sound and _digest_before(tables, path, len(suspects)) == digest:
                continue
            broken.pop(path, None)
            if returned is not None and _has_date(data):
                address = returned(path, digest)
                if address is not None:
                    returning[path] = address
                    continue
            try:
                bullets.append(self._pack(path, data, found[path]))
            except FrontMatterError as error:
                broken[path] = front_matter_problem(error, path)
                gone.append(path)
        reported = tuple(broken[path] for path in sorted(broken))
        is_new = [path for path, entry in entries.items() if entry[0] is not None and path not in known]
        is_lost = [path for path, entry in entries.items() if entry[0] is None]
        return Changes(
            tuple(bullets),
            returning,
            tuple(sorted(gone)),
            reported,
            touched=bool(entries or reported != problems),
            entries=entries,
            listings={},
            tables=tables,
            file_count=(head.file_count if head else 0) + len(is_new) - len(is_lost),
            stamp=None,
            is_complete=False,
        )

    def _returned(
        self, generation: str | None, head: Head | None
    ) -> Callable[[str, bytes], Address | None] | None:
        """Return what says where the index holds the bullet of a path and a digest; None when it holds nothing."""
        if generation is None or head is None or not self._is_embedded(head):
            return None
        kept = _open_kept(generation, head)
        segments = self._open_lexical(generation).segments()

        def find(path: str, digest: bytes) -> Address | None:
            address = kept.get(path, digest)
            return address if address is not None and segments.holds(address) else None

        return find

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


def _has_date(data: bytes) -> bool:
    """Return whether a bullet's place in the order by worth is that of its own date, not that of its file."""
    return b"\ncreated:" in data.partition(b"\n---")[0]


def _load_lexical() -> Any:
    try:
        from memx.index import lexical
    except ImportError as error:
        raise IndexUnavailableError(f"tantivy cannot be loaded: {error}") from error
    return lexical


def make_snapshot(
    bullets: tuple[PackedBullet, ...],
    problems: tuple[Problem, ...],
    *,
    check_due: bool = False,
    degraded: str = "",
) -> Snapshot:
    """Return a snapshot of bullets in memory."""
    scopes = tuple(sorted({bullet.scope for bullet in bullets}))
    index = _in_memory(bullets)
    return Snapshot(index, scopes, problems, check_due=check_due, degraded=_why_not_tantivy() or degraded)


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
    few = max(LOG_LEAST, changes.file_count // LOG_SHARE)
    if len(changes.entries) <= few and manifest.append_log(generation, changes.entries, few):
        return
    tables = changes.tables
    new: dict[str, dict[str, Entry]] = {}
    for path, entry in changes.entries.items():
        folder, _, name = path.rpartition("/")
        new.setdefault(folder, {})[name] = entry
    listings: dict[str, bytes] = {}
    digests: dict[str, dict[str, bytes]] = {}
    for folder in sorted({*tables.folders(), *new}):
        stats, hashes = tables.stats(folder), tables.digests(folder)
        for name, (stat, digest) in new.get(folder, {}).items():
            if stat is None or digest is None:
                stats.pop(name, None)
                hashes.pop(name, None)
            else:
                stats[name], hashes[name] = stat, digest
        # In the order of the folder itself, so that the next listing of it is the same bytes.
        order = freshness.read_listing(changes.listings[folder]) if folder in changes.listings else stats
        ordered = {name: stats[name] for name in order if name in stats} | stats
        if ordered:
            listings[folder], digests[folder] = freshness.make_listing(ordered), hashes
    manifest.save_tables(generation, listings, digests)


def _write_lexical(lexical: LexicalIndex, generation: str, head: Head, changes: Changes) -> Segments | None:
    """Write changes into the lexical index; None when a bullet is no longer where it was found."""
    segments = lexical.segments()
    if not all(map(segments.holds, changes.returning.values())):
        return None
    found = lexical.addresses(sorted(changes.paths))
    # The digests of other tables are those of other bullets.
    if len(found) > FEW and head.commit == segments.opstamp:
        _remember(generation, head, changes, found)
    leaving = {address for addresses in found.values() for address in addresses}
    returning = set(changes.returning.values())
    segments = lexical.change(changes.bullets, leaving - returning, returning - leaving)
    try:
        return lexical.tidy(segments)
    except IndexUnavailableError:
        return segments  # there is no room to merge in; the next writer tries again


def _is_sound(generation: str | None, head: Head | None) -> bool:
    """Return whether the tables are those of the index as it is; not after a writer was killed between the two.

    Then a file with the digest of the tables may lie in the index as the killed writer saw it.
    """
    from memx.index.segments import Segments

    if generation is None or head is None:
        return True
    return Segments(os.path.join(generation, manifest.LEXICAL)).opstamp == head.commit


def _remember(generation: str, head: Head, changes: Changes, found: dict[str, list[Address]]) -> None:
    """Remember where the bullets are that a large change takes out: a switch of branch comes back."""
    before = {path: _digest_before(changes.tables, path, len(found)) for path in found}
    _open_kept(generation, head).add(
        {
            (path, digest): addresses[0]
            for path, addresses in found.items()
            if len(addresses) == 1 and (digest := before[path]) is not None
        }
    )


def _digest_before(tables: Tables, path: str, count: int) -> bytes | None:
    """Return the digest of one of `count` files as of the last check."""
    folder, _, name = path.rpartition("/")
    return tables.digest(folder, name, of_many=count > FEW)


def _open_kept(generation: str, head: Head) -> Kept:
    from memx.index.kept import Kept

    return Kept(generation, head.fingerprint)


def _has_too_many_dead(head: Head) -> bool:
    return head.dead > max(DEAD_LEAST, head.file_count)


def _stat_of(generation: str) -> Callable[[str], Stat | None]:
    """Return what says, of an index that is opened afterwards, with which state of a file it was last compared.

    That of another writer who comes later would say that a file is as it was indexed, which is true of his index only.
    """
    version = manifest.tables_version(generation)
    opened: list[Tables] = []

    def stat_of(path: str) -> Stat | None:
        if not opened:
            opened.append(Tables(generation))
        return _known_stat(opened[0], path) if opened[0].version == version else None

    return stat_of


def _known_stat(tables: Tables, path: str) -> Stat | None:
    folder, _, name = path.rpartition("/")
    try:
        stat = tables.some_stats(folder, (name,)).get(name)
    except IndexUnavailableError:
        return None  # nothing is known, so the file is read again
    return stat if tables.is_current() else None


def _checked(head: Head, changes: Changes) -> Head:
    """Return the head with what the check proved: the stamp, and the time when it was one of all files."""
    if changes.stamp is not None:
        head = replace(head, stamp=changes.stamp)
    return replace(head, checked=time.time()) if changes.is_complete else head


def _below(folders: Iterable[str], tops: Sequence[str] | None) -> list[str]:
    """Return the folders at or below some of them; None: all."""
    if tops is None:
        return list(folders)
    return [
        folder for folder in folders if any(folder == top or folder.startswith(f"{top}/") for top in tops)
    ]


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
