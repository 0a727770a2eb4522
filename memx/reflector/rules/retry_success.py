"""Several ways were tried; one worked."""

from __future__ import annotations

from memx.reflector.rules.rule import Match, Rule, stated_match
from memx.reflector.rules.statement import LONGEST
from memx.reflector.stated import retried_support

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memx.reflector.segment import Sentence


class RetrySuccessRule(Rule):
    """`Tried A and B, neither worked, finally solved it with C`."""

    name = "retry_success"
    confidence = 0.7
    reach = 3
    negation = "before"

    def find(
        self, sentences: Sequence[Sentence], language: str, lowered: Sequence[str] = ()
    ) -> Iterator[Match]:
        """Yield what its patterns match and, in a short text, futile attempts with an end in any other wording."""
        found = list(super().find(sentences, language, lowered))
        yield from found
        if len(sentences) <= LONGEST and not found:
            stated = stated_match(self.name, self.confidence, sentences, language, retried_support)
            if stated:
                yield stated
