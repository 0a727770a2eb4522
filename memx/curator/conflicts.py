"""What to do about two bullets that contradict each other: evidence, marked differences, advice."""

from __future__ import annotations

from memx.amount import amount
from memx.curator.attribute import excludes
from memx.curator.contradiction import sufficiency
from memx.curator.features import compare
from memx.curator.gate import OPPOSING, evidence
from memx.curator.tokens import analyse
from memx.model import Span
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.curator.features import Comparison
    from memx.curator.tokens import Unit
    from memx.model import Bullet

_CLEAR_LEAD = 1.0
_DAY = 86400.0
_SCORE_STEP = 10  # points of instructivity that count as much as one argument
_RECALLS_STEP = 3


@record
class Side:
    """One bullet of a conflict and what the repository says of it."""

    bullet: Bullet
    fresh_anchors: int = 0
    drifted_anchors: int = 0


@record
class Advice:
    """A recommendation; ids, or an empty text where neither leads."""

    newer: str
    better_proven: str
    keep: str
    reasons: tuple[str, ...]
    text: str
    spans_a: tuple[Span, ...] = ()
    spans_b: tuple[Span, ...] = ()


def advise(a: Side, b: Side) -> Advice:
    """Weigh two sides: drifted anchors weigh most, then recalls, fresh anchors and score; age breaks near ties."""
    newer = _newer(a.bullet, b.bullet)
    proof_a, reasons_a = _proof(a, b)
    proof_b, reasons_b = _proof(b, a)
    lead = proof_a - proof_b
    proven = a.bullet.id if lead >= _CLEAR_LEAD else b.bullet.id if lead <= -_CLEAR_LEAD else ""
    keep = proven or newer
    reasons = (reasons_a if keep == a.bullet.id else reasons_b) if keep else []
    if keep and keep == newer:
        reasons = [*reasons, "it is newer"]
    elif keep and newer:
        reasons = [*reasons, "although the other is newer"]
    spans_a, spans_b = differing_spans(a.bullet.text, b.bullet.text)
    return Advice(newer, proven, keep, tuple(reasons), _advice(keep, reasons), spans_a, spans_b)


def _advice(keep: str, reasons: list[str]) -> str:
    if not keep:
        return "Nothing speaks for either: confirm the best practice, then delete the outdated bullet."
    why = f" ({', '.join(reasons)})" if reasons else ""
    return f"Probably {keep} holds{why}: confirm the best practice, then delete the outdated bullet."


def _newer(a: Bullet, b: Bullet) -> str:
    left, right = _written(a), _written(b)
    if left is None or right is None or abs(left - right) < _DAY:
        return ""
    return a.id if left > right else b.id


def _written(bullet: Bullet) -> float | None:
    return max((t for t in (bullet.created, bullet.updated) if t is not None), default=None)


def _proof(side: Side, other: Side) -> tuple[float, list[str]]:
    """Return how much speaks for a side against the other, and the words for it."""
    mine, theirs = side.bullet, other.bullet
    points, reasons = 0.0, []
    recalls = mine.recall_count - theirs.recall_count
    if recalls >= _RECALLS_STEP:
        points += min(2.0, recalls / _RECALLS_STEP)
        reasons.append(f"recalled {amount(mine.recall_count, 'time')} against {theirs.recall_count}")
    if mine.score - theirs.score >= _SCORE_STEP:
        points += min(2.0, (mine.score - theirs.score) / (2 * _SCORE_STEP))
        reasons.append(f"score {mine.score} against {theirs.score}")
    if other.drifted_anchors and not side.drifted_anchors:
        points += 2.0
        reasons.append("the code that the other names has changed since")
    if side.fresh_anchors > other.fresh_anchors:
        points += 1.0
        reasons.append("the code it names is unchanged")
    if mine.pinned and not theirs.pinned:
        points += 1.0
        reasons.append("it is pinned")
    return points, reasons


def proof(a: str, b: str) -> int:
    """Return how many facts say that two texts on one subject contradict each other; 0 when none does.

    A fact is another value of an attribute that holds one, a quantity that
    differs, a word that one affirms and the other turns down, or an opposite.
    Where each names a thing of its own, nothing proves that they speak of the same.
    """
    comparison = compare(analyse(a), analyse(b))
    vetoes = evidence(comparison)
    enough = bool(sufficiency(comparison) or excludes(comparison))
    if any(veto.kind not in OPPOSING for veto in vetoes) and not enough:
        return 0
    return enough + len(vetoes) + bool(comparison.turned) + len(comparison.axes)


def differing_spans(a: str, b: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return where two texts differ in substance: leftover words, other values, words taken the other way round."""
    one, two = analyse(a), analyse(b)
    comparison = compare(one, two)
    first, second = _differing_units(comparison)
    if comparison.a is not one:
        first, second = second, first
    return _spans(a, one.text, first), _spans(b, two.text, second)


def _differing_units(comparison: Comparison) -> tuple[list[Unit], list[Unit]]:
    turned = [unit for unit, _ in comparison.turned], [unit for _, unit in comparison.turned]
    return [*comparison.alignment.left_a, *turned[0]], [*comparison.alignment.left_b, *turned[1]]


def _spans(original: str, normal: str, units: Iterable[Unit]) -> tuple[Span, ...]:
    """Give each unit's place in the original; where normalisation moved it, the next occurrence of its words."""
    found, at = [], 0
    for unit in sorted({(unit.start, unit.end) for unit in units}):
        start, end = unit
        words = normal[start:end]
        if original[start:end] != words:
            start = original.find(words, at)
            if start < 0:
                continue
            end = start + len(words)
        at = end
        found.append(Span(start, end, words))
    return tuple(found)
