"""`memx context`: the block for a prompt, with what is worth knowing here before anybody has asked.

With a query it is the search's answer. Without one the bullets are weighed:

    worth = decay weight × instructivity / 100 × scope boost × 2 if anchored at a file that is at hand

where the files at hand are the path that was given, else those that the work tree has changed. Pinned
bullets come first, for a person said so. Disputed, superseded and archived ones are never injected without
being asked for. What is injected counts as shown, not as recalled.
"""

from __future__ import annotations

from itertools import islice

from memx.app.marks import read_marks
from memx.app.recall import count_hits, open_stores, path_in_repository, recall, recheck
from memx.app.search import SearchAnswer, Searching, SearchRequest, mark_both
from memx.app.stores import find_stores
from memx.app.viewer import make_viewer
from memx.errors import GitError, UsageError
from memx.generator.budget import estimate_tokens, shorten
from memx.generator.generator import Engines, Scored
from memx.generator.render import render
from memx.generator.scopes import is_visible, scope_boost, scope_of
from memx.index.packed import place_of
from memx.index.query import Filters
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.project import Project
    from memx.app.search import SearchStore
    from memx.config import GeneratorConfig
    from memx.generator.scopes import Viewer
    from memx.index.packed import PackedBullet
    from memx.index.snapshot import Snapshot
    from memx.model import Hit

NO_ENGINES = Engines(None, None, None, None)

ANCHORED = 2.0
"""How much more a bullet is worth when it is about a file at hand."""

CANDIDATES = 100
TOKENS_A_BULLET = 25
"""About the shortest bullet with its head and fence: a larger budget needs more candidates."""

FILES_AT_HAND = 200
OFTEN_RECALLED = 50
"""How many files and ids of the journal are looked at."""

SHORTEST_TOKENS = 12
"""A bullet of which less would be left is not worth a place in the block."""


@record
class ContextRequest:
    """What a block is for; the fields are the flags of `memx context`. None and empty mean: not given."""

    query: str = ""
    path: tuple[str, ...] = ()
    max_results: int | None = None
    token_budget: int | None = None
    scope: str = ""
    workspace: str = ""


@record
class Context:
    """The block, and the hits in it; `answer.tokens` is what the whole block costs."""

    block: str
    answer: SearchAnswer


def context(
    project: Project, request: ContextRequest, form: str = "markdown", *, is_counted: bool = True
) -> Context:
    """Return the block in the form `markdown` or `xml`; with `is_counted` its bullets count as shown.

    Raises StoreError where there is no store and UsageError for a bad budget, number or scope.
    """
    for flag, number in (("max-results", request.max_results), ("token-budget", request.token_budget)):
        if number is not None and number < 1:
            raise UsageError(f"--{flag} must be at least 1")
    answer = _search(project, request) if request.query.strip() else _weigh(project, request)
    config = project.config.generator
    budget = request.token_budget or config.token_budget
    hits = fill(answer.query, answer.hits, form, config, budget)
    block = render(answer.query, hits, form) if hits else ""
    if is_counted:
        count_hits(project, hits, "shown")
    return Context(block, replace(answer, hits=tuple(hits), tokens=estimate_tokens(block, config)))


def fill(query: str, hits: Sequence[Hit], form: str, config: GeneratorConfig, budget: int) -> list[Hit]:
    """Return the leading hits whose block, with its heads and fences, costs no more than the budget.

    The first one that does not fit is shortened and ends the block.
    """
    empty = estimate_tokens(render(query, (), form), config)
    rest = budget - empty
    chosen: list[Hit] = []
    for hit in hits:
        cost = estimate_tokens(render(query, (hit,), form), config) - empty + 1
        if cost > rest:
            room = estimate_tokens(hit.text, config) + rest - cost - 2
            text = shorten(hit.text, room, config) if room >= SHORTEST_TOKENS else ""
            if text:
                chosen.append(replace(hit, text=text, truncated=True))
            break
        chosen.append(hit)
        rest -= cost
    while chosen and estimate_tokens(render(query, chosen, form), config) > budget:
        chosen.pop()
    return chosen


def _search(project: Project, request: ContextRequest) -> SearchAnswer:
    asked = SearchRequest(
        request.query,
        max_results=request.max_results,
        token_budget=request.token_budget,
        scope=request.scope,
        workspace=request.workspace,
        path=request.path[0] if request.path else "",
    )
    answer = recall(project, asked, is_counted=False)
    # Who asked for a block and not for hits has no use for what chance may have brought near.
    return replace(answer, hits=(), is_weak=False) if answer.is_weak else answer


def _weigh(project: Project, request: ContextRequest) -> SearchAnswer:
    opened, _, failures = open_stores(project, find_stores(project), fresh=False)
    scopes = {scope for store in opened if store.snapshot is not None for scope in store.snapshot.scopes}
    weighing = _Weighing(project, request, opened, make_viewer(project, scopes=scopes))
    snapshots, hits = weighing.answer()
    return SearchAnswer(
        "",
        scope_of(weighing.viewer),
        tuple(hits),
        tuple(dict.fromkeys(s.degraded for s in snapshots if s.degraded)),
        (*(problem for snapshot in snapshots for problem in snapshot.problems), *failures),
        0,
        tuple(s.index for s, snapshot in zip(opened, snapshots, strict=True) if snapshot.check_due),
    )


