"""The git funnel: environment, errors, timeouts, streams."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from memx.errors import GitError
from memx.repo import git
from memx.repo.git import foreign_environ, git_error, run_git, stream_git
from tests.support.git_repo import create_repository
from tests.support.processes import children

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.git_repo import GitRepo


@pytest.fixture(params=["posix_spawn", "subprocess"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with each way of starting git."""
    if request.param == "subprocess":
        monkeypatch.delattr(os, "posix_spawnp")
    return str(request.param)


def test_run_git_standard_input_larger_than_a_pipe_passes_whole(git_repo: GitRepo, either_way: str) -> None:
    """Both pipes are served at once, so neither side blocks."""
    data = os.urandom(3_000_000)
    blob = run_git(["hash-object", "-w", "--stdin"], cwd=str(git_repo.path), stdin=data).decode().strip()
    assert run_git(["cat-file", "blob", blob], cwd=str(git_repo.path)) == data


def test_run_git_failure_carries_gits_words_and_status(git_repo: GitRepo, either_way: str) -> None:
    """The message is git's own and the exit code is kept."""
    with pytest.raises(GitError, match="git rev-parse: Needed a single revision") as caught:
        run_git(["rev-parse", "--verify", "nothing"], cwd=str(git_repo.path))
    assert caught.value.status == 128


def test_run_git_without_check_returns_what_there_is(git_repo: GitRepo, either_way: str) -> None:
    """A caller may take a failure for an empty answer."""
    assert run_git(["config", "--get", "no.such"], cwd=str(git_repo.path), check=False) == b""


def test_run_git_missing_program_is_a_git_error(
    git_repo: GitRepo, either_way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No git on PATH is an expected failure with a hint."""
    monkeypatch.setenv("PATH", str(git_repo.path))
    with pytest.raises(GitError, match="not installed") as caught:
        run_git(["version"], cwd=str(git_repo.path))
    assert caught.value.hint


def test_run_git_past_its_timeout_is_ended(git_repo: GitRepo, either_way: str) -> None:
    """A git that hangs is killed and named."""
    os.mkfifo(git_repo.path / "pipe")
    started = time.monotonic()
    with pytest.raises(GitError, match=r"git hash-object: no answer within 0\.2 s"):
        run_git(["hash-object", "pipe"], cwd=str(git_repo.path), timeout_s=0.2)
    assert time.monotonic() - started < 10


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="lists child processes in /proc")
def test_stream_git_closed_early_ends_git(git_repo: GitRepo, either_way: str) -> None:
    """A reader that stops leaves no process behind."""
    git_repo.git("config", "alias.endless", "!exec yes")
    before = children()
    chunks = stream_git(["endless"], cwd=str(git_repo.path))
    assert next(iter(chunks)).startswith(b"y\n")
    chunks.close()  # type: ignore[attr-defined]
    assert children() <= before


def test_run_git_inside_another_repositorys_hook_sees_its_own_repository(
    git_repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT_DIR and GIT_INDEX_FILE of a committing repository do not leak into a foreign one."""
    other = create_repository(tmp_path / "other")
    other.commit("One", {"other.txt": "x"})
    git_repo.commit("One", {"mine.txt": "x"})
    monkeypatch.setenv("GIT_DIR", str(git_repo.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(git_repo.path / ".git" / "index"))
    assert run_git(["ls-files"], cwd=str(other.path)) == b"other.txt\n"
    assert run_git(["ls-files"], cwd=str(other.path), env=os.environ) == b"mine.txt\n"


def test_foreign_environ_drops_what_git_calls_local(git_repo: GitRepo) -> None:
    """Our list covers the variables that this git names."""
    named = git_repo.git("rev-parse", "--local-env-vars").split()
    assert foreign_environ(dict.fromkeys(named, "x")) == {}


def test_run_git_colour_always_stays_out_of_the_answer(git_repo: GitRepo) -> None:
    """A user's colours, pager, external diff and path quoting do not reach a program."""
    git_repo.commit("One", {"café.txt": "a\n"})
    git_repo.write("café.txt", "b\n")
    for key, value in (("color.ui", "always"), ("core.pager", "cat -v"), ("diff.external", "false")):
        git_repo.git("config", key, value)
    answer = run_git(["diff", "--name-only"], cwd=str(git_repo.path))
    assert answer.decode() == "café.txt\n"
    assert b"\x1b" not in run_git(["diff"], cwd=str(git_repo.path))


def test_run_git_leaves_the_index_untouched(git_repo: GitRepo) -> None:
    """Reading never refreshes the index, so it never takes index.lock."""
    git_repo.commit("One", {"a.txt": "a\n"})
    index = git_repo.path / ".git" / "index"
    os.utime(git_repo.path / "a.txt", (1, 1))
    before = index.read_bytes()
    run_git(["status", "--porcelain"], cwd=str(git_repo.path))
    assert index.read_bytes() == before


def test_run_git_folder_of_another_user_gives_gits_remedy(git_repo: GitRepo) -> None:
    """The error is git's sentence about ownership and the safe.directory line, as a hint."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(git_repo.path, 1234, 1234)
    os.chown(git_repo.path / ".git", 1234, 1234)
    with pytest.raises(GitError, match="dubious ownership") as caught:
        run_git(["status"], cwd=str(git_repo.path))
    assert "safe.directory" in (caught.value.hint or "")


def test_wait_when_children_are_ignored_counts_as_success(
    git_repo: GitRepo, without_child_signals: Callable[[], None]
) -> None:
    """A parent that ignores SIGCHLD takes the exit code away; the output is still good."""
    without_child_signals()
    assert run_git(["version"], cwd=str(git_repo.path)).startswith(b"git version")


@pytest.fixture
def without_child_signals(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after which the kernel reaps children by itself."""
    import signal

    def ignore() -> None:
        previous = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        monkeypatch.setattr(git, "_previous", previous, raising=False)

    return ignore


@pytest.fixture(autouse=True)
def restored_child_signals() -> object:
    """Give SIGCHLD back after each test."""
    import signal

    previous = signal.getsignal(signal.SIGCHLD)
    yield
    signal.signal(signal.SIGCHLD, previous)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["-c", "a.b=c", "--no-pager", "merge", "-x"], "merge"),
        (["--literal-pathspecs", "-C", "x", b"log"], "log"),
        (["status"], "status"),
        (["--version"], "--version"),
    ],
)
def test_error_names_the_subcommand(arguments: list[str | bytes], name: str) -> None:
    """An error begins with what git was to do, not with an option before it."""
    assert str(git_error(arguments, 1, b"fatal: no")) == f"git {name}: no"
