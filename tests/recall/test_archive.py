"""Forgetting that leaves a trace: what goes, why, and back again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.recall.conftest import Clone

OLD, LATER = "2026-01-01", "2026-12-01"


def test_only_candidates_go(clone: Clone) -> None:
    """Pinned, permanent, protected and fading bullets stay."""
    faded = clone.add("Deploys need VPN: connect before make deploy", OLD)
    pinned = clone.add("Use pnpm here because npm breaks the lockfile", OLD, "--pin")
    permanent = clone.add(now=OLD)
    fading = clone.add("The cache is warm after ten minutes, not before", "2026-10-01")
    protected = clone.add("Rebase before you push to the release branch", "2026-11-28")
    clone.recall(15)
    planned = clone.json("archive", "--dry-run", "--now", LATER)
    assert (len(planned["planned"]), planned["archived"]) == (1, [])
    moved = clone.json("archive", "--yes", "--now", LATER)["archived"]
    assert [entry["id"] for entry in moved] == [faded]
    assert {row["id"]: row["state"] for row in clone.json("decay", "--now", LATER)["bullets"]} == {
        pinned: "pinned",
        permanent: "permanent",
        fading: "fading",
        protected: "protected",
    }


def test_archive_asks_and_says_what_goes(clone: Clone) -> None:
    """Without a terminal and without --yes nothing moves; the plan names weight, age and recalls."""
    name = clone.add(now=OLD)
    clone.commit()
    code, text = clone.call("archive", "--now", LATER)
    assert code == 1
    assert name in text
    assert "archive-candidate" in text
    assert clone.git("status", "--porcelain") == ""


def test_restored_bullet_is_no_candidate_at_once(clone: Clone) -> None:
    """Who brings a faded bullet back accepts it: one line of its file says so, and it does not go again."""
    name = clone.add(now=OLD)
    before = clone.file(name).read_text().splitlines()
    clone.ok("archive", "--yes", "--now", LATER)
    clone.ok("restore", name, "--now", LATER)
    after = clone.file(name).read_text().splitlines()
    assert [line for line in after if line not in before] == [f"accepted: {LATER}T00:00:00Z"]
    assert clone.json("archive", "--dry-run", "--now", LATER)["planned"] == []


def test_disputed_bullet_waits_for_the_review(clone: Clone) -> None:
    """However faded, what somebody calls wrong is no candidate before somebody has looked."""
    name = clone.add(now=OLD)
    clone.ok("wrong", name)
    assert clone.json("archive", "--dry-run", "--now", LATER)["planned"] == []
    clone.ok("review", "--keep", name)
    assert len(clone.json("archive", "--dry-run", "--now", LATER)["planned"]) == 1


@pytest.mark.parametrize("stage", [False, True])
def test_archive_and_restore_are_a_move_and_back(clone: Clone, *, stage: bool) -> None:
    """Bytes stay, git's index is touched only on request, the archive stays searchable."""
    name = clone.add(now=OLD)
    clone.commit()
    before = clone.file(name).read_bytes()
    option = ["--stage"] if stage else []
    clone.ok("archive", "--yes", "--now", LATER, *option)
    assert clone.file(name, "archive").read_bytes() == before
    assert clone.git("status", "--porcelain").startswith("R  " if stage else " D ")
    assert clone.json("search", "redis pool", "--no-recall")["hits"] == []
    hit = clone.json("search", "redis pool", "--no-recall", "--archived")["hits"][0]
    assert (hit["id"], hit["archived"]) == (name, True)
    clone.ok("restore", name, "--now", OLD, *option)
    assert clone.git("status", "--porcelain") == ""


def test_candidates_stay_in_the_search_until_they_go(clone: Clone) -> None:
    """A weight below the limit hides nothing."""
    name = clone.add(now=OLD)
    hits = clone.json("search", "redis pool", "--no-recall", "--now", LATER)["hits"]
    assert [hit["id"] for hit in hits] == [name]


def test_decay_shows_states_and_the_day(clone: Clone) -> None:
    """Weights by layer, the day of falling below the limit, a sparkline; --state keeps one layer."""
    name = clone.add(now=OLD)
    clone.add("Use pnpm here because npm breaks the lockfile", OLD, "--pin")
    document = clone.json("decay", "--now", "2026-01-31")
    assert document["states"] == {
        "pinned": 1,
        "permanent": 0,
        "protected": 0,
        "fading": 1,
        "archive-candidate": 0,
    }
    row = clone.weighed(name, "2026-01-31")
    assert (row["base"], row["weight"], row["age_days"]) == (0.5, 0.5, 30.0)
    assert row["archive_at"] == "2026-06-19T07:34:35Z"
    day_before, day_after = clone.weighed(name, "2026-06-19"), clone.weighed(name, "2026-06-20")
    assert (day_before["state"], day_after["state"]) == ("fading", "archive-candidate")
    lines = clone.ok("decay", "--now", "2026-01-31", "--state", "fading").splitlines()
    assert len(lines) == 1
    assert "2026-06-19" in lines[0]
    assert "▄" in lines[0]


def test_half_life_beyond_the_calendar_is_never(clone: Clone) -> None:
    """A half-life of a million days leads past the year 9999 and breaks nothing."""
    name = clone.add(now=OLD)
    file = clone.file(name)
    text = file.read_text(encoding="utf-8").replace("recall_count", "half_life_days: 999999\nrecall_count")
    file.write_text(text, encoding="utf-8")
    assert clone.weighed(name)["archive_at"] is None


def test_restore_of_what_is_not_archived_says_so(clone: Clone) -> None:
    """A bullet that was never archived is not "restored": the command says what is wrong."""
    name = clone.add(now=OLD)
    assert clone.call("restore", name)[0] == 1
    assert clone.file(name).is_file()


def test_committed_archive_keeps_the_folder_that_a_restore_empties(clone: Clone) -> None:
    """What another branch archives meanwhile must find the folder, or git takes it for renamed back."""
    name = clone.add(now=OLD)
    clone.commit()
    clone.ok("archive", "--yes", "--now", LATER)
    clone.commit()
    folder = clone.file(name, "archive").parent
    clone.ok("restore", name)
    assert [path.name for path in folder.iterdir()] == [".gitkeep"]
    assert [path.name for path in clone.file(name).parent.iterdir()] == [clone.file(name).name]


def test_plan_of_named_bullets_gives_reasons_and_names_the_pinned(clone: Clone) -> None:
    """A dry run with ids says as much as one without, in JSON too; what would have stayed is named."""
    name = clone.add("Use pnpm here because npm breaks the lockfile", OLD, "--pin")
    planned = clone.json("archive", name, "--dry-run", "--now", LATER)
    assert [(row["id"], row["state"], row["weight"]) for row in planned["reasons"]] == [(name, "pinned", 1.0)]
    assert name in clone.ok("archive", name, "-n", "--now", LATER)
    assert f"{name} is pinned, and goes because you name it" in clone.err
    assert clone.json("archive", name)["archived"][0]["id"] == name
