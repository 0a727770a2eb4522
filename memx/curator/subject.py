"""Whether what two texts share is a subject on which they can contradict each other.

One shared name is none: two lessons on one tool share it. Nor are two steps of
one procedure, nor two items of a numbered series.
"""

from __future__ import annotations

from memx.curator.tokens import HARD
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.curator.features import Comparison
    from memx.curator.tokens import Analysis, Unit

_TELLING = 0.8  # weight of a unit that can name a subject
_ORDER = ("sequence",)
_PARTICULAR = HARD - {"code"}
"""Kinds of unit that are a subject by themselves; a word in a code span may be the name of any tool."""
_EVENT_AND_OBJECT = 2
_BOTH_SIDES = 2  # of a swap: the words before it and after it agree
_SERIES = 2  # places in which a text repeats the number of an item
_OWN = 2  # telling words of either text that are its own, from which a text says something else


@record
class Shared:
    """How many telling units two texts share and how many each keeps to itself; whether a shared one is particular."""

    common: int
    own: int
    """Of the text that has fewer of its own."""
    is_particular: bool


def shared(comparison: Comparison) -> Shared:
    """Count the telling units of a pair; two words of one text that mean one of the other count once."""
    a, b, alignment = comparison.a, comparison.b, comparison.alignment
    pairs = alignment.partners
    sides = (
        _common(a, alignment.left_a, {i for i, j in pairs if b.units[j].weight < _TELLING}),
        _common(b, alignment.left_b, {j for i, j in pairs if a.units[i].weight < _TELLING}),
    )
    own = (sum(unit.weight >= _TELLING for unit in left) for left in (alignment.left_a, alignment.left_b))
    return Shared(
        min(len({unit.keys[0] for unit in common}) for common in sides),
        min(own),
        any(unit.kind in _PARTICULAR for common in sides for unit in common),
    )


def _common(text: Analysis, left: tuple[Unit, ...], with_light: set[int]) -> list[Unit]:
    """Return the telling units of a text that the other has as well, and not as a light word such as "run"."""
    alone = set(map(id, left))
    return [
        unit
        for place, unit in enumerate(text.units)
        if unit.weight >= _TELLING and id(unit) not in alone and place not in with_light
    ]


def no_shared_subject(comparison: Comparison) -> str:
    """Return why two texts do not speak of one thing, although words and sides suggest it, else ''."""
    if comparison.values:
        return ""
    found = shared(comparison)
    if _is_undone(comparison):
        return "opposite steps around one event"
    if not found.own:
        return ""
    if comparison.axes:
        is_order = comparison.axes == _ORDER and not comparison.turned
        # One word is the event; what is done about it needs more in common than an object and than what differs.
        is_other_step = is_order and found.common <= max(_EVENT_AND_OBJECT, found.own)
        return "other steps of one procedure" if is_other_step else ""
    is_one_form = any(swap.flanks == _BOTH_SIDES for swap in comparison.alignment.swaps)
    is_translated = comparison.a.lang != comparison.b.lang
    if found.common > 1 or found.is_particular or is_one_form or is_translated:
        return ""
    return "one shared name" if found.own >= (_OWN if comparison.turned else 1) else ""


def _is_undone(comparison: Comparison) -> bool:
    """Tell "stop it before the upgrade" from "start it after the upgrade": the opposite, at the opposite time."""
    sides = [("=before" in text.index) - ("=after" in text.index) for text in (comparison.a, comparison.b)]
    if sides[0] * sides[1] >= 0 or all(axis in _ORDER for axis in comparison.axes):
        return False
    left = (*comparison.alignment.left_a, *comparison.alignment.left_b)
    return all(unit.sides or unit.weight < _TELLING for unit in left)


def is_series(comparison: Comparison) -> bool:
    """Tell "lesson 1 about herd 1" from "lesson 2 about herd 2": the number repeats and names, it measures nothing."""
    values = comparison.values
    if len(values) < _SERIES or len({(x.keys[-1], y.keys[-1]) for x, y in values if x.kind == "number"}) > 1:
        return False
    if len({(x.raw, y.raw) for x, y in values}) > 1:
        return False
    return all(_is_ordinal(comparison.a, x) and _is_ordinal(comparison.b, y) for x, y in values)


def _is_ordinal(text: Analysis, unit: Unit) -> bool:
    """Tell whether a bare figure stands right after the word that it numbers."""
    if unit.kind == "label":
        return True
    if unit.kind != "number" or unit.dimension:
        return False
    if text.text[max(0, unit.start - 2) : unit.start] == "その":
        return True
    return any(
        other.kind != "number" and other.weight >= _TELLING and 0 <= unit.start - other.end <= 1
        for other in text.units
    )
