"""The same chore again and again."""

from __future__ import annotations

from memx.reflector.rules.rule import Rule

BASE_CONFIDENCE = 0.5
STEP = 0.05
MAX_CONFIDENCE = 0.8


def repetition_confidence(count: int, minimum: int = 3) -> float:
    """Return 0.5 at the `minimum`-th repetition, 0.05 more for each further one, at most 0.8."""
    return round(min(MAX_CONFIDENCE, BASE_CONFIDENCE + STEP * max(0, count - minimum)), 2)


class RepetitiveOpRule(Rule):
    """`Have to manually clear the cache on every deploy`."""

    name = "repetitive_op"
    confidence = BASE_CONFIDENCE
    negation = "clause"
