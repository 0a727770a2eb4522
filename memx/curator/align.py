"""Which words, numbers and names of two lessons have a partner, and which are left over.

A unit's partner shares a key: the stem, a concept (across languages), the exact
spelling of an identifier, the value of a number in any unit. Chinese and
Japanese text between known words aligns by shared pairs of characters.
"""

from __future__ import annotations

import itertools

from memx.curator.tokens import HARD, Analysis, Unit
from memx.record import record

_SHORTEST_COGNATE = 5
_SHORTEST_ACRONYM = 3
_COGNATE_SHARE = 0.7
_FUZZY_WEIGHT = 0.8
_HEDGE_TOLERANCE = 0.1
_FAR = -5


@record
class Swap:
    """Two leftover units in the same place: what stands before and after them is aligned.

    flanks: 1 or 2 sides that agree. Either unit's kind says how hard the difference is.
    """

    a: Unit
    b: Unit
    flanks: int


@record
class Alignment:
    """The outcome for one pair; weights are sums of `Unit.weight`."""

    matched_a: float
    matched_b: float
    partners: tuple[tuple[int, int], ...]
    left_a: tuple[Unit, ...]
    left_b: tuple[Unit, ...]
    swaps: tuple[Swap, ...]
    in_order: float
    """Share of neighbours in the shorter text that are neighbours in the other, 0-1."""


def align(a: Analysis, b: Analysis) -> Alignment:
    """Align two analysed texts; symmetric up to the exchange of the sides."""
    to_b = _partners(a, b)
    to_a = _partners(b, a)
    left_a = [place for place, partner in enumerate(to_b) if partner[0] == _NONE]
    left_b = [place for place, partner in enumerate(to_a) if partner[0] == _NONE]
    return Alignment(
        sum(unit.weight * share for unit, (_, share) in zip(a.units, to_b, strict=True)),
        sum(unit.weight * share for unit, (_, share) in zip(b.units, to_a, strict=True)),
        tuple((i, partner) for i, (partner, _) in enumerate(to_b) if partner >= 0),
        tuple(a.units[place] for place in left_a),
        tuple(b.units[place] for place in left_b),
        _swaps(a, b, to_b, left_a, left_b),
        _in_order(to_b, len(b.units)) if len(a.units) <= len(b.units) else _in_order(to_a, len(a.units)),
    )


_NONE = -1  # no partner
_SOMEWHERE = -2  # aligned, without a single place (characters, parts of a name)


def _partners(a: Analysis, b: Analysis) -> list[tuple[int, float]]:
    found = []
    index = b.index
    for unit in a.units:
        for key in unit.keys:
            if key in index:
                found.append((index[key], 1.0))
                break
        else:
            found.append(_loose_partner(unit, b))
    return found


def _loose_partner(unit: Unit, b: Analysis) -> tuple[int, float]:
    kind = unit.kind
    if kind == "han":
        return _shared_characters(unit, b)
    if kind in ("word", "name", "code"):
        return _cognate(unit, b)
    if kind in ("number", "label"):
        return _same_quantity(unit, b)
    if kind == "flag":
        short = _short_flag(unit, b)
        return short if short[0] != _NONE else _spelt_out(unit, b)
    if kind in ("ident", "path"):
        found = _spelt_out(unit, b)
        return found if found[0] != _NONE or kind == "path" else _whole(_file_at_end(unit.keys[0], b))
    return (_NONE, 0.0)


def _shared_characters(unit: Unit, b: Analysis) -> tuple[int, float]:
    raw = unit.keys[0]
    if len(raw) == 1:
        return (_SOMEWHERE, 1.0) if raw in b.text else (_NONE, 0.0)
    shared = sum(raw[i : i + 2] in b.bigrams for i in range(len(raw) - 1)) / (len(raw) - 1)
    return (_SOMEWHERE, shared) if shared >= 0.5 else (_NONE, shared)  # noqa: PLR2004 (half of it)


def _cognate(unit: Unit, b: Analysis) -> tuple[int, float]:
    key = unit.keys[0]
    if unit.kind == "name" and len(key) >= _SHORTEST_ACRONYM and key in b.initials:
        return (_SOMEWHERE, 1.0)
    place = b.prefixes.get(key[:_SHORTEST_COGNATE], _NONE) if len(key) >= _SHORTEST_COGNATE else _NONE
    if place == _NONE:
        return (_SOMEWHERE, _FUZZY_WEIGHT) if key in b.parts else (_NONE, 0.0)
    other = b.units[place].keys[0]
    common = 0
    for left, right in zip(key, other, strict=False):
        if left != right:
            break
        common += 1
    return (place, _FUZZY_WEIGHT) if common >= _COGNATE_SHARE * min(len(key), len(other)) else (_NONE, 0.0)


