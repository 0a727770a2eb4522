"""Every ordinary git operation goes its way with memx's hooks, and each lesson arrives once.

The rows are those of the table "which hooks ran" in docs/explanation: each runs
twice, with and without hooks, and must leave the same commits, index and status.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.hooks.conftest import lesson_message, taught, with_hooks
from tests.support.git_repo import GitRepo, create_repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def commit_new(repo: GitRepo) -> None:
    """Commit a new file."""
    repo.write("new.txt", "new\n")
    repo.git("add", "new.txt")
    repo.git("commit", "-q", "-m", lesson_message("gamma"))


def commit_all(repo: GitRepo) -> None:
    """Commit with -a, which gives hooks a locked index."""
    repo.write("m.txt", "more\n")
    repo.git("commit", "-q", "-a", "-m", lesson_message("gamma"))


def commit_path(repo: GitRepo) -> None:
    """Commit one path while another is staged."""
    repo.write("a.txt", "staged\n")
    repo.git("add", "a.txt")
    repo.write("m.txt", "this one\n")
    repo.git("commit", "-q", "-m", lesson_message("gamma"), "m.txt")


def commit_amend(repo: GitRepo) -> None:
    """Amend twice, the second time with the same message."""
    repo.git("commit", "-q", "--amend", "-m", lesson_message("gamma"))
    repo.git("commit", "-q", "--amend", "--no-edit", "--allow-empty")


def commit_no_verify(repo: GitRepo) -> None:
    """Commit past the checks."""
    repo.git("commit", "-q", "--allow-empty", "--no-verify", "-m", lesson_message("gamma"))


def true_merge(repo: GitRepo) -> None:
    """Merge a diverged branch."""
    repo.git("merge", "-q", "--no-edit", "side")


def conflicted_merge(repo: GitRepo) -> None:
    """Merge, stop at a conflict, and commit the result."""
    repo.run("merge", "-q", "clash", check=False)
    repo.write("m.txt", "both\n")
    repo.git("commit", "-q", "-a", "--no-edit")


def fast_forward(repo: GitRepo) -> None:
    """Merge a branch that is ahead."""
    repo.git("checkout", "-q", "base")
    repo.git("merge", "-q", "--ff-only", "side")


def squash_merge(repo: GitRepo) -> None:
    """Squash a branch into one commit."""
    repo.git("merge", "-q", "--squash", "side")
    repo.git("commit", "-q", "--no-edit")


def rebase_merge(repo: GitRepo) -> None:
    """Rebase with the merge backend."""
    repo.git("rebase", "-q", "--merge", "main", "side")


def rebase_apply(repo: GitRepo) -> None:
    """Rebase with the apply backend."""
    repo.git("rebase", "-q", "--apply", "main", "side")


def rebase_interactive(repo: GitRepo) -> None:
    """Rebase from a list."""
    repo.git("rebase", "-q", "-i", "main", "side", env={"GIT_SEQUENCE_EDITOR": "true"})


def apply_mail(repo: GitRepo) -> None:
    """Apply patches from mail."""
    patches = repo.run("format-patch", "--stdout", "base..side").stdout
    repo.git("am", "-q", stdin=patches)


def cherry_pick(repo: GitRepo) -> None:
    """Pick two commits."""
    repo.git("cherry-pick", "side", "side~1")


def revert(repo: GitRepo) -> None:
    """Revert the newest commit."""
    repo.git("revert", "--no-edit", "HEAD")


def switch_branches(repo: GitRepo) -> None:
    """Go from branch to branch."""
    repo.git("checkout", "-q", "side")
    repo.git("switch", "-q", "-c", "other")
    repo.git("checkout", "-q", "--detach", "main")


def add_worktree(repo: GitRepo) -> None:
    """Commit in a linked worktree."""
    repo.git("worktree", "add", "-q", "../wt", "side")
    GitRepo(repo.path.parent / "wt").git("commit", "-q", "--allow-empty", "-m", lesson_message("gamma"))


def restore_files(repo: GitRepo) -> None:
    """Throw changes of a file away."""
    for command in (["checkout", "--", "a.txt"], ["restore", "a.txt"]):
        repo.write("a.txt", "dirty\n")
        repo.git(*command)


def reset_and_stash(repo: GitRepo) -> None:
    """Stash, pop and reset."""
    repo.write("a.txt", "dirty\n")
    repo.git("stash", "push", "-q")
    repo.git("stash", "pop", "-q")
    repo.git("reset", "-q", "--hard", "HEAD~1")


def pull_rebase(repo: GitRepo) -> None:
    """Pull and rebase."""
    repo.git("checkout", "-q", "side")
    repo.git("pull", "-q", "--rebase", ".", "main")


def pull_merge(repo: GitRepo) -> None:
    """Pull and merge."""
    repo.git("pull", "-q", "--no-rebase", "--no-edit", ".", "side")


def detached_commit(repo: GitRepo) -> None:
    """Commit on a detached HEAD."""
    repo.git("checkout", "-q", "--detach")
    commit_new(repo)


SIDE = ["alpha", "beta"]
OPERATIONS = {
    commit_new: ["gamma"],
    commit_all: ["gamma"],
    commit_path: ["gamma"],
    commit_amend: ["gamma"],
    commit_no_verify: ["gamma"],
    true_merge: SIDE,
    conflicted_merge: ["gamma"],
    fast_forward: SIDE,
    squash_merge: SIDE,
    rebase_merge: [*SIDE, "delta"],
    rebase_apply: [*SIDE, "delta"],
    rebase_interactive: [*SIDE, "delta"],
    apply_mail: SIDE,
    cherry_pick: SIDE,
    revert: [],
    switch_branches: [],
    add_worktree: ["gamma"],
    restore_files: [],
    reset_and_stash: [],
    pull_rebase: [*SIDE, "delta"],
    pull_merge: SIDE,
    detached_commit: ["gamma"],
}


@pytest.fixture
def fixed_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let equal operations give equal hashes."""
    monkeypatch.setenv("GIT_AUTHOR_DATE", "1700100000 +0000")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1700100000 +0000")


