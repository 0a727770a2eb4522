"""The evidence gate: facts in which two lessons differ, each of which forbids to merge them.

Merging is only safe when numbers, names and direction agree; a static vector
hardly sees any of them. The gate answers with readable reasons.
"""

from __future__ import annotations

from memx.curator.align import opposite
from memx.curator.subject import is_series
from memx.curator.surface import differences
from memx.curator.words import opposites
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.curator.align import Swap
    from memx.curator.features import Comparison
    from memx.curator.tokens import Analysis, Unit

OPPOSING = frozenset({"value", "negation", "opposite", "direction", "sign", "bound"})
"""Kinds of veto that speak of a contradiction; the others speak of two different subjects."""
SUBJECTS = frozenset({"environment", "system", "identifier", "path", "flag", "commit", "number", "version"})
"""Kinds of veto that name two different things: what only looks alike then is no possible duplicate."""
DOUBTFUL = frozenset({"word order", "small word", "operator", "case", "numeral", "opposite word", "wording"})
"""Kinds of veto that leave open what the two lessons are to each other: a person is asked."""
_KIND_NAMES = {
    "ident": "identifier",
    "path": "path",
    "flag": "flag",
    "hash": "commit",
    "label": "number",
    "version": "version",
    "code": "name",
    "name": "name",
}
_NAMES = frozenset({"name", "ident", "path", "flag", "hash", "label", "version"})
_ORDER_TURNED = 0.3
_FRAME = 0.2  # share of neighbours that stay neighbours in two texts of one form
_TURNED_SHARE = 0.4  # of the aligned content on which both texts take a side
_CLOSE_WORDING = (
    0.25  # share of neighbours that stay neighbours; freer wording often turns a word round harmlessly
)


@record
class Veto:
    """One reason against a merge: its kind and the words of either side."""

    kind: str
    a: str
    b: str

    def __str__(self) -> str:
        """Return the reason as one line."""
        return (
            f"{self.kind} differs: {self.a!r} / {self.b!r}"
            if self.a != self.b
            else f"{self.kind}: {self.a!r}"
        )


def evidence(comparison: Comparison) -> tuple[Veto, ...]:
    """Return every fact in which the two texts differ, most telling first; empty: nothing speaks against a merge."""
    found = [*facts_apart(comparison)]
    found += [Veto(found_one.kind, found_one.a, found_one.b) for found_one in differences(comparison)]
    return tuple(dict.fromkeys(found))


def facts_apart(comparison: Comparison) -> tuple[Veto, ...]:
    """Return what the alignment alone tells apart: all that a pair needs for which no merge is at stake.

    None of the differences in writing names another subject, and to look for them takes as long as all the rest.
    """
    found = [Veto(family, *members) for family, members in comparison.families.items()]
    found += [_veto(_KIND_NAMES.get(kind, kind), comparison, *pair) for kind, pair in comparison.hard.items()]
    found += [_veto("name", comparison, *pair) for pair in _names_apart(comparison)]
    value = "number" if is_series(comparison) else "value"
    found += [_veto(value, comparison, *pair) for pair in comparison.values]
    found += [_veto("direction", comparison, *pair) for pair in _turned_routes(comparison)]
    if _is_order_turned(comparison):
        found.append(Veto("opposite", "sequence", "sequence"))
    turned_for_sure = comparison.turned if comparison.is_crossed else comparison.replaced
    found += [_veto("negation", comparison, *pair) for pair in turned_for_sure]
    if comparison.order_turned >= _ORDER_TURNED and all(
        _ranks(text) for text in (comparison.a, comparison.b)
    ):
        found.append(Veto("opposite", "sequence", "sequence"))
    found += [
        _veto("wording", comparison, swap.a, swap.b) for swap in (*comparison.swaps, *_framed(comparison))
    ]
    if comparison.turned_share >= _TURNED_SHARE and comparison.alignment.in_order >= _CLOSE_WORDING:
        found += [_veto("negation", comparison, *pair) for pair in comparison.turned]
    if comparison.alignment.in_order >= _CLOSE_WORDING:
        found += [Veto("opposite", axis, axis) for axis in comparison.axes if axis in opposites().strong]
    if comparison.turned:
        found += [Veto("opposite", axis, axis) for axis in comparison.axes]
    found += [
        _veto("opposite", comparison, swap.a, swap.b)
        for swap in comparison.alignment.swaps
        if opposite(swap.a, swap.b)
    ]
    return tuple(dict.fromkeys(found))


def _names_apart(comparison: Comparison) -> list[tuple[Unit, Unit]]:
    """Return the first names that each text has and the other lacks; across languages a name may be translated."""
    if comparison.hard or comparison.a.lang != comparison.b.lang:
        return []
    sides = [
        next((unit for unit in left if unit.kind in _NAMES), None)
        for left in (comparison.alignment.left_a, comparison.alignment.left_b)
    ]
    return [(sides[0], sides[1])] if sides[0] is not None and sides[1] is not None else []


def _framed(comparison: Comparison) -> list[Swap]:
    """Return words swapped inside the same frame when there is more than one: it is the same form, filled anew."""
    if comparison.a.lang != comparison.b.lang or comparison.alignment.in_order < _FRAME:
        return []
    inside = [swap for swap in comparison.alignment.swaps if swap.flanks == 2]  # noqa: PLR2004 (both sides)
    return inside if len(inside) > 1 else []


def _turned_routes(comparison: Comparison) -> list[tuple[Unit, Unit]]:
    """Return what one text names as an origin and the other as a goal."""
    a, b = comparison.a.units, comparison.b.units
    return [(a[i], b[j]) for i, j in comparison.alignment.partners if a[i].role * b[j].role < 0]


def _is_order_turned(comparison: Comparison) -> bool:
    """Tell whether what comes earlier in one text comes later in the other, and the other way round."""
    a, b = comparison.a.units, comparison.b.units
    turned = {a[i].phase for i, j in comparison.alignment.partners if a[i].phase * b[j].phase < 0}
    return turned == {-1, 1}


def _ranks(text: Analysis) -> bool:
    """Tell whether a text says what comes first or last; "before" may be told from either end."""
    return "=first" in text.index or "=last" in text.index


def _veto(kind: str, comparison: Comparison, a: Unit, b: Unit) -> Veto:
    return Veto(kind, comparison.a.text[a.start : a.end], comparison.b.text[b.start : b.end])
