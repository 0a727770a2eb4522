"""The Curator's word lists, read from `memx/data/curator` when first needed.

Every list is a text file: `#` starts a comment, the format is in its first
lines. A *concept* joins words of one meaning across languages, so that
"delete", 删除, 削除 and "borrar" align.
"""

from __future__ import annotations

import os
import re
from functools import cache, lru_cache

from memx.record import record
from memx.resources import resource

LATIN = ("en", "es")
CJK = ("zh", "ja")

_ACCENTS = str.maketrans("áàâäãéèêëíìîïóòôöõúùûüñç", "aaaaaeeeeiiiiooooouuuunc")
_ENGLISH_ENDINGS = (
    "ations", "ation", "nesses", "ness", "ments", "ment", "ings", "ing", "edly", "ies", "ied", "ed",
    "es", "ly", "s",
)  # fmt: skip
_SPANISH_ENDINGS = (
    "aciones", "acion", "uciones", "iones", "ion", "amientos", "amiento", "imiento", "iendo", "ando",
    "adas", "ados", "ada", "ado", "idas", "idos", "ida", "ido", "arse", "erse", "irse", "aron", "ieron",
    "amos", "emos", "ar", "er", "ir", "an", "en", "as", "es", "os", "a", "e", "o", "s", "n",
)  # fmt: skip
_SPANISH_TAIL = re.compile(
    r"(?<=..)(?:(?<=[aei]r)|(?<=ando|endo))(?:l[aeo]s?|se|me|te|nos)+$|(?<=...)a?mente$"
)
"""Pronouns on an infinitive or gerund ("eliminarla") and the ending of an adverb ("solamente")."""
_SHORTEST_STEM = 3
_WORDS_KEPT = 32_768  # words whose spelling and stem are remembered


def fold(text: str) -> str:
    """Lower the case and strip the accents of Latin letters; the length stays the same."""
    low = text.lower()
    return (low if len(low) == len(text) else text).translate(_ACCENTS)


@lru_cache(maxsize=_WORDS_KEPT)
def fold_word(word: str) -> str:
    """Do the same for one word; the common ones are remembered."""
    return fold(word)


@lru_cache(maxsize=_WORDS_KEPT)
def _stem(word: str, lang: str) -> str:
    if lang == "es":
        word = _SPANISH_TAIL.sub("", word)
    for ending in _SPANISH_ENDINGS if lang == "es" else _ENGLISH_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    if lang != "es":
        while len(word) > _SHORTEST_STEM + 1 and word[-1] in "eyi":
            word = word[:-1]
        if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "sl":
            word = word[:-1]
    return word


def stem(word: str, lang: str) -> str:
    """Cut the ending of a folded word: light, the same for a word and its common inflections."""
    return _stem(word, "es" if lang == "es" else "en")


def lines(name: str) -> list[str]:
    """Return the lines of a word list without comments."""
    path = os.path.join(resource("curator"), name)
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


@record
class Operators:
    """One language's words that turn a clause round: a pattern and the kind of each spelling."""

    pattern: re.Pattern[str]
    kinds: dict[str, frozenset[str]]


@record
class Opposites:
    """On which axis and side a concept stands; which axes are strong."""

    side: dict[str, tuple[str, int]]
    strong: frozenset[str]


