"""Installing, chaining, removing and explaining hooks, wherever the hooks folder is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memx.entry.cli.main import main
from memx.repo.discovery import open_repository
from memx.repo.hooks import HOOKS, HooksReport, install, status, uninstall
from memx.resources import resource
from tests.hooks.conftest import is_executable, lesson_message, taught, with_hooks
from tests.support.git_repo import GitRepo, create_repository

if TYPE_CHECKING:
    from _pytest.capture import CaptureFixture

FOREIGN = b'#!/bin/sh\necho foreign "$@" >> ran.log\ncat >> ran.log\nexit ${FOREIGN_EXIT:-0}\n'


def put(repo: GitRepo, name: str = "post-commit", content: bytes = FOREIGN, mode: int = 0o750) -> Path:
    """Write a hook of the user's own."""
    path = repo.path / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def do(action: object, repo: GitRepo) -> HooksReport:
    """Install, uninstall or inspect in a test's repository."""
    return action(open_repository(str(repo.path), os.environ))  # type: ignore[operator, no-any-return]


def states(report: HooksReport) -> dict[str, str]:
    """Return hook → state."""
    return {hook.name: hook.state for hook in report.hooks}


def test_dispatcher_is_short_and_has_unix_line_ends() -> None:
    """At most 20 lines, LF alone: a CR after the interpreter's name would be `bad interpreter`."""
    with open(resource("hooks/dispatch.sh"), "rb") as stream:
        content = stream.read()
    assert content.startswith(b"#!/bin/sh\n")
    assert b"\r" not in content
    assert content.count(b"\n") <= 20


def test_dispatcher_passes_shellcheck() -> None:
    """The shell code is clean."""
    program = shutil.which("shellcheck") or os.path.join(os.path.dirname(sys.executable), "shellcheck")
    if not os.path.exists(program):
        pytest.skip("shellcheck is not installed")
    subprocess.run([program, resource("hooks/dispatch.sh")], check=True)


def test_install_writes_every_hook_and_repeats_without_change(git_repo: GitRepo) -> None:
    """The first run writes, the second finds nothing to do, uninstall leaves nothing behind."""
    before = sorted(os.listdir(git_repo.path / ".git" / "hooks"))
    assert do(install, git_repo).changed == HOOKS
    assert do(install, git_repo).changed == ()
    report = do(status, git_repo)
    assert states(report) == dict.fromkeys(HOOKS, "memx")
    assert all(hook.runs_memx and is_executable(git_repo.path / hook.path) for hook in report.hooks)
    do(uninstall, git_repo)
    assert sorted(os.listdir(git_repo.path / ".git" / "hooks")) == before
    assert states(do(status, git_repo)) == dict.fromkeys(HOOKS, "absent")


def test_install_without_a_hooks_folder_makes_one(git_repo: GitRepo) -> None:
    """A repository made from an empty template has no hooks folder."""
    shutil.rmtree(git_repo.path / ".git" / "hooks")
    assert do(install, git_repo).changed == HOOKS


