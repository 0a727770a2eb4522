"""`memx promote`: what a branch has learnt becomes the project's after the merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Program

TEXT = "Auth tokens expire after five minutes on staging"


@pytest.fixture
def branch(store: Program) -> Program:
    """A branch with a bullet of its own workspace, committed."""
    store.git("checkout", "--quiet", "-b", "feat-auth")
    store.ok("add", TEXT, "--scope", "workspace:feat-auth")
    store.commit("Learn")
    return store


def offered(program: Program, *arguments: str) -> list[str]:
    """Return the scopes of what would be promoted."""
    return [entry["scope"] for entry in program.json("promote", "--dry-run", *arguments)["offered"]]


def test_open_branch_is_not_offered(branch: Program) -> None:
    """On the branch itself, and on main before the merge, there is nothing to settle."""
    assert offered(branch) == []
    assert offered(branch, "--workspace", "feat-auth") == ["workspace:feat-auth"]


@pytest.mark.parametrize("merge", [["--ff"], ["--no-ff", "--no-edit"]])
def test_merged_branch_is_offered_and_promoted(branch: Program, merge: list[str]) -> None:
    """After the merge one line of the file changes, and the bullet is the project's."""
    branch.git("checkout", "--quiet", "main")
    assert offered(branch) == []
    branch.git("merge", "--quiet", *merge, "feat-auth")
    assert offered(branch) == ["workspace:feat-auth"]
    done = branch.json("promote", "--yes")
    assert [entry["scope"] for entry in done["promoted"]] == ["project"]
    changed = [
        line
        for line in branch.git("diff", "-U0").splitlines()
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    assert changed == ["-scope: workspace:feat-auth", "+scope: project"]
    assert branch.json("diff", "HEAD")["counts"] == {"promoted": 1}
    assert offered(branch) == []


def test_squashed_and_deleted_branch_is_offered(branch: Program) -> None:
    """A branch that is gone is over, whichever way its bullets came here."""
    branch.git("checkout", "--quiet", "main")
    branch.git("merge", "--quiet", "--squash", "feat-auth")
    branch.commit("Squash")
    assert offered(branch) == []
    branch.git("branch", "--quiet", "-D", "feat-auth")
    assert offered(branch) == ["workspace:feat-auth"]


def test_without_an_answer_nothing_is_promoted(branch: Program) -> None:
    """No terminal and no --yes: an error that says what was offered, and no change."""
    branch.git("checkout", "--quiet", "main")
    branch.git("merge", "--quiet", "feat-auth")
    done = branch.run("promote")
    assert (done.returncode, b"offers" in done.stderr) == (1, True)
    assert branch.git("status", "--porcelain") == ""


def test_named_bullet_must_be_of_a_workspace(branch: Program) -> None:
    """A bullet can be promoted by name; one that is the project's already is a mistake."""
    identifier = branch.json("list")["bullets"][0]["id"]
    branch.ok("promote", identifier, "--yes")
    assert branch.run("promote", identifier, "--yes").returncode == 2


def scopes_of(program: Program) -> list[str]:
    """Return the scopes of all live files, whoever sees them."""
    folder = program.folder / ".memx/bullets"
    lines = [line for path in folder.rglob("*.md") for line in path.read_text().splitlines()]
    return sorted(line.removeprefix("scope: ") for line in lines if line.startswith("scope: "))


def test_text_of_a_workspace_added_for_the_project_is_promoted(branch: Program) -> None:
    """The team sees what somebody adds for it, though a branch knew it before; one bullet, and it is said."""
    added = branch.json("add", TEXT, "--tag", "auth")
    assert added["action"] == "merged"
    assert "was in workspace:feat-auth; its scope is now project" in added["reason"]
    assert scopes_of(branch) == ["project"]
    assert [hit["id"] for hit in branch.json("list", "--scope", "project")["bullets"]] == [added["id"]]


def test_text_of_the_project_added_for_a_workspace_is_unchanged(store: Program) -> None:
    """A workspace sees its project's bullets: nothing is to be done."""
    first = store.json("add", TEXT)
    again = store.json("add", TEXT, "--scope", "workspace:feat-auth")
    assert (again["action"], again["id"]) == ("unchanged", first["id"])
    assert again["reason"] == "the same lesson is here already, for project"
    assert scopes_of(store) == ["project"]


def test_text_in_two_sibling_workspaces_is_two_bullets(branch: Program) -> None:
    """Siblings do not see each other, so each has its own; for the project the first is promoted, the other named."""
    second = branch.json("add", TEXT, "--scope", "workspace:feat-b")
    assert second["action"] == "written"
    assert scopes_of(branch) == ["workspace:feat-auth", "workspace:feat-b"]
    assert branch.json("add", TEXT, "--scope", "workspace:feat-b")["action"] == "unchanged"
    assert branch.json("add", TEXT, "--scope", "workspace:feat-auth")["action"] == "unchanged"
    third = branch.json("add", TEXT)
    assert third["similar"] == [second["id"]]
    assert scopes_of(branch) == ["project", "workspace:feat-b"]
    assert branch.json("add", TEXT, "--scope", "workspace:feat-c")["action"] == "unchanged"
