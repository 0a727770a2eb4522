"""A person corrects what was done, or lays down a rule."""

from __future__ import annotations

from memx.reflector.rules.rule import Rule


class CorrectionRule(Rule):
    """`Don't use npm here, use pnpm: the Docker build takes the wrong lockfile otherwise`."""

    name = "correction"
    confidence = 0.7
    reach = 1
    negation = "none"
    plans_void = False
    stands_alone = False
