"""What all rules share: patterns from the lexicon, and the guards against what was only denied, meant or quoted."""

from __future__ import annotations

import re

from memx.model import Span
from memx.record import record
from memx.reflector.guards import (
    is_hypothetical,
    is_offer,
    is_personal,
    is_plan,
    is_question,
    is_refuted,
    is_slip,
)
from memx.reflector.language import weight_of
from memx.reflector.pattern import pattern
from memx.reflector.segment import TITLE
from memx.reflector.stated import LEAST_SHARE, share_of, stated_support
from memx.reflector.vocabulary import fold, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memx.reflector.segment import Sentence
    from memx.reflector.vocabulary import RulePattern, Vocabulary


_INTO = 16
"""How far into a match a negation still denies it; words of languages without spaces are shorter."""
_CLAUSE_END = pattern(r"[,;:.!?](?=\s|$)|[，；：。、！？]| [-–—] ")
_NEGATED_VERB = pattern(r"\b(?:not|never|no|nunca|tampoco)(?:\s+\w+){0,2}\s*$", re.IGNORECASE)


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
    """Where a negation voids the match: in the `whole` text, in its `clause` and before, only `before`, `none`."""
    plans_void = True
    tells_deed = False
    """Whether the rule looks for what was done, so that what could be done, or is made possible, is none."""
    stands_alone = True
    """Whether a match is a lesson even where nothing else speaks for it."""

    def find(
        self, sentences: Sequence[Sentence], language: str, lowered: Sequence[str] = ()
    ) -> Iterator[Match]:
        """Yield matches, one a starting sentence at most; `lowered` as `lower` gives it."""
        words = vocabulary(language)
        lowered = lowered or lower(sentences)
        able = words.able(self.name, lowered[0] if len(lowered) == 1 else "".join(lowered))
        if not able:
            return
        for first, text in enumerate(lowered):
            window = text if self.reach == 1 else "".join(lowered[first : first + self.reach])
            for wording in able.patterns(self.name, text, window):
                match = self._match(wording, sentences, first, words)
                if match:
                    yield match
                    break

    def _match(
        self, wording: RulePattern, sentences: Sequence[Sentence], first: int, words: Vocabulary
    ) -> Match | None:
        window = sentences[first : first + self.reach]
        found = wording.search(" ".join(sentence.masked for sentence in window))
        if not found or found.start() > len(window[0].masked):
            return None
        window = _covering(window, found.end())
        masked = " ".join(sentence.masked for sentence in window)
        if not self.accepts(found, masked) or self._is_void(found, window, masked, words):
            return None
        return Match(
            rule=self.name,
            confidence=self.confidence,
            support=self.support(sentences, first, first + len(window) - 1, words.language),
            first=first,
            last=first + len(window) - 1,
            spans=spans_of(found, " ".join(sentence.text for sentence in window), self.name),
        )

    def denies(self, sentence: Sentence, language: str, lowered: str = "") -> bool:
        """Tell whether a sentence has the rule's words, but denied, asked, planned or quoted; see `lower`."""
        words = vocabulary(language)
        lowered = lowered or lower((sentence,))[0]
        for wording in words.patterns(self.name, lowered, lowered):
            found = wording.search(sentence.masked)
            if (
                found
                and self.accepts(found, sentence.masked)
                and self._is_void(found, (sentence,), sentence.masked, words)
            ):
                return True
        return False

    def is_quoted(self, sentence: Sentence, language: str) -> bool:
        """Tell whether the rule's words stand in a quotation alone."""
        if sentence.masked == sentence.text:
            return False
        words = vocabulary(language)
        lowered = f" {sentence.text.lower()} "
        return any(wording.search(sentence.text) for wording in words.patterns(self.name, lowered, lowered))

    def accepts(self, found: re.Match[str], masked: str) -> bool:  # noqa: ARG002
        """Tell whether the words found mean what the rule looks for."""
        return True

    def support(self, sentences: Sequence[Sentence], first: int, last: int, language: str) -> float:
        """Return how much of a lesson the matched sentences are by themselves."""
        return 1.0 if self.stands_alone else stated_part(sentences, first, last, language)

    def _is_void(
        self, found: re.Match[str], window: Sequence[Sentence], masked: str, words: Vocabulary
    ) -> bool:
        folded = fold(masked)
        return (
            any(is_question(sentence.text, fold(sentence.masked), words) for sentence in window)
            or words.has("reported", folded[: found.start() + 1])
            or (self.plans_void and (words.has("planned", folded) or is_plan(folded, words)))
            or is_offer(folded, words)
            or is_refuted(folded, words)
            or is_slip(masked, folded, words)
            or is_personal(masked, folded, words)
            or (self.tells_deed and self._is_supposed(found, masked, words))
            or (self.negation != "none" and self._is_negated(found, masked, folded, words))
        )

    def _is_negated(self, found: re.Match[str], masked: str, folded: str, words: Vocabulary) -> bool:
        denied = folded[: self._denial_end(found, masked, words)]
        if self.negation == "clause" and _NEGATED_VERB.search(masked[: found.start()]):
            return True
        needless = denied if self.negation == "clause" else folded
        return words.has("negated", denied) or words.has("needless", needless)

    def _is_supposed(self, found: re.Match[str], masked: str, words: Vocabulary) -> bool:
        """Tell whether what the match tells was not done but could be, by the words of its own clause."""
        deed = found.start("old") if "old" in found.re.groupindex else found.start()
        start = max((end.end() for end in _CLAUSE_END.finditer(masked, 0, deed)), default=0)
        end = deed
        if words.language == "ja":  # whose modals stand behind the verb
            closed = _CLAUSE_END.search(masked, found.end())
            end = closed.start() if closed else len(masked)
        return is_hypothetical(fold(masked[:deed]), fold(masked[start:end]), words)

    def _denial_end(self, found: re.Match[str], masked: str, words: Vocabulary) -> int:
        """Return the position in the folded text up to which a negation denies the match."""
        if self.negation == "before":
            return found.start() + (_INTO if words.spaced else _INTO // 4)
        if self.negation == "whole":
            return len(masked) + 2
        end = _CLAUSE_END.search(masked, found.end())
        return end.start() + 2 if end else len(masked) + 2


def stated_part(sentences: Sequence[Sentence], first: int, last: int, language: str) -> float:
    """Return how far sentences state a lesson by themselves; 0 where the text is mostly about other things."""
    if share_of(sentences, first, last) < LEAST_SHARE:
        return 0.0
    return stated_support(sentences[first : last + 1], language)


def stated_match(
    rule: str,
    confidence: float,
    sentences: Sequence[Sentence],
    language: str,
    support_of: Callable[[Sequence[Sentence], str], float],
) -> Match | None:
    """Return the match of a lesson stated in one sentence or two, most of the text, without a rule's own wording."""
    weights = [weight_of(sentence.text) for sentence in sentences]
    untitled = [0 if s.kind == TITLE else weight for s, weight in zip(sentences, weights, strict=True)]
    whole = sum(untitled)
    for reach in (1, 2):
        best: Match | None = None
        for first in range(len(sentences) - reach + 1):
            end = first + reach
            mine = sum(weights[first:end])
            # As `share_of` would say, which adds up the whole text for each of its sentences.
            if mine / max(1, mine + whole - sum(untitled[first:end])) < LEAST_SHARE:
                continue
            last = end - 1
            window = sentences[first:end]
            support = support_of(window, language)
            if support > (best.support if best else 0.0):
                text = " ".join(sentence.text for sentence in window)
                best = Match(rule, confidence, support, first, last, (Span(0, len(text), text, rule),))
        if best:
            return best
    return None


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
