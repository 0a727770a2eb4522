"""Commits and files read from real repositories, however odd their texts and names are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.errors import GitError
from memx.model import FileChange
from memx.repo.discovery import environ_of, open_repository
from memx.repo.history import (
    MAX_LINE_BYTES,
    StagedFile,
    TreeEntry,
    count_commits,
    file_exists_at,
    first_commit_dates,
    list_commits,
    list_index,
    list_staged,
    list_tree,
    patch_ids,
    read_blobs,
    read_commits,
    resolve_commit,
    show_file,
)
from memx.repo.squash import split_squash
from tests.support.git_repo import FIRST_COMMIT_TIME
from tests.support.processes import children

if TYPE_CHECKING:
    from memx.model import Commit
    from memx.repo.discovery import Repository
from tests.support.git_repo import GitRepo

ODD_NAMES = ("café.md", '日本 "q".md', "tab\tand space.md", "line\nbreak.md", "-dash.md", ":(top)x.md")


def here(repo: GitRepo) -> Repository:
    """Open the repository of a test."""
    return open_repository(str(repo.path), os.environ)


def read_all(repo: GitRepo, *args: str, **options: object) -> list[Commit]:
    """Read the commits of a test's repository."""
    return list(read_commits(here(repo), *args, **options))  # type: ignore[arg-type]


def raw_commit(repo: GitRepo, body: bytes, headers: bytes = b"") -> str:
    """Write a commit object with exactly these bytes, and put the branch there."""
    tree = repo.git("mktree", stdin=b"")
    who = b"A <a@b> 1700000000 +0000"
    data = b"tree %b\nauthor %b\ncommitter %b\n%b\n%b" % (tree.encode(), who, who, headers, body)
    sha = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=data)
    repo.git("update-ref", "refs/heads/main", sha)
    return sha


def test_read_commits_unborn_head_is_empty(git_repo: GitRepo) -> None:
    """A repository without commits has no history, and that is no error."""
    assert read_all(git_repo) == []
    assert count_commits(here(git_repo)) == 0
    assert first_commit_dates(here(git_repo), ".memx") == {}


def test_read_commits_gives_message_author_time_and_parents(git_repo: GitRepo) -> None:
    """Every field of a commit arrives; the newest is first."""
    first = git_repo.commit("One\n\nBody\n\nlast line")
    second = git_repo.commit("Two")
    newest, oldest = read_all(git_repo)
    assert (newest.sha, newest.message, newest.parents) == (second, "Two", (first,))
    assert oldest.message == "One\n\nBody\n\nlast line"
    assert (oldest.author, oldest.authored) == ("Ada Author", FIRST_COMMIT_TIME + 60.0)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("latin-1", "Zeitüberschreitung behoben: é"), ("shift_jis", "接続プールの上限"), ("utf-8", "naïve ☃")],
    ids=["latin-1", "shift-jis", "utf-8"],
)
def test_read_commits_declared_encoding_is_right(encoding: str, text: str, git_repo: GitRepo) -> None:
    """A message whose encoding the commit declares comes out as it was typed."""
    git_repo.git("config", "i18n.commitEncoding", encoding)
    git_repo.git("config", "i18n.logOutputEncoding", "utf-16")
    git_repo.commit(text.encode(encoding))
    assert [commit.message for commit in read_all(git_repo)] == [text]


def test_read_commits_undeclared_bytes_become_replacement_characters(git_repo: GitRepo) -> None:
    """Bytes that are wrong without a declaration neither stop nor shift the stream."""
    raw_commit(git_repo, "résumé".encode("latin-1"))
    git_repo.commit("After")
    assert [commit.message for commit in read_all(git_repo)] == ["After", "r\ufffdsum\ufffd"]


def test_read_commits_unknown_encoding_and_broken_date_go_on(git_repo: GitRepo) -> None:
    """A declared encoding that nobody knows and an empty message are commits like others."""
    raw_commit(git_repo, b"plain", b"encoding x-no-such\n")
    git_repo.commit(b"")
    assert [commit.message for commit in read_all(git_repo)] == ["", "plain"]


