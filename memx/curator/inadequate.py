"""Which quantities a text judges to be too little: "10 is too small", "it was 10, which is not enough".

The judgement is passed on the quantity, and not on what has it. Two texts that
judge the same quantity so agree about it, in whatever words each of them does.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memx.curator import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.curator.tokens import Analysis, Unit

_SENTENCE_END = re.compile(r"[;；。！？!?\n]|\.(?=\s|$)|[.．](?=[\u3000-\u9fff])")
_AXIS = "adequacy"
_READ = 8192


@lru_cache(maxsize=_READ)
def _judgements(text: str, lang: str) -> tuple[tuple[int, int, int], ...]:
    """Return (sentence start, offset, sentence end) of each judgement in a normalised text."""
    pattern = words.inadequacy(lang)
    found = []
    for match in pattern.finditer(words.fold(text)):
        start = max((m.end() for m in _SENTENCE_END.finditer(text, 0, match.start())), default=0)
        end = _SENTENCE_END.search(text, match.end())
        found.append((start, match.start(), end.start() if end else len(text)))
    return tuple(found)


def too_little(text: Analysis) -> tuple[Unit, ...]:
    """Return the quantities judged: of each judgement the last before it in its sentence, else the first after it."""
    found = []
    for start, at, end in _judgements(text.text, text.lang):
        numbers = [unit for unit in text.units if unit.kind == "number" and start <= unit.start < end]
        before = [unit for unit in numbers if unit.start < at]
        found += before[-1:] or numbers[:1]
    return tuple(found)


def agreed(a: Analysis, b: Analysis) -> frozenset[str]:
    """Return the keys of the quantities that both texts call too little."""
    left = too_little(a)
    return frozenset(u.keys[0] for u in left) & {u.keys[0] for u in too_little(b)} if left else frozenset()


def stances_beside(text: Analysis, judged: frozenset[str]) -> dict[str, int]:
    """Return the side a text takes of each first key, without the clauses that only judge those quantities."""
    clauses = {unit.clause for unit in too_little(text) if unit.keys[0] in judged}
    said: dict[str, set[int]] = {}
    for unit in text.units:
        turned_with = unit.clause in clauses and unit.stance < 0
        said.setdefault(unit.keys[0], set()).add(0 if turned_with else unit.stance)
    return {key: -1 if key in judged else sum(sides) for key, sides in said.items()}


def is_of_adequacy(unit: Unit) -> bool:
    """Tell whether a unit is a word for enough or for too little."""
    return any(axis == _AXIS for axis, _ in unit.sides)
