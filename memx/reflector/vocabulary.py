"""The words of a language that lessons are recognised by: cues, guards and rule patterns.

A language is one JSON file in `lexicon/`. Cues are phrases: `word*` stands for
any ending, and in languages written with spaces a phrase matches whole words
only. Rule patterns are regular expressions over the masked sentence, with the
placeholders of `PLACEHOLDERS`.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache, lru_cache
from itertools import compress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    _Cue = tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], bool, str], ...], tuple[str, ...] | None]
    """Groups of a word; the phrases that it begins as (further words, open ended, group); their second words."""

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lexicon")

PLACEHOLDERS = {
    # A value of a setting: a number with a unit, a switch, a constant.
    "%VALUE%": r"(?:[-+~]?\d[0-9A-Za-z.,:%/_-]*(?:\s?(?:ms|sec|seconds?|s|minutes?|min|[kmgt]i?b|%))?(?![0-9A-Za-z])"
    r"|true|false|on|off|none|null|debug|info|warn(?:ing)?|enabled|disabled|(?-i:[A-Z][A-Z0-9_]{2,}))",
    "%IDENT%": r"[A-Za-z_][A-Za-z0-9_.-]*(?:[_.-][A-Za-z0-9]+|[A-Z][a-z0-9]+|_[A-Z0-9]+)",
    "%TOOL%": r"(?:the |el |la )?(?!(?:the|a|an|it|this|that|these|them|our|my|its|some|any|new|all|esto"
    r"|un|una|el|la|los|las|para|to|in|for|with)\b)"
    r"[@A-Za-z][A-Za-z0-9_@./+#-]*[A-Za-z0-9+#]",
    "%ERROR%": r"(?:[A-Za-z.]*(?:Error|Exception|Panic|Fault|Warning)(?![a-z])|errors?|err:"
    r"|(?-i:(?<![A-Za-z])E[A-Z]{4,})|fail(?:s|ed|ure|ures|ing)?(?![a-z])|crash(?:es|ed)?|panic(?:s|ked)?|exceptions?|fallos?"
    r"|fallaba|excepción|traceback|segfault)",
}

_PUNCTUATION = str.maketrans(dict.fromkeys("!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~\n\r\t’“”«»¿¡—–…", " "))


@lru_cache(maxsize=1024)
def fold(text: str) -> str:
    """Return lower-case text of the same length with punctuation as spaces, one space before and after.

    A position in the folded text is one more than in the text.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
    return f" {lowered.translate(_PUNCTUATION)} "


