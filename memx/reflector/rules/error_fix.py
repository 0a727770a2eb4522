"""An error, its cause and its remedy."""

from __future__ import annotations

from memx.reflector.rules.rule import Match, Rule, stated_match
from memx.reflector.rules.statement import LONGEST
from memx.reflector.stated import diagnosed_support

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memx.reflector.segment import Sentence


class ErrorFixRule(Rule):
    """`TypeError: … → turns out you need a type assertion`."""

    name = "error_fix"
    confidence = 0.8
    reach = 3
    negation = "before"

    def find(
        self, sentences: Sequence[Sentence], language: str, lowered: Sequence[str] = ()
    ) -> Iterator[Match]:
        """Yield what its patterns match and, in a short text, a diagnosis in any other wording."""
        found = list(super().find(sentences, language, lowered))
        yield from found
        if len(sentences) <= LONGEST and not found:
            stated = stated_match(self.name, self.confidence, sentences, language, diagnosed_support)
            if stated:
                yield stated
