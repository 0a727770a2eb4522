"""Which state of the code a bullet was written against, and what two sides differ in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.errors import GitError, UsageError
from memx.repo.baseline import blob_hash, follow_renames, lives, path_events, resolve_objects
from memx.repo.compare import find_sides, list_changes, list_untracked, merge_base
from memx.repo.discovery import Repository, open_repository

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo

BODY = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def repository(git_repo: GitRepo) -> Repository:
    """The repository of `git_repo` as memx sees it."""
    return open_repository(str(git_repo.path), os.environ)


def test_life_of_a_file_goes_through_its_renames(git_repo: GitRepo, repository: Repository) -> None:
    """Each file's commits are found under all its names, the newest first, and none of its namesakes."""
    first = git_repo.commit("A", {"m/a.md": BODY})
    second = git_repo.commit("M", {"m/a.md": BODY + "more\n"})
    git_repo.git("mv", "m/a.md", "m/b.md")
    third = git_repo.commit("R")
    fourth = git_repo.commit("Namesake", {"m/a.md": "other\n"})
    found = lives(path_events(repository, ["m"]), ["m/b.md", "m/a.md", "m/none.md"])
    assert [(e.commit, e.status) for e in found["m/b.md"]] == [(third, "R"), (second, "M"), (first, "A")]
    assert [(e.commit, e.status) for e in found["m/a.md"]] == [(fourth, "A")]
    assert found["m/none.md"] == []


def test_unborn_branch_has_no_life(repository: Repository) -> None:
    """Before the first commit there is nothing to follow."""
    assert list(path_events(repository, ["m"])) == []
    assert follow_renames(repository, ["a"]) == {}


def test_names_with_blanks_and_letters_of_any_script_resolve(
    git_repo: GitRepo, repository: Repository
) -> None:
    """Object names are resolved in one process, and what is missing is left out."""
    names = ["a b.txt", "é/日本.txt"]
    git_repo.commit("A", dict.fromkeys(names, "x\n"))
    found = resolve_objects(repository, [*(f"HEAD:{name}" for name in names), "HEAD:none", "no\nname", "zz"])
    assert set(found) == {f"HEAD:{name}" for name in names}
    assert set(found.values()) == {blob_hash(b"x\n", "")}


def test_renames_are_followed_over_several_hops(git_repo: GitRepo, repository: Repository) -> None:
    """A path is followed through commits and the uncommitted rename at the end; a deletion leads nowhere."""
    git_repo.commit("A", {"a.py": BODY, "gone.py": "something else\n" * 9})
    git_repo.git("mv", "a.py", "b.py")
    git_repo.commit("One")
    git_repo.git("mv", "b.py", "c.py")
    git_repo.git("rm", "-q", "gone.py")
    git_repo.commit("Two")
    assert follow_renames(repository, ["a.py", "gone.py"]) == {"a.py": "c.py"}
    git_repo.git("mv", "c.py", "d.py")
    assert follow_renames(repository, ["a.py", "b.py"]) == {"a.py": "d.py", "b.py": "d.py"}


def test_hash_is_that_of_git(git_repo: GitRepo) -> None:
    """The hash of bytes is what git prints for them."""
    git_repo.write("f", b"a\0b\r\n")
    assert git_repo.git("hash-object", "--no-filters", "f") == blob_hash(b"a\0b\r\n", "")


def test_default_sides_are_the_branch_and_the_work_tree(git_repo: GitRepo, repository: Repository) -> None:
    """A branch is compared from where it left main, and what main has learnt since is the other side."""
    base = git_repo.commit("Base", {"a": "1\n"})
    git_repo.git("checkout", "-q", "-b", "feature")
    git_repo.commit("Ours", {"b": "1\n"})
    git_repo.git("checkout", "-q", "main")
    tip = git_repo.commit("Theirs", {"c": "1\n"})
    git_repo.git("checkout", "-q", "feature")
    sides = find_sides(repository, "")
    assert (sides.base, sides.head, sides.other, sides.label) == (base, "", tip, "main")
    git_repo.write("new.txt", "x\n")
    assert [e.path for e in list_changes(repository, sides.base, "", ["."], renames=True)] == ["b"]
    assert list_untracked(repository, ["."]) == ["new.txt"]


def test_dots_mean_what_they_mean_in_git(git_repo: GitRepo, repository: Repository) -> None:
    """Two dots compare tips, three dots the common commit with the right side."""
    base = git_repo.commit("Base", {"a": "1\n"})
    git_repo.git("checkout", "-q", "-b", "feature")
    ours = git_repo.commit("Ours", {"b": "1\n"})
    git_repo.git("checkout", "-q", "main")
    tip = git_repo.commit("Theirs", {"c": "1\n"})
    two, three = find_sides(repository, "main..feature"), find_sides(repository, "main...feature")
    assert (two.base, two.head, two.other) == (tip, ours, "")
    assert (three.base, three.head, three.other) == (base, ours, tip)
    assert find_sides(repository, "..").base == find_sides(repository, "HEAD").base == tip


def test_unknown_or_unsafe_range_is_refused(git_repo: GitRepo, repository: Repository) -> None:
    """A range that names nothing, or that git could take for an option, raises."""
    git_repo.commit("Base", {"a": "1\n"})
    for text in ("nowhere", "a..b", "--output=x", "--output=x..HEAD", "-O..HEAD"):
        with pytest.raises((GitError, UsageError)):
            find_sides(repository, text)


def test_unrelated_histories_have_no_base(git_repo: GitRepo, repository: Repository) -> None:
    """Two sides without a common commit are an error with a remedy."""
    one = git_repo.commit("One", {"a": "1\n"})
    git_repo.git("checkout", "-q", "--orphan", "other")
    two = git_repo.commit("Two", {"b": "1\n"})
    with pytest.raises(GitError, match="no common commit"):
        merge_base(repository, one, [two])
