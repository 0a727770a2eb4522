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
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lexicon")

PLACEHOLDERS = {
    # A value of a setting: a number with a unit, a switch, a constant.
    "%VALUE%": r"(?:[-+~]?\d[0-9A-Za-z.,:%/_-]*(?:\s?(?:ms|sec|seconds?|s|minutes?|min|[kmgt]i?b|%))?(?![0-9A-Za-z])"
    r"|true|false|on|off|none|null|debug|info|warn(?:ing)?|enabled|disabled|(?-i:[A-Z][A-Z0-9_]{2,}))",
    "%IDENT%": r"[A-Za-z_][A-Za-z0-9_.-]*(?:[_.-][A-Za-z0-9]+|[A-Z][a-z0-9]+|_[A-Z0-9]+)",
    "%TOOL%": r"(?:the |el |la )?(?!(?:the|a|an|it|this|that|these|them|our|my|its|some|any|new|all|esto|un|una|el|la|los|las|para|to|in|for|with)\b)"
    r"[@A-Za-z][A-Za-z0-9_@./+#-]*[A-Za-z0-9+#]",
    "%ERROR%": r"(?:[A-Za-z.]*(?:Error|Exception|Panic|Fault|Warning)(?![a-z])|errors?|err:|(?-i:E[A-Z]{4,})"
    r"|fail(?:s|ed|ure|ures|ing)?(?![a-z])|crash(?:es|ed)?|panic(?:s|ked)?|exceptions?|fallos?|fallaba|excepción|traceback|segfault)",
}

_PUNCTUATION = str.maketrans({c: " " for c in "!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~\n\r\t’“”«»¿¡—–…"})


def fold(text: str) -> str:
    """Return lower-case text of the same length with punctuation as spaces, one space before and after.

    A position in the folded text is one more than in the text.
    """
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(c if len(c.lower()) != 1 else c.lower() for c in text)
    return f" {lowered.translate(_PUNCTUATION)} "


class Lexicon:
    """One language's cues, guards and patterns; patterns are compiled when first used."""

    def __init__(self, data: dict[str, object]) -> None:
        """Take the parsed content of a lexicon file."""
        self.language = str(data["language"])
        self.spaced = bool(data.get("spaced", True))
        self.stopwords = frozenset(_strings(data.get("stopwords")))
        self._phrases = {
            name: tuple(self._needle(phrase) for phrase in phrases)
            for group in ("cues", "guards")
            for name, phrases in _table(data.get(group)).items()
        }
        self._patterns = _table(data.get("rules"))
        templates = data.get("templates")
        self.templates: dict[str, str] = dict(templates) if isinstance(templates, dict) else {}
        self._compiled: dict[str, tuple[re.Pattern[str], ...]] = {}

    def _needle(self, phrase: str) -> str:
        if not self.spaced:
            return phrase.lower()
        folded = fold(phrase.rstrip("*"))
        folded = f" {folded.strip()} "
        return folded[:-1] if phrase.endswith("*") else folded

    def count(self, name: str, folded: str) -> int:
        """Count the cues of a group in folded text."""
        return sum(folded.count(needle) for needle in self._phrases.get(name, ()) if needle in folded)

    def has(self, name: str, folded: str) -> bool:
        """Tell whether the folded text holds a cue of the group."""
        return any(needle in folded for needle in self._phrases.get(name, ()))

    def first(self, name: str, folded: str) -> int:
        """Return the position of the first cue in the folded text, -1 when there is none."""
        found = [at for needle in self._phrases.get(name, ()) if (at := folded.find(needle)) >= 0]
        return min(found, default=-1)

    def patterns(self, rule: str) -> tuple[re.Pattern[str], ...]:
        """Return a rule's compiled patterns."""
        if rule not in self._compiled:
            self._compiled[rule] = tuple(_compile(source) for source in self._patterns.get(rule, ()))
        return self._compiled[rule]


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _table(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        return {}
    return {str(name): _strings(items) for name, items in value.items()}


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


class Vocabulary:
    """The lexicons that apply to a text: its language and English, which every team's logs hold."""

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        """Take the lexicons in order of preference."""
        self.lexicons = tuple(lexicons)
        self.language = self.lexicons[0].language
        self.spaced = self.lexicons[0].spaced

    def count(self, name: str, folded: str) -> int:
        """Count the cues of a group."""
        return sum(lexicon.count(name, folded) for lexicon in self.lexicons)

    def has(self, name: str, folded: str) -> bool:
        """Tell whether a cue of the group occurs."""
        return any(lexicon.has(name, folded) for lexicon in self.lexicons)

    def first(self, name: str, folded: str) -> int:
        """Return the position of the first cue, -1 when there is none."""
        found = [at for lexicon in self.lexicons if (at := lexicon.first(name, folded)) >= 0]
        return min(found, default=-1)

    def patterns(self, rule: str) -> Iterator[re.Pattern[str]]:
        """Yield a rule's patterns, the text's own language first."""
        for lexicon in self.lexicons:
            yield from lexicon.patterns(rule)


@cache
def vocabulary(language: str) -> Vocabulary:
    """Return the vocabulary for a language."""
    own = load_lexicon(language)
    english = load_lexicon("en")
    return Vocabulary((own,) if own is english else (own, english))
