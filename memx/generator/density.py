"""How much it says that a bullet holds a word: more when it repeats it, less when it is long.

BM25's saturation, `count / (count + k1 * (1 - b + b * length / typical))`, with a
fixed typical length, because a score must not depend on the other bullets.
"""

from __future__ import annotations

SATURATION = 0.3
LENGTH_EFFECT = 0.5
TYPICAL_LENGTH = 60.0
"""BM25's k1 and b, and the typical length in terms (chosen on one half of the queries of benchmarks/retrieval.py)."""


def density(count: int, length: int) -> float:
    """Return the credit in 0-1 of a word that stands `count` times among `length` terms."""
    return count / (count + dilution(length))


def dilution(length: int) -> float:
    """Return what a text of so many terms adds to the count of a word under the fraction."""
    return SATURATION * (1 - LENGTH_EFFECT + LENGTH_EFFECT * length / TYPICAL_LENGTH)
