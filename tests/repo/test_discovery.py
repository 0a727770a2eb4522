"""Finding the repository by hand gives what git itself says, in every layout."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.errors import GitError
from memx.repo import git
from memx.repo.discovery import (
    Head,
    Repository,
    default_branch,
    discover,
    environ_of,
    is_rebasing,
    list_worktrees,
    open_repository,
    read_head,
)
from tests.support.git_repo import GitRepo, create_repository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def ask_git(folder: Path, env: Mapping[str, str] | None = None) -> Repository | None:
    """Return what `git rev-parse` says about a folder."""
    here = GitRepo(folder)
    done = here.run("rev-parse", "--absolute-git-dir", "--git-common-dir", env=env, check=False)
    if done.returncode:
        return None
    git_dir, common_dir = done.stdout.decode().splitlines()
    top = here.run("rev-parse", "--show-toplevel", env=env, check=False).stdout.decode().rstrip("\n")
    return Repository(top, git_dir, os.path.realpath(folder / common_dir))


@pytest.fixture
def no_spawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when discovery starts a process, which a plain layout must not need."""

    def refuse(*_args: object, **_kwargs: object) -> bytes:
        raise AssertionError("git was started")

    monkeypatch.setattr(git, "run_git", refuse)


def _subfolder(repo: GitRepo, tmp_path: Path) -> Path:
    folder = repo.path / "a" / "b"
    folder.mkdir(parents=True)
    return folder


def _linked(repo: GitRepo, tmp_path: Path) -> Path:
    repo.commit()
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked wt"))
    (tmp_path / "linked wt" / "sub").mkdir()
    return tmp_path / "linked wt" / "sub"


def _submodule(repo: GitRepo, tmp_path: Path) -> Path:
    inner = create_repository(tmp_path / "inner")
    inner.commit()
    repo.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "mod")
    return repo.path / "mod"


def _bare(repo: GitRepo, tmp_path: Path) -> Path:
    return create_repository(tmp_path / "bare.git", bare=True).path


def _inside_git_dir(repo: GitRepo, tmp_path: Path) -> Path:
    return repo.path / ".git" / "refs"


def _separate_git_dir(repo: GitRepo, tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    repo.git("init", "-q", "--separate-git-dir", str(tmp_path / "apart"), str(folder))
    return folder


def _symlinked(repo: GitRepo, tmp_path: Path) -> Path:
    (tmp_path / "link").symlink_to(repo.path)
    return tmp_path / "link"


def _worktree_setting(repo: GitRepo, tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    repo.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    return repo.path


def _worktree_of_bare(repo: GitRepo, tmp_path: Path) -> Path:
    repo.commit()
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "hub.git"))
    GitRepo(tmp_path / "hub.git").git("worktree", "add", "-q", str(tmp_path / "spoke"))
    return tmp_path / "spoke"


def _sparse(repo: GitRepo, tmp_path: Path) -> Path:
    repo.commit("x", {"a/b": "1"})
    repo.git("sparse-checkout", "set", "a")
    return repo.path