@cache
def concepts(lang: str) -> dict[str, tuple[str, ...]]:
    """Map a stem (Latin) or word (CJK) to its concepts."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines(f"concepts.{lang}.txt"):
        name, _, words = line.partition(":")
        for word in fold(words).split():
            for key in {word, stem(word, lang)} if lang in LATIN else {word}:
                if name not in found.get(key, ()):
                    found[key] = (*found.get(key, ()), name)
    return found


def concepts_of(word: str, lang: str) -> tuple[str, ...]:
    """Return the concepts of a folded Latin word: by its spelling, else by its stem when that is long enough."""
    known = concepts(lang)
    found = known.get(word)
    if found is None:
        key = stem(word, lang)
        found = known.get(key) if len(key) > _SHORTEST_STEM else None
    return found or ()


@cache
def word_pattern(lang: str) -> re.Pattern[str]:
    """Return a pattern for the concept words of a language written without spaces, longest first."""
    words = sorted((word for word in concepts(lang) if not word.isascii()), key=len, reverse=True)
    return re.compile(
        "|".join(_alone(word) if lang == "ja" and len(word) == 1 else re.escape(word) for word in words)
    )


def _alone(character: str) -> str:
    """Return a pattern for one Han character that stands alone: in a Japanese compound it has no own meaning."""
    return f"(?<![㐀-鿿]){re.escape(character)}(?![㐀-鿿])"


@cache
def stop_words(lang: str) -> frozenset[str]:
    """Return the words that carry no content."""
    return frozenset(fold(word) for line in lines(f"stop.{lang}.txt") for word in line.split())


@cache
def light_concepts() -> frozenset[str]:
    """Return the concepts that say little about a subject."""
    return frozenset(word for line in lines("light.txt") for word in line.split())


@cache
def trouble() -> frozenset[str]:
    """Return the keys of concepts that speak ill of their clause."""
    return frozenset("=" + word for line in lines("trouble.txt") for word in line.split())


@cache
def hedges() -> re.Pattern[str]:
    """Return a pattern for a hedge that stands right before an amount."""
    listed = (fold(word) for line in lines("hedges.txt") for word in line.split())
    return re.compile(rf"(?:{'|'.join(map(re.escape, listed))})(?:\s(?:a|an|de|un|una))?\s?$")


@cache
def label_words() -> frozenset[str]:
    """Return the words after which a number is a name."""
    return frozenset(fold(word) for line in lines("labels.txt") for word in line.split())


@cache
def families() -> dict[str, str]:
    """Map a concept to its closed family, such as environment or system."""
    return {
        word: line.partition(":")[0]
        for line in lines("groups.txt")
        for word in line.partition(":")[2].split()
    }


@cache
def opposites() -> Opposites:
    """Return the axes of opposite concepts."""
    side: dict[str, tuple[str, int]] = {}
    strong = set()
    for line in lines("axes.txt"):
        head, _, body = line.partition(":")
        axis, strength = head.split()
        if strength == "strong":
            strong.add(axis)
        for sign, words in zip((1, -1), body.split("|"), strict=True):
            for word in words.split():
                side.setdefault(word, (axis, sign))
    return Opposites(side, frozenset(strong))


ADEQUACY = frozenset({"enough", "insufficient", "minimum"})
"""The concepts of the axis on which something is enough or more is asked for."""


@cache
def adequacy_pattern() -> re.Pattern[str]:
    """Return a pattern for the words of those concepts in languages written without spaces."""
    found = {
        w for lang in CJK for w, named in concepts(lang).items() if not w.isascii() and ADEQUACY & {*named}
    }
    return re.compile("|".join(sorted(map(re.escape, found), key=len, reverse=True)))


@cache
def closed_values() -> tuple[re.Pattern[str], dict[str, tuple[str, str]]]:
    """Return a pattern for the values of closed sets, and its groups' meaning: attribute and member."""
    meaning: dict[str, tuple[str, str]] = {}
    listed: list[tuple[str, str]] = []
    for line in lines("values.txt"):
        attribute, _, body = line.partition(":")
        for value in body.split("|"):
            group = f"v{len(meaning)}"
            meaning[group] = (attribute, value.strip().partition("=")[0])
            listed += [(fold(spelling.strip()), group) for spelling in value.split("=")]
    branches: dict[str, list[str]] = {}
    for spelling, group in listed:
        branches.setdefault(group, []).append(_spelling_pattern(spelling))
    # The longest spelling of all must be tried first: a group holds one value, a value several spellings.
    order = sorted(branches, key=lambda group: -max(map(len, branches[group])))
    return re.compile(
        "|".join(f"(?P<{g}>{'|'.join(sorted(branches[g], key=len, reverse=True))})" for g in order)
    ), meaning


def _spelling_pattern(spelling: str) -> str:
    if not spelling.isascii():
        return re.escape(spelling)
    body = re.escape(spelling.removesuffix("~")).replace("\\~", "[a-z]*")
    return rf"(?<![a-z0-9_./-]){body}{'[a-z]*' if spelling.endswith('~') else ''}(?![a-z0-9_])"


