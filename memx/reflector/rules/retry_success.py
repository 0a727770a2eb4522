"""Several ways were tried; one worked."""

from __future__ import annotations

from memx.reflector.rules.rule import Rule


class RetrySuccessRule(Rule):
    """`Tried A and B, neither worked, finally solved it with C`."""

    name = "retry_success"
    confidence = 0.7
    reach = 3
    negation = "before"