def test_read_commits_text_that_imitates_our_structure_stays_text(git_repo: GitRepo) -> None:
    """Hashes, separators and patch headers inside messages and files are content."""
    first = git_repo.commit("One", {"a.txt": "x\n"})
    trap = f"{first}\ndiff --git a/b b/b\n@@ -1 +1 @@\n:100644 100644 a b M\n--- a/a\n+++ b/b\n"
    git_repo.git("config", "core.bigFileThreshold", "1g")
    git_repo.write(".gitattributes", "*.txt diff\n")
    payload = trap.encode() + first.encode() + b"\0\0\0fake\0" + trap.encode()
    git_repo.commit(trap, {"a.txt": payload, ".gitattributes": "*.txt diff\n"})
    git_repo.commit("Three", {"a.txt": "end\n"})
    commits = read_all(git_repo, files=True, diffs=True)
    assert [len(commit.files) for commit in commits] == [1, 2, 1]
    assert [commit.message for commit in commits] == ["Three", trap.rstrip("\n"), "One"]
    lines = next(change for change in commits[1].files if change.path == "a.txt").added
    assert "\n".join(lines).encode() + b"\n" == payload


@pytest.mark.parametrize("colour", ["always", "auto"])
def test_read_commits_odd_names_are_real_paths(colour: str, git_repo: GitRepo) -> None:
    """Names come unquoted whatever the user's settings say."""
    git_repo.git("config", "color.ui", colour)
    git_repo.git("config", "core.quotePath", "true")
    for name in ODD_NAMES:
        git_repo.write(name, f"{name}\n")
    git_repo.git("add", "-A")
    git_repo.commit("Odd")
    (commit,) = read_all(git_repo, files=True, diffs=True)
    assert {change.path for change in commit.files} == set(ODD_NAMES)
    assert {entry.path for entry in list_tree(here(git_repo), "HEAD")} == set(ODD_NAMES)
    assert {entry.path for entry in list_index(here(git_repo))} == set(ODD_NAMES)
    for name in ODD_NAMES:
        assert show_file(here(git_repo), "HEAD", name) == f"{name}\n".encode()
        assert next(change for change in commit.files if change.path == name).status == "A"


def test_read_commits_changes_of_every_kind_have_status_and_lines(git_repo: GitRepo) -> None:
    """Added, modified, deleted, renamed, retyped and binary files each arrive once, with their own lines."""
    git_repo.commit(
        "One", {"mod": "a\nb\nc\n", "gone": "x\n", "old": "same\n" * 20, "kind": "text\n", "bin": b"\0\1\2"}
    )
    git_repo.git("mv", "old", "new")
    (git_repo.path / "kind").unlink()
    (git_repo.path / "kind").symlink_to("mod")
    git_repo.git("add", "kind")
    git_repo.commit("Two", {"mod": "a\nB\nc\nd", "gone": None, "bin": b"\0\3", "zz": "new\n"})
    commit = read_all(git_repo, files=True, diffs=True)[0]
    assert commit.files == (
        FileChange("bin", "M"),
        FileChange("gone", "D", removed=("x",)),
        FileChange("kind", "T", removed=("text",), added=("mod",)),
        FileChange("mod", "M", removed=("b",), added=("B", "d")),
        FileChange("new", "R", "old"),
        FileChange("zz", "A", added=("new",)),
    )


def test_read_commits_pathspec_limits_lines_not_commits(git_repo: GitRepo) -> None:
    """Every commit and file is listed; only the wanted files have lines."""
    git_repo.commit("One", {"a.toml": "x\n", "b.py": "y\n"})
    git_repo.commit("Two", {"c.py": "z\n"})
    two, one = read_all(git_repo, files=True, diffs=True, paths=["*.toml"])
    assert two.files == (FileChange("c.py", "A"),)
    assert one.files == (FileChange("a.toml", "A", added=("x",)), FileChange("b.py", "A"))


