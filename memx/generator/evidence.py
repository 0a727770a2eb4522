"""What a cosine is worth, and how much must speak for a hit before a store answers at all (pure).

The nearest of many texts is near by chance alone: of N unrelated cosines with
spread s the largest is about s * sqrt(2 ln N). So the evidence that the best
hit needs grows with the store, up to where it would cost right answers in
another language than the query (benchmarks/unrelated.py).

And it depends on words: texts of which none holds a word of the query, not even
an inflection, a synonym or a translation, are near by chance more often than not.
"""

from __future__ import annotations

from math import log, sqrt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.generator.query import Query
    from memx.index.packed import PackedBullet

CHANCE_COSINE = 0.1
"""The cosine up to which two texts have nothing to do with each other, with the bundled model."""

CHANCE_SPREAD = 0.07
"""Standard deviation of the cosines between texts that have nothing to do with each other."""

CHANCE_LEFT = 0.7
"""How many of a store's bullets may come nearer by chance than what is asked of the best one."""

MOST_EVIDENCE = 0.08
SOME_EVIDENCE = 0.04
LEAST_EVIDENCE = 0.03
"""The evidence that the best hit needs in a big and in a tiny store, and what every other hit needs."""

WITHOUT_WORDS, SEVERAL_WORDS, WITH_SEVERAL = 2.0, 2, 0.75
"""What the needed evidence is multiplied by when the hits hold no word of the query, and when one holds several.
A tiny store needs the least either way."""

HITS_ASKED, NEAREST_ASKED = 8, 6
"""Of the best hits the nearest ones by meaning: of their words the one with the most counts."""

EVIDENCE_OF_WORDS = 0.05
"""What the best hit needs when there is no semantic score."""

HELD_COSINE = 0.75
"""From here on a word that comes near to one of the query is a synonym or a translation of it."""

SURE_L1, SURE_L2 = 0.35, 6.0
"""Words are evidence when one is there as it was asked (L1), or two fifths of the query are there in some form (L2):
below both, one word merely resembles another, as `whales` does `while`."""


def semantic_of(cosine: float, chance: float = CHANCE_COSINE) -> float:
    """Return the semantic score of a cosine: 0 for what chance gives, 1 for the same text, a line between."""
    return min(1.0, max(0.0, (cosine - chance) / (1 - chance)))


def needed_evidence(size: int, semantic_weight: float, words: int = 1) -> float:
    """Return the evidence that the best hit of a store with `size` bullets needs when so many words speak for it."""
    nearest = CHANCE_SPREAD * sqrt(2 * log(max(1.0, size / CHANCE_LEFT)))
    factor = WITHOUT_WORDS if not words else WITH_SEVERAL if words >= SEVERAL_WORDS else 1.0
    needed = min(MOST_EVIDENCE, semantic_weight * semantic_of(nearest))
    return max(SOME_EVIDENCE, factor * needed)


def held_words(query: Query, bullet: PackedBullet, cosines: Sequence[float] = ()) -> int:
    """Return how many telling words of a query a bullet holds: as they are, inflected, or in other words.

    `cosines`: how near the bullet comes to each of them, where that is known.
    """
    exact, stems = bullet.exact, bullet.stems
    telling = [weighted.term for weighted in query.terms if not weighted.is_stopword]
    near = cosines or (0.0,) * len(telling)
    return sum(
        f" {term.exact} " in exact
        or any(f" {stem} " in stems for stem in term.stems)
        or cosine >= HELD_COSINE
        for term, cosine in zip(telling, near, strict=True)
    )


def is_sure(l1: float, l2: float, l3: float) -> bool:
    """Return whether the words are more than a resemblance."""
    return l1 >= SURE_L1 or l2 >= SURE_L2 or l3 > 0