LAYOUTS = [
    _subfolder,
    _linked,
    _submodule,
    _bare,
    _inside_git_dir,
    _separate_git_dir,
    _symlinked,
    _worktree_setting,
    _worktree_of_bare,
    _sparse,
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__.strip("_"))
def test_discover_plain_layout_agrees_with_git_without_starting_it(
    layout: object, git_repo: GitRepo, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Hand-reading finds the same three folders."""
    folder = layout(git_repo, tmp_path)  # type: ignore[operator]
    expected = ask_git(folder)
    request.getfixturevalue("no_spawn")
    assert expected == discover(str(folder), os.environ)


def test_discover_outside_any_repository_is_none(tmp_path: Path) -> None:
    """No repository is an answer, not an error; asking for one is an error."""
    assert discover(str(tmp_path), os.environ) is None
    with pytest.raises(GitError, match="not a git repository"):
        open_repository(str(tmp_path), os.environ)


def test_discover_missing_folder_is_none(tmp_path: Path) -> None:
    """A working folder that was deleted belongs nowhere."""
    assert discover(str(tmp_path / "gone"), os.environ) is None


def test_discover_configuration_with_includes_asks_git(git_repo: GitRepo, tmp_path: Path) -> None:
    """An included file may set core.worktree: that is left to git."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "more").write_text(f"[core]\n\tworktree = {tmp_path / 'elsewhere'}\n")
    git_repo.git("config", "include.path", str(tmp_path / "more"))
    assert ask_git(git_repo.path) == discover(str(git_repo.path), os.environ)


@pytest.mark.parametrize(
    "names",
    [
        ("GIT_DIR",),
        ("GIT_DIR", "GIT_WORK_TREE"),
        ("GIT_WORK_TREE",),
    ],
    ids="+".join,
)
def test_discover_environment_points_elsewhere_agrees_with_git(
    names: tuple[str, ...], git_repo: GitRepo, tmp_path: Path
) -> None:
    """GIT_DIR and GIT_WORK_TREE win as they do in git, relative to where it runs."""
    (git_repo.path / "sub").mkdir()
    values = {"GIT_DIR": "../.git", "GIT_WORK_TREE": ".."}
    env = {name: values[name] for name in names}
    folder = git_repo.path / "sub"
    assert ask_git(folder, env) == discover(str(folder), os.environ | env)


def test_discover_below_a_ceiling_stops_there(git_repo: GitRepo) -> None:
    """GIT_CEILING_DIRECTORIES keeps the search down, as in git."""
    folder = git_repo.path / "a" / "b"
    folder.mkdir(parents=True)
    for ceiling in (git_repo.path, git_repo.path / "a", git_repo.path.parent, folder):
        env = {"GIT_CEILING_DIRECTORIES": f"/nowhere:{ceiling}"}
        assert ask_git(folder, env) == discover(str(folder), os.environ | env)


def test_discover_folder_of_another_user_raises_gits_remedy(git_repo: GitRepo) -> None:
    """What git refuses we refuse, in its words; a safe.directory is accepted."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(git_repo.path, 1234, 1234)
    os.chown(git_repo.path / ".git", 1234, 1234)
    with pytest.raises(GitError, match="dubious ownership") as caught:
        discover(str(git_repo.path), os.environ)
    assert "safe.directory" in (caught.value.hint or "")
    config = git_repo.path.parent / "global"
    config.write_text("[safe]\n\tdirectory = *\n")
    env = {"GIT_CONFIG_GLOBAL": str(config)}
    found = discover(str(git_repo.path), os.environ | env)
    assert found is not None
    assert found.worktree == str(git_repo.path)


def test_discover_broken_git_file_says_so(tmp_path: Path) -> None:
    """A worktree whose main repository moved away is an error in git's words."""
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    with pytest.raises(GitError, match="nowhere"):
        discover(str(tmp_path), os.environ)


def test_discover_file_named_head_only_is_no_repository(tmp_path: Path) -> None:
    """A folder with a HEAD and nothing else is not taken for a bare repository."""
    (tmp_path / "HEAD").write_text("x")
    assert discover(str(tmp_path), os.environ) is None


def open_here(repo: GitRepo) -> Repository:
    """Return the repository of a test."""
    return open_repository(str(repo.path), os.environ)


def test_read_head_unborn_has_a_branch_and_no_commit(git_repo: GitRepo) -> None:
    """Before the first commit there is a branch only."""
    assert read_head(open_here(git_repo)) == Head("", "main")


def test_read_head_detached_has_a_commit_and_no_branch(git_repo: GitRepo) -> None:
    """A detached HEAD records no branch."""
    sha = git_repo.commit()
    git_repo.git("checkout", "-q", "--detach")
    assert read_head(open_here(git_repo)) == Head(sha, "")


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_read_head_slashed_branch_is_found(
    packed: bool,  # noqa: FBT001 (a parameter of the table)
    git_repo: GitRepo,
) -> None:
    """Loose refs and packed-refs give the same answer."""
    sha = git_repo.commit()
    git_repo.git("checkout", "-q", "-b", "feat/日本")
    git_repo.git("branch", "feat/日本-more")
    if packed:
        git_repo.git("pack-refs", "--all")
    assert read_head(open_here(git_repo)) == Head(sha, "feat/日本")


def test_read_head_linked_worktree_reads_its_own(git_repo: GitRepo, tmp_path: Path) -> None:
    """Each worktree has its own HEAD and shares the refs."""
    sha = git_repo.commit()
    git_repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "wt"))
    assert read_head(open_here(GitRepo(tmp_path / "wt"))) == Head(sha, "side")
    trees = list_worktrees(open_here(git_repo))
    assert [(tree.path, tree.head) for tree in trees] == [
        (str(git_repo.path), Head(sha, "main")),
        (str(tmp_path / "wt"), Head(sha, "side")),
    ]


def test_read_head_symbolic_branch_is_followed_by_git(git_repo: GitRepo) -> None:
    """A branch that is a symbolic ref still has its commit."""
    sha = git_repo.commit()
    git_repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git_repo.git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert read_head(open_here(git_repo)).commit == sha