def test_read_commits_users_diff_settings_change_nothing(git_repo: GitRepo) -> None:
    """Prefixes, context, order and external programs are for people."""
    git_repo.commit("One", {"b": "1\n", "a": "1\n"})
    expected = read_all(git_repo, files=True, diffs=True)
    for key, value in (
        ("diff.noprefix", "true"),
        ("diff.context", "5"),
        ("diff.interHunkContext", "50"),
        ("diff.external", "false"),
        ("diff.renames", "false"),
        ("log.showSignature", "true"),
        ("log.decorate", "full"),
        ("log.date", "relative"),
        ("format.pretty", "oneline"),
        ("color.ui", "always"),
        ("diff.submodule", "log"),
        ("diff.mnemonicPrefix", "true"),
    ):
        git_repo.git("config", key, value)
    assert read_all(git_repo, files=True, diffs=True) == expected


def test_read_commits_merge_is_known_by_its_parents(git_repo: GitRepo) -> None:
    """A merge has two parents and no files; it can be left out."""
    git_repo.commit("base")
    git_repo.git("checkout", "-q", "-b", "side")
    git_repo.commit("side", {"s": "1"})
    git_repo.git("checkout", "-q", "main")
    git_repo.commit("main", {"m": "1"})
    git_repo.git("merge", "-q", "--no-edit", "side")
    newest = read_all(git_repo, files=True, diffs=True)[0]
    assert (len(newest.parents), newest.files) == (2, ())
    assert [len(commit.parents) for commit in read_all(git_repo, no_merges=True)] == [1, 1, 0]
    assert count_commits(here(git_repo), no_merges=True) == 3


def test_read_commits_range_count_since_and_order(git_repo: GitRepo) -> None:
    """The usual limits of git log hold, for reading and for counting."""
    shas = [git_repo.commit(f"Number {number}") for number in range(6)]
    repo = here(git_repo)
    assert [c.message for c in read_all(git_repo, max_count=2)] == ["Number 5", "Number 4"]
    assert [c.sha for c in read_all(git_repo, f"{shas[2]}..HEAD", reverse=True)] == shas[3:]
    since = FIRST_COMMIT_TIME + 60 * 5
    assert len(read_all(git_repo, since=float(since))) == 2
    assert count_commits(repo, since=float(since)) == 2
    assert count_commits(repo, [shas[1], "--not", shas[0]]) == 1
    assert list_commits(repo, "HEAD", max_count=1) == [shas[5]]
    assert [c.sha for c in read_commits(repo, [shas[1], shas[4]], no_walk=True)] == [shas[1], shas[4]]


def test_read_commits_touching_leaves_others_out(git_repo: GitRepo) -> None:
    """A pathspec can also choose the commits."""
    git_repo.commit("One", {"a": "1"})
    git_repo.commit("Two", {"b": "1"})
    assert [c.message for c in read_all(git_repo, touching=["a"])] == ["One"]


@pytest.mark.parametrize("revision", ["no-such", "--output=/tmp/x", "-p"])
def test_read_commits_bad_revision_is_a_git_error(revision: str, git_repo: GitRepo) -> None:
    """What is no revision is refused, options above all."""
    git_repo.commit()
    with pytest.raises(GitError):
        read_all(git_repo, revision)
    with pytest.raises(GitError):
        resolve_commit(here(git_repo), revision)


def test_read_commits_many_batches_keep_order_and_lines(git_repo: GitRepo) -> None:
    """More commits than one batch of patches keep their order and their own lines."""
    feed = ["blob\nmark :1\ndata 1\nx\n"]
    for number in range(700):
        text = f"line {number}\n"
        feed.append(
            f"commit refs/heads/main\ncommitter C <c@x> {FIRST_COMMIT_TIME + number} +0000\n"
            f"data {len(f'n {number}')}\nn {number}\nM 100644 inline f\ndata {len(text)}\n{text}\n"
        )
    git_repo.git("fast-import", "--quiet", stdin="".join(feed).encode())
    commits = read_all(git_repo, diffs=True)
    assert [commit.message for commit in commits] == [f"n {n}" for n in reversed(range(700))]
    assert all(commit.files[0].added == (f"line {commit.message[2:]}",) for commit in commits)


def test_read_commits_stopped_early_leaves_no_process(git_repo: GitRepo) -> None:
    """Taking the first commit only ends git."""
    for number in range(3):
        git_repo.commit(str(number))
    before = children()
    commits = read_commits(here(git_repo))
    assert next(iter(commits)).message == "2"
    commits.close()  # type: ignore[attr-defined]
    assert children() <= before


