"""An invariant, a decision or a fact, given with its reason."""

from __future__ import annotations

from memx.reflector.rules.rule import Match, Rule, stated_match
from memx.reflector.stated import stated_support

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memx.reflector.segment import Sentence


class StatementRule(Rule):
    """`Only the pricing service writes prices, otherwise stock and invoices get out of step`."""

    name = "statement"
    confidence = 0.55
    reach = 2
    negation = "none"
    plans_void = False
    stands_alone = False

    def find(
        self, sentences: Sequence[Sentence], language: str, lowered: Sequence[str] = ()
    ) -> Iterator[Match]:
        """Yield what its patterns match and, in a short text, what is stated in any other wording."""
        found = list(super().find(sentences, language, lowered))
        yield from found
        if len(sentences) <= LONGEST and not any(match.support for match in found):
            stated = stated_match(self.name, self.confidence, sentences, language, stated_support)
            if stated:
                yield stated


LONGEST = 6
"""Sentences of a text that one or two of them can be half of."""
