"""A person corrects what was done, or lays down a rule."""

from __future__ import annotations

from memx.reflector.rules.rule import Rule
from memx.reflector.stated import LEAST_SHARE, reasoned_support, share_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.reflector.segment import Sentence


class CorrectionRule(Rule):
    """`Don't use npm here, use pnpm: the Docker build takes the wrong lockfile otherwise`."""

    name = "correction"
    confidence = 0.7
    reach = 1
    negation = "none"
    plans_void = False
    stands_alone = False

    def support(self, sentences: Sequence[Sentence], first: int, last: int, language: str) -> float:
        """Return how far a rule is laid down with what follows from it, in the same sentence or the next."""
        stated = super().support(sentences, first, last, language)
        after = min(last + 1, len(sentences) - 1)
        if share_of(sentences, first, after) < LEAST_SHARE:
            return stated
        return max(stated, reasoned_support(sentences[first : after + 1], language))
