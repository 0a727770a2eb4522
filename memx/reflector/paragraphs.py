"""Which paragraphs of a text are lessons of their own, and which together tell one.

A story told in paragraphs (what was seen, what caused it, what was done) is one
lesson. Several lessons in one text are told apart by what each paragraph has: a
trouble or a reason and then what to do about it, something concrete, a subject
that the others do not share, and no word at its beginning that leans on the
the paragraph before. A text whose first paragraph is none by itself is one story.

The items of a list are held to the same, and most of them must be lessons: steps
and lists of changes are not. What a paragraph before a list tells, its items go on with.
"""

from __future__ import annotations

from functools import cache

from memx.model import Span
from memx.record import record, replace
from memx.reflector.distiller import MAX_SENTENCES
from memx.reflector.features import gather, sift
from memx.reflector.language import weight_of
from memx.reflector.pattern import pattern
from memx.reflector.rules import Match
from memx.reflector.segment import ITEM, PROSE, Passage
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
_LEAST_ITEM = 50
"""The same of an item, which is often a single sentence."""
_INTRODUCTION = 110
"""Latin characters of a paragraph that only says what follows."""
_MOST = 8
"""Paragraphs of one text; a longer one is a document, not a message."""
_SHARED = 0.25
"""The share of the shorter paragraph's subject words above which both speak of one thing."""
_SUPPORT = 0.8
"""How far trouble with what to do about it is a lesson where no sentence states one alone."""
_FIRM = 0.9
"""How surely a rule must see a lesson in a paragraph that says nothing of what to do."""
_WORD = pattern(r"[A-Za-zÀ-ÿ_][\w.:/-]{3,}\w|[\u3400-\u9fff]{2}|[\u30a1-\u30fa\u30fc]{3,}")
_TROUBLE = frozenset(("reason", "failure", "hazard", "diagnosis"))
_REMEDY = frozenset(("directive", "remedy", "decision", "success", "necessity"))
_TELLING = _TROUBLE | {"directive"}


@record
class Lesson:
    """One paragraph, or several that belong together, with what the rules see in it."""

    evidence: Evidence
    matches: tuple[Match, ...]

    def span(self, match: Match) -> tuple[int, int]:
        """Return the first and the last sentence to keep: all of a short paragraph, else those of the match."""
        last = len(self.evidence.usable) - 1
        return (0, last) if last < MAX_SENTENCES else (match.first, match.last)


def separate_lessons(passage: Passage, language: str, detector: PatternDetector) -> list[Lesson]:
    """Return the lessons of a text whose items or paragraphs are a lesson each; none where they tell one or nothing."""
    listed, told = _is_list(passage.sentences), _is_told(passage.sentences)
    if not listed and not told:
        return []
    whole = sift(passage, language)
    parts = _of_items(_parts(whole, _blocks(whole.usable), detector)) if listed else []
    if not parts and told:
        parts = _of_paragraphs(_parts(whole, _places(whole.usable), detector))
    return [part.lesson() for part in parts] if len(parts) > 1 else []


def _parts(whole: Evidence, places_of: Sequence[Sequence[int]], detector: PatternDetector) -> list[_Part]:
    """Return a text's parts; none where they are too many, or fewer than two may stand alone."""
    parts = [_Part(whole, places, detector) for places in places_of] if len(places_of) <= _MOST else []
    return parts if sum([part.is_apart for part in parts]) > 1 else []


def _is_told(sentences: Sequence[Sentence]) -> bool:
    """Tell cheaply whether two paragraphs may be a lesson each."""
    return sum([_is_roomy(sentences, places) for places in _places(sentences)]) > 1


def _is_list(sentences: Sequence[Sentence]) -> bool:
    """Tell cheaply whether two items may be a lesson each, and most of all."""
    if not any([sentence.kind == ITEM for sentence in sentences]):  # noqa: C419
        return False
    items = [places for places in _blocks(sentences) if sentences[places[0]].kind == ITEM]
    roomy = sum([_is_roomy(sentences, places) for places in items]) if len(items) > 1 else 0
    return roomy > 1 and 2 * roomy > len(items)


