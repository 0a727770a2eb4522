"""Advice on two bullets that contradict each other."""

from __future__ import annotations

from memx.curator.conflicts import Side, advise, differing_spans
from memx.model import Bullet

DAY = 86400.0


def side(identifier: str, text: str, *, drifted: int = 0, **fields: object) -> Side:
    """Build one side of a conflict."""
    return Side(Bullet(identifier, text, **fields), drifted_anchors=drifted)  # type: ignore[arg-type]


def test_better_proven_side_is_recommended() -> None:
    """Recalls and score outweigh age."""
    old = side("a", "A pool of 10 is enough.", created=0.0, recall_count=12, score=80)
    new = side("b", "At least 50.", created=9 * DAY, score=50)
    advice = advise(old, new)
    assert (advice.newer, advice.better_proven, advice.keep) == ("b", "a", "a")
    assert "confirm the best practice, then delete the outdated bullet" in advice.text


def test_newer_side_is_recommended_when_neither_is_proven() -> None:
    """Without evidence the later lesson leads."""
    advice = advise(side("a", "Use 10.", created=0.0), side("b", "Use 50.", created=2 * DAY))
    assert (advice.better_proven, advice.keep) == ("", "b")


def test_drifted_anchor_speaks_against_a_side() -> None:
    """A lesson whose code has changed is probably the outdated one."""
    assert advise(side("a", "Use 10.", drifted=1), side("b", "Use 50.")).keep == "b"


def test_nothing_known_recommends_nobody() -> None:
    """Equal sides get the advice to confirm, and no name."""
    assert advise(side("a", "Use 10."), side("b", "Use 50.")).keep == ""


def test_differing_spans_mark_the_values() -> None:
    """The spans point into the original texts, in the order of the arguments."""
    a, b = "The limit is 50 requests.", "The limit is 10 requests."
    spans_a, spans_b = differing_spans(a, b)
    assert [a[s.start : s.end] for s in spans_a] == ["50"]
    assert [b[s.start : s.end] for s in spans_b] == ["10"]
