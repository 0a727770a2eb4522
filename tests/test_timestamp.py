"""Times to text and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.timestamp import format_time, parse_time


@given(st.integers(min_value=-62135596800, max_value=253402300799))
def test_format_then_parse_identity(seconds: int) -> None:
    """Whole seconds of the years 1 to 9999 survive the round trip."""
    assert parse_time(format_time(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30", 1795996800),
        ("2026-11-30T09:12:00Z", 1796029920),
        ("2026-11-30 09:12:00", 1796029920),
        ("2026-11-30T10:12:00+01:00", 1796029920),
    ],
)
def test_parse_forms_equal(text: str, expected: int) -> None:
    """A date, a naive time (as UTC) and an offset are understood."""
    assert parse_time(text) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2024-02-30", "0000-00-00", "9999999999999"])
def test_parse_nonsense_raises(text: str) -> None:
    """What is no time raises ValueError and nothing else."""
    with pytest.raises(ValueError, match=r".*"):
        parse_time(text)


def test_format_out_of_range_raises() -> None:
    """Seconds beyond the calendar raise ValueError."""
    with pytest.raises(ValueError, match=r".*"):
        format_time(1e18)
