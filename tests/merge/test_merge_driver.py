"""The driver under real git, in every operation that merges files, and git alone without it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memx.document import Document
from memx.entry.merge_driver import main
from memx.repo.merge_driver import driver_command
from tests.merge.conftest import SCRIPT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.git_repo import GitRepo

PATH = '.memx/bullets/debugging/räte "q" 1-k3v9q2m7xa.md'


def bullet(tags: tuple[str, ...], recall_count: int, body: str = "Text.\n", day: int = 1) -> bytes:
    """Return a bullet file, long enough that git finds it again after a move."""
    head = "id: k3v9q2m7xa\nsection: debugging\ntype: pitfall\nscore: 82\nscope: project\n"
    document = Document.parse(f"---\n{head}updated: 2026-01-{day:02d}T00:00:00Z\n---\n{body}".encode())
    return document.with_field("tags", tags).with_field("recall_count", recall_count).to_bytes()


BASE = bullet(("m",), 3)
OURS = bullet(("a", "m"), 5, day=2)
THEIRS = bullet(("b", "m"), 6, day=3)
MERGED = bullet(("a", "b", "m"), 8, day=3)


def diverge(repo: GitRepo, ours: bytes = OURS, theirs: bytes = THEIRS, base: bytes | None = BASE) -> None:
    """Commit `theirs` on the branch `topic` and `ours` on main."""
    repo.commit("Base", {PATH: base} if base is not None else None)
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit("Theirs", {PATH: theirs})
    repo.git("checkout", "-q", "main")
    repo.commit("Ours", {PATH: ours})


def read(repo: GitRepo, path: str = PATH) -> bytes:
    """Return the file in the worktree."""
    return (repo.path / path).read_bytes()


def test_merge_unites_fields(driver_repo: GitRepo) -> None:
    """A merge takes tags of both sides and adds both counters."""
    diverge(driver_repo)
    driver_repo.git("merge", "-q", "--no-edit", "topic")
    assert read(driver_repo) == MERGED


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_rebase_gives_what_a_merge_gives(driver_repo: GitRepo, backend: str) -> None:
    """In a rebase the sides are swapped; the result is the same in both backends."""
    diverge(driver_repo)
    driver_repo.git("rebase", "-q", backend, "topic")
    assert read(driver_repo) == MERGED


def test_cherry_pick_and_stash_pop_merge(driver_repo: GitRepo) -> None:
    """A picked commit and a popped stash meet a file that has moved on."""
    diverge(driver_repo)
    driver_repo.git("cherry-pick", "topic")
    assert read(driver_repo) == MERGED
    driver_repo.write(PATH, bullet(("a", "b", "m", "stashed"), 9, day=3))
    driver_repo.git("stash", "-q")
    driver_repo.commit("Move on", {PATH: bullet(("a", "m", "z"), 9, day=3)})
    driver_repo.git("stash", "pop", "-q")
    assert read(driver_repo) == bullet(("a", "m", "stashed", "z"), 9, day=3)


def test_am_three_way_merges(driver_repo: GitRepo) -> None:
    """A mailed patch that no longer applies is merged on the blobs it names."""
    diverge(driver_repo)
    patch = driver_repo.run("format-patch", "-1", "--stdout", "topic").stdout
    driver_repo.git("am", "-q", "-3", stdin=patch)
    assert read(driver_repo) == MERGED


def test_rename_and_edit_merge_at_the_new_path(driver_repo: GitRepo) -> None:
    """One branch moves the bullet to another section while the other edits it."""
    diverge(driver_repo)
    new = PATH.replace("debugging", "tools")
    driver_repo.git("checkout", "-q", "topic")
    (driver_repo.path / ".memx/bullets/tools").mkdir(parents=True)
    driver_repo.git("mv", PATH, new)
    driver_repo.commit("Move")
    driver_repo.git("merge", "-q", "--no-edit", "main")
    assert read(driver_repo, new) == MERGED


def test_both_added_merge_without_a_base(driver_repo: GitRepo) -> None:
    """Two branches that learnt the same lesson: the base is empty, the counters add up."""
    diverge(driver_repo, base=None)
    driver_repo.git("merge", "-q", "--no-edit", "topic")
    assert read(driver_repo) == bullet(("a", "b", "m"), 11, day=3)


def test_both_rewrote_text_conflicts_with_markers(driver_repo: GitRepo) -> None:
    """Git reports the conflict; front matter is merged and both texts are in the file."""
    diverge(driver_repo, bullet(("a",), 3, "Ours.\n"), bullet(("b",), 3, "Theirs.\n"))
    assert driver_repo.run("merge", "topic", check=False).returncode == 1
    assert driver_repo.git("diff", "--name-only", "--diff-filter=U", "-z").rstrip("\0") == PATH
    text = read(driver_repo)
    assert text.endswith(b"---\n<<<<<<< ours\nOurs.\n=======\nTheirs.\n>>>>>>> theirs\n")
    assert b"tags:\n  - a\n  - b\n" in text


@pytest.mark.parametrize("broken", ["missing interpreter", "missing script", "failing interpreter"])
def test_missing_or_failing_memx_falls_back_to_git(driver_repo: GitRepo, tmp_path: Path, broken: str) -> None:
    """Git alone would keep ours without a word; the registered command leaves git's own merge."""
    python, script = sys.executable, SCRIPT
    if broken == "missing interpreter":
        python = str(tmp_path / "no 100%s python")
    elif broken == "missing script":
        script = str(tmp_path / "gone.py")
    else:
        script = str(tmp_path / "it's broken.py")
        (tmp_path / "it's broken.py").write_text("import nothing_of_this_name\n")
    driver_repo.git("config", "merge.memx.driver", driver_command(python, script))
    diverge(driver_repo, bullet(("m",), 3, "Ours.\n"), bullet(("m",), 3, "Theirs.\n"))
    assert driver_repo.run("merge", "topic", check=False).returncode == 1
    assert b"<<<<<<< ours\nOurs.\n=======\nTheirs.\n>>>>>>> theirs\n" in read(driver_repo)


