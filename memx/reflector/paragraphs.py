"""Which paragraphs of a text are lessons of their own, and which together tell one.

A story told in paragraphs (what was seen, what caused it, what was done) is one
lesson. Several lessons in one text are told apart by what each paragraph has: a
trouble or a reason and then what to do about it, something concrete, a subject
that the others do not share, and no word at its beginning that leans on the
paragraph before. A text whose first paragraph is none by itself is one story.
"""

from __future__ import annotations

from functools import cache

from memx.model import Span
from memx.record import record
from memx.reflector.features import measure, sift
from memx.reflector.language import weight_of
from memx.reflector.pattern import pattern
from memx.reflector.rules import Match
from memx.reflector.segment import PROSE, Passage
from memx.reflector.stated import is_concrete
from memx.reflector.tokens import code_tokens
from memx.reflector.vocabulary import load_stopwords, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.reflector.detector import PatternDetector
    from memx.reflector.features import Evidence
    from memx.reflector.segment import Sentence

_LEAST_WEIGHT = 70
"""Latin characters of a paragraph that holds a thing, its reason and what to do."""
_INTRODUCTION = 110
"""Latin characters of a paragraph that only says what follows."""
_MOST = 8
"""Lessons of one text; a longer list is a document, not a message."""
_SHARED = 0.25
"""The share of the shorter paragraph's subject words above which both speak of one thing."""
_SUPPORT = 0.8
"""How far trouble with what to do about it is a lesson where no sentence states one alone."""
_FIRM = 0.9
"""How surely a rule must see a lesson in a paragraph that says nothing of what to do."""
_WORD = pattern(r"[A-Za-zÀ-ÿ_][\w.:/-]{3,}\w|[\u3400-\u9fff]{2}|[\u30a1-\u30fa\u30fc]{3,}")
_TROUBLE = frozenset(("reason", "failure", "hazard", "diagnosis"))
_REMEDY = frozenset(("directive", "remedy", "decision", "success", "necessity"))


@record
class Lesson:
    """One paragraph, or several that belong together, with what the rules see in it."""

    evidence: Evidence
    matches: tuple[Match, ...]


def separate_lessons(passage: Passage, language: str, detector: PatternDetector) -> list[Lesson]:
    """Return the lessons of a text whose paragraphs are a lesson each; none where they tell one or nothing."""
    paragraphs = _paragraphs(passage.sentences)
    if len(paragraphs) < 2:  # noqa: PLR2004
        return []
    parts: list[_Part] = []
    for sentences in paragraphs:
        part = _Part(sentences, language)
        if part.stands(detector, listed=bool(parts)) and not any(
            part.shares_subject(other) for other in parts
        ):
            parts.append(part)
        elif parts:
            parts[-1] = parts[-1].followed_by(part)
        elif not part.introduces():
            return []
    if not 2 <= len(parts) <= _MOST:  # noqa: PLR2004
        return []
    return [Lesson(measure(part.evidence), tuple(part.matches(detector))) for part in parts]


def _paragraphs(sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    """Return the prose's paragraphs; a list belongs to the paragraph before it."""
    found: list[list[Sentence]] = []
    last = -1
    for sentence in sentences:
        if sentence.kind == PROSE and sentence.block != last:
            found.append([])
            last = sentence.block
        if found:
            found[-1].append(sentence)
    return found


class _Part:
    """A paragraph, with those that go on with it."""

    def __init__(self, sentences: Sequence[Sentence], language: str) -> None:
        self._language = language
        self._sentences = tuple(sentences)
        self.evidence: Evidence = sift(Passage("", self._sentences), language)
        text = " ".join(sentence.text for sentence in self._sentences)
        self._names = {token.strip("`").lower() for token in code_tokens(text)}
        self._subject = self._names | _telling_words(text, language)

    def followed_by(self, other: _Part) -> _Part:
        """Return both as one."""
        return _Part((*self._sentences, *other._sentences), self._language)

    def stands(self, detector: PatternDetector, *, listed: bool) -> bool:
        """Tell whether the paragraph is a lesson without the others; `listed` where one stands before it."""
        if sum(weight_of(s.text) for s in self._sentences) < _LEAST_WEIGHT:
            return False
        if _says("leaning", self._sentences[0], self._language):
            return False
        return bool(self.matches(detector)) or (listed and bool(self.follows_suit()))

    def matches(self, detector: PatternDetector) -> list[Match]:
        """Return what makes it a lesson: what a rule sees in it, or trouble and then what to do about it."""
        usable, counts = self.evidence.usable, self.evidence.counts
        cues = set().union(*counts)
        stated = [match for match in detector.detect(self.evidence) if match.support]
        if stated:
            firm = "directive" in cues or max(match.support for match in stated) >= _FIRM
            troubled = not _TROUBLE.isdisjoint(cues)
            return stated if firm or (troubled and any(map(self._advises, range(len(usable))))) else []
        if "reason" not in cues and not is_concrete(usable, vocabulary(self._language)):
            return []
        first = next((at for at, found in enumerate(counts) if not _TROUBLE.isdisjoint(found)), len(usable))
        advised = next((at for at in range(first, len(usable)) if self._advises(at, at > first)), None)
        return [] if advised is None else [self._told(first, advised)]

    def follows_suit(self) -> list[Match]:
        """Return what a paragraph teaches that stands among lessons: how something is, then what to do."""
        usable = self.evidence.usable
        if not is_concrete(usable, vocabulary(self._language)):
            return []
        advised = [_says("imperative", sentence, self._language) for sentence in usable]
        return [self._told(0, advised.index(True))] if True in advised[1:] and not advised[0] else []

    def _told(self, first: int, last: int) -> Match:
        text = " ".join(sentence.text for sentence in self.evidence.usable[first : last + 1])
        return Match("statement", 0.55, _SUPPORT, first, last, (Span(0, len(text), text, "statement"),))

    def _advises(self, at: int, by_form: bool = True) -> bool:  # noqa: FBT001, FBT002
        """Tell whether a sentence says what to do, by its words or by its form."""
        if not _REMEDY.isdisjoint(self.evidence.counts[at]):
            return True
        return by_form and _says("imperative", self.evidence.usable[at], self._language)

    def introduces(self) -> bool:
        """Tell whether the paragraph says no more than that something follows."""
        return sum(weight_of(s.text) for s in self._sentences) < _INTRODUCTION and not any(
            "failure" in cues or "diagnosis" in cues for cues in self.evidence.counts
        )

    def shares_subject(self, other: _Part) -> bool:
        """Tell whether two paragraphs speak of the same thing: by one identifier, or by many of their words."""
        common = len(self._subject & other._subject)
        return bool(self._names & other._names) or common > _SHARED * min(
            len(self._subject), len(other._subject)
        )


def _says(wording: str, sentence: Sentence, language: str) -> bool:
    """Tell whether one of the lexicons' patterns of that name stands in a sentence."""
    masked = sentence.masked.strip().lower()
    return any(form.search(masked) for form in vocabulary(language).patterns(wording, masked, masked))


def _telling_words(text: str, language: str) -> set[str]:
    """Return the words of a text but the commonest and those that any lesson has."""
    words = vocabulary(language)
    found = {word.lower() for word in _WORD.findall(text)}
    return {word for word in found if word not in _commonest() and not words.tally(f" {word} ")}


@cache
def _commonest() -> frozenset[str]:
    return frozenset().union(*load_stopwords().values())
