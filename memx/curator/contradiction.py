"""Find lessons about one subject that cannot both hold.

Three ways: the fitted probability over the pair's features; another value of an
attribute that holds one at a time (attribute.py); and the rule of sufficiency
("10 is enough" against "at least 50"), which holds whatever the similarity, even
when one text leaves its subject out.
"""

from __future__ import annotations

import re

from memx.curator import words
from memx.curator.attribute import excludes, other_subject
from memx.curator.features import compare
from memx.curator.subject import is_series, no_shared_subject
from memx.curator.tokens import analyse
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.curator.features import Comparison
    from memx.curator.similarity import Likelihood
    from memx.curator.tokens import Analysis, Unit

SAME_SUBJECT = 0.65
"""Probability of one subject from which a pair that is not the same lesson is flagged."""
_SUBJECT_OF_AGREED = 0.5
"""The same where both turn down one quantity and advise two: that they turn down the same speaks for one subject."""
_FRAGMENT_WEIGHT = 2.5
_QUALITIES = frozenset(
    {"=fast", "=slow", "=big", "=small", "=safe", "=stable", "=new", "=old", "=cost", "=often"}
)
_LATIN_WORD = re.compile(r"[a-z]+")
_SHARED_SUBJECT = 0.3


@record
class Finding:
    """Whether two texts contradict each other, how sure that is, and why."""

    is_contradiction: bool
    probability: float
    reason: str


def contradict(comparison: Comparison, chances: Likelihood, conflict_threshold: float) -> Finding:
    """Test one pair: one subject, and less than `conflict_threshold` of being one lesson about it."""
    told = sufficiency(comparison) or excludes(comparison)
    if told:
        return Finding(True, 1.0, told)  # noqa: FBT003 (a record's field)
    least = _SUBJECT_OF_AGREED if comparison.agreed and comparison.values else SAME_SUBJECT
    is_one = chances.subject >= least and chances.similarity < conflict_threshold
    is_one = is_one and not (
        _is_bare_word(comparison.a)
        or _is_bare_word(comparison.b)
        or is_series(comparison)
        or no_shared_subject(comparison)
        or other_subject(comparison)
        or _agrees(comparison)
    )
    reason = _reason(comparison) if is_one else ""
    return Finding(is_one, chances.subject * (1 - chances.conclusion), reason)


def _is_bare_word(text: Analysis) -> bool:
    """Tell a single word, which names a subject, from a text that says something of one."""
    return len(text.units) < 2 and len(text.text.split()) == 1  # noqa: PLR2004 (a subject and what is said of it)


def _agrees(comparison: Comparison) -> bool:
    """Tell whether two texts turn down the same quantity and differ in nothing else that can be held against them."""
    return bool(comparison.agreed) and not (comparison.values or comparison.turned or comparison.axes)


def sufficiency(comparison: Comparison) -> str:
    """Return a reason when one text calls a quantity enough and the other demands more of it, else an empty text."""
    if comparison.agreed and not comparison.values:
        return ""
    for enough, demand in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        if enough.axes.get("adequacy") != 1 or demand.axes.get("adequacy") != -1:
            continue
        if not _calls_amount_enough(enough):
            continue
        pair = _more(enough, demand)
        if pair and _may_share_subject(comparison):
            low, high = (
                text.text[unit.start : unit.end] for text, unit in zip((enough, demand), pair, strict=True)
            )
            return f"{low} is called enough, the other asks for at least {high}"
    return ""


def may_speak_of_adequacy(text: str) -> bool:
    """Tell whether a text has a word for "enough" or "at least" at all, beside a figure; it costs no analysis."""
    if not any(map(str.isdigit, text)):
        return False
    folded = words.fold(text)
    return words.adequacy_pattern().search(folded) is not None or any(
        concept in words.ADEQUACY
        for word in _LATIN_WORD.findall(folded)
        for lang in words.LATIN
        for concept in words.concepts_of(word, lang)
    )


def adequacy(text: str) -> int:
    """Return 1 where a text calls something enough, -1 where it demands more, else 0."""
    return analyse(text).axes.get("adequacy", 0)


def asks_for_more(a: str, b: str) -> bool:
    """Say whether one of two texts calls a quantity enough and the other demands more of it."""
    return adequacy(a) * adequacy(b) < 0 and bool(sufficiency(compare(analyse(a), analyse(b))))


def _calls_amount_enough(text: Analysis) -> bool:
    """Tell "10 is enough" from "fast enough with 10": there a quality is enough, whatever brings it about."""
    places = [at for at, unit in enumerate(text.units) if "=enough" in unit.keys]
    step = -1 if text.lang == "en" else 1
    return any(_QUALITIES.isdisjoint(_keys_at(text, at + step)) for at in places)


def _keys_at(text: Analysis, place: int) -> tuple[str, ...]:
    return text.units[place].keys if 0 <= place < len(text.units) else ()


def _more(enough: Analysis, demand: Analysis) -> tuple[Unit, Unit] | None:
    for low in enough.units:
        for high in demand.units:
            if low.kind == high.kind == "number" and low.value < high.value and _comparable(low, high):
                return (low, high)
    return None


def _comparable(a: Unit, b: Unit) -> bool:
    return a.dimension == b.dimension or {a.dimension, b.dimension} <= {"", "count"}


def _may_share_subject(comparison: Comparison) -> bool:
    """Tell whether the texts share words, or one of them names no subject of its own."""
    if comparison.families or comparison.hard:
        return False
    if comparison.vector[0] >= _SHARED_SUBJECT:
        return True
    return any(_own_weight(text) < _FRAGMENT_WEIGHT for text in (comparison.a, comparison.b))


def _own_weight(text: Analysis) -> float:
    return sum(unit.weight for unit in text.units if unit.kind != "number")


def _reason(comparison: Comparison) -> str:
    if comparison.axes:
        return f"opposite advice ({', '.join(comparison.axes)})"
    if comparison.turned:
        unit = comparison.turned[0][0]
        return f"one affirms what the other turns down: {comparison.a.text[unit.start : unit.end]!r}"
    if comparison.values:
        a, b = comparison.values[0]
        return f"{comparison.a.text[a.start : a.end]!r} against {comparison.b.text[b.start : b.end]!r}"
    return "same subject, another conclusion"