def test_patch_ids_replayed_commit_has_the_same(git_repo: GitRepo) -> None:
    """A cherry-pick keeps the patch-id; another change and an empty commit do not share it."""
    git_repo.commit("base", {"a": "1\n"})
    git_repo.git("checkout", "-q", "-b", "side")
    picked = git_repo.commit("change", {"b": "2\n"})
    git_repo.git("checkout", "-q", "main")
    git_repo.commit("other", {"c": "3\n"})
    git_repo.git("cherry-pick", picked)
    replayed = git_repo.git("rev-parse", "HEAD")
    empty = git_repo.commit("empty")
    ids = patch_ids(here(git_repo), [picked, replayed, empty])
    assert picked != replayed
    assert ids == {picked: ids[picked], replayed: ids[picked]}


def test_list_staged_shows_what_will_be_committed(git_repo: GitRepo) -> None:
    """The index counts, not the work tree, before and after the first commit."""
    git_repo.write("café.md", "staged\n")
    git_repo.git("add", "-A")
    git_repo.write("café.md", "work tree\n")
    repo = here(git_repo)
    (staged,) = list_staged(repo)
    assert (staged.path, staged.status, staged.mode) == ("café.md", "A", "100644")
    assert list(read_blobs(repo, [staged.blob, "0" * 40])) == [(staged.blob, b"staged\n"), ("0" * 40, None)]
    assert show_file(repo, "", "café.md") == b"staged\n"
    git_repo.commit("One")
    assert list_staged(repo) == []
    git_repo.git("rm", "-q", "-f", "café.md")
    assert list_staged(repo) == [StagedFile("café.md", "D", "0" * 40, "000000")]


def test_list_staged_rename_has_both_names_and_pathspecs_hold(git_repo: GitRepo) -> None:
    """A staged rename is one entry; a pathspec restricts the list."""
    git_repo.commit("One", {".memx/a.md": "same\n" * 10, "x": "1"})
    git_repo.git("mv", ".memx/a.md", ".memx/b.md")
    git_repo.git("mv", "x", "y")
    (staged,) = list_staged(here(git_repo), [".memx"], environ=environ_of(here(git_repo), os.environ))
    assert (staged.path, staged.old_path, staged.status) == (".memx/b.md", ".memx/a.md", "R")


def test_show_file_and_existence_at_a_revision(git_repo: GitRepo) -> None:
    """Old content can be read; what is not there is said so."""
    first = git_repo.commit("One", {"d/a": "1\n"})
    git_repo.commit("Two", {"d/a": "2\n"})
    repo = here(git_repo)
    assert show_file(repo, first, "d/a") == b"1\n"
    assert file_exists_at(repo, first, "d/a")
    assert not file_exists_at(repo, first, "d/b")
    with pytest.raises(GitError, match="d/b"):
        show_file(repo, first, "d/b")
    assert resolve_commit(repo, "HEAD~1") == first


def test_list_tree_folder_gives_paths_from_the_top(git_repo: GitRepo) -> None:
    """A folder restricts the list; modes and blobs are git's."""
    git_repo.commit("One", {".memx/x.md": "1\n", "y": "2\n"})
    blob = git_repo.git("rev-parse", "HEAD:.memx/x.md")
    expected = [TreeEntry(".memx/x.md", blob, "100644")]
    assert list_tree(here(git_repo), "HEAD", ".memx") == expected
    assert list_index(here(git_repo), ".memx") == expected


def test_first_commit_dates_is_the_first_author_date_of_each_path(git_repo: GitRepo) -> None:
    """Later edits do not count; a file that came on a merged side branch does."""
    git_repo.commit("One", {".memx/a.md": "1\n"})
    git_repo.git("checkout", "-q", "-b", "side")
    git_repo.commit("Two", {".memx/é.md": "1\n"})
    git_repo.git("checkout", "-q", "main")
    git_repo.commit("Three", {".memx/a.md": "2\n", "z": "1"})
    git_repo.git("merge", "-q", "--no-edit", "side")
    start = float(FIRST_COMMIT_TIME)
    assert first_commit_dates(here(git_repo), ".memx") == {
        ".memx/a.md": start + 60,
        ".memx/é.md": start + 120,
    }


