"""Same subject, same attribute, another value: what excludes one another, and what can hold side by side.

An attribute that holds one value at a time (where something is stored, who owns
it, a time zone) contradicts itself when two lessons on one subject give it two
values. It does not when the lessons speak of two subjects, nor when the attribute
can hold several values at once (an index on two columns, two dependencies).
`memx/data/curator/values.txt` has the closed sets of values, `relations.txt` how
sentences name the value of an attribute.
"""

from __future__ import annotations

from functools import lru_cache

from memx.curator import words
from memx.curator.align import opposite
from memx.curator.names import name_places
from memx.curator.tokens import detect_language
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.curator.align import Swap
    from memx.curator.features import Comparison
    from memx.curator.tokens import Analysis, Unit

_TELLING = 0.8  # weight of a unit that can name a subject; light words and single characters are below it
_READ = 8192
_QUANTITY = ("number", "clock", "version", "label")
_LONGEST_VALUE = 5  # units; a longer stretch is a sentence of its own


@record
class Value:
    """A value that a text gives to an attribute that holds one at a time.

    member: of a closed set, '' where only the sentence says that it is a value.
    """

    attribute: str
    member: str
    start: int
    end: int


@lru_cache(maxsize=_READ)
def _values(text: str, lang: str) -> tuple[Value, ...]:
    """Return the values that a normalised text names, those of closed sets first."""
    folded = words.fold(text)
    found = []
    pattern, meaning = words.closed_values()
    for match in pattern.finditer(folded):
        if (folded[match.start() - 1 : match.start()] == "`") != (
            folded[match.end() : match.end() + 1] == "`"
        ):
            continue  # a command line, of which the word is a part
        attribute, member = meaning[match.lastgroup or ""]
        found.append(Value(attribute, member, match.start(), match.end()))
    for relation in words.relations(lang)[0]:
        found += [Value("", "", *match.span("value")) for match in relation.finditer(folded)]
    return tuple(found)


@lru_cache(maxsize=_READ)
def gives_name_as_value(text: str) -> bool:
    """Tell whether an identifier or a path is the value of an attribute that holds one: another excludes it."""
    folded = words.fold(text)
    places = name_places(text)
    spans = (
        m.span("value")
        for relation in words.relations(detect_language(text))[0]
        for m in relation.finditer(folded)
    )
    return bool(places) and any(low <= at < high for low, high in spans for at in places)


def excludes(comparison: Comparison) -> str:
    """Return a reason when two texts give one attribute of one subject two values, else an empty text."""
    a, b = comparison.a, comparison.b
    if a.lang != b.lang or comparison.families:
        return ""
    values = _values(a.text, a.lang), _values(b.text, b.lang)
    members = [{value.member for value in side if value.member} for side in values]
    for one in values[0]:
        for two in values[1]:
            if one.attribute != two.attribute or (
                one.member and {one.member, two.member} & members[0] & members[1]
            ):
                continue
            if one.member and one.member == two.member:
                continue
            if _is_all_apart(comparison, one, two):
                return f"{one.attribute or 'one value'}: {_spelt(a, one)!r} against {_spelt(b, two)!r}"
    return ""


def _is_all_apart(comparison: Comparison, one: Value, two: Value) -> bool:
    """Tell whether the two values are what the texts differ in, in the clauses that name them."""
    alignment = comparison.alignment
    inside_a, outside_a = _split(alignment.left_a, one, comparison.a)
    inside_b, outside_b = _split(alignment.left_b, two, comparison.b)
    if outside_a or outside_b or _is_turned_down(comparison.a, one) or _is_turned_down(comparison.b, two):
        return False
    if one.member:
        return not _is_additive(comparison)
    inside = (*inside_a, *inside_b)
    if not (inside_a and inside_b) or any(unit.kind in _QUANTITY for unit in inside):
        return False
    if any(opposite(x, y) for x in inside_a for y in inside_b):
        return False
    return max(len(inside_a), len(inside_b)) <= _LONGEST_VALUE


def _is_turned_down(text: Analysis, value: Value) -> bool:
    """Tell whether the clause of a value denies something: then it is open what it says of the value."""
    clause = _clause_of(text, value)
    return any(unit.stance < 0 for unit in text.units if unit.clause == clause)


def _clause_of(text: Analysis, value: Value) -> int:
    return next((unit.clause for unit in text.units if value.start <= unit.start < value.end), -1)


def _split(left: Iterable[Unit], value: Value, text: Analysis) -> tuple[list[Unit], list[Unit]]:
    """Part what is left over in the value's clause: in the value, and telling words beside it."""
    inside, outside = [], []
    clause = _clause_of(text, value)
    for unit in left:
        if value.start <= unit.start < value.end or value.start < unit.end <= value.end:
            inside.append(unit)
        elif unit.clause == clause and unit.weight >= _TELLING:
            outside.append(unit)
    return inside, outside


def _is_additive(comparison: Comparison) -> bool:
    return all(
        words.relations(text.lang)[1].search(words.fold(text.text)) for text in (comparison.a, comparison.b)
    )


def _spelt(text: Analysis, value: Value) -> str:
    return text.text[value.start : value.end].strip()


def other_subject(comparison: Comparison) -> str:
    """Return a reason when one form of words speaks of two subjects, or of two things that can both hold; else ''."""
    a, b = comparison.a, comparison.b
    swaps = [swap for swap in comparison.alignment.swaps if _is_telling(swap)]
    framed = next((swap for swap in swaps if swap.flanks == 2), None)  # noqa: PLR2004 (both sides)
    if framed is None or a.lang != b.lang or not _is_one_form(comparison):
        return ""
    names = f"{a.text[framed.a.start : framed.a.end]!r} / {b.text[framed.b.start : framed.b.end]!r}"
    if len(swaps) > 1 or comparison.values or comparison.axes:
        return f"another subject: {names}"
    return f"both can hold: {names}" if _is_additive(comparison) else ""


def _is_one_form(comparison: Comparison) -> bool:
    """Tell whether all that is left over on either side has its counterpart in the same place of the other."""
    alignment = comparison.alignment
    pairs = [(swap.a, swap.b) for swap in alignment.swaps] + list(comparison.values)
    for side, left in enumerate((alignment.left_a, alignment.left_b)):
        paired = {id(pair[side]) for pair in pairs}
        if any(unit.weight >= _TELLING and id(unit) not in paired for unit in left):
            return False
    return True


def _is_telling(swap: Swap) -> bool:
    kinds = {swap.a.kind, swap.b.kind}
    return (
        min(swap.a.weight, swap.b.weight) >= _TELLING
        and not kinds & {*_QUANTITY}
        and not opposite(swap.a, swap.b)
    )