class CueIndex:
    """All cues of a language, found in one pass over a text.

    Scanning once a phrase costs a millisecond a message; here a text costs a
    lookup a word (or a character, in scripts without spaces).
    """

    def __init__(self, spaced: bool, groups: Mapping[str, Sequence[str]]) -> None:  # noqa: FBT001
        """Index the phrases by their first word or character."""
        self._spaced = spaced
        self._words: dict[str, list[str]] = {}
        self._stems: dict[str, list[str]] = {}
        self._phrases: dict[str, list[tuple[tuple[str, ...], bool, str]]] = {}
        self._known = _Remembered(self._cue_of)
        for group, phrases in groups.items():
            for phrase in phrases:
                self._add(group, phrase)
        # A word of a megabyte, which logs hold, has a million beginnings; none is longer than the longest stem.
        self._longest_stem = max(map(len, self._stems), default=0)

    def _add(self, group: str, phrase: str) -> None:
        if not self._spaced:
            needle = phrase.lower()
            self._phrases.setdefault(needle[0], []).append(((needle,), False, group))
            return
        open_ended = phrase.endswith("*")
        stem = phrase.rstrip("*")
        # A hook builds the index for one message: nearly all cues are plain words, and none is asked for again.
        is_plain = stem.isascii() and stem.replace(" ", "").isalpha()
        words = tuple((stem.lower() if is_plain else fold.__wrapped__(stem)).split())
        if len(words) > 1:
            self._phrases.setdefault(words[0], []).append((words, open_ended, group))
        elif open_ended:
            self._stems.setdefault(words[0], []).append(group)
        else:
            self._words.setdefault(words[0], []).append(group)

    def tally(self, folded: str, counts: dict[str, int]) -> None:
        """Add the cues of a folded text to `counts`."""
        if self._spaced:
            self._tally_words(folded.split(), counts)
        else:
            self._tally_characters(folded, counts)

    def _tally_words(self, words: list[str], counts: dict[str, int]) -> None:
        cues = list(map(self._known.__getitem__, words))
        words.append("")  # no phrase begins with it
        for at in compress(
            range(len(cues)), cues
        ):  # passes over what is no cue, most words, outside of Python
            groups, phrases, beginnings = cues[at]  # type: ignore[misc]
            for group in groups:
                counts[group] = counts.get(group, 0) + 1
            if beginnings is None or not words[at + 1].startswith(beginnings):
                continue
            following = words[at + 1]
            for parts, open_ended, group in phrases:
                if not following.startswith(parts[0]):
                    continue
                last = words[at + len(parts)] if at + len(parts) < len(words) else ""
                if (last == parts[-1] or (open_ended and last.startswith(parts[-1]))) and words[
                    at + 1 : at + len(parts)
                ] == list(parts[:-1]):
                    counts[group] = counts.get(group, 0) + 1

    def _cue_of(self, word: str) -> _Cue | None:
        """Return the groups that a word belongs to and the phrases that it begins; None for most words."""
        groups = list(self._words.get(word, ()))
        for size in range(2, min(len(word), self._longest_stem) + 1):
            groups += self._stems.get(word[:size], ())
        phrases = [(parts[1:], open_ended, group) for parts, open_ended, group in self._phrases.get(word, ())]
        beginnings = tuple(sorted({parts[0] for parts, _, _ in phrases})) or None
        return (tuple(groups), tuple(phrases), beginnings) if groups or phrases else None

    def _tally_characters(self, folded: str, counts: dict[str, int]) -> None:
        phrases = self._phrases
        for at in [at for at, character in enumerate(folded) if character in phrases]:
            for (needle,), _, group in phrases[folded[at]]:
                if folded.startswith(needle, at):
                    counts[group] = counts.get(group, 0) + 1


_WORDS_KNOWN = 50_000
"""How many words are remembered with their groups: a bound on memory, not on meaning."""
_TEXTS_KNOWN = 512
"""How many texts are remembered with their cues: rules, scorer and guards ask about the same few sentences."""


class _Remembered(dict[str, "_Cue | None"]):
    """What each word is a cue of; asked for a word that it does not hold, it finds out."""

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[str], _Cue | None]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, word: str) -> _Cue | None:
        found = self._find(word)
        if len(self) < _WORDS_KNOWN:
            self[word] = found
        return found


