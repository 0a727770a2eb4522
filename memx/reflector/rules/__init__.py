"""One rule a file: what it looks for, its confidence, and the spans it saw."""

from __future__ import annotations

from memx.reflector.rules.config_change import ConfigChangeRule
from memx.reflector.rules.correction import CorrectionRule
from memx.reflector.rules.error_fix import ErrorFixRule
from memx.reflector.rules.new_tool import NewToolRule
from memx.reflector.rules.repetitive_op import RepetitiveOpRule
from memx.reflector.rules.retry_success import RetrySuccessRule
from memx.reflector.rules.rule import Match, Rule
from memx.reflector.rules.statement import StatementRule

ALL_RULES: tuple[Rule, ...] = (
    RetrySuccessRule(),
    RepetitiveOpRule(),
    NewToolRule(),
    ConfigChangeRule(),
    ErrorFixRule(),
    CorrectionRule(),
    StatementRule(),
)
"""From the most to the least particular: at equal strength the earlier one names the lesson."""

__all__ = [
    "ALL_RULES",
    "ConfigChangeRule",
    "CorrectionRule",
    "ErrorFixRule",
    "Match",
    "NewToolRule",
    "RepetitiveOpRule",
    "RetrySuccessRule",
    "Rule",
    "StatementRule",
]