def branches(path: Path) -> GitRepo:
    """Build main (delta), side (alpha, beta) and clash (gamma) from one base, without hooks."""
    repo = create_repository(path)
    repo.commit("Start", {"a.txt": "1\n", "m.txt": "1\n", ".memx/.gitignore": "\n"})
    repo.git("branch", "base")
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(lesson_message("alpha"), {"s1.txt": "1\n"})
    repo.commit(lesson_message("beta"), {"s2.txt": "1\n"})
    repo.git("checkout", "-q", "-b", "clash", "base")
    repo.commit(lesson_message("gamma"), {"m.txt": "theirs\n"})
    repo.git("checkout", "-q", "main")
    repo.commit(lesson_message("delta"), {"m.txt": "2\n"})
    return repo


def picture(repo: GitRepo) -> tuple[str, ...]:
    """Return everything that a hook must not change: commits, index, status, stash and branches."""
    commands = (["log", "--all", "--format=%H %D"], ["ls-files", "-s"], ["status", "--porcelain"])
    return tuple(repo.git(*command) for command in commands)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
def test_git_operation_with_hooks_is_the_same_and_brings_each_lesson_once(
    operation: Callable[[GitRepo], None], tmp_path: Path, fixed_dates: None
) -> None:
    """Nothing is blocked or staged, commits are byte for byte the same, and no lesson comes twice."""
    plain = branches(tmp_path / "plain" / "repository")
    hooked = GitRepo(tmp_path / "hooked" / "repository")
    shutil.copytree(plain.path, hooked.path)
    with_hooks(hooked)
    operation(plain)
    operation(hooked)
    assert picture(plain) == picture(hooked)
    assert sorted(OPERATIONS[operation]) == taught(hooked)


def test_rebase_after_distilling_brings_nothing_new(tmp_path: Path) -> None:
    """Commits that were distilled before are replayed without a second candidate, even when one was decided."""
    repo = with_hooks(branches(tmp_path / "repository"))
    repo.git("checkout", "-q", "side")
    repo.git("commit", "-q", "--allow-empty", "-m", lesson_message("gamma"))
    repo.git("cherry-pick", "--allow-empty", "HEAD")
    repo.git("rebase", "-q", "--keep-empty", "main")
    assert taught(repo) == ["alpha", "beta", "delta", "gamma"]


def test_rebase_stopped_for_an_edit_takes_the_commit_made_meanwhile(tmp_path: Path) -> None:
    """A commit that a person makes while a rebase waits is in no list of git, and is distilled all the same."""
    repo = with_hooks(branches(tmp_path / "repository"))
    env = {"GIT_SEQUENCE_EDITOR": "sed -i -e '1s/^pick/edit/'"}
    repo.git("rebase", "-q", "-i", "base", "side", env=env)
    repo.git("commit", "-q", "--allow-empty", "-m", lesson_message("gamma"))
    assert taught(repo) == []
    repo.git("rebase", "--continue")
    assert taught(repo) == ["beta", "gamma"]


