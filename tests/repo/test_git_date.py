"""What git would read as a date."""

from __future__ import annotations

import pytest

from memx.repo.git_date import is_git_date


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30",
        "2026-11-30T09:00:00Z",
        "1700000000",
        "@1700000000 +0200",
        "2.weeks.ago",
        "two weeks ago",
        "yesterday",
        "last friday at noon",
        "Mon, 30 Nov 2026 09:00:00 +0100",
        "3 days",
        "today",
        "tea",
        "5pm",
    ],
)
def test_date_of_git_is_taken(text: str) -> None:
    """Dates, times and git's own words for them."""
    assert is_git_date(text)


@pytest.mark.parametrize(
    "text", ["", " ", "not a date", "at the", "2026-foo-01", "HEAD~3", "v1.2 tag", "marchx", "昨日"]
)
def test_other_words_are_none(text: str) -> None:
    """Git would take them for now, and read nothing."""
    assert not is_git_date(text)
