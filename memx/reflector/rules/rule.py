"""What all rules share: patterns from the lexicon, and the guards against what was only denied, meant or quoted."""

from __future__ import annotations

from memx.model import Span
from memx.record import record
from memx.reflector.features import is_plan, is_question
from memx.reflector.vocabulary import fold, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from memx.reflector.segment import Sentence
    from memx.reflector.vocabulary import RulePattern, Vocabulary


@record
class Match:
    """A rule's finding: how sure the rule is, and how much of the lesson its own words carry.

    support: 1.0 when the pattern states a whole lesson by itself, 0.0 when it only names the kind.
    first and last are positions in the list of sentences that was searched, inclusive.
    """

    rule: str
    confidence: float
    support: float
    first: int
    last: int
    spans: tuple[Span, ...]


class Rule:
    """Finds one kind of lesson in sentences; subclasses set the values and may narrow the match."""

    name = ""
    confidence = 0.5
    reach = 1
    """How many neighbouring sentences a pattern may span."""
    negation = "whole"
    """Where a negation voids the match: in the `whole` text, only `before` the match, or `none`."""
    plans_void = True
    stands_alone = True
    """Whether a match is a lesson even where nothing else speaks for it."""

    def find(
        self, sentences: Sequence[Sentence], language: str, lowered: Sequence[str] = ()
    ) -> Iterator[Match]:
        """Yield matches, one a starting sentence at most; `lowered` as `lower` gives it."""
        words = vocabulary(language)
        lowered = lowered or lower(sentences)
        if not words.may_match(self.name, "".join(lowered)):
            return
        for first, text in enumerate(lowered):
            window = text if self.reach == 1 else "".join(lowered[first : first + self.reach])
            for pattern in words.patterns(self.name, text, window):
                match = self._match(pattern, sentences[first : first + self.reach], first, words)
                if match:
                    yield match
                    break

    def _match(
        self, pattern: RulePattern, window: Sequence[Sentence], first: int, words: Vocabulary
    ) -> Match | None:
        found = pattern.search(" ".join(sentence.masked for sentence in window))
        if not found or found.start() > len(window[0].masked):
            return None
        window = _covering(window, found.end())
        masked = " ".join(sentence.masked for sentence in window)
        if not self.accepts(found, masked) or self._is_void(found, window, masked, words):
            return None
        return Match(
            rule=self.name,
            confidence=self.confidence,
            support=self.support(found, masked),
            first=first,
            last=first + len(window) - 1,
            spans=spans_of(found, " ".join(sentence.text for sentence in window), self.name),
        )

    def denies(self, sentence: Sentence, language: str) -> bool:
        """Tell whether a sentence has the rule's words, but denied, asked, planned or quoted."""
        words = vocabulary(language)
        lowered = f" {sentence.masked.lower()} "
        for pattern in words.patterns(self.name, lowered, lowered):
            found = pattern.search(sentence.masked)
            if (
                found
                and self.accepts(found, sentence.masked)
                and self._is_void(found, (sentence,), sentence.masked, words)
            ):
                return True
        return False

    def accepts(self, found: re.Match[str], masked: str) -> bool:  # noqa: ARG002
        """Tell whether the words found mean what the rule looks for."""
        return True

    def support(self, found: re.Match[str], masked: str) -> float:  # noqa: ARG002
        """Return how much of a lesson the match is by itself."""
        return 1.0 if self.stands_alone else 0.0

    def _is_void(
        self, found: re.Match[str], window: Sequence[Sentence], masked: str, words: Vocabulary
    ) -> bool:
        folded = fold(masked)
        if any(is_question(sentence.text, fold(sentence.masked), words) for sentence in window):
            return True
        if words.has("reported", folded[: found.start() + 1]):
            return True
        if self.plans_void and (words.has("planned", folded) or is_plan(folded, words)):
            return True
        if self.negation == "none":
            return False
        denied = folded if self.negation == "whole" else folded[: found.start() + 16]
        return words.has("negated", denied) or words.has("needless", folded)


def lower(sentences: Sequence[Sentence]) -> list[str]:
    """Return the masked sentences in lower case between spaces, as needed words are looked for."""
    return [f" {sentence.masked.lower()} " for sentence in sentences]


def _covering(window: Sequence[Sentence], end: int) -> Sequence[Sentence]:
    """Return the first sentences of a window up to the one that holds position `end`."""
    length = -1
    for count, sentence in enumerate(window, 1):
        length += 1 + len(sentence.masked)
        if end <= length:
            return window[:count]
    return window


def spans_of(found: re.Match[str], text: str, label: str) -> tuple[Span, ...]:
    """Return the match and its named groups as spans of the text."""
    spans = [Span(found.start(), found.end(), text[found.start() : found.end()], label)]
    for name in found.re.groupindex:
        if found.start(name) >= 0:
            start, end = found.span(name)
            spans.append(Span(start, end, text[start:end], name))
    return tuple(spans)