def test_install_pins_the_interpreter_even_with_a_quote_in_its_path(
    hooked_repo: GitRepo, tmp_path: Path
) -> None:
    """Spaces and quotes in the path of a virtual environment survive the shell."""
    odd = tmp_path / "it's a $(venv)"
    odd.mkdir()
    python = odd / "python"
    python.write_text(f'#!/bin/sh\necho odd >> "{tmp_path}/ran"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    install(open_repository(str(hooked_repo.path), os.environ), python=str(python))
    hooked_repo.commit(lesson_message("alpha"))
    assert (tmp_path / "ran").exists()
    assert taught(hooked_repo) == ["alpha"]


@pytest.mark.parametrize("name", HOOKS)
def test_existing_hook_runs_first_and_is_restored_byte_for_byte(name: str, git_repo: GitRepo) -> None:
    """The user's hook keeps its arguments and input, and comes back with its bytes and mode."""
    path = put(git_repo, name, FOREIGN + b"# caf\xe9\r\n")
    before = (path.read_bytes(), path.stat().st_mode)
    report = do(install, git_repo)
    assert states(report)[name] == "chained"
    argument = "rebase" if name == "post-rewrite" else "one two"
    subprocess.run([path, argument], cwd=git_repo.path, input=b"a b\nc d\n", check=True)
    assert (git_repo.path / "ran.log").read_bytes() == f"foreign {argument}\na b\nc d\n".encode()
    do(uninstall, git_repo)
    assert (path.read_bytes(), path.stat().st_mode) == before
    assert not os.path.lexists(f"{path}.memx-legacy")


def test_existing_hook_that_refuses_still_refuses(hooked_repo: GitRepo) -> None:
    """Its exit code wins, and memx does not run after it."""
    do(uninstall, hooked_repo)
    put(hooked_repo, "pre-commit", FOREIGN.replace(b"cat", b"true"))
    do(install, hooked_repo)
    done = hooked_repo.run("commit", "-q", "--allow-empty", "-m", "x", env={"FOREIGN_EXIT": "3"}, check=False)
    assert done.returncode == 1
    hooked_repo.commit("allowed")


def test_existing_hook_that_is_a_link_stays_a_link(git_repo: GitRepo) -> None:
    """A link is moved and put back as a link."""
    target = git_repo.write("tools/hook.sh", FOREIGN)
    target.chmod(0o755)
    link = git_repo.path / ".git" / "hooks" / "post-commit"
    link.symlink_to("../../tools/hook.sh")
    do(install, git_repo)
    assert states(do(status, git_repo))["post-commit"] == "chained"
    do(uninstall, git_repo)
    assert os.readlink(link) == "../../tools/hook.sh"
    assert target.read_bytes() == FOREIGN


def test_existing_hook_that_is_not_executable_stays_switched_off(git_repo: GitRepo) -> None:
    """Git skips it, and so does ours; status says so."""
    path = put(git_repo, "post-commit", FOREIGN, 0o644)
    assert states(do(status, git_repo))["post-commit"] == "disabled"
    do(install, git_repo)
    git_repo.commit("x")
    assert not (git_repo.path / "ran.log").exists()
    do(uninstall, git_repo)
    assert path.stat().st_mode & 0o777 == 0o644


def test_install_over_two_foreign_hooks_destroys_neither(git_repo: GitRepo) -> None:
    """When the place of the old hook is taken, a person has to decide."""
    put(git_repo)
    do(install, git_repo)
    put(git_repo, "post-commit", b"#!/bin/sh\n# another\n")
    report = do(install, git_repo)
    assert any("join them by hand" in message for message in report.messages)
    assert states(report)["post-commit"] == "foreign"


def test_linked_worktree_and_submodule_use_the_folder_that_git_uses(
    git_repo: GitRepo, tmp_path: Path
) -> None:
    """`.git` is a file there; hooks go where git looks for them."""
    git_repo.commit("x")
    git_repo.git("worktree", "add", "-q", str(tmp_path / "wt"))
    assert do(install, GitRepo(tmp_path / "wt")).hooks_dir == str(git_repo.path / ".git" / "hooks")
    assert states(do(status, git_repo)) == dict.fromkeys(HOOKS, "memx")
    inner = create_repository(tmp_path / "inner")
    inner.commit("x")
    git_repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "mod")
    report = do(install, GitRepo(git_repo.path / "mod"))
    assert report.hooks_dir == str(git_repo.path / ".git" / "modules" / "mod" / "hooks")
    do(uninstall, GitRepo(tmp_path / "wt"))
    assert states(do(status, git_repo)) == dict.fromkeys(HOOKS, "absent")


def test_hooks_path_tracked_in_the_work_tree_gets_a_snippet_and_no_file(git_repo: GitRepo) -> None:
    """A committed hooks folder belongs to the team: memx says what to add."""
    git_repo.commit("x", {"githooks/pre-push": "#!/bin/sh\n"})
    git_repo.git("config", "core.hooksPath", "githooks")
    report = do(install, git_repo)
    assert "tracked in the work tree" in report.reason
    assert 'memx hooks run post-commit "$@"' in report.snippet
    assert any("memx hooks status prints what to add" in message for message in report.messages)
    assert os.listdir(git_repo.path / "githooks") == ["pre-push"]
    assert git_repo.git("config", "core.hooksPath") == "githooks"
    assert not (git_repo.path / ".git" / "hooks" / "post-commit").exists()


