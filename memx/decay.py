"""How bullets fade: weight, state and the day of archiving, as pure functions of values.

    base    = 2 ** (-age_days / half_life_days)
    boosted = base * (1 + boost_factor * recall_count)
    weight  = clamp(boosted, 0, 1)

recall_count >= permanent_recalls gives 1.0 (permanent) unless the bullet is
disputed, age_days <= protection_days gives 1.0 (protected), and a weight below
archive_below makes an archive candidate, unless the bullet is disputed: then it
waits for the review. Times are seconds since the epoch in UTC, ages are
fractional days, all limits are inclusive.
"""

from __future__ import annotations

from math import log2

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from memx.config import DecayConfig

SECONDS_PER_DAY = 86_400.0
_SMALLEST_HALF_LIFE = 1e-9
_UNDERFLOW_EXPONENT = 1074.0

PERMANENT = "permanent"
PINNED = "pinned"
PROTECTED = "protected"
FADING = "fading"
ARCHIVE_CANDIDATE = "archive-candidate"
STATES = (PINNED, PERMANENT, PROTECTED, FADING, ARCHIVE_CANDIDATE)


@record
class DecayResult:
    """The weight of one bullet: `base` is the formula without recalls, `state` one of STATES."""

    age_days: float
    base: float
    weight: float
    state: str


def age_days(
    now: float,
    created: float | None,
    updated: float | None = None,
    accepted: float | None = None,
) -> float:
    """Return fractional days since the latest of the three times; a future or missing time is age 0."""
    known = [time for time in (created, updated, accepted) if time is not None]
    if not known:
        return 0.0
    return max(0.0, (now - max(known)) / SECONDS_PER_DAY)


def half_life(
    type: str,  # noqa: A002 (the field's own name)
    half_life_days: float | None,
    config: DecayConfig,
) -> float:
    """Return the half-life in days: the bullet's own, else that of its type, else the common one.

    A half-life that is not positive says nothing and is passed over, so that a
    slip in a file cannot divide by zero.
    """
    if half_life_days is not None and half_life_days > 0:
        return half_life_days
    of_type: float = getattr(config, f"half_life_days_{type.lower()}", config.half_life_days)
    if of_type > 0:
        return of_type
    return config.half_life_days if config.half_life_days > 0 else _SMALLEST_HALF_LIFE


def weight(
    now: float,
    created: float | None,
    updated: float | None,
    accepted: float | None,
    recall_count: int,
    type: str,  # noqa: A002 (the field's own name)
    half_life_days: float | None,
    pinned: bool,  # noqa: FBT001 (one value of a row, passed in the order of the fields)
    config: DecayConfig,
    *,
    is_disputed: bool = False,
) -> DecayResult:
    """Return age, base weight, final weight in [0, 1] and state of one bullet.

    However often a bullet was recalled, while somebody calls it wrong it is not permanent, and however faded
    it is no archive candidate: it waits for the review.
    """
    age = age_days(now, created, updated, accepted)
    recalls = max(0, recall_count)
    base = _base(age, half_life(type, half_life_days, config))
    if pinned:
        return DecayResult(age, base, 1.0, PINNED)
    if recalls >= config.permanent_recalls and not is_disputed:
        return DecayResult(age, base, 1.0, PERMANENT)
    if age <= config.protection_days:
        return DecayResult(age, base, 1.0, PROTECTED)
    final = min(1.0, max(0.0, base * _boost(recalls, config)))
    is_candidate = final < config.archive_below and not is_disputed
    return DecayResult(age, base, final, ARCHIVE_CANDIDATE if is_candidate else FADING)


def archive_day(
    created: float | None,
    updated: float | None,
    accepted: float | None,
    recall_count: int,
    type: str,  # noqa: A002 (the field's own name)
    half_life_days: float | None,
    pinned: bool,  # noqa: FBT001 (as in `weight`)
    config: DecayConfig,
    *,
    is_disputed: bool = False,
) -> float | None:
    """Return the time from which the bullet weighs `archive_below`: any later and it is a candidate.

    None: never (pinned, permanent, disputed, no time known, or a limit of 0). Solving
    base * boost = limit for the age gives half_life * log2(boost / limit), but
    not before the protection ends.
    """
    known = [time for time in (created, updated, accepted) if time is not None]
    recalls = max(0, recall_count)
    boost = _boost(recalls, config)
    is_permanent = recalls >= config.permanent_recalls
    if pinned or is_permanent or is_disputed or not known or config.archive_below <= 0:
        return None
    fading_days = half_life(type, half_life_days, config) * log2(boost / config.archive_below)
    return max(known) + max(0.0, config.protection_days, fading_days) * SECONDS_PER_DAY


