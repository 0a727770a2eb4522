"""Whether a rewritten lesson still says what its evidence says: no fact lost, changed or added. Pure.

An LLM writes fluently and drops a `not`, turns 30 s into 30 ms, or mends a flag
that was meant. What can be compared without understanding is compared: numbers
in their order, identifiers, commands, tools, negations and what they deny. The
check refuses too much rather than too little, for the rule's own text is always
at hand.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from itertools import pairwise

from memx.reflector.echo import is_injection, strip_echo
from memx.reflector.language import detect_language, weight_of
from memx.reflector.subject import tools_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

SHORTEST = 18
"""Latin characters; nothing shorter holds a lesson."""
_OWN_WORDS_OF_BOTH = 0.7
_OWN_WORDS = 0.5
"""At least so much of a rewritten lesson's words stand in its evidence."""
_SENTENCE_WORDS = 1 / 3
"""And of each of its sentences: one that the evidence does not support at all hides behind those that it does."""
_SENTENCE_UNITS = 2
"""A sentence of fewer words, such as `Fix.`, says nothing by itself."""
_STEM = 4

_NUMBER = re.compile(
    r"(?<![^\W\d_])[-+]?\d+(?:[.,:/-]\d+)*(?:\s?(?:%|°)|\s?(?:ns|us|µs|ms|min|s|m|h|d|[kKMGT]i?[Bb]?|px|rps|qps|fps)\b|[A-Za-z]+\b)?"
)
_CODE = re.compile(
    r"`[^`\n]+`"
    r"|(?<![\w-])--?[A-Za-z][\w-]*(?:=[^\s,;]+)?"
    r"|\b[a-z][\w+.-]*://[^\s)>\]]+"
    r"|(?<![\w/])[~.@]?/?[\w.-]+(?:[/\\][\w.*-]+)+/?"
    r"|\b[A-Za-z_]\w*(?:(?:::|->|\.)[A-Za-z_]\w*)+(?:\(\))?"
    r"|\b\w+\(\)"
    r"|\b[A-Za-z0-9]+(?:_\w+)+\b|\b_\w+\b"
    r"|\b[a-z]+[A-Z]\w*\b|\b(?:[A-Z][a-z0-9]+){2,}\b"
    r"|\b[A-Z]{2,}[A-Z0-9]*\b"
    r"|\b[A-Z]+-\d+\b|#\d+",
    re.ASCII,
)
_SENTENCE_END = re.compile(
    r"[.;!?](?=\s|$)|[。；！？]|\n|,(?=\s+(?:and|also|then|y|además|luego)\s)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
with open(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.json"), encoding="utf-8"
) as _stream:
    _WORDS: dict[str, Any] = json.load(_stream)
_NEGATIONS = frozenset(_WORDS["negations"].split())
_CJK_NEGATION = re.compile("|".join(_WORDS["cjk_negations"]))
_SKIPPED = frozenset(_WORDS["skipped"].split())
_OPPOSITES: tuple[list[str], ...] = tuple(pair.split("/") for pair in _WORDS["opposites"].split())
_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


def find_difference(evidence: str, text: str) -> str:
    """Return why a rewritten text may not stand for its evidence, "" when it may.

    The evidence must be sanitised already. A rewritten text is to be compared as
    it was answered and as it would be stored: the sanitiser takes out just what
    may have been added.
    """
    reason = find_fault(text) or _differing_facts(evidence, text)
    if reason:
        return reason
    if len(text) > 2 * len(evidence) + 80:
        return "is much longer"
    if _is_cjk(evidence) != _is_cjk(text) or detect_language(evidence) != detect_language(text):
        return "changes the language"
    return _unsupported(text, evidence, _OWN_WORDS)


def find_invention(evidence: str, text: str) -> str:
    """Return why a lesson may not stand that was found in a longer evidence, "" when it may.

    The evidence says more than the lesson, so only what is added counts.
    """
    reason = find_fault(text)
    if reason:
        return reason
    for name, facts in _FACTS:
        added = [fact for fact in facts(text) if fact not in set(facts(evidence))]
        if added and not all(_stands_in(fact, evidence) for fact in added):
            return f"adds the {name} {added[0][:40]!r}"
    return _unsupported(text, evidence, _OWN_WORDS)


def find_loss(sources: Sequence[str], text: str) -> str:
    """Return why a text may not stand for lessons that are one, "" when it says what each says and no more.

    What is said twice may be said once; all must be sanitised already.
    """
    return (
        find_fault(text)
        or _differing_stance(sources, text)
        or _differing_names(sources, text)
        or ("is longer than both" if len(text) > sum(map(len, sources)) else "")
        or _unsupported(text, "\n".join(sources), _OWN_WORDS_OF_BOTH)
    )


def _differing_stance(sources: Sequence[str], text: str) -> str:
    if set(negations_of(text)) != {denied for source in sources for denied in negations_of(source)}:
        return "changes a negation"
    for source in sources:
        turned = _turned_round(source, text)
        if turned:
            return f"turns {turned!r} round"
        if _is_cjk(source) != _is_cjk(text) or detect_language(source) != detect_language(text):
            return "changes the language"
    return ""


def _differing_names(sources: Sequence[str], text: str) -> str:
    for name, facts in _FACTS:
        known = dict.fromkeys(fact for source in sources for fact in facts(source))
        lost, added = _missing(known, facts(text)), _missing(facts(text), known)
        if lost or added:
            return f"drops the {name} {lost[:40]!r}" if lost else f"adds the {name} {added[:40]!r}"
    return ""


def find_fault(text: str) -> str:
    """Return why a text can be no lesson whatever its evidence, "" when it can."""
    if weight_of(text) < SHORTEST:
        return "is too short"
    if is_injection(text):
        return "gives orders to an agent"
    return "repeats what memx said" if strip_echo(text) != text else ""


def numbers_of(text: str) -> tuple[str, ...]:
    """Return the numbers with their units, each once, in order: `30 s` and `30s` are one."""
    found = (re.sub(r"\s", "", number) for number in _NUMBER.findall(_plain(text)))
    return tuple(dict.fromkeys(found))


def identifiers_of(text: str) -> tuple[str, ...]:
    """Return identifiers, paths, flags and commands, each once; quoting marks and a final stop are no part."""
    found = (token.strip("`").rstrip(".,;:") for token in _CODE.findall(_plain(text)))
    return tuple(dict.fromkeys(" ".join(token.split()) for token in found if token))


def negations_of(text: str) -> tuple[str, ...]:
    """Return what is denied: the stem of the word after each negation, sorted; of CJK the signs themselves."""
    plain = _plain(text)
    words = [word.lower().replace("’", "'") for word in _WORD.findall(plain)]
    denied = [
        _stem(next((w for w in words[at + 1 :] if w not in _SKIPPED), ""))
        for at, word in enumerate(words)
        if word in _NEGATIONS or word.endswith("n't")
    ]
    signs = ["∅"] * len(_CJK_NEGATION.findall(plain)) if _is_cjk(plain) else []
    return tuple(sorted([*denied, *signs]))


_FACTS = (("number", numbers_of), ("identifier", identifiers_of), ("tool", tools_of))


def _differing_facts(evidence: str, text: str) -> str:
    if negations_of(evidence) != negations_of(text):
        return "changes a negation"
    turned = _turned_round(evidence, text)
    if turned:
        return f"turns {turned!r} round"
    for name, facts in _FACTS:
        before, after = facts(evidence), facts(text)
        lost, added = _missing(before, after), _missing(after, before)
        if lost:
            return f"drops the {name} {lost[:40]!r}"
        if added:
            return f"adds the {name} {added[:40]!r}"
        if before != after:
            return f"changes the order of the {name}s"
    return ""


def _turned_round(evidence: str, text: str) -> str:
    """Return a word of the evidence that is gone while its opposite came in, "" without one."""
    before, after = _plain(evidence).lower(), _plain(text).lower()
    for pair in _OPPOSITES:
        for word, opposite in (pair, pair[::-1]):
            gone = _has_word(before, word) and not _has_word(after, word)
            if gone and _has_word(after, opposite) and not _has_word(before, opposite):
                return word
    return ""


def _has_word(text: str, word: str) -> bool:
    return word in text if _CJK.search(word) else bool(re.search(rf"\b{word}\b", text))


def _missing(facts: Iterable[str], others: Iterable[str]) -> str:
    known = set(others)
    return next((fact for fact in facts if fact not in known), "")


def _stands_in(fact: str, evidence: str) -> bool:
    """Tell whether a fact stands in the evidence as a whole word, though it was read as part of another there."""
    return bool(re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", _plain(evidence), re.IGNORECASE))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _is_cjk(text: str) -> bool:
    return len(_CJK.findall(text)) >= 2  # noqa: PLR2004 (a lone sign is a symbol)


def _stem(word: str) -> str:
    return word[:_STEM]


def _unsupported(text: str, evidence: str, least: float) -> str:
    """Return why a text is not borne out by its evidence as a whole or in one of its sentences, "" when it is."""
    if _share_of_words(text, evidence) < least:
        return "says something else"
    theirs = _units(evidence)
    for sentence in _SENTENCE_END.split(_plain(text)):
        mine = _units(sentence)
        if len(mine) >= _SENTENCE_UNITS and len(mine & theirs) < _SENTENCE_WORDS * len(mine):
            return f"adds {' '.join(sentence.split())[:60]!r}"
    return ""


def _share_of_words(text: str, evidence: str) -> float:
    """Return which share of a text's words, or pairs of CJK signs, stand in the evidence."""
    mine, theirs = _units(text), _units(evidence)
    return len(mine & theirs) / len(mine) if mine else 1.0


def _units(text: str) -> set[str]:
    plain = _plain(text).lower()
    signs = _CJK.findall(plain)
    pairs = {a + b for a, b in pairwise(signs)}
    words = (word for word in _WORD.findall(plain) if not _CJK.search(word))
    return pairs | {_stem(word) for word in words if word not in _SKIPPED}