def test_hooks_path_outside_the_repository_gets_a_snippet_and_no_file(
    git_repo: GitRepo, tmp_path: Path
) -> None:
    """A folder that serves other repositories too is left alone."""
    (tmp_path / "shared").mkdir()
    git_repo.git("config", "core.hooksPath", str(tmp_path / "shared"))
    report = do(install, git_repo)
    assert "outside the repository" in report.reason
    assert os.listdir(tmp_path / "shared") == []


def test_hooks_path_of_husky_points_at_the_files_people_edit(git_repo: GitRepo) -> None:
    """Husky generates `.husky/_` anew; the lines belong into `.husky/<hook>`."""
    git_repo.write(".husky/_/h", "husky\n")
    git_repo.write(".husky/_/.gitignore", "*\n")
    git_repo.git("config", "core.hooksPath", ".husky/_")
    report = do(install, git_repo)
    assert "husky" in report.reason
    assert f"# {git_repo.path}/.husky/post-commit" in report.snippet
    assert sorted(os.listdir(git_repo.path / ".husky" / "_")) == [".gitignore", "h"]


@pytest.mark.parametrize("folder", [".git/own", "ignored"])
def test_hooks_path_private_to_the_clone_is_used(folder: str, hooked_repo: GitRepo) -> None:
    """A folder inside the git dir, or an ignored one, is as good as the default."""
    (hooked_repo.path / ".git" / "info" / "exclude").write_text("/ignored/\n")
    hooked_repo.git("config", "core.hooksPath", folder)
    report = do(install, hooked_repo)
    assert (report.reason, report.hooks_dir) == ("", str(hooked_repo.path / folder))
    hooked_repo.commit(lesson_message("alpha"))
    assert taught(hooked_repo) == ["alpha"]


@pytest.mark.parametrize(
    ("setting", "reason"),
    [(".githooks", "is not ignored"), (".", "tracked"), ("", "core.hooksPath is empty")],
)
def test_hooks_path_that_a_commit_could_hold_gets_a_snippet_and_no_file(
    setting: str, reason: str, git_repo: GitRepo
) -> None:
    """An untracked folder is about to be the team's: `git add -A` would commit the paths of this machine."""
    git_repo.commit("x", {"a.txt": "1\n"})
    git_repo.write(".githooks/pre-push", "#!/bin/sh\n")
    git_repo.git("config", "core.hooksPath", setting)
    report = do(install, git_repo)
    assert reason in report.reason
    assert 'memx hooks run post-commit "$@"' in report.snippet
    assert os.listdir(git_repo.path / ".githooks") == ["pre-push"]
    assert sorted(os.listdir(git_repo.path)) == [".git", ".githooks", "a.txt"]


def test_snippet_lines_block_a_refusal_only(hooked_repo: GitRepo, tmp_path: Path) -> None:
    """The lines to add by hand run memx, and only its own refusal stops a commit."""
    do(uninstall, hooked_repo)
    hooked_repo.git("config", "core.hooksPath", str(tmp_path / "shared"))
    snippet = do(install, hooked_repo).snippet
    for code, expected in ((10, 1), (1, 0), (0, 0)):
        (tmp_path / "bin").mkdir(exist_ok=True)
        fake = tmp_path / "bin" / "memx"
        fake.write_text(f'#!/bin/sh\n[ "$3" != pre-commit ] || exit {code}\nexit 1\n')
        fake.chmod(0o755)
        env = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-c", snippet], env=env, cwd=hooked_repo.path, check=False)
        assert done.returncode == expected
    env = os.environ | {"PATH": "/usr/bin:/bin"}
    assert subprocess.run(["sh", "-c", snippet], env=env, cwd=hooked_repo.path, check=False).returncode == 0


