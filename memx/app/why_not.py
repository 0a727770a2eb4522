"""The use case behind `memx why-not`: why a bullet was not among the hits of a query."""

from __future__ import annotations

from memx.app.search import Searching, SearchRequest, check_request, request_filters
from memx.errors import StoreError
from memx.generator.evidence import LEAST_EVIDENCE
from memx.generator.scopes import is_visible, scope_of
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.search import SearchStore
    from memx.config import Config
    from memx.generator.generator import Engines, Generator, Scored
    from memx.generator.scopes import Viewer
    from memx.index.packed import PackedBullet
    from memx.model import Hit

ALL = 10_000


@record
class WhyNot:
    """The bullet with the factors of its score, its rank from 1 (None: it is no candidate), and the reasons.

    The words of a bullet that the viewer does not see are left out.

    No reasons: it was returned.
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
) -> WhyNot:
    """Explain the absence of the bullet with this full id; raises StoreError when no store has it."""
    check_request(request)
    searching = Searching(request, stores, config, now, viewer, engines=engines)
    snapshots = searching.snapshots(fresh=True)
    found = [bullet for snapshot in snapshots for bullet in snapshot.with_facet(f"id:{identifier}")]
    if not found:
        raise StoreError(f"there is no bullet {identifier!r}", hint="memx list")
    generator = searching.generator(snapshots)
    scored = generator.weigh(request.query, found[:1], path=request.path)[0]
    answer = searching.answer()
    reasons = [*_excluded(found[0], request, searching.viewer)]
    if not request.archived and searching.is_superseded(identifier, snapshots):
        reasons.append("another bullet supersedes it")
    if identifier in {hit.id for hit in answer.hits}:
        return WhyNot(searching.hit(scored, snapshots), _rank(searching, request, identifier), ())
    if not reasons:
        reasons = _outranked(scored, generator, searching, request, config)
    hit = searching.hit(scored, snapshots)
    if not is_visible(found[0].scope, searching.viewer):
        hit = replace(hit, title="", text="")
    return WhyNot(hit, _rank(searching, request, identifier), tuple(reasons))


def _excluded(bullet: PackedBullet, request: SearchRequest, viewer: Viewer) -> list[str]:
    reasons = []
    if not is_visible(bullet.scope, viewer):
        reasons.append(f"its scope {bullet.scope} is not visible from {scope_of(viewer)}")
    filters = request_filters(request)
    reasons += [f"it has no {f.replace(':', ' ', 1)}" for f in filters.required if f not in bullet.facets]
    reasons += [f"it is {facet}" for facet in filters.forbidden if facet in bullet.facets]
    return reasons


def _outranked(
    scored: Scored, generator: Generator, searching: Searching, request: SearchRequest, config: Config
) -> list[str]:
    evidence = generator.evidence(scored)
    if evidence < LEAST_EVIDENCE:
        return [f"its evidence {evidence:.3f} is below {LEAST_EVIDENCE}: it is not about that"]
    limit = request.max_results or config.generator.max_results
    rank = _rank(searching, request, scored.bullet.id)
    ranking = searching.ranking()
    needed = ranking.needed
    if rank is None and evidence < needed and not ranking.hits:
        return [
            f"its evidence {evidence:.3f} is below {needed:.3f}, and no other bullet answers: nothing is shown"
        ]
    if rank is None:
        return ["other bullets share more of the query's words and meaning: it is not even a candidate"]
    if rank > limit:
        return [
            f"it ranks {rank}, and {limit} are shown (score {scored.score:.3g}, decay {scored.decay:.3g})"
        ]
    relevant = f"relevance {scored.relevance:.3f} without decay"
    if rank <= limit:
        return [
            f"it ranks {rank}, but the token budget was spent before it, or fresher bullets as relevant: {relevant}"
        ]
    return []


def _rank(searching: Searching, request: SearchRequest, identifier: str) -> int | None:
    ranking = searching.with_request(replace(request, max_results=ALL)).ranking()
    ids = [scored.bullet.id for scored in ranking.hits]
    return ids.index(identifier) + 1 if identifier in ids else None
