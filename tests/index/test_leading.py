"""The bullets that an index names without a question hold the best ones, whatever the time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.config import DecayConfig
from memx.decay import SECONDS_PER_DAY, weight
from memx.index.index import make_analyser
from memx.index.lexical import LexicalIndex
from memx.index.linear import LinearIndex
from memx.index.packed import PackedBullet, pack, worth
from memx.index.query import NO_FILTERS, Filters
from memx.index.snapshot import Snapshot
from memx.model import Bullet, StoredBullet

NOW = 1_800_000_000.0
ANALYSER = make_analyser()
CONFIG = DecayConfig()


def packed(number: int, age: float, score: int, recalls: int = 0, **fields: object) -> PackedBullet:
    """Return a bullet of an age in days."""
    begun = NOW - age * SECONDS_PER_DAY
    archived = bool(fields.pop("archived", False))
    bullet = Bullet(
        id=f"b{number:09}", text=f"text {number}", score=score, recall_count=recalls, created=begun, **fields
    )  # type: ignore[arg-type]
    return pack(StoredBullet(bullet, f"bullets/general/b{number:09}.md", archived=archived), ANALYSER)


def value(bullet: PackedBullet, now: float) -> float:
    """Return decay weight times instructivity, as whoever asks weighs it exactly."""
    return (
        bullet.score
        * weight(
            now,
            bullet.created,
            bullet.updated,
            bullet.accepted,
            bullet.recall_count,
            bullet.type,
            bullet.half_life_days,
            bullet.pinned,
            CONFIG,
        ).weight
    )


def in_memory(bullets: list[PackedBullet]) -> LexicalIndex:
    """Return an index of bullets."""
    index = LexicalIndex.in_memory()
    index.apply(bullets)
    return index


ROWS = st.tuples(st.floats(8, 400), st.integers(1, 100))


@given(st.lists(ROWS, min_size=2, max_size=2), st.floats(0, 300))
def test_worth_orders_fading_bullets_as_their_weights_do_at_any_time(
    rows: list[tuple[float, int]], later: float
) -> None:
    """The present time is the same for all, so it is left out."""
    a, b = (packed(number, age, score) for number, (age, score) in enumerate(rows))
    now = NOW + later * SECONDS_PER_DAY
    if abs(value(a, now) - value(b, now)) > 1e-4 * max(value(a, now), value(b, now)):
        assert (worth(a) > worth(b)) == (value(a, now) > value(b, now))


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(8, 400), st.integers(0, 100), st.sampled_from((0, 0, 15, 40))),
        min_size=60,
        max_size=120,
    )
)
def test_best_ten_are_among_the_leading(rows: list[tuple[float, int, int]]) -> None:
    """Fading ones come by their worth, permanent ones by their proof."""
    bullets = [packed(number, *row) for number, row in enumerate(rows)]
    found = {bullet.id for bullet in in_memory(bullets).leading(40, NO_FILTERS)}
    values = sorted((value(bullet, NOW) for bullet in bullets), reverse=True)
    missed = [bullet for bullet in bullets if bullet.id not in found and value(bullet, NOW) > values[9]]
    assert not missed


def test_pinned_ones_are_there_however_old() -> None:
    """A pin is a person's word."""
    bullets = [packed(number, 1, 90) for number in range(50)] + [packed(99, 4000, 1, pinned=True)]
    assert "b000000099" in {bullet.id for bullet in in_memory(bullets).leading(5, NO_FILTERS)}


@pytest.mark.parametrize("make", [in_memory, LinearIndex], ids=["tantivy", "linear"])
def test_filters_hold(make: object) -> None:
    """What is forbidden is not among them."""
    bullets = [packed(0, 1, 90), packed(1, 1, 90, archived=True), packed(2, 1, 90, scope="workspace:x")]
    found = make(bullets).leading(10, Filters((), ("archived", "scope:workspace:x")))  # type: ignore[operator]
    assert [bullet.id for bullet in found] == ["b000000000"]


def test_changed_files_replace_their_old_form() -> None:
    """An overlay is searched too, and hides what it replaces."""
    old, new = packed(0, 1, 90), packed(0, 1, 10)
    snapshot = Snapshot(in_memory([old]), overlay=LinearIndex([new]), masked=(old.path,))
    assert [bullet.score for bullet in snapshot.leading(10)] == [10]
