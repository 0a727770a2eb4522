"""L1: whole words, phrases and code tokens exactly as written (0-15)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.generator.query import Query
    from memx.index.packed import PackedBullet

EXACT_MAX = 15.0

PRESENCE = 0.6
"""Share of a term's credit that it earns by being there at all; the rest grows with its density."""

PHRASE_SHARE = 0.15
"""Share of the layer that adjacent terms earn by standing side by side in the bullet too."""

SATURATION = 1.2
LENGTH_EFFECT = 0.5
TYPICAL_LENGTH = 60.0
"""BM25's k1 and b, with a fixed typical length (terms): a score must not depend on the other bullets."""


class ExactMatcher:
    """Scores how much of the query, by weight, a bullet holds word for word."""

    def score(self, query: Query, bullet: PackedBullet) -> float:
        """Return 0-15: 15 when the bullet holds the whole query as one phrase."""
        if not query.terms:
            return 0.0
        if query.exact in bullet.exact:
            return EXACT_MAX
        total = query.weight
        found = sum(w.weight * density(w.term.exact, bullet) for w in query.terms)
        words = found / total if total else 0.0
        return EXACT_MAX * ((1 - PHRASE_SHARE) * words + PHRASE_SHARE * _adjacent(query, bullet))


def density(term: str, bullet: PackedBullet) -> float:
    """Return a term's credit in 0-1: 0 when it is absent, growing with its count, falling with length."""
    count = bullet.exact.count(f" {term} ")
    if not count:
        return 0.0
    norm = SATURATION * (1 - LENGTH_EFFECT + LENGTH_EFFECT * bullet.length / TYPICAL_LENGTH)
    return PRESENCE + (1 - PRESENCE) * count / (count + norm)


def _adjacent(query: Query, bullet: PackedBullet) -> float:
    """Return the share, by weight, of neighbouring query terms that are neighbours in the bullet."""
    total = found = 0.0
    for first, second in zip(query.terms, query.terms[1:], strict=False):
        weight = first.weight + second.weight
        total += weight
        if f" {first.term.exact} {second.term.exact} " in bullet.exact:
            found += weight
    return found / total if total else 0.0
