"""The use case of searching: stores and a question in, ranked hits and a JSON document out."""

from __future__ import annotations

import os

from memx.decay import weight
from memx.errors import IndexUnavailableError, UsageError
from memx.generator.budget import fit
from memx.generator.generator import Generator, default_engines
from memx.generator.scopes import Viewer, is_visible, scope_of, viewer_of, workspace_name
from memx.index.aliases import problem as alias_problem
from memx.index.freshness import stat_file
from memx.index.query import Filters
from memx.model import SECTIONS, TYPES, Hit
from memx.record import record, replace
from memx.supersession import rivals, superseders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from memx.config import Config
    from memx.generator.generator import Engines, Ranking, Scored
    from memx.generator.vector import VectorSearcher
    from memx.index.analysis import Analyser
    from memx.index.fixed import FixedIndex
    from memx.index.index import Index
    from memx.index.packed import PackedBullet
    from memx.index.snapshot import Snapshot
    from memx.model import Problem
    from memx.store.journal import Counts

    Answer = TypeVar("Answer")

JSON_VERSION = 1

LOST_VECTORS = (
    "vectors: those of some texts are missing, so hits by meaning may be, too; memx reindex makes them"
)

STALE_ROUNDS = 3
"""How often the files of an answer are read anew before all files of the store are checked."""


@record
class SearchRequest:
    """A question; the fields are the flags of `memx search`. None and empty mean: not given."""

    query: str
    max_results: int | None = None
    token_budget: int | None = None
    scope: str = ""
    workspace: str = ""
    section: str = ""
    type: str = ""
    tag: tuple[str, ...] = ()
    path: str = ""
    rev: str = ""
    archived: bool = False
    fresh: bool = False


@record
class SearchStore:
    """A store that is searched: its index, its folder, and what its journal knows of recalls.

    `snapshot`: one that the caller has taken already, so that files are not checked twice.
    """

    index: Index | FixedIndex
    root: str
    counts: Counts | None = None
    snapshot: Snapshot | None = None


@record
class SearchAnswer:
    """Ranked hits, what was missing (`degraded`), broken files, tokens of all hits.

    `check_due`: indexes whose files should be checked in the background now. `has_gaps`: a bullet has no vector
    although its index is complete. `is_weak`: not even the first hit is surely about the query.
    """

    query: str
    scope: str
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    tokens: int = 0
    check_due: tuple[Index | FixedIndex, ...] = ()
    has_gaps: bool = False
    is_weak: bool = False

    def document(self) -> dict[str, Any]:
        """Return the JSON document (design: section 5)."""
        return {
            "version": JSON_VERSION,
            "query": self.query,
            "scope": self.scope,
            "hits": [hit_document(hit) for hit in self.hits],
            "weak": self.is_weak,
            "degraded": list(self.degraded),
            "problems": [
                {"message": p.message, "path": p.path, "line": p.line, "hint": p.hint} for p in self.problems
            ],
            "tokens": self.tokens,
        }


HIT_KEYS = (
    "id",
    "path",
    "store",
    "section",
    "type",
    "scope",
    "text",
    "score",
    "keyword",
    "blended",
    "l1",
    "l2",
    "l3",
    "semantic",
    "decay",
    "recency_boost",
    "scope_boost",
    "instructivity",
    "recall_count",
    "archived",
    "truncated",
    "conflicts_with",
    "superseded",
    "drifted",
    "title",
    "source",
    "created",
)


def hit_document(hit: Hit) -> dict[str, Any]:
    """Return one hit as JSON values."""
    values = {key: getattr(hit, key) for key in HIT_KEYS}
    values["conflicts_with"] = list(hit.conflicts_with)
    return values


def search(
    request: SearchRequest,
    stores: Sequence[SearchStore],
    *,
    config: Config,
    now: float,
    viewer: Viewer,
    vector_problem: str = "",
    engines: Engines | None = None,
    drifted: frozenset[str] = frozenset(),
) -> SearchAnswer:
    """Answer a question from several stores.

    `viewer` is who looks when the request names no scope; `vector_problem` is
    the reason when the indexes have no vectors; `drifted` holds ids whose
    anchors are known to have moved; `engines` replaces the four layers.
    Raises UsageError for a blank query or an unknown filter.
    """
    check_request(request)
    asked = Searching(request, stores, config, now, viewer, vector_problem, engines, drifted)
    return asked.answer()


