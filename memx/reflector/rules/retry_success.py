"""Several ways were tried; one worked."""

from __future__ import annotations

from memx.reflector.rules.stated import StatedRule
from memx.reflector.stated import retried_support


class RetrySuccessRule(StatedRule):
    """`Tried A and B, neither worked, finally solved it with C`."""

    name = "retry_success"
    confidence = 0.7
    reach = 3
    negation = "before"
    cue = "finally"
    support_of = staticmethod(retried_support)
