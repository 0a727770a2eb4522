"""KnowledgeScorer: how instructive a lesson is, 0 to 100.

score = 100 × (1 - (1 - worth) × (1 - support × confidence × (0.8 + 0.1 × specificity + 0.1 × cause)))
            × (0.85 + 0.05 × confidence + 0.05 × specificity + 0.05 × cause)

`worth` is the learned probability that the text teaches something (worth.py),
`support` how far the rule's own words are the whole lesson. All are 0 to 1, and
the score never falls when one of them rises.
"""

from __future__ import annotations

import math

from memx.record import record
from memx.reflector.tokens import VALUE_TOKEN, code_tokens
from memx.reflector.vocabulary import cue_counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector.vocabulary import Vocabulary


@record
class Factors:
    """What a score is made of; each 0 to 1."""

    confidence: float
    specificity: float
    cause: float
    worth: float = 0.0
    support: float = 0.0


class KnowledgeScorer:
    """Scores a lesson from its factors."""

    def score(self, factors: Factors) -> int:
        """Return 0 to 100, monotone in every factor."""
        clarity = 0.8 + 0.1 * factors.specificity + 0.1 * factors.cause
        stated = factors.support * factors.confidence * clarity
        believed = 1.0 - (1.0 - factors.worth) * (1.0 - stated)
        bonus = 0.85 + 0.05 * (factors.confidence + factors.specificity + factors.cause)
        return max(0, min(100, round(100 * believed * bonus)))

    def specificity(self, text: str, words: Vocabulary) -> float:
        """Return how concrete and actionable a text is: identifiers, values, something to do."""
        names = len(set(code_tokens(text)))
        values = len(set(VALUE_TOKEN.findall(text)))
        counts = cue_counts(words.language, text)
        action = counts.get("remedy", 0) + counts.get("necessity", 0)
        return 1.0 - math.exp(-(0.5 * names + 0.25 * values + 0.25 * action))

    def cause(self, text: str, words: Vocabulary) -> float:
        """Return how clearly a text gives a cause or says what goes wrong."""
        counts = cue_counts(words.language, text)
        signs = 0.7 * counts.get("cause", 0) + 0.5 * counts.get("hazard", 0) + 0.3 * counts.get("failure", 0)
        return 1.0 - math.exp(-signs)