def test_first_commit_of_a_repository_is_distilled(git_repo: GitRepo) -> None:
    """An unborn branch has no HEAD to compare with, and that stops nothing."""
    with_hooks(git_repo)
    git_repo.commit(lesson_message("alpha"), {"a": "1"})
    assert taught(git_repo) == ["alpha"]


def test_commit_in_a_submodule_uses_its_own_store(git_repo: GitRepo, tmp_path: Path) -> None:
    """Hooks of a submodule live in its own git dir, and its lessons too."""
    inner = create_repository(tmp_path / "inner")
    inner.commit("Start", {".memx/.gitignore": "\n"})
    git_repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "mod")
    module = with_hooks(GitRepo(git_repo.path / "mod"))
    module.commit(lesson_message("alpha"))
    assert taught(module) == ["alpha"]
    assert not (git_repo.path / ".git" / "memx").exists()


def test_commit_with_git_dir_and_work_tree_named_is_distilled(hooked_repo: GitRepo) -> None:
    """`git --git-dir … --work-tree …` from elsewhere reaches the same store."""
    elsewhere = GitRepo(hooked_repo.path.parent)
    where = [f"--git-dir={hooked_repo.path / '.git'}", f"--work-tree={hooked_repo.path}"]
    elsewhere.git(*where, "commit", "-q", "--allow-empty", "-m", lesson_message("beta"))
    assert taught(hooked_repo) == ["beta"]


def test_commit_in_a_subfolder_is_distilled(hooked_repo: GitRepo) -> None:
    """Git starts hooks at the top, wherever the person stands."""
    (hooked_repo.path / "sub").mkdir()
    GitRepo(hooked_repo.path / "sub").git("commit", "-q", "--allow-empty", "-m", lesson_message("beta"))
    assert taught(hooked_repo) == ["beta"]


@pytest.mark.parametrize("setting", ["HOOKS_DISTILL_ON_COMMIT", "HOOKS_DISTILL_ON_MERGE"])
def test_distilling_switched_off_keeps_the_inbox_empty(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration can switch each way of distilling off."""
    monkeypatch.setenv(f"MEMX_{setting}", "false")
    repo = with_hooks(branches(tmp_path / "repository"))
    if setting.endswith("COMMIT"):
        commit_new(repo)
    else:
        true_merge(repo)
    assert taught(repo) == []


def test_post_commit_says_one_line_only_when_there_is_news(hooked_repo: GitRepo) -> None:
    """A lesson is announced once; a commit without one is silent."""
    arguments = ["commit", "-q", "--allow-empty", "-m"]
    first = hooked_repo.run(*arguments, lesson_message("beta"))
    again = hooked_repo.run(*arguments, lesson_message("beta"))
    silent = hooked_repo.run(*arguments, "Rename a variable")
    assert first.stderr.decode().startswith("memx: learnt: ")
    assert first.stderr.count(b"\n") == 1
    assert (again.stderr, silent.stderr) == (b"", b"")


def test_post_commit_shows_controls_instead_of_sending_them(hooked_repo: GitRepo) -> None:
    """A lesson from someone else's commit cannot move the cursor of the terminal or hide words."""
    message = "Fix\n\nLearned: The pool needs \x1b[2J\u202e50 connections, because 10 ran out.\n"
    done = hooked_repo.run("commit", "-q", "--allow-empty", "-m", message)
    said = done.stderr.decode()
    assert "pool needs" in said
    assert not set(said) & {"\x1b", "\u202e"}


def test_squash_message_with_hashes_that_are_gone_is_tolerated(hooked_repo: GitRepo) -> None:
    """Dangling or invented hashes in git's own files stop nothing."""
    (hooked_repo.path / ".git" / "SQUASH_MSG").write_text("commit " + "0" * 40 + "\n")
    done = hooked_repo.run("hook", "run", "post-merge", "--", "1", check=False)
    assert done.returncode == 0


def test_hooks_leave_index_lock_alone(hooked_repo: GitRepo) -> None:
    """Even while the index is locked by someone else, a hook neither waits nor fails."""
    (hooked_repo.path / ".git" / "index.lock").write_text("")
    done = hooked_repo.run("hook", "run", "post-checkout", "--", "a" * 40, "b" * 40, "1", check=False)
    assert done.returncode == 0
    assert os.path.exists(hooked_repo.path / ".git" / "index.lock")
