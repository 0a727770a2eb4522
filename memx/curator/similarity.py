"""The calibrated similarity: the probability that two texts are the same lesson.

It is the product of two readable logistic models over a pair's features: that
both speak of one *subject*, and that on one subject they draw one *conclusion*.
`memx/data/curator/subject.txt` and `conclusion.txt` hold one `name value` a
line, fitted by tools/curator/fit.py. The cosine's coefficients are never
negative, so similarity never falls when the cosine rises.
"""

from __future__ import annotations

import math
import os
from functools import cache
from operator import mul

from memx.curator.features import NAMES, Comparison, features
from memx.record import record
from memx.resources import resource

_LONG_WEIGHT = (13.0, 17.5)
"""A text is long from here on, wholly so from the longest that the fit has seen."""
_LONG_OVERLAP = (0.35, 0.55)
"""Share of both texts with a partner: none of a subject below the first, all of it from the second."""
_IDENTICAL_LEFTOVER = 0.3  # less than a light word is left over on either side


@record
class Likelihood:
    """Probabilities 0-1 for a pair; similarity is their product."""

    subject: float
    conclusion: float
    similarity: float


@record
class Model:
    """One logistic model: intercept and the weight of each of NAMES, on the features' own scale."""

    intercept: float
    weights: tuple[float, ...]

    def probability(self, values: tuple[float, ...]) -> float:
        """Return 0-1 for the features of one pair."""
        total = self.intercept + sum(map(mul, self.weights, values))
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, total))))


@record
class Models:
    """The two models of a likelihood."""

    subject: Model
    conclusion: Model


@cache
def fitted() -> Models:
    """Return the models that the package brings."""
    return Models(_load("subject"), _load("conclusion"))


def _load(name: str) -> Model:
    with open(os.path.join(resource("curator"), f"{name}.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    found = {key: float(value) for key, value in rows}
    return Model(found.get("intercept", 0.0), tuple(found.get(feature, 0.0) for feature in NAMES))


def likelihood(comparison: Comparison, cosine: float, models: Models | None = None) -> Likelihood:
    """Return both probabilities and the similarity; 1.0 when nothing is left over on either side."""
    if says_the_same(comparison):
        return Likelihood(1.0, 1.0, 1.0)
    chosen = models or fitted()
    values = features(comparison, cosine)
    subject = chosen.subject.probability(values) * _shared_by_long_texts(comparison)
    conclusion = chosen.conclusion.probability(values)
    return Likelihood(subject, conclusion, subject * conclusion)


def _shared_by_long_texts(comparison: Comparison) -> float:
    """Return how far two long texts may speak of one subject at all, 0-1; 1 for texts as the fit has seen them.

    Texts of several sentences share words by chance, more the longer they are,
    and the coefficients come from single sentences. Two of them are one subject
    in so far as most of both has a partner. It does not depend on the cosine,
    so similarity still never falls when that rises.
    """
    weight = min(comparison.a.weight, comparison.b.weight)
    excess = min(1.0, max(0.0, weight - _LONG_WEIGHT[0]) / (_LONG_WEIGHT[1] - _LONG_WEIGHT[0]))
    low, high = _LONG_OVERLAP
    overlap = comparison.vector[0]
    return 1.0 - excess * (1.0 - min(1.0, max(0.0, (overlap - low) / (high - low))))


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
