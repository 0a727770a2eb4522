"""An error, its cause and its remedy."""

from __future__ import annotations

from memx.reflector.rules.stated import StatedRule
from memx.reflector.stated import diagnosed_support


class ErrorFixRule(StatedRule):
    """`TypeError: … → turns out you need a type assertion`."""

    name = "error_fix"
    confidence = 0.8
    reach = 3
    negation = "before"
    cue = "diagnosis"
    support_of = staticmethod(diagnosed_support)
