"""Each key of `decay` changes a result, and only what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memx.config import DecayConfig
from memx.model import TYPES

if TYPE_CHECKING:
    from tests.recall.conftest import Clone

CREATED, LATER = "2026-01-01", "2026-03-02"  # 60 days


@pytest.mark.parametrize(
    ("key", "value", "recalls", "weight", "state"),
    [
        ("", "", 0, 0.25, "fading"),
        ("", "", 5, 0.375, "fading"),
        ("half_life_days", "60", 0, 0.5, "fading"),
        ("half_life_days_pitfall", "60", 0, 0.5, "fading"),
        ("boost_factor", "0.2", 5, 0.5, "fading"),
        ("boost_factor", "0", 5, 0.25, "fading"),
        ("permanent_recalls", "5", 5, 1.0, "permanent"),
        ("protection_days", "60", 0, 1.0, "protected"),
        ("archive_below", "0.26", 0, 0.25, "archive-candidate"),
        ("archive_below", "0.25", 0, 0.25, "fading"),
    ],
)
def test_key_changes_weight_and_state(
    clone: Clone, key: str, value: str, recalls: int, weight: float, state: str
) -> None:
    """60 days and so many recalls with this one key changed, in decay, why and search alike."""
    name = clone.add("Redis times out under load", CREATED, "--type", "pitfall")
    if recalls:
        clone.recall(recalls)
    if key:
        clone.ok("config", "set", f"decay.{key}", value)
    row = clone.weighed(name, LATER)
    assert (row["weight"], row["state"]) == (pytest.approx(weight), state)
    assert clone.json("why", name, "--now", LATER)["decay"]["weight"] == pytest.approx(weight)
    hit = clone.json("search", "redis", "--no-recall", "--now", LATER)["hits"][0]
    assert hit["decay"] == pytest.approx(weight)
    planned = clone.json("archive", "--dry-run", "--now", LATER)["planned"]
    assert len(planned) == (state == "archive-candidate")


@pytest.mark.parametrize("kind", TYPES)
def test_half_life_of_each_type_concerns_that_type_alone(clone: Clone, kind: str) -> None:
    """Five keys, five types."""
    names = {
        other: clone.add(f"Lesson {n} about {other}s", CREATED, "--type", other)
        for n, other in enumerate(TYPES)
    }
    clone.ok("config", "set", f"decay.half_life_days_{kind}", "120")
    for other, name in names.items():
        expected = 2.0**-0.5 if other == kind else 0.25
        assert clone.weighed(name, LATER)["weight"] == pytest.approx(expected)


@pytest.mark.parametrize(("minutes", "count"), [("0", 5), ("60", 1), ("20", 3)])
def test_window_decides_which_repeats_count(clone: Clone, minutes: str, count: int) -> None:
    """Five searches ten minutes apart; with a window of 0 each counts, even in the same second."""
    name = clone.add(now=CREATED)
    clone.ok("config", "set", "decay.recall_window_minutes", minutes)
    for minute in range(0, 50, 10):
        clone.search_at(f"2026-02-01T10:{minute:02}:00Z")
    assert clone.count(name) == count


def test_five_searches_without_a_window_raise_the_weight_by_half(clone: Clone) -> None:
    """The design's example: recall_window_minutes 0, the same second, x 1.5."""
    name = clone.add(now=CREATED)
    before = clone.weighed(name, LATER)["weight"]
    clone.ok("config", "set", "decay.recall_window_minutes", "0")
    for _ in range(5):
        clone.search_at(LATER)
    assert clone.weighed(name, LATER)["weight"] == pytest.approx(1.5 * before)


def test_every_key_is_tested_here() -> None:
    """A new key of the section needs a row above."""
    tested = {"half_life_days", "boost_factor", "permanent_recalls", "protection_days", "archive_below"}
    tested |= {"recall_window_minutes", *(f"half_life_days_{kind}" for kind in TYPES)}
    assert set(DecayConfig.__slots__) == tested  # type: ignore[attr-defined]


def test_lesson_from_an_old_commit_accepted_today_is_new(clone: Clone) -> None:
    """Mined from ten years ago, accepted today: weight 1.0 and in no archive plan."""
    (clone.folder / "x.txt").write_text("1\n", encoding="utf-8")
    clone.git("add", "--all")
    message = "Pin pnpm\n\nLearned: use pnpm 8 because npm ci drops the overrides of the lockfile"
    clone.git("-c", "user.name=Ada", "commit", "--quiet", "--date=2016-03-02T00:00:00Z", "-m", message)
    clone.ok("distill", "--commit", "HEAD", "--now", LATER)
    accepted = clone.json("review", "--all", "--now", LATER)["results"]
    assert accepted
    for result in accepted:
        row = clone.weighed(result["id"], LATER)
        assert (row["weight"], row["state"]) == (1.0, "protected")
    assert clone.json("archive", "--dry-run", "--now", LATER)["planned"] == []


def test_no_recall_counts_nothing(clone: Clone) -> None:
    """--no-recall leaves no trace."""
    name = clone.add(now=CREATED)
    clone.ok("search", "redis pool", "--no-recall")
    assert clone.count(name) == 0


def test_question_about_another_day_counts_nothing(clone: Clone) -> None:
    """`--now` asks what would be: a recall of next month would outlive all of this one."""
    name = clone.add(now=CREATED)
    assert clone.json("search", "redis pool", "--now", LATER)["hits"]
    assert clone.count(name) == 0
    clone.search_at(LATER)
    assert clone.count(name) == 1
