"""Counts shared through refs: exact across clones that sync, off by default, nothing lost."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.recall.conftest import Clone, make_second

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def team(clone: Clone, tmp_path: Path) -> tuple[Clone, Clone, str]:
    """Two clones of one bare repository that share, and the id of a bullet."""
    name = clone.add()
    clone.commit()
    hub = tmp_path / "hub.git"
    clone.git("clone", "--quiet", "--bare", str(clone.folder), str(hub))
    clone.git("remote", "add", "origin", str(hub))
    clone.git("fetch", "--quiet")
    clone.git("branch", "--quiet", "--set-upstream-to=origin/main")
    second = make_second(clone, tmp_path / "two")
    second.git("remote", "set-url", "origin", str(hub))
    for here in (clone, second):
        here.ok("config", "set", "sync.usage", "true")
    return clone, second, name


def test_sync_is_off_by_default(clone: Clone) -> None:
    """Nothing leaves a clone that did not say so, not even an id."""
    assert clone.call("sync")[0] == 1
    assert "memx config set sync.usage true" in clone.err
    assert clone.git("for-each-ref", "refs/memx") == ""


def test_team_file_cannot_switch_sharing_on(clone: Clone) -> None:
    """A committed configuration is untrusted."""
    with (clone.folder / ".memx" / "config.yml").open("a", encoding="utf-8") as stream:
        stream.write("sync:\n  usage: true\n")
    assert clone.call("sync")[0] == 1


def test_counts_of_all_clones_add_up(team: tuple[Clone, Clone, str]) -> None:
    """3 here and 2 there are 5 everywhere, before and after folds, pulls and gc; no commit is needed."""
    one, two, name = team
    one.recall(3)
    two.recall(2)
    for here in (one, two, one):
        here.ok("sync")
    assert (one.count(name), two.count(name)) == (5, 5)
    assert one.git("status", "--porcelain") == ""
    two.ok("fold")
    two.commit("Fold")
    two.git("push", "--quiet")
    two.git("gc", "--quiet", "--prune=now")
    two.ok("sync")
    one.git("pull", "--quiet")
    assert (one.count(name), two.count(name)) == (5, 5)
    one.ok("sync")
    assert (one.count(name), two.count(name)) == (5, 5)
    one.ok("fold")
    assert one.file_count(name) == one.count(name) == 5


def test_sync_repeated_changes_nothing(team: tuple[Clone, Clone, str]) -> None:
    """The maximum of a state with itself is that state: no new commit, no other count."""
    one, two, name = team
    one.recall(3)
    for here in (one, two, two, one):
        here.ok("sync")
    refs = one.git("for-each-ref", "refs/memx")
    assert len(refs.splitlines()) == 1
    for here in (one, two, one):
        here.ok("sync")
    assert one.git("for-each-ref", "refs/memx") == refs
    assert (one.count(name), two.count(name)) == (3, 3)


def test_remote_out_of_reach_loses_nothing(team: tuple[Clone, Clone, str]) -> None:
    """Offline the command says so with exit 1, keeps what it knew, and sends the rest later."""
    one, two, name = team
    two.recall(2)
    two.ok("sync")
    one.ok("sync")
    address = one.git("remote", "get-url", "origin").strip()
    one.git("remote", "set-url", "origin", address + ".gone")
    one.recall(3)
    assert one.call("sync")[0] == 1
    assert "nothing is lost" in one.err
    assert one.count(name) == 5
    one.git("remote", "set-url", "origin", address)
    one.ok("sync")
    two.ok("sync")
    assert two.count(name) == 5


def test_remote_that_was_reset_takes_nothing_back(team: tuple[Clone, Clone, str]) -> None:
    """Counters only grow: what a clone knows survives a remote without refs."""
    one, two, name = team
    two.recall(2)
    two.ok("sync")
    one.ok("sync")
    for ref in two.git("for-each-ref", "--format=%(refname)", "refs/memx").split():
        hub = one.git("remote", "get-url", "origin").strip()
        one.git("-C", hub, "update-ref", "-d", ref)
    one.ok("sync")
    assert one.count(name) == 2


def test_lost_journal_begins_a_new_counter(team: tuple[Clone, Clone, str]) -> None:
    """What it had shared stays counted, and new recalls do not hide behind it."""
    one, two, name = team
    one.recall(5)
    one.ok("sync")
    (one.folder / ".git" / "memx" / "journal").unlink()
    one.recall(2)
    one.ok("sync")
    two.ok("sync")
    assert (one.count(name), two.count(name)) == (7, 7)


def test_two_remotes_carry_counts_from_one_to_the_other(
    team: tuple[Clone, Clone, str], tmp_path: Path
) -> None:
    """Any remote will do; only names that git knows are taken."""
    one, two, name = team
    mirror = tmp_path / "mirror.git"
    one.git("init", "--quiet", "--bare", str(mirror))
    for here in (one, two):
        here.git("remote", "add", "mirror", str(mirror))
    one.recall(3)
    one.ok("sync", "mirror")
    two.ok("sync", "mirror")
    assert two.count(name) == 3
    assert two.call("sync", str(mirror))[0] == 2
    assert two.call("sync", "--", "--upload-pack=x")[0] == 2


def test_shared_state_names_nobody_and_no_time(team: tuple[Clone, Clone, str]) -> None:
    """Ids and counts only; author, committer and dates are memx's and the epoch's."""
    one, _, name = team
    one.recall(3)
    one.ok("sync")
    ref = one.git("for-each-ref", "--format=%(refname)", "refs/memx").strip()
    assert one.git("show", f"{ref}:usage") == f"{name} 3 0\n"
    assert one.git("log", "--format=%an %ae %at %cn %ce %ct", ref).split("\n")[0] == (
        "memx memx@localhost 0 memx memx@localhost 0"
    )


def test_foreign_refs_are_no_counters(team: tuple[Clone, Clone, str]) -> None:
    """Whatever else lies under the prefix neither breaks a sync nor counts."""
    one, two, name = team
    two.recall(2)
    two.ok("sync")
    head = one.git("rev-parse", "HEAD").strip()
    one.git("push", "--quiet", "origin", f"{head}:refs/memx/usage/deadbeef")
    one.ok("sync")
    assert one.count(name) == 2


def test_clone_that_counted_nothing_only_reads(team: tuple[Clone, Clone, str]) -> None:
    """A weekly job in a fresh clone sees the team's counts and leaves no ref behind."""
    one, two, name = team
    two.recall(2)
    two.ok("sync")
    one.ok("sync")
    assert one.count(name) == 2
    hub = one.git("remote", "get-url", "origin").strip()
    assert len(one.git("-C", hub, "for-each-ref", "refs/memx").splitlines()) == 1


