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
