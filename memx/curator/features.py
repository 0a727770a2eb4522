"""The numbers that describe a pair of lessons, in a fixed order with readable names.

They are symmetric in the two texts. Both calibrated models (`similarity`,
`contradiction`) are weighted sums of these and of nothing else.
"""

from __future__ import annotations

import itertools
import math

from memx.curator.align import Alignment, Swap, align, family_differences, hard_differences, opposite
from memx.curator.inadequate import agreed, is_of_adequacy, stances_beside
from memx.curator.tokens import HARD, Analysis, Unit
from memx.curator.words import opposites
from memx.record import record, replace

NAMES = (
    "cosine",
    "cosine_x_overlap",
    "overlap_low",
    "overlap_high",
    "in_order",
    "shared_hard",
    "left_hard_one_side",
    "hard_both_sides",
    "family_both_sides",
    "name_swaps",
    "loose_swaps",
    "value_differs",
    "value_shared",
    "stance_against",
    "stance_along",
    "strong_opposites",
    "weak_opposites",
    "opposite_swaps",
    "change_told",
    "cross_language",
    "other_differences",
    "value_alone",
    "left_names_both",
    "stance_share",
    "order_turned",
    "one_side_turned_down",
    "turned_hard",
    "values_apart",
    "shared_weight",
    "only_values_differ",
    "value_replaced",
    "sides_crossed",
    "length",
    "short_in_order",
)
_LOOSE_WORDING = 0.25  # below this, words in the same place are no evidence of two subjects
LONGEST = 17.5
"""Weight of the longest texts that the coefficients were fitted on; longer ones count as scaled to it."""
_SHORT = 8.0  # weight of a text of some eight content words
_MOST = 3.0  # a count says no more beyond this
_QUANTITY = ("number", "clock", "version", "label")


@record
class Comparison:
    """One pair, compared: the alignment and the evidence that was found in it."""

    a: Analysis
    b: Analysis
    alignment: Alignment
    values: tuple[tuple[Unit, Unit], ...]
    """Quantities of one dimension that differ."""
    hard: dict[str, tuple[Unit, Unit]]
    families: dict[str, tuple[str, str]]
    swaps: tuple[Swap, ...]
    """Swapped names: not numbers, not opposites, aligned on both sides or hard."""
    turned: tuple[tuple[Unit, Unit], ...]
    """Aligned units on which the two texts take opposite sides."""
    turned_share: float
    """Weight of those in the weight of all aligned content on which both take a side, 0-1."""
    is_crossed: bool
    """Each text affirms something that the other turns down, as in "X over Y" and "Y over X"."""
    order_turned: float
    """Share of aligned content in the opposite order, when both tell a sequence, 0-1."""
    replaced: tuple[tuple[Unit, Unit], ...]
    """Of those, values and names for which the text that turns them down has another of the kind."""
    axes: tuple[str, ...]
    """Axes of opposites on which the texts stand on opposite sides."""
    agreed: frozenset[str]
    """Keys of the quantities that both texts call too little."""
    vector: tuple[float, ...]
    """Features without the cosine, in the order of NAMES[2:]."""


def compare(a: Analysis, b: Analysis) -> Comparison:
    """Compare two texts; the order of the arguments does not matter to `vector`."""
    if (b.text, b.lang) < (a.text, a.lang):
        a, b = b, a
    alignment = align(a, b)
    hard = hard_differences(alignment)
    families = family_differences(a, b)
    values = _value_differences(a, b, alignment)
    judged = agreed(a, b)
    if judged:
        alignment = _without_opposed_words(alignment)
    turned, along = _stances(a, b, alignment, judged)
    axes = tuple(sorted(axis for axis, sign in a.axes.items() if sign and b.axes.get(axis) == -sign))
    swaps = tuple(
        swap
        for swap in alignment.swaps
        if _is_name_swap(swap, alignment.in_order, is_one_language=a.lang == b.lang)
    )
    against = sum(unit.weight for unit, _ in turned)
    replaced = tuple(pair for pair in turned if _is_replaced(pair, b, alignment))
    share = against / (against + along) if against else 0.0
    vector = _vector(a, b, alignment, hard, families, values, turned, along, axes, swaps, replaced)
    return Comparison(
        a,
        b,
        alignment,
        values,
        hard,
        families,
        swaps,
        turned,
        share,
        _crossed(turned, a),
        _order_turned(a, b, alignment),
        replaced,
        axes,
        judged,
        vector,
    )


