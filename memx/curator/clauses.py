"""The clauses of a text and what each of them turns round or leaves open.

A negation reaches only so far: not beyond the attribute, the list's member, the
circumstance or the topic that it stands with.
"""

from __future__ import annotations

import itertools
import re

from memx.curator import words
from memx.record import record, replace

_CLAUSE = re.compile(r"[;；。！？!?\n，、]|[.,:：](?=\s|$)|\s[—–-]+>?\s|→|[.,](?=[\u3000-\u9fff])")
AGREEING = re.compile(r"nunca|jam[aá]s|ni|ning[uú]n\w*|nada de|nadie|tampoco", re.IGNORECASE)


@record
class Clause:
    """A stretch of text, by character offsets, and what its words turn round."""

    start: int
    end: int
    is_open: bool
    """A reason or a condition: what it says is neither advised nor turned down."""
    is_else: bool
    """What happens otherwise: its troubles speak for the advice."""
    flips: tuple[tuple[int, int], ...]
    """Half-open ranges of offsets whose stance is turned round."""
    opened: tuple[tuple[int, int], ...]
    """Ranges of offsets that are left open: what a ban speaks of, said before it."""


def cut_clauses(text: str, lang: str) -> list[Clause]:
    """Return the clauses of a text in order; together they are the whole of it."""
    marks = sorted({0, len(text), *(m.end() for m in _CLAUSE.finditer(text))})
    turning = words.operators(lang)
    hits = [
        (m.start(), m.end(), turning.kinds[m.group()])
        for m in turning.pattern.finditer(words.fold(text))
        if "plain" not in turning.kinds[m.group()]
    ]
    if lang in words.CJK:
        marks = sorted(
            {*marks, *(end for _, end, kinds in hits if "reason_end" in kinds and end < len(text))}
        )
    else:
        marks = sorted({*marks, *(start for start, _, kinds in hits if kinds & {"reason", "else"})})
    clauses = []
    for start, end in itertools.pairwise(marks):
        inside = [hit for hit in hits if start <= hit[0] < end]
        if lang == "es":
            inside = _one_negation(inside, text)
        clauses.append(_clause(text, start, end, inside, lang))
    return _open_after_without(clauses, text, lang)


def _clause(
    text: str, start: int, end: int, hits: list[tuple[int, int, frozenset[str]]], lang: str
) -> Clause:
    flips: list[tuple[int, int]] = []
    opened: list[tuple[int, int]] = []
    prefers = _prefers(text[start:end], lang)
    hits = _cancel_without(hits)
    for at, stop, kinds in hits:
        if kinds & {"after", "without"} or ("over" in kinds and prefers):
            reach = _reach(text, at, stop, end, kinds)
            flips.append((stop, reach))
            if lang in words.LATIN:
                opened.append((reach, end))
                if _PASSIVE.match(text, stop):
                    opened.append((start, at))
        if "topic" in kinds and at - start > 1:
            opened.append((start, at))
        if lang in words.CJK and "reason" in kinds:
            opened.append((at, end))
        if "before" in kinds or ("over_before" in kinds and prefers):
            turned = _turned_from(text, start, at) if lang == "ja" else start
            flips.append((turned, at))
            opened.append((start, turned))
        if "clause" in kinds:
            flips.append((start, end))
    is_open, is_else = _explains(hits, start, end)
    return Clause(start, end, is_open, is_else, tuple(flips), tuple(opened))


def _explains(hits: list[tuple[int, int, frozenset[str]]], start: int, end: int) -> tuple[bool, bool]:
    """Tell whether a clause gives a reason or a condition, and whether it says what happens otherwise."""
    # A mark or a space may stand before the word that opens a clause.
    first = [kinds for at, _, kinds in hits if kinds & {"reason", "else"} and at - start <= 2]  # noqa: PLR2004
    closes = any("reason_end" in kinds and end - stop <= 1 for _, stop, kinds in hits)
    return bool(first) or closes, any("else" in kinds for kinds in first)


