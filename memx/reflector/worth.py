"""The learned part of the score: a logistic model with one readable coefficient a feature.

tools/train_worth.py writes worth.json: for each feature its mean, its spread
and its weight, and the intercept. The probability is
1 / (1 + exp(-(intercept + sum of weight × (value - mean) / spread))).
"""

from __future__ import annotations

import json
import math
import os
from functools import cache

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_FOLDER = os.path.dirname(os.path.abspath(__file__))


@record
class LogisticModel:
    """Coefficients by feature: (mean, spread, weight)."""

    intercept: float
    coefficients: tuple[tuple[str, float, float, float], ...]

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability, 0 to 1."""
        get = values.get
        logit = self.intercept + sum(
            [weight * (get(name, mean) - mean) / spread for name, mean, spread, weight in self.coefficients]
        )
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def parse_model(data: Mapping[str, object]) -> LogisticModel:
    """Read a model from the parsed content of its file."""
    features = data["features"]
    if not isinstance(features, dict):
        message = "features must be a table"
        raise TypeError(message)
    return LogisticModel(
        float(str(data["intercept"])),
        tuple(
            (name, float(f["mean"]), float(f["spread"]), float(f["weight"])) for name, f in features.items()
        ),
    )


@cache
def load_worth(kind: str) -> LogisticModel:
    """Return the packaged model for `commit` or `session`."""
    with open(os.path.join(_FOLDER, "worth.json"), encoding="utf-8") as file:
        return parse_model(json.load(file)[kind])