def _without_opposed_words(alignment: Alignment) -> Alignment:
    """Leave out "too few" in the place of "not enough": both judge the same."""
    kept = [swap for swap in alignment.swaps if not (is_of_adequacy(swap.a) and is_of_adequacy(swap.b))]
    return replace(alignment, swaps=tuple(kept))


def _vector(
    a: Analysis,
    b: Analysis,
    alignment: Alignment,
    hard: dict[str, tuple[Unit, Unit]],
    families: dict[str, tuple[str, str]],
    values: tuple[tuple[Unit, Unit], ...],
    turned: tuple[tuple[Unit, Unit], ...],
    along: float,
    axes: tuple[str, ...],
    swaps: tuple[Swap, ...],
    replaced: tuple[tuple[Unit, Unit], ...],
) -> tuple[float, ...]:
    overlap_a = alignment.matched_a / (a.weight - _value_weight(values, 0)) if a.weight else 0.0
    overlap_b = alignment.matched_b / (b.weight - _value_weight(values, 1)) if b.weight else 0.0
    overlap_a, overlap_b = min(overlap_a, 1.0), min(overlap_b, 1.0)
    strong = [axis for axis in axes if axis in opposites().strong]
    against = sum(unit.weight for unit, _ in turned)
    left_hard_a, left_hard_b = _hard_count(alignment.left_a), _hard_count(alignment.left_b)
    shared_hard = sum(a.units[i].kind in HARD or a.units[i].kind == "name" for i, _ in alignment.partners)
    shared_values = sum(a.units[i].kind in _QUANTITY for i, _ in alignment.partners)
    others = len(swaps) + len(hard) + len(families)
    names = min(_name_count(alignment.left_a), _name_count(alignment.left_b))
    # Two long texts on different subjects share many words; the fit has seen none that long.
    shrink = min(1.0, LONGEST / max(min(a.weight, b.weight), 1.0))
    named = set(map(id, swaps))
    loose = sum(id(swap) not in named and swap.a.kind not in _QUANTITY for swap in alignment.swaps)
    return (
        min(overlap_a, overlap_b),
        max(overlap_a, overlap_b),
        alignment.in_order,
        min(shared_hard, _MOST),
        min(abs(left_hard_a - left_hard_b), _MOST),
        min(left_hard_a, left_hard_b, _MOST),
        float(len(families)),
        min(len(swaps), _MOST),
        min(loose, _MOST),
        min(len(values), 2.0),
        min(shared_values, 2.0),
        min(against, 4.0),
        min(along, 8.0) / 2,
        min(len(strong), 2.0),
        min(len(axes) - len(strong), 2.0),
        float(sum(opposite(swap.a, swap.b) for swap in alignment.swaps)),
        float(a.has_change or b.has_change),
        float(a.lang != b.lang),
        min(others, _MOST),
        float(bool(values) and not others),
        min(names, 2.0),
        against / (against + along) if against else 0.0,
        _order_turned(a, b, alignment),
        float(a.turns_down != b.turns_down),
        float(sum(left.weight >= 1.3 for left, _ in turned)),  # noqa: PLR2004 (names and values)
        _apart(values),
        math.log1p(min(alignment.matched_a, alignment.matched_b) * shrink),
        float(bool(values) and len(alignment.left_a) == len(alignment.left_b) == len(values)),
        min(float(len(replaced)), 2.0),
        float(_crossed(turned, a)),
        math.log1p(min(a.weight, b.weight) * shrink),
        alignment.in_order * max(0.0, 1 - min(a.weight, b.weight) / _SHORT),
    )


def features(comparison: Comparison, cosine: float) -> tuple[float, ...]:
    """Return the values of NAMES for one pair; cosine in -1..1, below 0 counts as 0."""
    near = min(1.0, max(0.0, cosine))
    return (near, near * comparison.vector[0], *comparison.vector)


def _crossed(turned: tuple[tuple[Unit, Unit], ...], a: Analysis) -> bool:
    """Tell "X over Y" against "Y over X": each text affirms what the other turns down."""
    return len({a.stances[left.keys[0]] > 0 for left, _ in turned}) > 1