def test_failing_fallback_still_merges_cleanly(driver_repo: GitRepo, tmp_path: Path) -> None:
    """Changes that git itself can merge are merged when memx is gone."""
    driver_repo.git("config", "merge.memx.driver", driver_command(sys.executable, str(tmp_path / "gone.py")))
    diverge(driver_repo, bullet(("a", "m"), 3), bullet(("m",), 3, "Theirs.\n"))
    driver_repo.git("merge", "-q", "--no-edit", "topic")
    assert read(driver_repo) == bullet(("a", "m"), 3, "Theirs.\n")


def test_without_driver_tags_at_different_places_merge(plain_repo: GitRepo) -> None:
    """A hosting service runs no driver: one tag a line lets plain git merge them."""
    base = bullet(("c", "m", "t"), 3)
    diverge(plain_repo, bullet(("a", "c", "m", "t"), 3), bullet(("c", "m", "t", "z"), 3), base)
    plain_repo.git("merge", "-q", "--no-edit", "topic")
    assert read(plain_repo) == bullet(("a", "c", "m", "t", "z"), 3)


def test_main_writes_ours_alone(tmp_path: Path) -> None:
    """The driver touches %A and nothing else, with and without the optional arguments."""
    for arguments in ([], ["7"], ["7", "any path.md"]):
        paths = [tmp_path / name for name in "OAB"]
        for path, data in zip(paths, (BASE, OURS, THEIRS), strict=True):
            path.write_bytes(data)
        assert main([*map(str, paths), *arguments]) == 0
        assert [path.read_bytes() for path in paths] == [BASE, MERGED, THEIRS]
    assert len(list(tmp_path.iterdir())) == 3


def test_failure_inside_writes_standard_markers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the merge itself fails, both versions are in the file and the status is 1."""
    monkeypatch.setitem(sys.modules, "memx.merge", None)
    paths = [tmp_path / name for name in "OAB"]
    for path, data in zip(paths, (BASE, OURS, THEIRS), strict=True):
        path.write_bytes(data)
    assert main(list(map(str, paths))) == 1
    assert OURS in paths[1].read_bytes()
    assert THEIRS in paths[1].read_bytes()


def test_driver_imports_little() -> None:
    """Every module costs each merged file; the list is short and has no `re`, `os` or `datetime`."""
    code = (
        "import sys; before = set(sys.modules); sys.path.insert(0, sys.argv[1]); import memx.merge; "
        "print(*sorted(set(sys.modules) - before))"
    )
    root = SCRIPT.rsplit("memx", 1)[0]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, root], capture_output=True, check=True, text=True
    )
    expected = (
        "__future__ memx memx.document memx.errors memx.merge memx.merge.field memx.merge.lines "
        "memx.record memx.scalar"
    )
    assert done.stdout.split() == expected.split()
