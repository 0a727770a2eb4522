"""A commit on another branch, made in a temporary work tree: the caller's tree, index and hooks stay out of it."""

from __future__ import annotations

import os
from contextlib import suppress

from memx.errors import GitError
from memx.repo.discovery import list_worktrees, run_in
from memx.repo.git import run_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.repo.discovery import Repository

# Hooks belong to what a person does by hand; a checkout hook would distil, build or ask.
_NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
# A section that went to the archive whole looks like a renamed folder, and git would take new bullets along.
_NO_FOLDER_RENAMES = ("-c", "merge.directoryRenames=false")


def check_branch(repo: Repository, branch: str) -> str:
    """Return the commit of a branch, '' when there is none yet; raises GitError for one that cannot be used.

    The committer is asked for first: a commit that fails at the end wastes the work.
    """
    run_in(repo, ["check-ref-format", "--branch", branch])
    run_in(repo, ["var", "GIT_COMMITTER_IDENT"])
    run_in(repo, ["var", "GIT_AUTHOR_IDENT"])
    taken = [tree.path for tree in list_worktrees(repo) if tree.head.branch == branch]
    if taken:
        raise GitError(f"the branch {branch} is checked out in {taken[0]}", hint="run memx maintain there")
    return _commit_of(repo, f"refs/heads/{branch}")


def add_tree(repo: Repository, path: str, start: str, head: str) -> None:
    """Check out a branch that begins at `start` ('' for a new one) and has all of `head`; raises GitError."""
    base = _merge_base(repo, start, head) if start else start
    chosen = head if base == start else start
    run_in(repo, [*_NO_HOOKS, "worktree", "add", "--quiet", "--detach", path, chosen])
    if chosen == start and base != head:
        try:
            run_git([*_NO_HOOKS, *_NO_FOLDER_RENAMES, "merge", "--quiet", "--no-edit", head], cwd=path)
        except GitError as error:
            hint = "merge or delete the branch first"
            raise GitError(f"the branch and HEAD cannot be merged: {error}", hint=hint) from error


def remove_tree(repo: Repository, path: str) -> None:
    """Remove the work tree; one that was never made is no error."""
    with suppress(GitError):
        run_in(repo, ["worktree", "remove", "--force", "--force", path])
    with suppress(GitError):
        run_in(repo, ["worktree", "prune"])


def commit_tree(path: str, folder: str, message: str) -> str:
    """Commit everything that changed below a folder of a work tree; return its commit, new or not."""
    run_git(["add", "--all", "--", folder], cwd=path)
    if run_git(["diff", "--cached", "--name-only", "-z"], cwd=path):
        run_git(
            [*_NO_HOOKS, "commit", "--quiet", "--no-verify", "--cleanup=whitespace", "--file=-"],
            cwd=path,
            stdin=message.encode(),
        )
    return run_git(["rev-parse", "HEAD"], cwd=path).decode("ascii").strip()


def point_branch(repo: Repository, branch: str, commit: str) -> None:
    """Let a branch that is checked out nowhere name this commit."""
    run_in(repo, ["update-ref", "-m", "memx maintain", f"refs/heads/{branch}", commit])


def _commit_of(repo: Repository, name: str) -> str:
    return (
        run_in(repo, ["rev-parse", "--quiet", "--verify", f"{name}^{{commit}}"], check=False).decode().strip()
    )


def _merge_base(repo: Repository, one: str, other: str) -> str:
    return run_in(repo, ["merge-base", one, other], check=False).decode("ascii").strip()
