"""PatternDetector: all rules over a text's sentences, and which finding names the lesson."""

from __future__ import annotations

from memx.reflector.rules import ALL_RULES, Match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.reflector.features import Evidence
    from memx.reflector.rules import Rule


class PatternDetector:
    """Runs the rules over what `gather` left usable."""

    def __init__(self, rules: Sequence[Rule] = ALL_RULES) -> None:
        """Take the rules, the more particular first."""
        self.rules = tuple(rules)

    def detect(self, evidence: Evidence) -> list[Match]:
        """Return all matches; positions count the usable sentences."""
        return [match for rule in self.rules for match in rule.find(evidence.usable, evidence.language)]


def lead_match(matches: Sequence[Match], evidence: Evidence) -> Match:
    """Return the match that names the lesson; without one, the kind that the words suggest, with no support."""
    if matches:
        return max(matches, key=lambda match: (match.support * match.confidence, match.confidence))
    values = evidence.values
    failing = values.get("failure", 0.0) + values.get("fix_title", 0.0) > 0
    name, confidence = ("error_fix", 0.8) if failing else ("statement", 0.55)
    return Match(name, confidence, 0.0, 0, max(0, len(evidence.usable) - 1), ())
