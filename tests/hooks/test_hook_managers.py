"""The real hook managers beside memx: the pre-commit framework, husky and lefthook."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from memx.repo.discovery import open_repository
from memx.repo.hooks import install, status, uninstall
from tests.hooks.conftest import lesson_message, taught

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo

pytestmark = pytest.mark.external

LOCAL_HOOK = """\
repos:
  - repo: local
    hooks:
      - id: trace
        name: trace
        entry: sh -c 'echo framework >> ran.log'
        language: system
        always_run: true
        pass_filenames: false
        stages: [pre-commit, post-commit]
"""


def tool(name: str) -> str:
    """Return the path of a program or skip the test."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(repo: GitRepo, *command: str) -> None:
    """Run a manager's own command; some of them refuse to work where CI is set."""
    env = {key: value for key, value in os.environ.items() if key not in ("CI", "LEFTHOOK", "HUSKY")}
    subprocess.run(command, cwd=repo.path, env=env, check=True, capture_output=True)


def ran(repo: GitRepo) -> int:
    """Return how often the manager's own check ran."""
    try:
        return (repo.path / "ran.log").read_text().count("\n")
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("memx_first", [True, False], ids=["before", "after"])
def test_pre_commit_framework_and_memx_both_run(
    memx_first: bool,  # noqa: FBT001 (a column of the table)
    hooked_repo: GitRepo,
) -> None:
    """Whoever is installed first, a commit runs both once, and memx can be taken out again."""
    program = tool("pre-commit")
    repository = open_repository(str(hooked_repo.path), os.environ)
    hooked_repo.commit("Configure", {".pre-commit-config.yaml": LOCAL_HOOK, ".gitignore": "ran.log\n"})
    if not memx_first:
        uninstall(repository)
    for kind in ("pre-commit", "post-commit"):
        run(hooked_repo, program, "install", "-t", kind)
    install(repository)
    assert all(hook.runs_memx for hook in status(repository).hooks)
    hooked_repo.commit(lesson_message("alpha"))
    assert taught(hooked_repo) == ["alpha"]
    assert ran(hooked_repo) == 2
    uninstall(repository)
    hooked_repo.commit(lesson_message("beta"))
    assert taught(hooked_repo) == ["alpha"]
    assert ran(hooked_repo) == 4


@pytest.mark.parametrize("memx_first", [True, False], ids=["before", "after"])
def test_lefthook_and_memx_both_run(
    memx_first: bool,  # noqa: FBT001 (a column of the table)
    hooked_repo: GitRepo,
) -> None:
    """The manager lefthook moves our hook away without running it; installing memx again chains them."""
    program = tool("lefthook")
    repository = open_repository(str(hooked_repo.path), os.environ)
    config = "post-commit:\n  jobs:\n    - run: echo lefthook >> ran.log\n"
    hooked_repo.commit("Configure", {"lefthook.yml": config, ".gitignore": "ran.log\n"})
    if not memx_first:
        uninstall(repository)
    run(hooked_repo, program, "install")
    state = next(hook for hook in status(repository).hooks if hook.name == "post-commit")
    assert (state.state, state.runner) == ("foreign", "lefthook")
    install(repository)
    hooked_repo.commit(lesson_message("alpha"))
    assert taught(hooked_repo) == ["alpha"]
    assert ran(hooked_repo) == 1


def test_husky_with_the_snippet_runs_memx(hooked_repo: GitRepo) -> None:
    """With husky owning core.hooksPath memx writes nothing, and its lines work in husky's files."""
    program = tool("husky")
    run(hooked_repo, program)
    repository = open_repository(str(hooked_repo.path), os.environ)
    report = install(repository)
    assert report.reason == "husky owns core.hooksPath"
    bin_dir = hooked_repo.path.parent / "bin"
    bin_dir.mkdir()
    (bin_dir / "memx").write_text('#!/bin/sh\necho "$@" >> "$(dirname "$0")/ran"\n')
    (bin_dir / "memx").chmod(0o755)
    lines = report.snippet.split("\n")
    for heading, line in zip(lines[::2], lines[1::2], strict=False):
        if heading.endswith("post-commit"):
            (hooked_repo.path / ".husky" / "post-commit").write_text(line + "\n")
    path = f"{bin_dir}:{os.environ['PATH']}"
    (state,) = [state for state in install(repository).hooks if state.name == "post-commit"]
    assert (state.state, state.runner, state.runs_memx) == ("called", "husky", True)
    hooked_repo.git("commit", "-q", "--allow-empty", "-m", "x", env={"PATH": path})
    assert (bin_dir / "ran").read_text() == "hooks run post-commit\n"