@cache
def relations(lang: str) -> tuple[tuple[re.Pattern[str], ...], re.Pattern[str]]:
    """Return the patterns of attributes that hold one value, and the pattern of those that can hold several."""
    rows = [line.partition(": ") for line in lines("relations.txt")]
    one = tuple(re.compile(body) for head, _, body in rows if head == f"{lang} one")
    many = "|".join(f"(?:{body})" for head, _, body in rows if head == f"{lang} many")
    return one, re.compile(many or r"(?!)")


@cache
def operators(lang: str) -> Operators:
    """Return the turning words of a language."""
    kinds: dict[str, frozenset[str]] = {}
    for line in lines(f"operators.{lang}.txt"):
        kind, _, words = line.partition(":")
        for word in words.split("|"):
            spelling = fold(word.strip())
            kinds[spelling] = kinds.get(spelling, frozenset()) | {kind}
    body = "|".join(sorted(map(re.escape, kinds), key=len, reverse=True))
    return Operators(re.compile(rf"(?<![\w]){'(?:' + body + ')'}(?![\w])" if lang in LATIN else body), kinds)


@cache
def orders(lang: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns that tell an order of steps, the first that fits first."""
    listed = (line.partition(": ") for line in lines("orders.txt"))
    return tuple(re.compile(pattern) for name, _, pattern in listed if name == lang)


@cache
def inadequacy(lang: str) -> re.Pattern[str]:
    """Return the pattern of a judgement that a quantity is too little."""
    listed = (line.partition(": ") for line in lines("inadequate.txt"))
    return next(re.compile(pattern) for name, _, pattern in listed if name == lang)


@cache
def units() -> dict[str, tuple[str, float]]:
    """Map a unit's spelling to its dimension and factor."""
    found: dict[str, tuple[str, float]] = {}
    for line in lines("units.txt"):
        head, _, words = line.partition(":")
        dimension, factor = head.split()
        for word in words.split():
            found[word.lower()] = (dimension, float(factor))
    return found


@cache
def number_words(lang: str) -> dict[str, float]:
    """Map number words to values; `cjk` for Chinese and Japanese."""
    for line in lines("numbers.txt"):
        name, _, body = line.partition(":")
        if name == lang:
            return {word: float(value) for word, _, value in (pair.partition("=") for pair in body.split())}
    return {}


_CJK_POWERS = {"十": 10.0, "百": 100.0, "千": 1000.0}
_MYRIAD = 10_000.0


def cjk_number(numeral: str) -> float | None:
    """Return the value of a Chinese numeral such as 三十 or 二百五十, None for one that is none."""
    digits = {"一": 1.0, **{name: value for name, value in number_words("cjk").items() if name != "十"}}
    total, section, digit = 0.0, 0.0, 0.0
    for character in numeral:
        if character in _CJK_POWERS:
            section, digit = section + (digit or 1.0) * _CJK_POWERS[character], 0.0
        elif character == "万":
            total, section, digit = (total + section + digit or 1.0) * _MYRIAD, 0.0, 0.0
        elif character in digits:
            digit = digit * 10 + digits[character]
        else:
            return None
    return total + section + digit


@cache
def phrases() -> dict[str, float]:
    """Map an amount of time written as words to seconds."""
    return {
        fold(phrase.strip()): float(seconds)
        for seconds, _, body in (line.partition(":") for line in lines("phrases.txt"))
        for phrase in body.split("|")
    }


@cache
def cjk_gaps(lang: str) -> re.Pattern[str]:
    """Return a pattern for what carries no content in Chinese or Japanese: particles and turning words."""
    empty = {*stop_words(lang), *(word for word in operators(lang).kinds)}
    return re.compile("|".join(sorted(map(re.escape, empty), key=len, reverse=True)))


@cache
def phrase_pattern() -> re.Pattern[str]:
    """Return a pattern for `phrases`."""
    body = "|".join(sorted(map(re.escape, phrases()), key=len, reverse=True))
    return re.compile(rf"(?<![a-z])(?:{body})(?![a-z])")
