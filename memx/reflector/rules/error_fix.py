"""An error, its cause and its remedy."""

from __future__ import annotations

from memx.reflector.rules.rule import Rule


class ErrorFixRule(Rule):
    """`TypeError: … → turns out you need a type assertion`."""

    name = "error_fix"
    confidence = 0.8
    reach = 3
    negation = "before"