def test_split_squash_gives_each_message_back(git_repo: GitRepo) -> None:
    """What git put together for a squash merge is taken apart again; another message stays whole."""
    git_repo.commit("base")
    git_repo.git("checkout", "-q", "-b", "side")
    git_repo.commit("One\n\nBody of one", {"a": "1"})
    git_repo.commit("Two\n\ncommit to it\n\n    indented", {"b": "1"})
    git_repo.git("checkout", "-q", "main")
    git_repo.git("merge", "-q", "--squash", "side")
    git_repo.git("commit", "-q", "--no-edit")
    squash, base = read_all(git_repo, files=True)
    parts = split_squash(squash)
    assert [part.message for part in parts] == [
        "Two\n\ncommit to it\n\n    indented",
        "One\n\nBody of one",
        "",
    ]
    assert [len(part.files) for part in parts] == [0, 0, 2]
    assert split_squash(base) == [base]


def test_read_commits_message_longer_than_every_buffer_arrives_whole(git_repo: GitRepo) -> None:
    """A message of many chunks, and lines that cross chunk borders, are put together again."""
    long = "\n".join(f"{number} {'x' * 97}" for number in range(5_000))
    git_repo.commit(long, {"a": "y" * 300_000 + "\nend\n"})
    git_repo.commit("After")
    after, commit = read_all(git_repo, files=True, diffs=True)
    assert (after.message, commit.message) == ("After", long)
    assert [len(line) for line in commit.files[0].added] == [MAX_LINE_BYTES, 3]


def test_read_commits_damaged_author_line_is_still_a_commit(git_repo: GitRepo) -> None:
    """Old importers wrote commits without a usable date."""
    tree = git_repo.git("mktree", stdin=b"")
    data = f"tree {tree}\nauthor Nobody <>\ncommitter Nobody <> x\n\nBroken\n".encode()
    sha = git_repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=data)
    git_repo.git("update-ref", "refs/heads/main", sha)
    (commit,) = read_all(git_repo)
    assert (commit.message, commit.authored) == ("Broken", 0.0)


def test_read_nothing_costs_nothing(git_repo: GitRepo) -> None:
    """No revisions and no blobs are empty answers."""
    git_repo.commit()
    assert read_all(git_repo, ()) == []
    assert list_commits(here(git_repo), ()) == []
    assert count_commits(here(git_repo), ()) == 0
    assert list(read_blobs(here(git_repo), [])) == []


def test_split_squash_keeps_what_a_person_added(git_repo: GitRepo) -> None:
    """Text around git's list belongs to the squash itself."""
    message = (
        f"Feature\n\nSquashed commit of the following:\n\ncommit {'a' * 40}\nAuthor: A\n\n    One\nown words"
    )
    git_repo.commit(message)
    parts = split_squash(read_all(git_repo)[0])
    assert [part.message for part in parts] == ["One", "Feature\n\nown words"]


@pytest.mark.parametrize(
    "pattern", ["*.y*ml", "*.toml", ".env*", "Dockerfile*", "requirements*.txt", "go.mod", "a*b*a", "*"]
)
def test_patches_of_names_are_those_that_git_gives(git_repo: GitRepo, pattern: str) -> None:
    """Whether git is asked for a patch is told from the names, and that changes no answer."""
    names = ("a.yaml", "x/b.yml", "yml", "c.toml", ".env.local", "x/Dockerfile.dev", "requirements.txt")
    names += ("requirements-txt", "go.mod", "go.mod.bak", "aba", "aa", "abba", "x.y/ml", "ab/a")
    for number, name in enumerate(names):
        git_repo.commit(name, {name: f"{number}\n"})
    git_repo.git("mv", "c.toml", "c.txt")
    git_repo.commit("away", {})
    asked = [f":(glob)**/{pattern}"]
    found = read_all(git_repo, files=True, diffs=True, paths=asked)
    without_list = read_all(git_repo, diffs=True, paths=asked)
    patched = [{f.path for f in commit.files if f.removed or f.added} for commit in found]
    assert patched == [{f.path for f in commit.files if f.removed or f.added} for commit in without_list]
