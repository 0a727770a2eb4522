"""The use case behind `memx why-not`: why a bullet was not among the hits of a query."""

from __future__ import annotations

from memx.app.search import Searching, SearchRequest, check_request, request_filters
from memx.errors import StoreError
from memx.generator.evidence import LEAST_EVIDENCE
from memx.generator.scopes import is_visible, scope_of
from memx.model import Hit
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.search import SearchStore
    from memx.config import Config
    from memx.generator.generator import Engines, Generator, Scored
    from memx.generator.scopes import Viewer
    from memx.index.packed import PackedBullet

RANKED = 1_000
"""Places that are told apart: a search takes twice as many candidates as it shows, and each is scored."""


@record
class WhyNot:
    """The bullet with the factors of its score, its rank from 1 (None: it is no candidate), and the reasons.

    A bullet that was returned has no reasons and its place among the hits as its rank; any other one has its
    place by relevance. Of a bullet that the viewer does not see there is the scope alone.
    """

    hit: Hit
    rank: int | None
    reasons: tuple[str, ...]


def why_not(
    identifier: str,
    request: SearchRequest,
    stores: Sequence[SearchStore],
    *,
    config: Config,
    now: float,
    viewer: Viewer,
    engines: Engines | None = None,
    store: str = "",
) -> WhyNot:
    """Explain the absence of the bullet with this full id; raises StoreError when no store has it.

    `store`: the one that is meant, empty for the first that has it.
    """
    check_request(request)
    searching = Searching(request, stores, config, now, viewer, engines=engines)
    snapshots = searching.snapshots(fresh=True)
    found = [bullet for snapshot in snapshots for bullet in snapshot.with_facet(f"id:{identifier}")]
    found = [bullet for bullet in found if store in ("", bullet.store)]
    if not found:
        raise StoreError(f"there is no bullet {identifier!r}", hint="memx list")
    bullet = found[0]
    if not is_visible(bullet.scope, searching.viewer):
        reason = f"its scope {bullet.scope} is not visible from {scope_of(searching.viewer)}"
        return WhyNot(_unseen(bullet), None, (reason,))
    generator = searching.generator(snapshots)
    scored = generator.weigh(request.query, found[:1], path=request.path)[0]
    shown = [(hit.store, hit.path) for hit in searching.answer().hits]
    hit = searching.hit(scored, snapshots)
    if (bullet.store, bullet.path) in shown:
        return WhyNot(hit, shown.index((bullet.store, bullet.path)) + 1, ())
    reasons = _excluded(bullet, request)
    if not request.archived and (others := searching.superseders(bullet, snapshots)):
        reasons.append(f"another bullet supersedes it: {', '.join(others)}")
    rank = _rank(searching, request, bullet)
    return WhyNot(
        hit, rank, tuple(reasons) or _outranked(scored, rank, generator, searching, request, config)
    )


def _unseen(bullet: PackedBullet) -> Hit:
    """Return a hit that tells only which bullet is meant and whose it is: a path and a score speak of its words."""
    return Hit(
        bullet.id,
        path="",
        store=bullet.store,
        section="",
        type="",
        scope=bullet.scope,
        text="",
        score=0.0,
        keyword=0.0,
        blended=0.0,
        l1=0.0,
        l2=0.0,
        l3=0.0,
        semantic=0.0,
        decay=0.0,
        recency_boost=0.0,
        scope_boost=0.0,
        instructivity=0,
        recall_count=0,
    )


def _excluded(bullet: PackedBullet, request: SearchRequest) -> list[str]:
    filters = request_filters(request)
    reasons = [f"it has no {f.replace(':', ' ', 1)}" for f in filters.required if f not in bullet.facets]
    return reasons + [f"it is {facet}" for facet in filters.forbidden if facet in bullet.facets]


def _outranked(
    scored: Scored,
    rank: int | None,
    generator: Generator,
    searching: Searching,
    request: SearchRequest,
    config: Config,
) -> tuple[str]:
    evidence = generator.evidence(scored)
    if evidence < LEAST_EVIDENCE:
        return (f"its evidence {evidence:.3f} is below {LEAST_EVIDENCE}: it is not about that",)
    ranking = searching.ranking()
    if rank is None:
        return ("other bullets share more of the query's words and meaning: it is not even a candidate",)
    limit = request.max_results or config.generator.max_results
    if any(_is_same(other.bullet, scored.bullet) for other in ranking.hits):
        budget = request.token_budget or config.generator.token_budget
        return (f"the token budget of {budget} was spent before it",)
    relevance = f"relevance {scored.relevance:.3f} without decay"
    if rank > limit:
        return (f"it ranks {rank} by {relevance}, and {limit} are shown",)
    weight = f"its decay is {scored.decay:.3g}"
    return (
        f"bullets as relevant are fresher or recalled more often, and {limit} are shown: {weight}, {relevance}",
    )


def _is_same(a: PackedBullet, b: PackedBullet) -> bool:
    return (a.store, a.path) == (b.store, b.path)


def _rank(searching: Searching, request: SearchRequest, bullet: PackedBullet) -> int | None:
    """Return the place by relevance, which decides what is shown before age orders it; equals share a place."""
    hits = searching.with_request(replace(request, max_results=RANKED)).ranking().hits
    own = next((scored.relevance for scored in hits if _is_same(scored.bullet, bullet)), None)
    return None if own is None else 1 + sum(scored.relevance > own for scored in hits)
