"""A rule that also takes a short text which states its kind of lesson in any other wording."""

from __future__ import annotations

from memx.reflector.rules.rule import Match, Rule, stated_match
from memx.reflector.rules.statement import LONGEST
from memx.reflector.vocabulary import cue_counts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memx.reflector.segment import Sentence


class StatedRule(Rule):
    """`support_of(sentences, language)` tells how far they state the lesson, 0 to 1; nothing without the cue."""

    cue: str
    support_of: Callable[[Sequence[Sentence], str], float]

    def find(
        self, sentences: Sequence[Sentence], language: str, lowered: Sequence[str] = ()
    ) -> Iterator[Match]:
        """Yield what the patterns match and, in a short text where none does, what is stated otherwise."""
        found = list(super().find(sentences, language, lowered))
        yield from found
        if len(sentences) <= LONGEST and not found and self._is_cued(sentences, language):
            stated = stated_match(self.name, self.confidence, sentences, language, self.support_of)
            if stated:
                yield stated

    def _is_cued(self, sentences: Sequence[Sentence], language: str) -> bool:
        return any(self.cue in cue_counts(language, sentence.masked) for sentence in sentences)
