"""The design's numbers to the digit, and what holds for all of them."""

# ruff: noqa: FBT003 (`pinned` is one value of a row)
from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx import decay
from memx.config import DecayConfig
from memx.decay import SECONDS_PER_DAY as DAY
from memx.decay import DecayResult, archive_day, half_life, weigh_all, weight

CONFIG = DecayConfig()
NOW = 1_800_000_000.0


def weigh(
    age_days: float,
    recalls: int = 0,
    *,
    half_life_days: float | None = None,
    pinned: bool = False,
    config: DecayConfig = CONFIG,
) -> DecayResult:
    """Return the weight of a bullet of this age."""
    return weight(NOW, NOW - age_days * DAY, None, None, recalls, "trick", half_life_days, pinned, config)


@pytest.mark.parametrize(
    ("age", "recalls", "base", "final", "state"),
    [
        (0, 0, 1.0, 1.0, "protected"),
        (30, 0, 0.5, 0.5, "fading"),
        (60, 0, 0.25, 0.25, "fading"),
        (30, 5, 0.5, 0.75, "fading"),
        (90, 15, 0.125, 1.0, "permanent"),
        (90, 14, 0.125, 0.3, "fading"),
        (180, 0, 0.015625, 0.015625, "archive-candidate"),
        (180, 3, 0.015625, 0.0203125, "fading"),
        (30, 10, 0.5, 1.0, "fading"),
    ],
)
def test_worked_examples_to_the_digit(
    age: float, recalls: int, base: float, final: float, state: str
) -> None:
    """The table of the design: age and recalls give base, weight and state."""
    result = weigh(age, recalls)
    assert (result.base, result.state) == (base, state)
    assert result.weight == pytest.approx(final, abs=1e-12)
    assert result.age_days == age


def test_permanence_replaces_the_formula() -> None:
    """90 days and 15 recalls would weigh 0.3125 without the rule."""
    assert weigh(90, 15, config=DecayConfig(permanent_recalls=16)).weight == pytest.approx(0.3125)


def test_protection_ends_a_second_after_seven_days() -> None:
    """Seven days weigh 1.0; a second more follows the formula."""
    assert weigh(7).weight == 1.0
    after = weigh(7 + 1 / DAY)
    assert after.weight == after.base == 2.0 ** (-after.age_days / 30)
    assert after.weight < 0.8507


def test_archive_limit_is_inclusive() -> None:
    """0.02 stays, 0.0199 goes."""
    for limit, state in ((0.015625, "fading"), (0.0157, "archive-candidate")):
        assert weigh(180, config=DecayConfig(archive_below=limit)).state == state


def test_five_recalls_raise_the_weight_by_half() -> None:
    """Each recall adds a tenth of the base."""
    assert weigh(45, 5).weight == pytest.approx(1.5 * weigh(45).weight)


def test_old_commit_accepted_today_is_new() -> None:
    """Age counts from the latest of created, updated and accepted."""
    old = NOW - 3650 * DAY
    assert weight(NOW, old, old, NOW, 0, "trick", None, False, CONFIG).state == "protected"
    assert weight(NOW, old, NOW - 30 * DAY, NOW - 90 * DAY, 0, "trick", None, False, CONFIG).weight == 0.5
    assert weight(NOW, None, None, None, 0, "trick", None, False, CONFIG).age_days == 0


def test_pinned_never_decays() -> None:
    """A pin holds whatever the age."""
    assert weigh(36500, pinned=True) == DecayResult(36500.0, weigh(36500).base, 1.0, "pinned")


def test_half_life_of_bullet_beats_type_beats_default() -> None:
    """The bullet's own half-life first; one that is not positive says nothing."""
    config = DecayConfig(half_life_days_pitfall=60.0)
    assert half_life("pitfall", 90.0, config) == 90.0
    assert half_life("PITFALL", None, config) == 60.0
    assert half_life("trick", 0.0, config) == 30.0
    assert half_life("unheard-of", -1.0, config) == 30.0
    assert weigh(90, half_life_days=90).weight == 0.5
    assert weigh(40, config=DecayConfig(half_life_days=0.0, half_life_days_trick=0.0)).weight == 0.0


times = st.floats(-1e12, 1e12)
recalls = st.integers(-5, 10_000)


@given(times, times, recalls, st.none() | st.floats(-10, 1e6), st.booleans())
def test_weight_is_between_zero_and_one(
    now: float,
    created: float,
    count: int,
    life: float | None,
    pinned: bool,  # noqa: FBT001 (drawn by hypothesis)
) -> None:
    """No time, count or half-life leads out of [0, 1] or to an exception."""
    result = weight(now, created, None, None, count, "method", life, pinned, CONFIG)
    assert 0.0 <= result.weight <= 1.0
    assert 0.0 <= result.base <= 1.0
    assert result.age_days >= 0
    assert result.state in decay.STATES