def _of_paragraphs(paragraphs: Sequence[_Part]) -> list[_Part]:
    """Return the paragraphs that are lessons, each with those that go on with it."""
    parts: list[_Part] = []
    for part in paragraphs:
        if part.is_apart and part.stands_beside(parts):
            parts.append(part)
        elif parts:
            parts[-1] = parts[-1].followed_by(part)
        elif not part.introduces():
            return []
    return parts


def _of_items(blocks: Sequence[_Part]) -> list[_Part]:
    """Return the items that are lessons, where most are; none where other paragraphs tell more than what follows."""
    if not all(block.is_item or block.introduces(by_naming=True) for block in blocks):
        return []
    items = [block for block in blocks if block.is_item]
    parts: list[_Part] = []
    for at, item in enumerate(items):
        if not item.is_apart or not item.is_argued or not item.may_teach:
            if 2 * (at + 1 - len(parts)) >= len(items):
                return []
        elif any(map(item.is_near, parts)):
            return []
        else:
            parts.append(item)
    return parts if any(part.teaches for part in parts) else []


def _blocks(sentences: Sequence[Sentence]) -> list[list[int]]:
    """Return the places of the sentences of each paragraph and of each item."""
    found: list[list[int]] = []
    last = -1
    for at, sentence in enumerate(sentences):
        if sentence.kind in (PROSE, ITEM):
            if sentence.block != last:
                found.append([])
                last = sentence.block
            found[-1].append(at)
    return found


def _places(usable: Sequence[Sentence]) -> list[list[int]]:
    """Return the places of the sentences of each paragraph; a list belongs to the paragraph before it."""
    found: list[list[int]] = []
    last = -1
    for at, sentence in enumerate(usable):
        if sentence.kind == PROSE and sentence.block != last:
            found.append([])
            last = sentence.block
        if found:
            found[-1].append(at)
    return found


def _is_roomy(sentences: Sequence[Sentence], places: Sequence[int]) -> bool:
    """Tell whether there is room for a thing, its reason and what to do."""
    least = _LEAST_ITEM if sentences[places[0]].kind == ITEM else _LEAST_WEIGHT
    return sum([weight_of(sentences[at].text) for at in places]) >= least