def weigh_all(
    rows: Iterable[Sequence[Any]], recalls: Iterable[int], now: float, config: DecayConfig
) -> Iterator[tuple[float, float, float, str, float | None]]:
    """Yield (age in days, base, weight, state, archive day) of many bullets: as `weight` and `archive_day` say.

    A row holds type, created, updated, accepted, half-life in days, pinned and the time of a dispute at
    4 and from 6 to 11, as the rows of `Reader.scan_head_rows` do; `recalls` are effective counts.
    """
    ahead: dict[tuple[float, int], float] = {}
    lives: dict[str, float] = {}
    permanent, protected, limit = config.permanent_recalls, config.protection_days, config.archive_below
    factor = max(0.0, config.boost_factor)
    for (_, _, _, _, kind, _, created, updated, accepted, own, pinned, disputed, _), count in zip(
        rows, recalls, strict=True
    ):
        latest = _latest(created, updated, accepted)
        age = (now - latest) / SECONDS_PER_DAY if latest is not None and latest < now else 0.0
        life = lives.get(kind) if own is None else half_life(kind, own, config)
        if life is None:
            life = lives[kind] = half_life(kind, None, config)
        exponent = age / life
        base = 0.0 if exponent > _UNDERFLOW_EXPONENT else 2.0**-exponent
        count = max(count, 0)  # noqa: PLW2901 (as `weight` does)
        if pinned:
            yield age, base, 1.0, PINNED, None
            continue
        if count >= permanent and disputed is None:
            yield age, base, 1.0, PERMANENT, None
            continue
        until = None
        if latest is not None and limit > 0 and disputed is None:
            wait = ahead.get((life, count))
            if wait is None:
                fading_days = life * log2(_boost(count, config) / limit)
                wait = ahead[life, count] = max(0.0, protected, fading_days) * SECONDS_PER_DAY
            until = latest + wait
        if age <= protected:
            yield age, base, 1.0, PROTECTED, until
            continue
        final = min(1.0, base * (1.0 + factor * count)) if count else base
        yield age, base, final, ARCHIVE_CANDIDATE if final < limit and disputed is None else FADING, until


def _latest(created: float | None, updated: float | None, accepted: float | None) -> float | None:
    latest = created if updated is None or (created is not None and created > updated) else updated
    return latest if accepted is None or (latest is not None and latest >= accepted) else accepted


def fading_factors(half_life_days: float, days: Sequence[float]) -> list[float]:
    """Return by what a weight shrinks in so many days."""
    return [_base(day, half_life_days) for day in days]


def forecast(
    result: DecayResult,
    recall_count: int,
    days: Sequence[float],
    factors: Sequence[float],
    config: DecayConfig,
) -> list[float]:
    """Return the weights after these many more days without a recall, for a bullet that weighs `result` now.

    `factors` are the `fading_factors` of its half-life for the same days.
    """
    if result.state in (PINNED, PERMANENT):
        return [1.0] * len(days)
    boosted = result.base * _boost(max(0, recall_count), config)
    protected = config.protection_days - result.age_days
    if protected < 0 and boosted <= 1.0:
        return [boosted * factor for factor in factors]
    return [
        1.0 if day <= protected else min(1.0, boosted * factor)
        for day, factor in zip(days, factors, strict=True)
    ]


def _base(age: float, half_life_days: float) -> float:
    exponent = age / half_life_days
    return 0.0 if exponent > _UNDERFLOW_EXPONENT else float(2.0**-exponent)


def _boost(recalls: int, config: DecayConfig) -> float:
    return 1.0 + max(0.0, config.boost_factor) * recalls
