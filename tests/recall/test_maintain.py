"""Maintenance as one change: in the tree, or on a branch that nobody has checked out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.recall.conftest import LESSON, Clone

OLD, LATER = "2026-01-01", "2026-12-01"


@pytest.fixture
def store(clone: Clone) -> Clone:
    """A store with one faded bullet, one with pending recalls, a disputed one and a broken file."""
    clone.faded = clone.add("Deploys need VPN: connect before make deploy", OLD)  # type: ignore[attr-defined]
    clone.recalled = clone.add(LESSON, "2026-11-01")  # type: ignore[attr-defined]
    wrong = clone.add("Use pnpm here because npm | breaks `the` lockfile, says @alice", "2026-11-02")
    clone.ok("wrong", wrong, "--because", "npm is fine now", "--now", LATER)
    (clone.folder / ".memx" / "bullets" / "broken.md").write_text("---\nid: [\n", encoding="utf-8")
    clone.commit()
    clone.recall(2)
    return clone


def run(store: Clone, *options: str) -> Any:
    """Run maintain on the day and return its document."""
    return store.json("maintain", "--now", LATER, *options)


def test_maintain_in_the_tree_is_idempotent(store: Clone) -> None:
    """It folds and archives; the second run finds nothing to do."""
    done = run(store)
    assert [entry["id"] for entry in done["archived"]] == [store.faded]  # type: ignore[attr-defined]
    assert [entry["id"] for entry in done["folded"]] == [store.recalled]  # type: ignore[attr-defined]
    assert (done["changed"], len(done["disputed"]), len(done["problems"])) == (True, 1, 1)
    state = store.git("status", "--porcelain")
    again = run(store)
    assert (again["changed"], again["archived"], again["folded"]) == (False, [], [])
    assert store.git("status", "--porcelain") == state


def test_dry_run_writes_nothing(store: Clone) -> None:
    """The plan says the same, the tree and the journal stay."""
    planned = run(store, "--dry-run")
    assert store.git("status", "--porcelain") == ""
    done = run(store)
    assert {**planned, "changed": True} == done


def test_branch_gets_one_commit_and_the_tree_none(store: Clone) -> None:
    """The work tree, its index and HEAD stay; the branch has one commit whose message is the summary."""
    head = store.git("rev-parse", "HEAD")
    done = run(store, "--branch", "memx/maintain")
    assert done["commit"] == store.git("rev-parse", "memx/maintain").strip()
    assert store.git("rev-parse", "HEAD") == head
    assert store.git("status", "--porcelain") == ""
    assert store.git("rev-list", "--count", "HEAD..memx/maintain").strip() == "1"
    message = store.git("log", "-1", "--format=%B", "memx/maintain")
    assert message.startswith("Maintain memory: 1 count folded, 1 bullet archived\n\n## Memory maintenance\n")
    changed = store.git("diff", "--name-status", "HEAD", "memx/maintain").splitlines()
    files = [line for line in changed if not line.endswith(".gitkeep")]
    assert sorted(line[0] for line in files) == ["M", "R"]
    assert store.git("worktree", "list").count("\n") == 1
    assert run(store, "--branch", "memx/maintain")["commit"] is None
    store.git("merge", "--quiet", "--ff-only", "memx/maintain")
    assert run(store)["changed"] is False


def test_branch_that_exists_goes_on(store: Clone) -> None:
    """Folded counts of the last run are kept, and what HEAD has since is merged in."""
    run(store, "--branch", "memx/maintain")
    first = store.git("rev-parse", "memx/maintain").strip()
    name = store.add("The cache is warm after ten minutes, not before", "2026-11-20")
    store.git("add", "--all")
    store.git("commit", "--quiet", "-m", "Learn")
    store.recall(1, "cache warm")
    done = run(store, "--branch", "memx/maintain")
    assert [entry["id"] for entry in done["folded"]] == [name]
    assert store.git("merge-base", first, "memx/maintain").strip() == first
    assert store.git("rev-list", "--count", "memx/maintain..HEAD").strip() == "0"


def test_nothing_to_do_makes_no_branch(clone: Clone) -> None:
    """No empty commit, no new ref."""
    clone.add(now=LATER)
    clone.commit()
    assert run(clone, "--branch", "memx/maintain")["commit"] is None
    assert clone.git("branch", "--list", "memx/*") == ""


def test_branch_that_is_checked_out_is_refused(store: Clone) -> None:
    """Moving it would make that work tree dirty."""
    code, _ = store.call("maintain", "--branch", "main", "--now", LATER)
    assert (code, store.git("status", "--porcelain")) == (1, "")
    assert store.call("maintain", "--branch", "no..name")[0] == 1
    assert store.call("maintain", "--branch", "x", "--dry-run")[0] == 2


def test_hooks_do_not_run_for_the_branch(store: Clone) -> None:
    """A hook that refuses every commit and checkout concerns people only."""
    for name in ("pre-commit", "commit-msg", "post-checkout", "reference-transaction"):
        hook = store.folder / ".git" / "hooks" / name
        hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)
    (store.folder / ".git" / "hooks" / "reference-transaction").unlink()
    assert run(store, "--branch", "memx/maintain")["commit"]


def test_summary_is_inert_markdown(store: Clone) -> None:
    """Texts of bullets stand in code spans: no heading, table cell or mention comes out of them."""
    text = store.ok("maintain", "--now", LATER)
    row = next(line for line in text.splitlines() if "pnpm" in line)
    assert r"``Use pnpm here because npm \| breaks `the` lockfile, says @alice``" in row
    assert "### Archived: 1" in text
    assert "days old, 0 recalls" in text
    assert text.startswith("## Memory maintenance\n")


def test_duplicates_are_planned_and_not_merged(clone: Clone) -> None:
    """Two bullets that say the same are named, the better one first; a person merges them."""
    name = clone.add(now=LATER)
    text = clone.file(name).read_text(encoding="utf-8")
    twin = clone.file(name).with_name("twin-a123456789.md")
    twin.write_text(text.replace(name, "a123456789").replace("score: ", "score: 1"), encoding="utf-8")
    twin.write_text(
        text.replace(name, "a123456789").replace("Redis timeouts", "Redis time-outs"), encoding="utf-8"
    )
    assert run(clone)["duplicates"] == [sorted([name, "a123456789"])]
    assert len(clone.json("list")["bullets"]) == 2