def _same_quantity(unit: Unit, b: Analysis) -> tuple[int, float]:
    """Match a bare number with the same figure in any unit, and "about 15" with 14."""
    for place, other in enumerate(b.units):
        if other.kind not in ("number", "label"):
            continue
        if unit.dimension == other.dimension and unit.dimension not in ("", "label"):
            tolerance = _HEDGE_TOLERANCE if unit.is_rounded or other.is_rounded else 1e-6
            if abs(unit.value - other.value) <= tolerance * max(abs(unit.value), abs(other.value)):
                return (place, 1.0)
        elif not (unit.kind == "label" and other.kind == "label") and unit.raw == other.raw:
            return (place, 1.0)
    return (_NONE, 0.0)


def _short_flag(unit: Unit, b: Analysis) -> tuple[int, float]:
    """Match `-p` with `--previous`."""
    key = unit.keys[0]
    for place, other in enumerate(b.units):
        if other.kind == "flag" and other.keys[0][1] == key[1] and min(len(key), len(other.keys[0])) == 2:  # noqa: PLR2004
            return (place, 1.0)
    return (_NONE, 0.0)


def _spelt_out(unit: Unit, b: Analysis) -> tuple[int, float]:
    """Match `minSdkVersion` with "min SDK version": an identifier whose parts the other text writes as words."""
    parts = unit.parts
    if unit.kind == "path":
        place = _same_file(unit.keys[0], b)
        if place != _NONE:
            return (place, 1.0)
    if not parts:
        return (_NONE, 0.0)
    shared = sum(part in b.index for part in parts)
    return (_SOMEWHERE, 1.0) if shared >= max(2, _COGNATE_SHARE * len(parts)) else (_NONE, 0.0)


def _whole(place: int) -> tuple[int, float]:
    return (place, 0.0 if place == _NONE else 1.0)


def _file_at_end(name: str, b: Analysis) -> int:
    """Return the place of a path that ends with this file name, -1 when there is none."""
    if "." not in name:
        return _NONE
    ends = "/" + name
    return next(
        (at for at, unit in enumerate(b.units) if unit.kind == "path" and unit.keys[0].endswith(ends)), _NONE
    )


def _same_file(path: str, b: Analysis) -> int:
    """Return the place of the same file with more or fewer of its folders."""
    for key, place in b.index.items():
        if b.units[place].kind in ("path", "ident") and ("/" + path).endswith("/" + key):
            return place
        if b.units[place].kind == "path" and ("/" + key).endswith("/" + path):
            return place
    return _NONE


def _in_order(partners: list[tuple[int, float]], _other: int) -> float:
    places = [place for place, _ in partners]
    if len(places) < 2:  # noqa: PLR2004 (no neighbours)
        return 0.0
    steps = sum(left >= 0 and right == left + 1 for left, right in itertools.pairwise(places))
    return steps / (len(places) - 1)


def _swaps(
    a: Analysis,
    b: Analysis,
    to_b: list[tuple[int, float]],
    left_a: list[int],
    left_b: list[int],
) -> tuple[Swap, ...]:
    """Pair up leftovers that stand in the same place; each is used once, both-sided ones first."""
    free = set(left_b)
    found: list[Swap] = []
    offers = []
    for place in left_a:
        before = _neighbour(place - 1, to_b, len(b.units), 1)
        after = _neighbour(place + 1, to_b, len(b.units), -1)
        for target in {before, after}:
            if target in free:
                flanks = (target == before) + (target == after)
                offers.append((-flanks, place, target))
    used = set()
    for flanks, place, target in sorted(offers):
        if place not in used and target in free:
            used.add(place)
            free.discard(target)
            found.append(Swap(a.units[place], b.units[target], -flanks))
    return tuple(found)


def _neighbour(place: int, partners: list[tuple[int, float]], other: int, step: int) -> int:
    """Where the other text would have the unit that follows (step 1) or precedes (-1) this neighbour."""
    if place < 0:
        return 0
    if place >= len(partners):
        return other - 1
    partner = partners[place][0]
    return partner + step if partner >= 0 else _FAR


def hard_differences(alignment: Alignment) -> dict[str, tuple[Unit, Unit]]:
    """Return the kinds of hard unit left over on both sides, with the first of each."""
    found = {}
    for unit in alignment.left_a:
        if unit.kind in HARD and unit.kind not in found:
            other = next((u for u in alignment.left_b if u.kind == unit.kind), None)
            if other is not None:
                found[unit.kind] = (unit, other)
    return found


def family_differences(a: Analysis, b: Analysis) -> dict[str, tuple[str, str]]:
    """Return the closed families (environment, system) of which the texts name different members."""
    found = {}
    for family, members in a.facts.items():
        others = b.facts.get(family)
        if others and not members & others:
            found[family] = (min(members), min(others))
    return found


def opposite(a: Unit, b: Unit) -> bool:
    """Tell whether two units stand on the two sides of one axis."""
    return any((axis, -sign) in b.sides for axis, sign in a.sides)
