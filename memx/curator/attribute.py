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
    from collections.abc import Iterable, Sequence

    from memx.curator.features import Comparison
    from memx.curator.tokens import Analysis, Unit

_TELLING = 0.8  # weight of a unit that can name a subject; light words and single characters are below it
_READ = 8192
_QUANTITY = ("number", "clock", "version", "label")
_SUBJECT_SHARED = 0.2  # share of both texts with a partner, below which no values are looked for
_ONE_FORM = 0.45  # share of both texts that has a partner in the other
_LONGEST_NAME = 2  # units of a thing that a form of words is filled with
_JUDGING = frozenset(
    {"=always", "=onlyc", "=fail", "=worksc", "=require", "=replaced", "=gain", "=nogain", "=everyonec"}
)
"""Concepts that say how something is, and no name of it."""
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
    if a.lang != b.lang or comparison.families or comparison.vector[0] < _SUBJECT_SHARED:
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
    closed = [other for other in _values(text.text, text.lang) if other.member]
    for unit in left:
        if value.start <= unit.start < value.end or value.start < unit.end <= value.end:
            inside.append(unit)
        elif any(other.start <= unit.start < other.end for other in closed):
            continue
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
    if a.lang != b.lang or a.turns_down != b.turns_down or comparison.vector[0] < _ONE_FORM:
        return ""
    slots = _slots(comparison)
    named = next((slot for slot in slots if slot.names_something), None)
    if named is None or any(max(len(slot.a), len(slot.b)) > _LONGEST_NAME for slot in slots):
        return ""
    names = f"{_phrase(a, named.a)!r} / {_phrase(b, named.b)!r}"
    if len(slots) > 1 or comparison.axes:
        return f"another subject: {names}"
    return f"both can hold: {names}" if _is_additive(comparison) else ""


@record
class _Slot:
    """What stands between the same neighbours in two texts."""

    a: tuple[Unit, ...]
    b: tuple[Unit, ...]

    @property
    def names_something(self) -> bool:
        """Whether both sides are made of words that name: one of them a telling one, none a quantity or a judgement."""
        units = (*self.a, *self.b)
        if any(unit.kind in _QUANTITY or unit.sides or not _JUDGING.isdisjoint(unit.keys) for unit in units):
            return False
        return max(unit.weight for unit in units) >= _TELLING


def _slots(comparison: Comparison) -> list[_Slot]:
    """Return the slots of one form of words that two texts fill; none where a telling word has no counterpart."""
    a, b, alignment = comparison.a.units, comparison.b.units, comparison.alignment
    left_a, left_b = {id(unit) for unit in alignment.left_a}, {id(unit) for unit in alignment.left_b}
    place = dict(alignment.partners)
    found, used, start = [], set(), 0
    while start < len(a):
        stop = start
        while stop < len(a) and id(a[stop]) in left_a:
            stop += 1
        if stop == start:
            start += 1
            continue
        low = place.get(start - 1, -2) + 1 if start else 0
        high = place.get(stop, -1) if stop < len(a) else len(b)
        other = b[low:high] if 0 <= low < high else ()
        if other and all(id(unit) in left_b for unit in other):
            found.append(_Slot(a[start:stop], other))
            used |= {id(unit) for unit in (*a[start:stop], *other)}
        start = stop
    loose = [unit for unit in (*alignment.left_a, *alignment.left_b) if id(unit) not in used]
    return [] if any(unit.weight >= _TELLING for unit in loose) else found


def _phrase(text: Analysis, units: Sequence[Unit]) -> str:
    return text.text[units[0].start : units[-1].end]