def _reach(text: str, at: int, stop: int, end: int, kinds: frozenset[str]) -> int:
    """Return where a negation ends: a noun's attribute, one member of a list, or else the clause."""
    if text[at:stop] in _ATTRIBUTIVE:
        noun = text.find("的", stop, min(end, stop + _LONGEST_ATTRIBUTE))
        if noun > 0 and text[noun + 1 : noun + 2] > "㐀":
            return noun
    breaks = (_LIST_END if "near" in kinds else _CIRCUMSTANCE).search(text, stop + 1, end)
    return breaks.start() if breaks else end


def _turned_from(text: str, start: int, at: int) -> int:
    """Return where a Japanese negation begins: after a clause that was joined, and after a topic with an object."""
    for match in _JOINED.finditer(text, start, at):
        start = match.end()
    topic = text.find("は", start, at)
    return topic if topic > 0 and _OBJECT.search(text, topic, at) else start


def _open_after_without(clauses: list[Clause], text: str, lang: str) -> list[Clause]:
    """Read what follows "without it," as what happens otherwise: it speaks for what would be missing."""
    found: list[Clause] = []
    for clause in clauses:
        before = found[-1] if found else None
        if before is not None and not clause.is_open and _WITHOUT[lang].match(text, before.start, before.end):
            found[-1] = replace(before, flips=(), opened=())
            clause = replace(clause, is_open=True, is_else=True)  # noqa: PLW2901 (the clause as it is meant)
        found.append(clause)
    return found


_NO_WITHOUT = re.compile(r"(?!)")
_WITHOUT = {
    "en": re.compile(r"\s*without\b[^,]*,\s*$", re.IGNORECASE),
    "es": re.compile(r"\s*sin\b[^,]*,\s*$", re.IGNORECASE),
    "ja": _NO_WITHOUT,
    "zh": _NO_WITHOUT,
}
_ATTRIBUTIVE = frozenset({"没有", "没", "未", "不"})
_LONGEST_ATTRIBUTE = 10  # characters
_LIST_END = re.compile(r"\s(?:and|but|y|pero)\s")
_CIRCUMSTANCE = re.compile(
    r"\s(?:on|in|into|during|at|for|with|en|durante|para|hay que|se debe|debes?|deben|conviene)\s"
)
"""What a negation does not reach: where and when, or a duty that is told next."""
_PASSIVE = re.compile(r"\s(?:be|se|(?:debe|puede)n?\s(?:estar|ser))\s")
"""What follows a negation whose subject is what is turned down: "the port must not be open"."""
_JOINED = re.compile(r"とし(?!て)|として|して(?!は)|し、|ので|ため|から")
_OBJECT = re.compile(r"[をでにへ]")


def _one_negation(
    hits: list[tuple[int, int, frozenset[str]]], text: str
) -> list[tuple[int, int, frozenset[str]]]:
    """Read "no … nunca" and "sin ningún" as one negation: in Spanish they agree and do not cancel out."""
    kept: list[tuple[int, int, frozenset[str]]] = []
    is_denied = False
    for at, stop, kinds in hits:
        if not is_denied or not AGREEING.fullmatch(text[at:stop]):
            kept.append((at, stop, kinds))
        is_denied = is_denied or bool(kinds & {"after", "without"})
    return kept


def _cancel_without(hits: list[tuple[int, int, frozenset[str]]]) -> list[tuple[int, int, frozenset[str]]]:
    """Read "never X without Y" as "X with Y": drop both turns."""
    negation = next((i for i, (_, _, kinds) in enumerate(hits) if "after" in kinds), -1)
    without = next((i for i, (_, _, kinds) in enumerate(hits) if "without" in kinds), -1)
    if 0 <= negation < without:
        return [hit for i, hit in enumerate(hits) if i not in (negation, without)]
    return hits


_PREFERENCE = {
    "en": re.compile(r"\b(?:prefer|favou?r|choose|pick|use)", re.IGNORECASE),
    "es": re.compile(r"\b(?:prefer|prefier|elig|escog|mejor)", re.IGNORECASE),
    "ja": re.compile(r"推奨|優先|使|選|好"),
    "zh": re.compile(r"优先|推荐|选"),
}


def _prefers(clause: str, lang: str) -> bool:
    return _PREFERENCE[lang].search(clause) is not None