def test_read_head_damaged_head_falls_back_to_git(git_repo: GitRepo) -> None:
    """A HEAD file that we cannot read is git's business; without an answer there is no commit."""
    repo = open_here(git_repo)
    (git_repo.path / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    assert read_head(repo).commit == ""


def test_default_branch_remote_head_wins_over_usual_names(git_repo: GitRepo, tmp_path: Path) -> None:
    """What origin calls its HEAD is the default; else a usual name that exists."""
    assert default_branch(open_here(git_repo)) == ""
    git_repo.commit()
    assert default_branch(open_here(git_repo)) == "main"
    git_repo.git("branch", "-m", "stable")
    git_repo.git("clone", "-q", str(git_repo.path), str(tmp_path / "clone"))
    assert default_branch(open_here(GitRepo(tmp_path / "clone"))) == "stable"


def test_list_worktrees_unborn_and_bare_are_told_apart(git_repo: GitRepo, tmp_path: Path) -> None:
    """An unborn worktree has no commit; a bare repository says that it is one."""
    assert list_worktrees(open_here(git_repo))[0].head == Head("", "main")
    bare = create_repository(tmp_path / "b.git", bare=True)
    assert list_worktrees(open_here(bare))[0].bare


def test_environ_of_committing_keeps_its_index(git_repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A partial commit's index survives, made absolute; otherwise it is dropped."""
    monkeypatch.chdir(git_repo.path)
    repo = open_here(git_repo)
    env = {"GIT_INDEX_FILE": ".git/next-index-1.lock", "GIT_PREFIX": "a/"}
    kept = environ_of(repo, env, committing=True)
    assert kept["GIT_INDEX_FILE"] == str(git_repo.path / ".git" / "next-index-1.lock")
    assert environ_of(repo, env) == {
        "GIT_DIR": repo.git_dir,
        "GIT_COMMON_DIR": repo.common_dir,
        "GIT_WORK_TREE": repo.worktree,
    }


def test_is_rebasing_during_a_stopped_rebase_is_true(git_repo: GitRepo) -> None:
    """Both backends leave their folder while they run."""
    git_repo.commit("base", {"a": "1\n"})
    git_repo.git("checkout", "-q", "-b", "side")
    git_repo.commit("side", {"a": "2\n"})
    git_repo.git("checkout", "-q", "main")
    git_repo.commit("main", {"a": "3\n"})
    for backend in ("--merge", "--apply"):
        assert not is_rebasing(open_here(git_repo))
        git_repo.run("rebase", backend, "main", "side", check=False)
        assert is_rebasing(open_here(git_repo))
        git_repo.git("rebase", "--abort")


def test_discover_git_dir_names_a_git_file_or_nonsense(git_repo: GitRepo, tmp_path: Path) -> None:
    """GIT_DIR may be a `.git` file; where it is nothing, git's own words come through."""
    git_repo.commit()
    git_repo.git("worktree", "add", "-q", str(tmp_path / "wt"))
    env = {"GIT_DIR": str(tmp_path / "wt" / ".git")}
    assert ask_git(tmp_path / "wt", env) == discover(str(tmp_path / "wt"), os.environ | env)
    with pytest.raises(GitError, match="not a git repository"):
        discover(str(tmp_path), os.environ | {"GIT_DIR": str(tmp_path / "nothing")})


@pytest.mark.parametrize(
    "line",
    ['worktree = "../../else where"', "bare", "worktree = ../../x ; note"],
    ids=["quoted", "bare", "comment"],
)
def test_discover_settings_that_are_not_plain_agree_with_git(
    line: str, git_repo: GitRepo, tmp_path: Path
) -> None:
    """Quotes, comments and keys without a value are git's to read."""
    for name in ("else where", "x"):
        (tmp_path / name).mkdir()
    config = git_repo.path / ".git" / "config"
    config.write_text(config.read_text().replace("\tbare = false\n", "") + f"[core]\n\t{line}\n")
    env = {"GIT_DIR": str(git_repo.path / ".git")}
    assert ask_git(git_repo.path) == discover(str(git_repo.path), os.environ)
    assert ask_git(git_repo.path, env) == discover(str(git_repo.path), os.environ | env)


def test_discover_worktree_setting_with_git_dir_agrees_with_git(git_repo: GitRepo, tmp_path: Path) -> None:
    """core.worktree counts for an explicit GIT_DIR too."""
    folder = _worktree_setting(git_repo, tmp_path)
    env = {"GIT_DIR": str(git_repo.path / ".git")}
    assert ask_git(folder, env) == discover(str(folder), os.environ | env)


def test_discover_common_dir_given_is_taken(git_repo: GitRepo) -> None:
    """GIT_COMMON_DIR names the shared part."""
    env = {"GIT_COMMON_DIR": str(git_repo.path / ".git"), "GIT_DIR": str(git_repo.path / ".git")}
    found = discover(str(git_repo.path), os.environ | env)
    assert found is not None
    assert found.common_dir == str(git_repo.path / ".git")


def test_discover_ceiling_after_an_empty_entry_is_not_resolved(git_repo: GitRepo, tmp_path: Path) -> None:
    """Git's own rule for links in GIT_CEILING_DIRECTORIES."""
    (tmp_path / "link").symlink_to(git_repo.path)
    folder = git_repo.path / "a"
    folder.mkdir()
    for value in (f":{tmp_path / 'link'}", f"{tmp_path / 'link'}"):
        env = {"GIT_CEILING_DIRECTORIES": value}
        assert ask_git(folder, env) == discover(str(folder), os.environ | env)


def test_read_head_ref_that_holds_nonsense_or_goes_in_circles_has_no_commit(git_repo: GitRepo) -> None:
    """Damage is left to git, whose silence means that there is no commit."""
    git_repo.commit()
    repo = open_here(git_repo)
    ref = git_repo.path / ".git" / "refs" / "heads" / "main"
    for content in ("nonsense\n", "ref: refs/heads/main\n"):
        ref.write_text(content)
        assert read_head(repo).commit == ""