def test_switching_off_stops_counting_others(team: tuple[Clone, Clone, str]) -> None:
    """What others shared counts only where sharing is on."""
    one, two, name = team
    two.recall(2)
    two.ok("sync")
    one.ok("sync")
    assert one.count(name) == 2
    one.ok("config", "set", "sync.usage", "false")
    assert one.count(name) == 0


def test_copy_of_a_clone_does_not_shrink_counts(team: tuple[Clone, Clone, str], tmp_path: Path) -> None:
    """Two folders with one clone id: the copy takes a new id, and each recall counts once."""
    one, two, name = team
    one.recall(1)
    one.ok("sync")
    copy = Clone(tmp_path / "copy")
    shutil.copytree(one.folder, copy.folder)
    one.recall(3, first_day=5)
    one.ok("sync")
    copy.recall(1, first_day=5)
    copy.ok("sync")
    two.ok("sync")
    assert two.count(name) == 5
    for here in (one, copy, two):
        here.ok("sync")
    assert [here.count(name) for here in (one, copy, two)] == [5, 5, 5]
    assert len(one.git("for-each-ref", "refs/memx").splitlines()) == 2


@pytest.mark.parametrize("first", ["one", "copy"])
def test_copy_that_was_never_ahead_is_found_by_its_place(
    team: tuple[Clone, Clone, str], tmp_path: Path, first: str
) -> None:
    """A copy counts for itself whichever of the two syncs first, and its own folds and copies do too."""
    one, two, name = team
    one.recall(2)
    one.ok("fold")
    one.recall(1, first_day=9)
    one.ok("sync")
    copy = Clone(tmp_path / "copy")
    shutil.copytree(one.folder, copy.folder, symlinks=True)
    copy.recall(2, first_day=20)
    one.recall(4, first_day=20)
    order = (one, copy) if first == "one" else (copy, one)
    for here in (*order, two, *order):
        here.ok("sync")
    assert [here.count(name) for here in (one, copy, two)] == [9, 9, 9]
    second_copy = Clone(tmp_path / "again")
    shutil.copytree(copy.folder, second_copy.folder, symlinks=True)
    second_copy.recall(1, first_day=30)
    for here in (second_copy, one, copy, two):
        here.ok("sync")
    assert [here.count(name) for here in (one, copy, two, second_copy)] == [10, 10, 10, 10]
    assert len(two.git("for-each-ref", "refs/memx").splitlines()) == 3


def test_clone_that_moves_keeps_its_name(team: tuple[Clone, Clone, str], tmp_path: Path) -> None:
    """A folder that is renamed, and one that is restored to its place, are the clone that they were."""
    one, two, name = team
    one.recall(3)
    one.ok("sync")
    one.folder.rename(tmp_path / "moved")
    moved = Clone(tmp_path / "moved")
    moved.recall(1, first_day=9)
    moved.ok("sync")
    shutil.copytree(moved.folder, tmp_path / "backup", symlinks=True)
    shutil.rmtree(moved.folder)
    shutil.copytree(tmp_path / "backup", moved.folder, symlinks=True)
    moved.recall(1, first_day=19)
    for here in (moved, two):
        here.ok("sync")
    assert [here.count(name) for here in (moved, two)] == [5, 5]
    assert len(two.git("for-each-ref", "refs/memx").splitlines()) == 1


def test_name_without_a_place_is_kept(team: tuple[Clone, Clone, str]) -> None:
    """The file of an older version holds a name alone: it stays, and gets its place."""
    one, two, name = team
    one.recall(2)
    one.ok("sync")
    path = one.folder / ".git/memx/clone-id"
    own = path.read_text().split("\n")[0]
    path.write_text(own + "\n")
    one.recall(1, first_day=9)
    for here in (one, two):
        here.ok("sync")
    assert (two.count(name), path.read_text().split("\n")[0]) == (3, own)
    assert len(path.read_text().split("\n")[1].split()) == 2
