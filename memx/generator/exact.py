"""L1: whole words, phrases and code tokens exactly as written (0-15)."""

from __future__ import annotations

from memx.generator.density import density
from memx.generator.spelling import is_folded_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.generator.query import Query
    from memx.index.analysis import Term
    from memx.index.packed import PackedBullet

EXACT_MAX = 15.0

PHRASE_SHARE = 0.15
"""Share of the layer that adjacent terms earn by standing side by side in the bullet too."""

FOLDED_CREDIT = 0.9
"""Credit of a word that differs in nothing but its accents: `cafe` means `café`."""


class ExactMatcher:
    """Scores how much of the query, by weight, a bullet holds word for word."""

    def score(self, query: Query, bullet: PackedBullet) -> float:
        """Return 0-15: 15 when the bullet holds the whole query as one phrase."""
        if not query.terms:
            return 0.0
        if query.exact in bullet.exact:
            return EXACT_MAX
        total = query.weight
        found = sum(w.weight * _credit(w.term, bullet) for w in query.terms)
        words = min(1.0, found / total) if total else 0.0
        return EXACT_MAX * ((1 - PHRASE_SHARE) * words + PHRASE_SHARE * _adjacent(query, bullet))


def _credit(term: Term, bullet: PackedBullet) -> float:
    """Return a term's credit in 0-1: 0 when it is absent."""
    count = bullet.exact.count(f" {term.exact} ")
    if count:
        return density(count, bullet.length)
    return FOLDED_CREDIT * density(1, bullet.length) if is_folded_in(term, bullet) else 0.0


def _adjacent(query: Query, bullet: PackedBullet) -> float:
    """Return the share, by weight, of neighbouring query terms that are neighbours in the bullet."""
    total = found = 0.0
    for first, second in zip(query.terms, query.terms[1:], strict=False):
        weight = first.weight + second.weight
        total += weight
        if f" {first.term.exact} {second.term.exact} " in bullet.exact:
            found += weight
    return found / total if total else 0.0