class Lexicon:
    """One language's cues, guards and patterns; each part is made ready when first used."""

    def __init__(self, data: dict[str, object]) -> None:
        """Take the parsed content of a lexicon file."""
        self.language = str(data["language"])
        self.spaced = bool(data.get("spaced", True))
        self._groups = {**_table(data.get("cues")), **_table(data.get("guards"))}
        self._needles: dict[str, tuple[str, ...]] = {}
        self._tallied: dict[str, dict[str, int]] = {}
        self._cue_index: CueIndex | None = None
        self._triggers = {
            name: tuple(needle.lower() for needle in needles)
            for name, needles in _table(data.get("triggers")).items()
        }
        self._patterns = _rules(data.get("rules"))
        templates = data.get("templates")
        self.templates: dict[str, str] = dict(templates) if isinstance(templates, dict) else {}

    def _needles_of(self, name: str) -> tuple[str, ...]:
        """Return the phrases of a group as they stand in folded text."""
        needles = self._needles.get(name)
        if needles is None:
            needles = self._needles[name] = tuple(map(self._needle, self._groups.get(name, ())))
        return needles

    def _needle(self, phrase: str) -> str:
        if not self.spaced:
            return phrase.lower()
        folded = fold(phrase.rstrip("*"))
        folded = f" {folded.strip()} "
        return folded[:-1] if phrase.endswith("*") else folded

    def tally(self, folded: str) -> Mapping[str, int]:
        """Return the number of cues in folded text by group, found in one pass and remembered for a while."""
        found = self._tallied.get(folded)
        if found is None:
            if self._cue_index is None:
                self._cue_index = CueIndex(self.spaced, self._groups)
            if len(self._tallied) >= _TEXTS_KNOWN:
                self._tallied.clear()
            found = self._tallied[folded] = {}
            self._cue_index.tally(folded, found)
        return found

    def _may_hold(self, name: str, folded: str) -> bool:
        """Tell whether the folded text can hold a cue of the group: where it was tallied, only those found."""
        found = self._tallied.get(folded)
        return found is None or name in found

    def may_match(self, rule: str, lowered: str) -> bool:
        """Tell cheaply whether a rule's patterns can match at all: one of its trigger words stands there."""
        needles = self._triggers.get(rule)
        if needles is None:
            return True
        for needle in needles:  # noqa: SIM110 (a generator doubles the cost of the hottest loop)
            if needle in lowered:
                return True
        return False

    def has(self, name: str, folded: str) -> bool:
        """Tell whether the folded text holds a cue of the group."""
        return self._may_hold(name, folded) and any(map(folded.__contains__, self._needles_of(name)))

    def is_only(self, name: str, folded: str) -> bool:
        """Tell whether the folded text is nothing but one cue of the group."""
        words = folded.split()
        return any(needle.split() == words for needle in self._needles_of(name))

    def first(self, name: str, folded: str) -> int:
        """Return the position of the first cue in the folded text, -1 when there is none."""
        if not self._may_hold(name, folded):
            return -1
        found = [at for needle in self._needles_of(name) if (at := folded.find(needle)) >= 0]
        return min(found, default=-1)

    def patterns(self, rule: str, lowered: str) -> Iterator[RulePattern]:
        """Yield a rule's patterns whose needed words stand in the text."""
        for rule_pattern in self._patterns.get(rule, ()):
            if rule_pattern.may_match(lowered):
                yield rule_pattern


class RulePattern:
    """One pattern of a rule; compiled when first searched for, and searched for only where it can match.

    needs: of each group of words one must stand in the lower-case text. core: a
    part of the pattern that is quick to search for; where it is missing, the
    whole cannot match.
    """

    def __init__(self, source: str, needs: tuple[tuple[str, ...], ...] = (), core: str = "") -> None:
        """Take the sources with their placeholders."""
        self._needs = needs
        self._search = _deferred_search(source)
        self._search_core = _deferred_search(core) if core else None

    def may_match(self, lowered: str) -> bool:
        """Tell cheaply whether the needed words stand in a lower-case text."""
        for group in self._needs:
            for word in group:
                if word in lowered:
                    break
            else:
                return False
        return True

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a text."""
        if self._search_core is not None and self._search_core(text) is None:
            return None
        return self._search(text)


def _deferred_search(source: str) -> Callable[[str], re.Match[str] | None]:
    compiled: list[Callable[[str], re.Match[str] | None]] = []

    def search(text: str) -> re.Match[str] | None:
        if not compiled:
            compiled.append(_compile(source).search)
        return compiled[0](text)

    return search


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _table(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        return {}
    return {str(name): _strings(items) for name, items in value.items()}


def _rules(value: object) -> dict[str, tuple[RulePattern, ...]]:
    """Return the patterns of each rule."""
    if not isinstance(value, dict):
        return {}
    return {str(name): tuple(_rule(item) for item in items) for name, items in value.items()}


def _rule(item: object) -> RulePattern:
    if not isinstance(item, dict):
        return RulePattern(str(item))
    needs = item.get("needs") or ()
    return RulePattern(str(item["pattern"]), tuple(map(_strings, needs)), str(item.get("core", "")))


def _compile(source: str) -> re.Pattern[str]:
    for name, pattern in PLACEHOLDERS.items():
        source = source.replace(name, pattern)
    return re.compile(source, re.IGNORECASE | re.DOTALL)


@cache
def load_lexicon(language: str) -> Lexicon:
    """Read a language's file; an unknown language gets the English words."""
    path = os.path.join(_FOLDER, f"{language}.json")
    if not language.isalpha() or not os.path.exists(path):
        return load_lexicon("en")
    with open(path, encoding="utf-8") as file:
        return Lexicon(json.load(file))


@cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a lexicon file, in a fixed order."""
    return tuple(sorted(name[:-5] for name in os.listdir(_FOLDER) if name.endswith(".json")))


@cache
def load_stopwords() -> Mapping[str, frozenset[str]]:
    """Return the commonest words of the languages that are told by them, English first.

    They have a file of their own, so that to name a text's language no lexicon is read.
    """
    with open(os.path.join(os.path.dirname(_FOLDER), "stopwords.json"), encoding="utf-8") as file:
        return {language: frozenset(words) for language, words in json.load(file).items()}


class Vocabulary:
    """The lexicons that apply to a text: its language and English, which every team's logs hold."""

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        """Take the lexicons in order of preference."""
        self.lexicons = tuple(lexicons)
        self.language = self.lexicons[0].language
        self.spaced = self.lexicons[0].spaced

    def tally(self, folded: str) -> Mapping[str, int]:
        """Count the cues of all groups in folded text."""
        found = self.lexicons[0].tally(folded)
        for lexicon in self.lexicons[1:]:
            more = lexicon.tally(folded)
            if more:
                found = {**found, **{name: count + found.get(name, 0) for name, count in more.items()}}
        return found

    def may_match(self, rule: str, lowered: str) -> bool:
        """Tell cheaply whether any of a rule's patterns can match."""
        for lexicon in self.lexicons:  # noqa: SIM110 (a generator doubles the cost, here and below)
            if lexicon.may_match(rule, lowered):
                return True
        return False

    def able(self, rule: str, lowered: str) -> Vocabulary | None:
        """Return the vocabulary of those lexicons whose patterns of a rule can match at all, None without any."""
        lexicons = [lexicon for lexicon in self.lexicons if lexicon.may_match(rule, lowered)]
        if len(lexicons) == len(self.lexicons):
            return self
        return Vocabulary(lexicons) if lexicons else None

    def has(self, name: str, folded: str) -> bool:
        """Tell whether a cue of the group occurs."""
        for lexicon in self.lexicons:  # noqa: SIM110
            if lexicon.has(name, folded):
                return True
        return False

    def is_only(self, name: str, folded: str) -> bool:
        """Tell whether a text is nothing but one cue of the group."""
        return any(lexicon.is_only(name, folded) for lexicon in self.lexicons)

    def first(self, name: str, folded: str) -> int:
        """Return the position of the first cue, -1 when there is none."""
        first = -1
        for lexicon in self.lexicons:
            at = lexicon.first(name, folded)
            if at >= 0 and (first < 0 or at < first):
                first = at
        return first

    def patterns(self, rule: str, lowered: str, window: str) -> Iterator[RulePattern]:
        """Yield a rule's patterns that can start in `lowered` and match in `window`, the own language's first."""
        for lexicon in self.lexicons:
            if lexicon.may_match(rule, lowered):
                yield from lexicon.patterns(rule, window)


@lru_cache(maxsize=256)
def cue_counts(language: str, text: str) -> Mapping[str, int]:
    """Count the cues of all groups in a text; scorer and classifier ask for the same one."""
    return vocabulary(language).tally(fold(text))


@cache
def vocabulary(language: str) -> Vocabulary:
    """Return the vocabulary for a language."""
    own = load_lexicon(language)
    english = load_lexicon("en")
    return Vocabulary((own,) if own is english else (own, english))
