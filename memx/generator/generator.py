"""Retrieval: candidates from the index, four layers, the formula, and the order of the hits.

Candidates are gathered by words and by meaning, scored by every layer, and cut
by relevance before decay is applied: age then orders what is relevant, and
cannot bury the one old bullet that answers under fresh ones that do not.
"""

from __future__ import annotations

from memx.errors import IndexUnavailableError, MemxError
from memx.generator import fusion
from memx.generator.correction import correct
from memx.generator.evidence import (
    EVIDENCE_OF_WORDS,
    HITS_ASKED,
    LEAST_EVIDENCE,
    NEAREST_ASKED,
    held_words,
    is_sure,
    needed_evidence,
)
from memx.generator.exact import EXACT_MAX, ExactMatcher
from memx.generator.fuzzy import FuzzyMatcher, telling_words
from memx.generator.metadata import MetadataMatcher
from memx.generator.query import make_query
from memx.generator.scopes import is_visible, scope_boost
from memx.generator.spelling import allowed_edits
from memx.index.query import NO_FILTERS, Filters, LexicalQuery
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memx.config import GeneratorConfig
    from memx.generator.query import Query
    from memx.generator.scopes import Viewer
    from memx.generator.vector import VectorSearcher
    from memx.index.analysis import Analyser, Term
    from memx.index.packed import PackedBullet
    from memx.index.snapshot import Snapshot

CANDIDATES = 40
"""How many bullets are taken by words, and as many by meaning, before they are scored."""

VERBATIM_READ = 400
"""So many of the bullets that hold all words of a query are looked at for one that holds them in their order."""

FAR = 2_000
"""From so many nearest vectors on, most of which belong to other branches or are filtered out, half of that will do."""

WORTH_WORDS = 0.1
"""Semantic score from which on a bullet is looked through for words that mean what those of the query do."""

VERBATIM_SEMANTIC = 0.5
"""Semantic score that the calibration gives to a text on the same topic. A bullet that holds the whole query
word for word is at least that, however much else it says: its own score counts from here on to 1."""


@record
class Scored:
    """A bullet with every factor of its score; `relevance` is the score without decay."""

    bullet: PackedBullet
    l1: float
    l2: float
    l3: float
    semantic: float
    keyword: float
    blended: float
    decay: float
    recency_boost: float
    scope_boost: float
    score: float

    @property
    def relevance(self) -> float:
        """The score without decay."""
        return self.blended * self.recency_boost * self.scope_boost


@record
class Ranking:
    """Hits in order and the layers that failed with the reason why.

    `is_weak`: not even the best hit has the evidence that it needs to be more than near by chance.
    """

    hits: tuple[Scored, ...]
    degraded: tuple[str, ...] = ()
    is_weak: bool = False


@record
class Engines:
    """The four layers; None: the layer is absent."""

    exact: ExactMatcher | None
    fuzzy: FuzzyMatcher | None
    metadata: MetadataMatcher | None
    vector: VectorSearcher | None


def default_engines(vector: VectorSearcher | None = None) -> Engines:
    """Return the engines that a search uses."""
    return Engines(ExactMatcher(), FuzzyMatcher(), MetadataMatcher(), vector)


