"""Calibrated probabilities from a pair's features; the coefficients are in readable data files.

`memx/data/curator/similarity.txt` and `contradiction.txt` hold one `name value`
a line, fitted by tools/curator/fit.py. The cosine's coefficients in the first
are never negative, so similarity never falls when the cosine rises.
"""

from __future__ import annotations

import math
import os
from functools import cache

from memx.curator.features import NAMES, Comparison, features
from memx.resources import resource

_IDENTICAL_LEFTOVER = 0.3  # less than a light word is left over on either side


@cache
def coefficients(name: str) -> tuple[float, tuple[float, ...]]:
    """Return the intercept and the weight of each of NAMES (0 when the file does not name it)."""
    with open(os.path.join(resource("curator"), f"{name}.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    found = {name: float(value) for name, value in rows}
    return found.get("intercept", 0.0), tuple(found.get(feature, 0.0) for feature in NAMES)


def probability(name: str, comparison: Comparison, cosine: float) -> float:
    """Evaluate one of the two fitted models, 0-1."""
    intercept, weights = coefficients(name)
    total = intercept + sum(
        weight * value for weight, value in zip(weights, features(comparison, cosine), strict=True)
    )
    return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, total))))


def similarity(comparison: Comparison, cosine: float) -> float:
    """Return the probability that two texts are the same lesson; 1.0 when nothing is left over on either side."""
    if says_the_same(comparison):
        return 1.0
    return probability("similarity", comparison, cosine)


def says_the_same(comparison: Comparison) -> bool:
    """Tell whether every word of each text is in the other, in the same order and with the same sense."""
    a, b = comparison.a, comparison.b
    if a.text == b.text:
        return True
    left = (a.weight - comparison.alignment.matched_a, b.weight - comparison.alignment.matched_b)
    same_order = [unit.keys[0] for unit in a.units] == [unit.keys[0] for unit in b.units]
    return (
        bool(a.units)
        and same_order
        and max(left) < _IDENTICAL_LEFTOVER
        and not comparison.turned
        and not comparison.axes
    )