@given(st.floats(-100, 5000), st.floats(0, 5000), st.integers(0, 30), st.integers(0, 30))
def test_weight_never_rises_with_age_nor_falls_with_recalls(
    age: float, more: float, count: int, extra: int
) -> None:
    """Older is never heavier, oftener recalled never lighter."""
    assert weigh(age + more, count).weight <= weigh(age, count).weight
    assert weigh(age, count + extra).weight >= weigh(age, count).weight


@given(st.floats(0, 1e5))
def test_future_times_count_as_now(ahead: float) -> None:
    """A clock that runs ahead makes nothing heavier than new."""
    assert weigh(-ahead).age_days == 0.0


@given(st.integers(0, 14), st.floats(1, 400))
def test_archive_day_is_where_the_weight_meets_the_limit(count: int, life: float) -> None:
    """A day before it the bullet is no candidate, a day after it is."""
    created = NOW
    day = archive_day(created, None, None, count, "trick", life, False, CONFIG)
    assert day is not None
    for now, is_candidate in ((day - DAY, False), (day + DAY, True)):
        result = weight(now, created, None, None, count, "trick", life, False, CONFIG)
        assert (result.state == "archive-candidate") == is_candidate


def test_archive_day_of_what_never_fades_is_none() -> None:
    """Pinned and permanent bullets, and those without a time, have no such day."""
    assert archive_day(NOW, None, None, 0, "trick", None, True, CONFIG) is None
    assert archive_day(NOW, None, None, 15, "trick", None, False, CONFIG) is None
    assert archive_day(None, None, None, 0, "trick", None, False, CONFIG) is None
    day = archive_day(NOW, None, None, 0, "trick", None, False, CONFIG)
    assert day is not None
    assert (day - NOW) / DAY == pytest.approx(169.3157, abs=1e-4)


def test_module_reads_no_clock() -> None:
    """Pure: nothing is imported but arithmetic and the record."""
    tree = ast.parse(inspect.getsource(decay))
    modules = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert modules == {"__future__", "math", "memx.record"}


@given(st.floats(0, 1000), st.integers(0, 20), st.floats(1, 400), st.booleans())
def test_forecast_is_the_weight_of_days_to_come(
    age: float,
    count: int,
    life: float,
    pinned: bool,  # noqa: FBT001 (drawn by hypothesis)
) -> None:
    """What a sparkline shows is what the formula gives then."""
    days = (0, 3, 15, 30, 365)
    result = weigh(age, count, half_life_days=life, pinned=pinned)
    ahead = decay.forecast(result, count, days, decay.fading_factors(life, days), CONFIG)
    then = [weigh(age + day, count, half_life_days=life, pinned=pinned) for day in days]
    # On the last day of the protection a rounding decides between the two branches.
    near = [abs(age + day - CONFIG.protection_days) < 1e-6 for day in days]
    for weight_then, weight_ahead, is_near in zip(then, ahead, near, strict=True):
        assert is_near or weight_ahead == pytest.approx(weight_then.weight, abs=1e-9)


def test_disputed_bullet_is_not_permanent() -> None:
    """However often it was recalled; a pin still holds, for a person set it."""

    def weigh_disputed(*, pinned: bool) -> DecayResult:
        created = NOW - 90 * DAY
        return weight(NOW, created, None, None, 15, "trick", None, pinned, CONFIG, is_disputed=True)

    assert weigh_disputed(pinned=False).weight == pytest.approx(0.3125)
    assert weigh_disputed(pinned=False).state == "fading"
    faded = weight(NOW, NOW - 999 * 86400, None, None, 0, "trick", None, False, CONFIG, is_disputed=True)
    assert (faded.state, faded.weight < CONFIG.archive_below) == ("fading", True)
    assert weigh_disputed(pinned=True).state == "pinned"
    assert archive_day(NOW, None, None, 15, "trick", None, False, CONFIG, is_disputed=True) is None


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["method", "trick", "knowledge"]),
            st.none() | st.floats(0, 2e9),
            st.none() | st.floats(0, 2e9),
            st.none() | st.floats(0, 2e9),
            st.none() | st.floats(0.5, 4000),
            st.booleans(),
            st.none() | st.just(1.0),
            st.integers(-1, 20),
        ),
        max_size=20,
    ),
    now=st.floats(1e9, 2e9),
    config=st.sampled_from([DecayConfig(), DecayConfig(archive_below=0.0), DecayConfig(half_life_days=0.0)]),
)
def test_many_weigh_what_each_weighs(rows: list[tuple[Any, ...]], now: float, config: DecayConfig) -> None:
    """The pass over a whole store gives to the digit what the functions for one bullet give."""
    heads = [
        (1, "", "", "", kind, n, c, u, a, life, pin, d, "project") for kind, c, u, a, life, pin, d, n in rows
    ]
    found = list(weigh_all(heads, [row[7] for row in rows], now, config))
    for (kind, created, updated, accepted, life, pinned, disputed, n), values in zip(
        rows, found, strict=True
    ):
        times, rest = (created, updated, accepted), (n, kind, life, pinned, config)
        one = weight(now, *times, *rest, is_disputed=disputed is not None)
        until = archive_day(*times, *rest, is_disputed=disputed is not None)
        assert values == (one.age_days, one.base, one.weight, one.state, until)