class Generator:
    """Ranks the bullets of several snapshots for one viewer at one time."""

    def __init__(
        self,
        snapshots: Sequence[Snapshot],
        analyser: Analyser,
        config: GeneratorConfig,
        viewer: Viewer,
        engines: Engines,
        *,
        now: float,
        decay: Callable[[PackedBullet], float],
        filters: Filters = NO_FILTERS,
    ) -> None:
        """Take all that a ranking depends on as values; `decay` gives a bullet's weight in 0-1."""
        self._snapshots = snapshots
        self._analyser = analyser
        self._config = config
        self._viewer = viewer
        self._engines = engines
        self._now = now
        self._decay = decay
        self._filters = filters
        self._failures: dict[str, str] = {}
        self._cosines: dict[int, Sequence[float]] = {}

    def rank(self, text: str, *, path: str = "", limit: int | None = None) -> Ranking:
        """Return the hits for a query, best first, at most `limit` (default: the configured number)."""
        limit = self._config.max_results if limit is None else limit
        query = make_query(text, self._analyser, self._count, self._size(), path=path)
        scored = self._score(query, self._candidates(query, limit))
        relevant = self.answers(scored)
        pool = [self._aged(scored) for scored in cut(relevant, limit)]
        pool.sort(key=lambda s: (-s.score, -s.relevance, s.bullet.id, s.bullet.path))
        return Ranking(tuple(pool[:limit]), self.degraded, self.is_weak(query, relevant))

    def answers(self, scored: Sequence[Scored]) -> list[Scored]:
        """Return the bullets for which anything speaks, most relevant first."""
        absent = frozenset(self._absent())
        found = [s for s in scored if self._evidence(s, absent) >= LEAST_EVIDENCE]
        return sorted(found, key=_by_relevance)

    def is_weak(self, query: Query, relevant: Sequence[Scored]) -> bool:
        """Return whether these, most relevant first, are hits which may all be near by chance alone."""
        evidence = max(map(self.evidence, relevant), default=1.0)
        return evidence < self.needed_evidence(query, relevant)

    def evidence(self, scored: Scored) -> float:
        """Return what speaks for a hit whatever its age and scope: its score without words that only resemble."""
        return self._evidence(scored, frozenset(self._absent()))

    def _evidence(self, scored: Scored, absent: frozenset[str]) -> float:
        if "l4" in absent or is_sure(scored.l1, scored.l2, scored.l3):
            return scored.blended
        return scored.semantic * fusion.weights(self._config, absent)[1]

    def needed_evidence(self, query: Query, scored: Sequence[Scored]) -> float:
        """Return the evidence that the best of all hits needs, or they are weak."""
        if "l4" in self._absent():
            return EVIDENCE_OF_WORDS
        return needed_evidence(self._size(), self._config.semantic_weight, self.held_words(query, scored))

    def held_words(self, query: Query, scored: Sequence[Scored]) -> int:
        """Return the most telling words of a query that one of the best hits holds in some form."""
        best = sorted(scored, key=_by_relevance)[:HITS_ASKED]
        best.sort(key=lambda s: -s.semantic)
        return max(
            [held_words(query, s.bullet, self._cosines.get(id(s.bullet), ())) for s in best[:NEAREST_ASKED]],
            default=0,
        )

    @property
    def degraded(self) -> tuple[str, ...]:
        """What was missing so far, as `layer: reason`."""
        return tuple(f"{layer}: {reason}" for layer, reason in sorted(self._failures.items()))

    def query(self, text: str, *, path: str = "") -> Query:
        """Return a query as the layers see it."""
        return make_query(text, self._analyser, self._count, self._size(), path=path)

    def weigh(self, text: str, bullets: Sequence[PackedBullet], *, path: str = "") -> list[Scored]:
        """Return any bullets with the factors that a search for this text gives them, candidates or not."""
        query = self.query(text, path=path)
        self._candidates(query)  # puts slips right and embeds the query
        return self.score(query, bullets)

    def score(self, query: Query, bullets: Sequence[PackedBullet]) -> list[Scored]:
        """Return the bullets with all factors of their scores, in the given order."""
        return [self._aged(scored) for scored in self._score(query, bullets)]

    def _score(self, query: Query, bullets: Sequence[PackedBullet]) -> list[Scored]:
        """Return the bullets with all factors but decay, which only those need that are shown."""
        meaning = self._layer("l4", query, bullets)
        near = [b for b, semantic in zip(bullets, meaning, strict=True) if semantic >= WORTH_WORDS]
        self._cosines = self._word_cosines(query, near)
        layers = [self._layer(name, query, bullets) for name in ("l1", "l2", "l3")]
        absent = frozenset(self._absent())
        weights = fusion.weights(self._config, absent)
        boosts = {
            scope: scope_boost(scope, self._viewer, self._config) for scope in {b.scope for b in bullets}
        }
        return [
            self._fuse(bullet, row, weights, boosts[bullet.scope], has_meaning="l4" not in absent)
            for bullet, row in zip(bullets, zip(*layers, meaning, strict=True), strict=True)
        ]

    # Candidates

    def _candidates(self, query: Query, limit: int = 0) -> list[PackedBullet]:
        """Return what is worth a score: the best by words, those that hold the whole query, the nearest."""
        filters = self._visible_filters()
        many = max(CANDIDATES, 2 * limit)
        asked = LexicalQuery(self._telling_terms(query), query.names, self._misspelt(query), filters)
        by_words = [b for snapshot in self._snapshots for b in snapshot.candidates(asked, many)]
        whole = self._verbatim(query, filters)
        by_meaning = self._near(query, by_words, filters, many)
        found = {(bullet.store, bullet.path): bullet for bullet in (*by_words, *whole, *by_meaning)}
        return [found[key] for key in sorted(found)]

    def _verbatim(self, query: Query, filters: Filters) -> list[PackedBullet]:
        """Return the bullets that hold the query word for word; BM25 knows of words alone, not of their order."""
        terms = [weighted.term.exact for weighted in query.terms]
        if len(terms) < 2:  # noqa: PLR2004 (one word is a phrase by itself)
            return []
        holding = [b for snapshot in self._snapshots for b in snapshot.holding(terms, filters, VERBATIM_READ)]
        return [bullet for bullet in holding if query.exact in bullet.exact]

    def _telling_terms(self, query: Query) -> tuple[Term, ...]:
        telling = tuple(w.term for w in query.terms if not w.is_stopword)
        return telling or tuple(w.term for w in query.terms)

    def _misspelt(self, query: Query) -> tuple[tuple[str, int], ...]:
        return tuple(
            (w.term.exact, allowed_edits(w.term.exact))
            for w in query.terms
            if w.may_be_misspelt and allowed_edits(w.term.exact)
        )

    def _near(
        self, query: Query, by_words: Sequence[PackedBullet], filters: Filters, many: int
    ) -> list[PackedBullet]:
        """Return the nearest bullets by meaning; the vectors of other branches' bullets are passed over."""
        vector = self._engines.vector
        if vector is None:
            return []
        try:
            if not vector.prepare(correct(query, by_words, vector.knows)):
                return []
            found: list[PackedBullet] = []
            done, limit = 0, many
            while True:
                keys = vector.nearest(limit)
                found += [b for snapshot in self._snapshots for b in snapshot.with_keys(keys[done:], filters)]
                enough = many if limit < FAR else many // 2
                if len(found) >= enough or len(keys) < limit:
                    # As many as if the vectors of other branches were not there.
                    places = {key: place for place, key in enumerate(keys)}
                    return sorted(found, key=lambda b: (places[b.vector_key], b.path))[:many]
                done, limit = limit, limit * 4
        except IndexUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 (a broken layer must not take the others with it)
            self._failures["l4"] = _reason(error)
            return []

    def _visible_filters(self) -> Filters:
        scopes = {scope for snapshot in self._snapshots for scope in snapshot.scopes}
        hidden = sorted(f"scope:{scope}" for scope in scopes if not is_visible(scope, self._viewer))
        return Filters(self._filters.required, (*self._filters.forbidden, *hidden))

    def _count(self, view: str, term: str) -> int:
        return sum(snapshot.count(view, term) for snapshot in self._snapshots)

    def _size(self) -> int:
        return sum(snapshot.size for snapshot in self._snapshots)

    # Scores

    def _layer(self, name: str, query: Query, bullets: Sequence[PackedBullet]) -> list[float]:
        try:
            return self._layer_scores(name, query, bullets)
        except Exception as error:  # noqa: BLE001 (a broken layer must not take the others with it)
            self._failures[name] = _reason(error)
            return [0.0] * len(bullets)

    def _layer_scores(self, name: str, query: Query, bullets: Sequence[PackedBullet]) -> list[float]:
        engines = self._engines
        if name == "l4":
            vector = engines.vector
            return [0.0 if vector is None or "l4" in self._failures else vector.score(b) for b in bullets]
        matcher = {"l1": engines.exact, "l2": engines.fuzzy, "l3": engines.metadata}[name]
        if isinstance(matcher, FuzzyMatcher):
            matcher.prepare(bullets, self._cosines)
        return [0.0 if matcher is None else matcher.score(query, bullet) for bullet in bullets]

    def _word_cosines(self, query: Query, bullets: Sequence[PackedBullet]) -> dict[int, Sequence[float]]:
        """Return {id(bullet): how near it comes to each telling word}; nothing where that cannot be told."""
        vector = self._engines.vector
        if vector is None or "l4" in self._failures:
            return {}
        try:
            rows = vector.word_cosines(telling_words(query), bullets)
        except Exception:  # noqa: BLE001 (words go by their letters then; L4 says itself what is wrong with it)
            return {}
        return dict(zip(map(id, bullets), rows, strict=False))

    def _absent(self) -> set[str]:
        engines = self._engines
        pairs = (
            ("l1", engines.exact),
            ("l2", engines.fuzzy),
            ("l3", engines.metadata),
            ("l4", engines.vector),
        )
        return {name for name, engine in pairs if engine is None} | self._failures.keys()

    def _fuse(
        self,
        bullet: PackedBullet,
        layers: tuple[float, float, float, float],
        weights: tuple[float, float],
        scope: float,
        *,
        has_meaning: bool,
    ) -> Scored:
        l1, l2, l3, semantic = layers
        if l1 >= EXACT_MAX and has_meaning:
            semantic = VERBATIM_SEMANTIC + (1 - VERBATIM_SEMANTIC) * semantic
        recency = fusion.recency_boost(self._now, bullet.created, bullet.accepted, self._config)
        keyword, blended = fusion.blend(l1, l2, l3, semantic, weights)
        final = blended * recency * scope
        return Scored(bullet, l1, l2, l3, semantic, keyword, blended, 1.0, recency, scope, final)

    def _aged(self, scored: Scored) -> Scored:
        """Return a scored bullet with its decay."""
        decay = self._decay(scored.bullet)
        final = fusion.final(scored.blended, decay, scored.recency_boost, scored.scope_boost)
        return replace(scored, decay=decay, score=final)


def cut(relevant: list[Scored], limit: int) -> list[Scored]:
    """Return the bullets among which decay may choose: the `limit` most relevant ones and their equals.

    `relevant` is sorted by relevance, best first. A pool that is only a little
    wider (98 % of the last one's relevance) already costs answers that are two
    years old a tenth of their Recall@5, because fresh bullets of nearly the
    same relevance are always at hand (benchmarks/retrieval.py).
    """
    if len(relevant) <= limit or limit <= 0:
        return relevant[: max(limit, 0)]
    least = relevant[limit - 1].relevance
    return [scored for scored in relevant if scored.relevance >= least]


def _by_relevance(scored: Scored) -> tuple[float, str]:
    return -scored.relevance, scored.bullet.id


def _reason(error: Exception) -> str:
    if isinstance(error, MemxError):
        return f"{error} ({error.hint})" if error.hint else str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