class Searching:
    """One question on its way: snapshots, ranking, answer."""

    def __init__(
        self,
        request: SearchRequest,
        stores: Sequence[SearchStore],
        config: Config,
        now: float,
        viewer: Viewer,
        vector_problem: str = "",
        engines: Engines | None = None,
        drifted: frozenset[str] = frozenset(),
    ) -> None:
        """Take the request as `check_request` left it; raises UsageError for a scope of another form."""
        self._request = request
        self._stores = stores
        self._config = config
        self._now = now
        self.viewer = request_viewer(request, viewer)
        self._engines = engines or default_engines(make_vector_searcher([store.index for store in stores]))
        self._vector_problem = vector_problem or "there are no vectors"
        self._drifted = drifted
        self._analyser: Analyser = stores[0].index.analyser if stores else _bare_analyser()

    def with_request(self, request: SearchRequest) -> Searching:
        """Return the same search for another request."""
        return Searching(
            request,
            self._stores,
            self._config,
            self._now,
            self.viewer,
            self._vector_problem,
            self._engines,
            self._drifted,
        )

    def answer(self) -> SearchAnswer:
        """Return the whole answer."""
        snapshots, ranking = self._settled()
        if self._fill_gaps(snapshots):
            snapshots, ranking = self._settled()
        hits, tokens = self._hits(snapshots, ranking)
        return SearchAnswer(
            self._request.query,
            scope_of(self.viewer),
            hits,
            self._degraded(snapshots, ranking),
            tuple(problem for snapshot in snapshots for problem in snapshot.problems),
            tokens,
            tuple(
                store.index
                for store, snapshot in zip(self._stores, snapshots, strict=True)
                if snapshot.check_due
            ),
            self._has_gaps,
            ranking.is_weak,
        )

    def _settled(self) -> tuple[list[Snapshot], Ranking]:
        return self.settle(self._rank, lambda found: [scored.bullet for scored in found.hits])

    @property
    def _has_gaps(self) -> bool:
        """Whether a bullet that was scored has no vector."""
        return self._engines.vector is not None and self._engines.vector.has_gaps

    def _fill_gaps(self, snapshots: Sequence[Snapshot]) -> bool:
        """Embed what lost its vector in stores of a few bullets; return whether the question has another answer now."""
        if self._engines.vector is None:
            return False
        from memx.index.vectors import FEW_TEXTS

        filled = False
        for store, snapshot in zip(self._stores, snapshots, strict=True):
            vectors = store.index.vectors
            if vectors is None or not 0 < snapshot.size <= FEW_TEXTS:
                continue
            is_short = len(vectors.store) < snapshot.size  # or texts are alike, and then nothing is added
            if is_short or self._has_gaps or not vectors.store.seems_whole():
                before = vectors.added
                filled |= vectors.mend(snapshot.everything()) and vectors.added > before
        if filled:
            self._engines.vector.has_gaps = False
        return filled

    def settle(
        self,
        ask: Callable[[Sequence[Snapshot]], Answer],
        bullets_of: Callable[[Answer], Sequence[PackedBullet]],
    ) -> tuple[list[Snapshot], Answer]:
        """Ask until no file in the answer differs from what was indexed: their own files first, at last all."""
        snapshots, answer = self.attempt(ask, fresh=self._request.fresh)
        for _ in range(STALE_ROUNDS):
            changed = self._changed(snapshots, bullets_of(answer))
            if not changed:
                return snapshots, answer
            snapshots, answer = self.attempt(ask, changed=changed)
        if self._changed(snapshots, bullets_of(answer)):
            return self.attempt(ask, fresh=True)
        return snapshots, answer

    def attempt(
        self,
        ask: Callable[[Sequence[Snapshot]], Answer],
        *,
        fresh: bool = False,
        changed: dict[str, list[str]] | None = None,
    ) -> tuple[list[Snapshot], Answer]:
        """Ask snapshots of the stores; where an index turns out to be damaged, it is rebuilt or done without."""
        snapshots = self.snapshots(fresh=fresh, changed=changed)
        try:
            return snapshots, ask(snapshots)
        except IndexUnavailableError:
            snapshots = [store.index.recover() for store in self._stores]
        try:
            return snapshots, ask(snapshots)
        except IndexUnavailableError as error:
            snapshots = [store.index.linear(error.message) for store in self._stores]
            return snapshots, ask(snapshots)

    def ranking(self) -> Ranking:
        """Return the ranked hits without texts being fitted to the budget."""
        return self.attempt(self._rank)[1]

    def snapshots(self, *, fresh: bool, changed: dict[str, list[str]] | None = None) -> list[Snapshot]:
        """Return what the stores hold now; snapshots that were given are used as they are.

        `changed` names files, by store, that are known to differ from the index.
        """
        if changed:
            return [
                store.index.snapshot(changed=changed.get(store.index.store, ())) for store in self._stores
            ]
        return [
            store.snapshot if store.snapshot is not None and not fresh else store.index.snapshot(fresh=fresh)
            for store in self._stores
        ]

    def _rank(self, snapshots: Sequence[Snapshot]) -> Ranking:
        """Rank without superseded bullets, unless the archive was asked for too: they are history."""
        request = self._request
        generator = self.generator(snapshots)
        limit = wanted = request.max_results or self._config.generator.max_results
        while True:
            ranking = generator.rank(request.query, path=request.path, limit=wanted)
            if request.archived:
                return ranking
            current = [s for s in ranking.hits if not self.is_superseded(s.bullet, snapshots)]
            if len(current) == len(ranking.hits) or len(current) >= limit or len(ranking.hits) < wanted:
                return replace(ranking, hits=tuple(current[:limit]))
            wanted += len(ranking.hits) - len(current)

    def is_superseded(self, bullet: PackedBullet, snapshots: Sequence[Snapshot]) -> bool:
        """Return whether a bullet of the same store that this viewer sees has taken the place of another."""
        return bool(self.superseders(bullet, snapshots))

    def superseders(self, bullet: PackedBullet, snapshots: Sequence[Snapshot]) -> list[str]:
        """Return the bullets that have taken another's place, of its store only: a store decides about its own."""
        return superseders(bullet.id, self._naming(bullet.store, snapshots))

    def conflicts(self, bullet: PackedBullet, snapshots: Sequence[Snapshot]) -> tuple[str, ...]:
        """Return what a bullet conflicts with: its marks, and those with which it supersedes each other."""
        if not bullet.supersedes:
            return bullet.conflicts_with
        others = rivals(bullet.id, self._naming(bullet.store, snapshots))
        return tuple(dict.fromkeys((*bullet.conflicts_with, *others)))

    def _naming(self, store: str, snapshots: Sequence[Snapshot]) -> Callable[[str], list[str]]:
        """Return what finds the live bullets of a store, of those that this viewer sees, that supersede an id."""
        own = [s for at, s in zip(self._stores, snapshots, strict=True) if at.index.store == store]

        def naming(identifier: str) -> list[str]:
            facet = f"supersedes:{identifier}"
            return [
                bullet.id
                for snapshot in own
                if snapshot.count("facet", facet)
                for bullet in snapshot.with_facet(facet)
                if not bullet.archived and is_visible(bullet.scope, self.viewer)
            ]

        return naming

    def generator(self, snapshots: Sequence[Snapshot]) -> Generator:
        """Return the generator for these snapshots."""
        return Generator(
            snapshots,
            self._analyser,
            self._config.generator,
            self.viewer,
            self._engines,
            now=self._now,
            decay=self.decay,
            filters=request_filters(self._request),
        )

    def decay(self, bullet: PackedBullet) -> float:
        """Return the weight of a bullet now."""
        return weight(
            self._now,
            bullet.created,
            bullet.updated,
            bullet.accepted,
            self.recalls(bullet),
            bullet.type,
            bullet.half_life_days,
            bullet.pinned,
            self._config.decay,
            is_disputed=bullet.disputed is not None,
        ).weight

    def recalls(self, bullet: PackedBullet) -> int:
        """Return how often a bullet was recalled: by its file, this clone and the team."""
        for store in self._stores:
            if store.counts is not None and store.index.store == bullet.store:
                return store.counts.effective(bullet.id, bullet.recall_count)
        return bullet.recall_count

    def _changed(
        self, snapshots: Sequence[Snapshot], bullets: Sequence[PackedBullet]
    ) -> dict[str, list[str]]:
        """Return those of these files that are not what was indexed, by store."""
        checked = {
            store.index.store: (store.root, snapshot)
            for store, snapshot in zip(self._stores, snapshots, strict=True)
            if store.index.follows_files
        }
        changed: dict[str, list[str]] = {}
        for bullet in bullets:
            if bullet.store not in checked:
                continue
            root, snapshot = checked[bullet.store]
            if not snapshot.is_current(bullet, stat_file(os.path.join(root, bullet.path))):
                changed.setdefault(bullet.store, []).append(bullet.path)
        return changed

    def _hits(self, snapshots: Sequence[Snapshot], ranking: Ranking) -> tuple[tuple[Hit, ...], int]:
        bullets = [(s.bullet.title, s.bullet.text) for s in ranking.hits]
        fitted = fit(bullets, self._config.generator, self._request.token_budget)
        hits = tuple(
            replace(self.hit(scored, snapshots), title=part.title, text=part.text, truncated=part.truncated)
            for scored, part in zip(ranking.hits, fitted, strict=False)
        )
        return mark_both(hits), sum(part.tokens for part in fitted)

    def hit(self, scored: Scored, snapshots: Sequence[Snapshot]) -> Hit:
        """Return a scored bullet with its whole text."""
        bullet = scored.bullet
        return Hit(
            id=bullet.id,
            path=bullet.path,
            store=bullet.store,
            section=bullet.section,
            type=bullet.type,
            scope=bullet.scope,
            text=bullet.text,
            score=scored.score,
            keyword=scored.keyword,
            blended=scored.blended,
            l1=scored.l1,
            l2=scored.l2,
            l3=scored.l3,
            semantic=scored.semantic,
            decay=scored.decay,
            recency_boost=scored.recency_boost,
            scope_boost=scored.scope_boost,
            instructivity=bullet.score,
            recall_count=self.recalls(bullet),
            title=bullet.title,
            source=bullet.source,
            created=bullet.created,
            archived=bullet.archived,
            conflicts_with=self.conflicts(bullet, snapshots),
            superseded=self.is_superseded(bullet, snapshots),
            drifted=bullet.id in self._drifted,
        )

    def _degraded(self, snapshots: Sequence[Snapshot], ranking: Ranking) -> tuple[str, ...]:
        missing = list(ranking.degraded)
        if self._engines.vector is None:
            missing.append(f"l4: {self._vector_problem}")
        for name, engine in (
            ("l1", self._engines.exact),
            ("l2", self._engines.fuzzy),
            ("l3", self._engines.metadata),
        ):
            if engine is None:
                missing.append(f"{name}: absent")
        if alias_problem():
            missing.append(f"aliases: {alias_problem()}")
        problems = dict.fromkeys(s.degraded for s in snapshots if s.degraded)
        if self._has_gaps and not problems:
            missing.append(LOST_VECTORS)
        return (*sorted(missing), *problems)