class _Weighing:
    """One look at all stores without a question."""

    def __init__(
        self, project: Project, request: ContextRequest, opened: Sequence[SearchStore], viewer: Viewer
    ) -> None:
        asked = SearchRequest("", scope=request.scope, workspace=request.workspace)
        self._marks = read_marks(project)
        self._searching = Searching(
            asked,
            opened,
            project.config,
            project.now,
            viewer,
            engines=NO_ENGINES,
            drifted=frozenset(self._marks),
        )
        self.viewer = self._searching.viewer
        self._project = project
        self._request = request
        self._opened = opened

    def answer(self) -> tuple[list[Snapshot], list[Hit]]:
        """Return the snapshots that answered, and the hits, the most valuable first."""
        snapshots, ranked = self._searching.settle(self._rank, lambda found: [bullet for _, bullet in found])
        hits = tuple(self._hit(worth, bullet, snapshots) for worth, bullet in ranked)
        return snapshots, list(mark_both(hits))

    def _rank(self, snapshots: Sequence[Snapshot]) -> list[tuple[float, PackedBullet]]:
        files = self._files_at_hand(snapshots)
        found: dict[tuple[str, str], PackedBullet] = {}
        for store, snapshot in zip(self._opened, snapshots, strict=True):
            for bullet in self._candidates(store, snapshot, files):
                found[(bullet.store, bullet.path)] = bullet
        ranked = [
            (self._worth(bullet, files), bullet) for bullet in found.values() if self._is_worth_saying(bullet)
        ]
        ranked.sort(key=lambda pair: (not pair[1].pinned, -pair[0], pair[1].id, pair[1].path))
        current = (pair for pair in ranked if not self._searching.is_superseded(pair[1], snapshots))
        return list(islice(current, self._request.max_results or self._limit))

    @property
    def _limit(self) -> int:
        """How many bullets can matter."""
        budget = self._request.token_budget or self._project.config.generator.token_budget
        return max(CANDIDATES, budget // TOKENS_A_BULLET)

    def _files_at_hand(self, snapshots: Sequence[Snapshot]) -> frozenset[str]:
        """Return the files given, else those changed since HEAD; git is not asked where no bullet has an anchor."""
        if self._request.path:
            return frozenset(path_in_repository(self._project, path) for path in self._request.path)
        repository = self._project.repository
        if repository is None or not any(snapshot.count("facet", "anchored") for snapshot in snapshots):
            return frozenset()
        from memx.repo.staging import list_changed

        try:
            return frozenset(list_changed(repository)[:FILES_AT_HAND])
        except GitError:
            return frozenset()

    def _candidates(
        self, store: SearchStore, snapshot: Snapshot, files: frozenset[str]
    ) -> list[PackedBullet]:
        """Return the bullets that may be among the most valuable ones of a store."""
        hidden = (f"scope:{scope}" for scope in snapshot.scopes if not is_visible(scope, self.viewer))
        found = snapshot.leading(self._limit, Filters((), ("archived", *sorted(hidden))))
        for path in files:
            found += snapshot.with_facet(f"anchor:{path}")
        often = store.counts.most_recalled(OFTEN_RECALLED) if store.counts is not None else ()
        known = {bullet.id for bullet in found}
        for identifier in often:
            if identifier not in known:
                found += snapshot.with_facet(f"id:{identifier}")
        return found

    def _is_worth_saying(self, bullet: PackedBullet) -> bool:
        return not bullet.archived and bullet.disputed is None and is_visible(bullet.scope, self.viewer)

    def _worth(self, bullet: PackedBullet, files: frozenset[str]) -> float:
        """Return what a bullet is worth here."""
        weight = self._searching.decay(bullet)
        boost = scope_boost(bullet.scope, self.viewer, self._project.config.generator)
        is_at_hand = any(place_of(anchor) in files for anchor in bullet.anchors)
        return weight * bullet.score / 100 * boost * (ANCHORED if is_at_hand else 1.0)

    def _hit(self, worth: float, bullet: PackedBullet, snapshots: Sequence[Snapshot]) -> Hit:
        """Return a bullet as a hit of which no layer says anything; its score is its worth."""
        scored = Scored(
            bullet,
            l1=0.0,
            l2=0.0,
            l3=0.0,
            semantic=0.0,
            keyword=0.0,
            blended=0.0,
            decay=self._searching.decay(bullet),
            recency_boost=1.0,
            scope_boost=scope_boost(bullet.scope, self.viewer, self._project.config.generator),
            score=worth,
        )
        hit = self._searching.hit(scored, snapshots)
        return recheck(self._project, hit, self._marks) if hit.drifted else hit