def _is_replaced(pair: tuple[Unit, Unit], b: Analysis, alignment: Alignment) -> bool:
    left, right = pair
    denying = alignment.left_b if b.stances[right.keys[0]] < 0 else alignment.left_a
    if left.kind in _QUANTITY:
        return any(unit.kind in _QUANTITY for unit in denying)
    return left.kind in HARD and any(unit.kind == left.kind for unit in denying)


def _value_weight(values: tuple[tuple[Unit, Unit], ...], side: int) -> float:
    """Weight of the quantities that differ: they are told apart, so the overlap leaves them out."""
    return sum(pair[side].weight for pair in values) - 1e-9


def _apart(values: tuple[tuple[Unit, Unit], ...]) -> float:
    """How far apart the first differing quantities are: 0 the same order of size, 1 tenfold."""
    for a, b in values:
        if a.value > 0 and b.value > 0:
            return min(1.0, abs(math.log10(a.value / b.value)))
    return 0.0


def _order_turned(a: Analysis, b: Analysis, alignment: Alignment) -> float:
    """Share of aligned content that the other text mentions in the opposite order, when both tell a sequence."""
    if not (a.tells_sequence and b.tells_sequence):
        return 0.0
    places = [j for i, j in alignment.partners if a.units[i].weight > 0.4]  # noqa: PLR2004 (no light words)
    steps = [right > left for left, right in itertools.pairwise(places)]
    return 1 - sum(steps) / len(steps) if steps else 0.0


def _hard_count(units: tuple[Unit, ...]) -> int:
    return sum(unit.kind in HARD for unit in units)


def _name_count(units: tuple[Unit, ...]) -> int:
    return sum(unit.kind == "name" for unit in units)


def _quantities(units: tuple[Unit, ...]) -> list[Unit]:
    return [unit for unit in units if unit.kind in _QUANTITY]


def _more_often(text: Analysis, other: Analysis) -> list[Unit]:
    """Return the quantities that a text has more often than the other, which has them too: "3 of 3" and "5 of 3"."""
    here = [unit.keys[0] for unit in _quantities(text.units)]
    if len(set(here)) == len(here):
        return []
    there = [unit.keys[0] for unit in _quantities(other.units)]
    surplus = {key: here.count(key) - there.count(key) for key in set(here) & set(there)}
    found: list[Unit] = []
    for unit in _quantities(text.units):
        if surplus.get(unit.keys[0], 0) > 0:
            surplus[unit.keys[0]] -= 1
            found.append(unit)
    return found


def _value_differences(a: Analysis, b: Analysis, alignment: Alignment) -> tuple[tuple[Unit, Unit], ...]:
    found = []
    rest = [*_quantities(alignment.left_b), *_more_often(b, a)]
    for unit in (*_quantities(alignment.left_a), *_more_often(a, b)):
        other = next((u for u in rest if (u.kind, u.dimension) == (unit.kind, unit.dimension)), None)
        if other is not None:
            rest.remove(other)
            found.append((unit, other))
    return tuple(found)


def _is_name_swap(swap: Swap, in_order: float, *, is_one_language: bool) -> bool:
    kinds = {swap.a.kind, swap.b.kind}
    if kinds & set(_QUANTITY) or opposite(swap.a, swap.b):
        return False
    if swap.a.kind == swap.b.kind and (swap.a.kind in HARD or swap.a.kind == "name"):
        return True
    if in_order < _LOOSE_WORDING or not is_one_language:
        return False
    return swap.flanks == 2 and min(swap.a.weight, swap.b.weight) > 0.4  # noqa: PLR2004 (both sides; not a light word)


def _stances(
    a: Analysis, b: Analysis, alignment: Alignment, judged: frozenset[str]
) -> tuple[tuple[tuple[Unit, Unit], ...], float]:
    """Return aligned units with opposite stances, and the weight of those that agree."""
    stance_a = stances_beside(a, judged) if judged else a.stances
    stance_b = stances_beside(b, judged) if judged else b.stances
    turned, along = [], 0.0
    seen: set[str] = set()
    for i, j in alignment.partners:
        left, right = a.units[i], b.units[j]
        if left.keys[0] in seen:
            continue
        seen.add(left.keys[0])
        product = stance_a[left.keys[0]] * stance_b[right.keys[0]]
        if product < 0:
            turned.append((left, right))
        elif product > 0:
            along += left.weight
    return tuple(turned), along