def mark_both(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Return the hits with a conflict that one bullet names marked at the other one, too, where that is a hit."""
    named: dict[tuple[str, str], list[str]] = {}
    for hit in hits:
        for other in hit.conflicts_with:
            named.setdefault((hit.store, other), []).append(hit.id)
    if not named:
        return hits
    return tuple(
        replace(hit, conflicts_with=tuple(dict.fromkeys((*hit.conflicts_with, *named[key]))))
        if (key := (hit.store, hit.id)) in named
        else hit
        for hit in hits
    )


def make_vector_searcher(indexes: Sequence[Index | FixedIndex]) -> VectorSearcher | None:
    """Return the searcher over the vectors of all indexes; None when none has vectors."""
    found = [index.vectors for index in indexes if index.vectors is not None]
    if not found:
        return None
    from memx.generator.vector import VectorSearcher

    return VectorSearcher(found)


def check_request(request: SearchRequest) -> None:
    """Raise UsageError for what cannot be answered."""
    if not request.query.strip(" \t\r\n\0"):
        raise UsageError("the query is blank", hint='memx search "what you look for"')
    if not all(tag.strip() for tag in request.tag):
        raise UsageError("--tag must not be empty")
    for name, value, known in (("section", request.section, SECTIONS), ("type", request.type, TYPES)):
        if value and value.lower() not in known:
            raise UsageError(f"unknown {name} {value!r}", hint=f"one of: {', '.join(known)}")
    for flag, number in (("max-results", request.max_results), ("token-budget", request.token_budget)):
        if number is not None and number < 1:
            raise UsageError(f"--{flag} must be at least 1")


def request_viewer(request: SearchRequest, viewer: Viewer) -> Viewer:
    """Return who looks, as `--scope` and `--workspace` say; raises UsageError."""
    try:
        if request.workspace:
            viewer = replace(viewer, level="workspace", workspace=workspace_name(request.workspace))
        return viewer_of(request.scope, viewer) if request.scope else viewer
    except ValueError as error:
        raise UsageError(str(error)) from error


def request_filters(request: SearchRequest) -> Filters:
    """Return the filters that a request asks for."""
    required = [f"tag:{tag.casefold()}" for tag in request.tag]
    if request.section:
        required.append(f"section:{request.section.lower()}")
    if request.type:
        required.append(f"type:{request.type.lower()}")
    return Filters(tuple(required), () if request.archived else ("archived",))


def _bare_analyser() -> Analyser:
    from memx.index.index import make_analyser

    return make_analyser()