class _Part:
    """A paragraph, with those that go on with it, or an item of a list."""

    def __init__(self, whole: Evidence, places: Sequence[int], detector: PatternDetector) -> None:
        self._detector = detector
        self._whole = whole
        self._places = tuple(places)
        self._language = whole.language
        self._vocabulary = vocabulary(whole.language)
        self._sentences = tuple([whole.usable[at] for at in places])
        self._counts = tuple([whole.counts[at] for at in places])
        self._names: set[str] | None = None
        self._words: set[str] | None = None
        self._found: list[Match] | None = None

    def followed_by(self, other: _Part) -> _Part:
        """Return both as one."""
        return _Part(self._whole, (*self._places, *other._places), self._detector)

    @property
    def is_item(self) -> bool:
        """Tell whether it is an item of a list."""
        return self._sentences[0].kind == ITEM

    @property
    def is_apart(self) -> bool:
        """Tell whether it has room for a lesson and does not begin by pointing back or by how a story ended."""
        first = self._sentences[0]
        return _is_roomy(self._whole.usable, self._places) and not any(
            _says(wording, first, self._language) for wording in ("leaning", "closing")
        )

    def stands_beside(self, parts: Sequence[_Part]) -> bool:
        """Tell whether the paragraph is a lesson, and of another thing than the lessons before it."""
        if any(self.names & part.names for part in parts):
            return False
        # The rules cost most: what tells of trouble and its remedy needs none of them.
        if not self._mended() and not self._matches() and not (parts and self._follows_suit()):
            return False
        return not any(map(self._shares_words, parts))

    @property
    def is_argued(self) -> bool:
        """Tell whether it may be more than a change that was made: `Add a check that refuses wrong levels`."""
        return len(self._sentences) > 1 or any(
            "reason" in cues or "directive" in cues for cues in self._counts
        )

    @property
    def teaches(self) -> bool:
        """Tell whether it is a lesson by itself."""
        return bool(self._mended() or self._matches())

    @property
    def may_teach(self) -> bool:
        """Tell whether it is a lesson by itself or beside another one."""
        return self.teaches or bool(self._follows_suit())

    def is_near(self, other: _Part) -> bool:
        """Tell whether both speak of one thing."""
        return bool(self.names & other.names) or self._shares_words(other)

    def lesson(self) -> Lesson:
        """Return what the paragraph teaches."""
        # An item that is a lesson is a paragraph: that it stood in a list says nothing against it any more.
        sentences = self._sentences
        if self.is_item:
            sentences = tuple([replace(sentence, kind=PROSE) for sentence in sentences])
        evidence = gather(Passage("", sentences), self._language)
        return Lesson(evidence, tuple(self._matches() or self._follows_suit()))

    def _matches(self) -> list[Match]:
        """Return what makes it a lesson; the rules cost most and are asked once."""
        if self._found is None:
            self._found = self._detect()
        return self._found

    def _detect(self) -> list[Match]:
        """Return what a rule sees in it, or trouble and then what to do about it."""
        cues = set().union(*self._counts)
        if _TELLING.isdisjoint(cues):
            return []
        stated = [match for match in self._detector.detect(self._evidence()) if match.support]
        if not stated:
            return self._mended()
        firm = "directive" in cues or max(match.support for match in stated) >= _FIRM
        troubled = not _TROUBLE.isdisjoint(cues)
        return stated if firm or (troubled and any(map(self._advises, range(len(self._sentences))))) else []

    def _mended(self) -> list[Match]:
        """Return what it tells of trouble and then of what to do about it."""
        usable, counts = self._sentences, self._counts
        first = next((at for at, found in enumerate(counts) if not _TROUBLE.isdisjoint(found)), len(usable))
        advised = next((at for at in range(first, len(usable)) if self._advises(at, at > first)), None)
        if advised is None:
            return []
        reasoned = any("reason" in found for found in counts)
        return [self._told(first, advised)] if reasoned or is_concrete(usable, self._vocabulary) else []

    def _evidence(self) -> Evidence:
        """Return what the rules ask for; strengths and values are none of it."""
        whole, places = self._whole, self._places
        return replace(
            whole,
            usable=self._sentences,
            folded=tuple([whole.folded[at] for at in places]),
            counts=self._counts,
        )

    def _follows_suit(self) -> list[Match]:
        """Return what a paragraph teaches that stands among lessons: how something is, then what to do."""
        usable = self._sentences
        if not is_concrete(usable, self._vocabulary):
            return []
        advised = [_says("imperative", sentence, self._language) for sentence in usable]
        return [self._told(0, advised.index(True))] if True in advised[1:] and not advised[0] else []

    def _told(self, first: int, last: int) -> Match:
        text = " ".join(sentence.text for sentence in self._sentences[first : last + 1])
        return Match("statement", 0.55, _SUPPORT, first, last, (Span(0, len(text), text, "statement"),))

    def _advises(self, at: int, by_form: bool = True) -> bool:  # noqa: FBT001, FBT002
        """Tell whether a sentence says what to do, by its words or by its form."""
        if not _REMEDY.isdisjoint(self._counts[at]):
            return True
        return by_form and _says("imperative", self._sentences[at], self._language)

    def introduces(self, *, by_naming: bool = False) -> bool:
        """Tell whether the paragraph says no more than that something follows.

        by_naming: whether it may say of what kind that is: `There were two causes.`
        """
        told = set().union(*self._counts)
        if "failure" in told or sum(weight_of(s.text) for s in self._sentences) >= _INTRODUCTION:
            return False
        return "diagnosis" not in told or (by_naming and not is_concrete(self._sentences, self._vocabulary))

    def _shares_words(self, other: _Part) -> bool:
        """Tell whether two paragraphs speak of the same thing by many of their words."""
        return len(self.words & other.words) > _SHARED * min(len(self.words), len(other.words))

    @property
    def names(self) -> set[str]:
        """The identifiers; two lessons of one text share none."""
        if self._names is None:
            tokens = [token for sentence in self._sentences for token in code_tokens(sentence.text)]
            self._names = {token.strip("`").lower() for token in tokens}
        return self._names

    @property
    def words(self) -> set[str]:
        """The identifiers and all other words that tell what a text is about."""
        if self._words is None:
            text = " ".join([sentence.text for sentence in self._sentences])
            self._words = self.names | _telling_words(text, self._language)
        return self._words


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