def test_pre_commit_framework_that_moved_ours_still_runs_it_once(hooked_repo: GitRepo) -> None:
    """The framework renames a hook to `.legacy` and runs it; a second install must not chain in a circle."""
    do(uninstall, hooked_repo)
    put(hooked_repo, "post-commit", FOREIGN.replace(b"cat", b"true"))
    do(install, hooked_repo)
    hooks = hooked_repo.path / ".git" / "hooks"
    os.rename(hooks / "post-commit", hooks / "post-commit.legacy")
    shim = b'#!/bin/sh\n# https://pre-commit.com\n"$0.legacy" "$@"\n'
    put(hooked_repo, "post-commit", shim)
    report = do(install, hooked_repo)
    assert states(report)["post-commit"] == "displaced"
    assert any("runs memx already" in message for message in report.messages)
    hooked_repo.commit(lesson_message("alpha"))
    assert taught(hooked_repo) == ["alpha"]
    assert (hooked_repo.path / "ran.log").read_bytes().count(b"foreign") == 1
    do(uninstall, hooked_repo)
    assert (hooks / "post-commit").read_bytes() == shim
    assert (hooks / "post-commit.legacy").read_bytes().startswith(b"#!/bin/sh\necho foreign")


def test_lefthook_that_moved_ours_away_is_reported_and_chained_again(hooked_repo: GitRepo) -> None:
    """Lefthook renames a hook to `.old` and forgets it: status says so, install brings memx back."""
    hooks = hooked_repo.path / ".git" / "hooks"
    os.rename(hooks / "post-commit", hooks / "post-commit.old")
    put(hooked_repo, "post-commit", b"#!/bin/sh\n# lefthook\ncall_lefthook() { :; }\n")
    state = next(hook for hook in do(status, hooked_repo).hooks if hook.name == "post-commit")
    assert (state.state, state.runner, state.runs_memx) == ("foreign", "lefthook", False)
    assert "does not run it" in state.note
    do(install, hooked_repo)
    hooked_repo.commit(lesson_message("alpha"))
    assert taught(hooked_repo) == ["alpha"]


def test_status_names_an_interpreter_that_is_gone(git_repo: GitRepo) -> None:
    """A deleted virtual environment is seen before the next commit tells."""
    install(open_repository(str(git_repo.path), os.environ), python="/nowhere/bin/python")
    notes = {hook.note for hook in do(status, git_repo).hooks}
    assert notes == {"its interpreter /nowhere/bin/python is gone; run memx hooks install"}


def test_install_under_autocrlf_writes_unix_line_ends(git_repo: GitRepo) -> None:
    """No setting of the repository turns the installed script into a Windows file."""
    git_repo.git("config", "core.autocrlf", "true")
    with_hooks(git_repo)
    assert b"\r" not in (git_repo.path / ".git" / "hooks" / "post-commit").read_bytes()
    git_repo.commit(lesson_message("alpha"), {"a.txt": "x\r\ny\r\n"})
    assert taught(git_repo) == ["alpha"]


def test_program_prints_the_snippet_as_it_is_to_be_pasted(
    git_repo: GitRepo, capfd: CaptureFixture[str]
) -> None:
    """What goes into the file by hand is data, and an installation that wrote nothing is none."""
    git_repo.commit("x", {"githooks/pre-push": "#!/bin/sh\n"})
    git_repo.git("config", "core.hooksPath", "githooks")
    snippet = do(status, git_repo).snippet
    assert main(["-C", str(git_repo.path), "hooks", "install"]) == 1
    told = capfd.readouterr()
    assert told.out.endswith("\n" + snippet)
    assert "no hooks written" in told.err
    for part in snippet.split("# ")[1:]:
        path, _, line = part.partition("\n")
        Path(path).write_text(f"#!/bin/sh\n{line}")
        Path(path).chmod(0o755)
    assert main(["-C", str(git_repo.path), "hooks", "install"]) == 0


def test_foreign_hook_that_calls_memx_is_not_chained_to_a_second_call(git_repo: GitRepo) -> None:
    """Whoever wrote the line into the hook by hand has memx run once, not twice."""
    path = put(git_repo, content=b'#!/bin/sh\nmemx hooks run post-commit "$@" || true\n')
    report = do(install, git_repo)
    assert states(report)["post-commit"] == "called"
    assert any("calls memx already" in message for message in report.messages)
    assert b"hooks run post-commit" in path.read_bytes()
    do(uninstall, git_repo)
    assert states(do(status, git_repo))["post-commit"] == "called"
