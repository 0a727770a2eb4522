"""useful and wrong: what a reader thought of a bullet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.recall.conftest import Clone

LATER = "2027-03-01"


def test_useful_counts_as_a_recall_even_within_the_window(clone: Clone) -> None:
    """Somebody said so, so the hour does not matter; no file changes."""
    name = clone.add()
    clone.commit()
    for expected in (1, 2, 3):
        assert clone.json("useful", name, "--now", "2026-03-01T12:00:00Z")["recall_count"] == expected
    assert clone.git("status", "--porcelain") == ""


def test_wrong_stops_permanence_until_a_review(clone: Clone) -> None:
    """15 recalls make permanent, a dispute ends that, a person's word brings it back."""
    name = clone.add()
    clone.recall(15)
    assert clone.weighed(name, LATER)["state"] == "permanent"
    clone.ok("wrong", name, "--because", "the pool is 100 now\nsince May", "--now", LATER)
    row = clone.weighed(name, LATER)
    assert (row["state"], row["disputed"]) == ("fading", True)
    assert row["archive_at"] is None
    text = clone.file(name).read_text(encoding="utf-8")
    assert f"disputed: {LATER}T00:00:00Z\ndisputed_because: the pool is 100 now since May\n" in text
    waiting = clone.json("inbox")
    assert [entry["id"] for entry in waiting["disputed"]] == [name]
    assert "called wrong (the pool is 100 now since May)" in clone.ok("inbox")
    assert clone.json("review", "--keep", name)["results"][0]["action"] == "kept"
    assert clone.weighed(name, LATER)["state"] == "permanent"
    assert clone.json("inbox")["disputed"] == []


def test_reason_is_redacted(clone: Clone) -> None:
    """What goes to disk passes the sanitizer, the reason too."""
    name = clone.add()
    clone.ok("wrong", name, "--because", "see AKIAIOSFODNN7EXAMPLE and key ghp_" + "a1B2c3D4e5F6" * 3)
    text = clone.file(name).read_text(encoding="utf-8")
    assert "disputed_because: " in text
    assert "a1B2c3D4e5F6a1B2c3D4e5F6" not in text


def test_unknown_bullet_is_an_expected_failure(clone: Clone) -> None:
    """Exit 1 with a hint, as everywhere."""
    for command in ("useful", "wrong"):
        assert clone.call(command, "zzzzzz")[0] == 1


def test_dispute_merges_with_other_changes(clone: Clone) -> None:
    """Two branches: one disputes, one folds; the driver keeps both."""
    name = clone.add()
    clone.commit()
    clone.recall(2)
    clone.git("switch", "--quiet", "-c", "folded")
    clone.ok("fold")
    clone.commit()
    clone.git("switch", "--quiet", "main")
    clone.ok("wrong", name, "--now", LATER)
    clone.commit()
    clone.git("merge", "--quiet", "--no-edit", "folded")
    assert clone.file_count(name) == 2
    assert clone.weighed(name, LATER)["disputed"] is True


@pytest.mark.parametrize("option", ["--accept", "--reject"])
def test_review_of_a_disputed_bullet_as_a_candidate_says_what_settles_it(clone: Clone, option: str) -> None:
    """The inbox lists both kinds; who takes one for the other is told the command."""
    name = clone.add()
    clone.ok("wrong", name)
    code, _ = clone.call("review", option, name)
    assert code == 1
    assert f"memx review --keep {name} or memx rm {name}" in clone.err


def test_why_shows_that_a_bullet_is_disputed(clone: Clone) -> None:
    """Who asks where a bullet comes from is told that somebody called it wrong, and why."""
    name = clone.add()
    assert "disputed" not in clone.ok("why", name)
    clone.ok("wrong", name, "--because", "the pool is 100 now")
    assert "disputed  called wrong: the pool is 100 now (memx review --keep" in clone.ok("why", name)
