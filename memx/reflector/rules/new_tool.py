"""A tool newly taken into use."""

from __future__ import annotations

from memx.reflector.rules.rule import Rule


class NewToolRule(Rule):
    """`First time using pnpm, much faster than npm`."""

    name = "new_tool"
    confidence = 0.65
