"""The hook process: what pre-commit refuses, and that nothing else ever stops git."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from memx.entry.hook import BLOCKED, main
from memx.repo.discovery import open_repository
from memx.repo.hooks import HOOKS, install
from tests.hooks.conftest import lesson_message, taught

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.git_repo import GitRepo

BULLET = ".memx/bullets/general/the-pool-k3v9q2m7xa.md"
HEAVY = (
    *("tantivy", "numpy", "model2vec", "typer", "rich", "git", "yaml", "frontmatter", "simsimd"),
    *("subprocess", "dataclasses", "logging", "pathlib", "typing", "re", "json", "enum"),
)


def secret() -> str:
    """Return something that looks like a real token, put together so that no scanner minds this file."""
    return "ghp_" + "a8Kd03mVx72LqPz9" + "Yt5RwB1nC4sE6hJf" + "G0uT"


def stage(repo: GitRepo, text: str, path: str = BULLET) -> None:
    """Write and stage a bullet."""
    repo.write(path, text)
    repo.git("add", "--", path)


def try_commit(repo: GitRepo, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Commit and return the finished process, whatever its exit code."""
    return repo.run("commit", "-q", "-m", "x", *arguments, check=False)


def test_pre_commit_valid_bullet_passes_in_silence(hooked_repo: GitRepo, bullet: str) -> None:
    """A good bullet costs no word."""
    stage(hooked_repo, bullet)
    done = try_commit(hooked_repo)
    assert (done.returncode, done.stderr) == (0, b"")


def test_pre_commit_staged_secret_is_refused_with_its_place(hooked_repo: GitRepo, bullet: str) -> None:
    """A secret in a staged bullet stops the commit, named by kind, path and line, never by value."""
    stage(hooked_repo, bullet + f"\nUse the token {secret()} for the registry.\n")
    done = try_commit(hooked_repo)
    assert done.returncode == 1
    assert f"{BULLET}:8" in done.stderr.decode()
    assert secret() not in done.stderr.decode()


def test_pre_commit_conflict_marker_is_refused(hooked_repo: GitRepo, bullet: str) -> None:
    """Markers that git's merge left may not be committed."""
    stage(hooked_repo, bullet + "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    done = try_commit(hooked_repo)
    assert done.returncode == 1
    assert f"memx: conflict marker: {BULLET}:7" in done.stderr.decode()


def test_pre_commit_looks_at_the_index_not_at_the_work_tree(hooked_repo: GitRepo, bullet: str) -> None:
    """What will be committed counts, both ways round."""
    stage(hooked_repo, bullet)
    hooked_repo.write(BULLET, bullet + secret())
    assert try_commit(hooked_repo).returncode == 0
    stage(hooked_repo, bullet + secret())
    hooked_repo.write(BULLET, bullet)
    assert try_commit(hooked_repo).returncode == 1


@pytest.mark.parametrize("arguments", [["-a"], [BULLET], ["-i", BULLET]], ids=["all", "path", "include"])
def test_pre_commit_sees_the_index_of_this_commit(
    arguments: list[str], hooked_repo: GitRepo, bullet: str
) -> None:
    """`commit -a` and a partial commit have an index of their own: that one is checked."""
    stage(hooked_repo, bullet)
    hooked_repo.git("commit", "-q", "-m", "first")
    hooked_repo.write(BULLET, bullet + secret())
    assert try_commit(hooked_repo, *arguments).returncode == 1


def test_pre_commit_partial_commit_ignores_what_it_leaves_out(hooked_repo: GitRepo, bullet: str) -> None:
    """A bad bullet that is staged but not part of this commit does not stop it, nor is it lost."""
    stage(hooked_repo, bullet + secret())
    hooked_repo.write("a.txt", "2\n")
    assert try_commit(hooked_repo, "a.txt").returncode == 0
    assert hooked_repo.git("status", "--porcelain") == f"A  {BULLET}"


def test_pre_commit_hunk_left_unstaged_stays_unstaged(hooked_repo: GitRepo, bullet: str) -> None:
    """The commit holds exactly what was staged, and the rest stays as it was."""
    stage(hooked_repo, bullet)
    hooked_repo.write(BULLET, bullet + "More, not staged.\n")
    hooked_repo.write(".memx/bullets/general/other.md", "Untracked.\n")
    hooked_repo.git("commit", "-q", "-m", "x")
    assert hooked_repo.git("show", f"HEAD:{BULLET}") == bullet.rstrip("\n")
    assert sorted(hooked_repo.git("status", "--porcelain", "-uall").split("\n")) == [
        f" M {BULLET}",
        "?? .memx/bullets/general/other.md",
    ]


def test_pre_commit_odd_names_and_deletions_are_fine(hooked_repo: GitRepo, bullet: str) -> None:
    """Quoted paths are read, deleted and foreign files are not."""
    odd = '.memx/bullets/general/日本 "q".md'
    stage(hooked_repo, bullet + secret(), odd)
    done = try_commit(hooked_repo)
    assert done.returncode == 1
    assert odd in done.stderr.decode()
    hooked_repo.git("commit", "-q", "-m", "x", "--no-verify")
    hooked_repo.git("rm", "-q", odd)
    stage(hooked_repo, secret(), "src/token.txt")
    assert try_commit(hooked_repo).returncode == 0


def test_pre_commit_block_list_decides(
    hooked_repo: GitRepo, bullet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an empty `hooks.block` the finding is said and the commit goes on."""
    monkeypatch.setenv("MEMX_HOOKS_BLOCK", "")
    stage(hooked_repo, bullet + secret())
    done = try_commit(hooked_repo)
    assert done.returncode == 0
    assert b"secret" in done.stderr


BROKEN = {
    "open fence": ("---\nid: k3v9q2m7xa\nA lesson without an end of its front matter.\n", 1),
    "bad yaml": ("---\nid: k3v9q2m7xa\ntags: [a\n---\nA lesson.\n", 4),
    "bad value": ("---\nid: k3v9q2m7xa\nscore: many\n---\nA lesson.\n", 3),
    "way up": ("---\nid: k3v9q2m7xa\nscope: workspace:../../e\n---\nA lesson.\n", 3),
    "not utf-8": (b"---\nid: k3v9q2m7xa\n---\nCaf\xe9.\n", 4),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("is_blocked", [False, True], ids=["said", "blocked"])
def test_pre_commit_broken_front_matter_is_named(
    hooked_repo: GitRepo, name: str, monkeypatch: pytest.MonkeyPatch, *, is_blocked: bool
) -> None:
    """A file that nobody will find is named with its place, and refused where `hooks.block` says so."""
    if is_blocked:
        monkeypatch.setenv("MEMX_HOOKS_BLOCK", "secret,front-matter")
    content, line = BROKEN[name]
    hooked_repo.write(BULLET, content)
    hooked_repo.git("add", "--", BULLET)
    done = try_commit(hooked_repo)
    assert done.returncode == int(is_blocked)
    assert re.search(
        rf"broken front matter.*: {re.escape(BULLET)}:{line}$", done.stderr.decode(), re.MULTILINE
    )


def test_hook_without_a_store_is_silent(git_repo: GitRepo) -> None:
    """A fresh clone with hooks and no store: every hook is a no-op."""
    install(open_repository(str(git_repo.path), os.environ))
    git_repo.commit(lesson_message("alpha"), {"a": "1"})
    assert not (git_repo.path / ".git" / "memx").exists()


def test_hook_with_a_read_only_git_folder_stops_nothing(hooked_repo: GitRepo) -> None:
    """A state folder that cannot be written is one line at most, and exit 0."""
    (hooked_repo.path / ".git" / "memx").write_text("a file where a folder should be")
    done = hooked_repo.run("commit", "-q", "--allow-empty", "-m", lesson_message("alpha"))
    assert done.stderr.count(b"\n") <= 1


@pytest.mark.parametrize("damage", ["config", "bullet"])
def test_hook_with_a_damaged_store_stops_nothing(damage: str, hooked_repo: GitRepo) -> None:
    """Nonsense in the configuration or in a bullet is no reason to refuse a commit."""
    if damage == "config":
        hooked_repo.write(".memx/config.yml", b"hooks: [\xff\n\t{{{\n")
    else:
        stage(hooked_repo, "---\nid: [\n---\n\0\n")
    done = hooked_repo.run("commit", "-q", "--allow-empty", "-m", lesson_message("alpha"))
    assert done.returncode == 0
    assert taught(hooked_repo) == ["alpha"]


def test_hook_in_a_gui_without_path_runs_the_pinned_interpreter(hooked_repo: GitRepo) -> None:
    """`env -i` with the system's PATH alone: no shell profile, no virtual environment."""
    env = {"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin", "MEMX_HOOKS_DISTILL_SESSIONS": "false"}
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m"]
    subprocess.run([*command, lesson_message("alpha")], cwd=hooked_repo.path, env=env, check=True)
    assert taught(hooked_repo) == ["alpha"]


def test_hook_with_a_deleted_environment_says_one_line(hooked_repo: GitRepo, tmp_path: Path) -> None:
    """The virtual environment is gone and memx is nowhere: one line a hook, and the commit is made."""
    install(open_repository(str(hooked_repo.path), os.environ), python=str(tmp_path / "venv/bin/python"))
    env = {"PATH": "/usr/bin:/bin"}
    done = hooked_repo.run("commit", "-q", "--allow-empty", "-m", "x", env=env)
    lines = done.stderr.decode().splitlines()
    assert [line.split(" skipped")[0] for line in lines] == ["memx: pre-commit", "memx: post-commit"]
    assert all("memx hooks install" in line for line in lines)


def test_hook_with_a_deleted_environment_takes_memx_from_path(hooked_repo: GitRepo, tmp_path: Path) -> None:
    """When another memx is on PATH it is used, with git's arguments."""
    install(open_repository(str(hooked_repo.path), os.environ), python=str(tmp_path / "venv/bin/python"))
    fake = tmp_path / "bin" / "memx"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/ran"\nexit 1\n')
    fake.chmod(0o755)
    hooked_repo.git("commit", "-q", "--allow-empty", "-m", "x", env={"PATH": f"{fake.parent}:/usr/bin:/bin"})
    assert (tmp_path / "ran").read_text() == "hooks run pre-commit\nhooks run post-commit\n"


def test_hook_whose_interpreter_crashes_stops_nothing(hooked_repo: GitRepo, tmp_path: Path) -> None:
    """Exit 1, 127 or a signal of the interpreter is not a refusal."""
    python = tmp_path / "python"
    for body in ("exit 1", "exit 127", "kill -9 $$"):
        python.write_text(f"#!/bin/sh\n{body}\n")
        python.chmod(0o755)
        install(open_repository(str(hooked_repo.path), os.environ), python=str(python))
        assert hooked_repo.run("commit", "-q", "--allow-empty", "-m", "x", check=False).returncode == 0


def test_hook_inside_memx_does_not_run_again(hooked_repo: GitRepo) -> None:
    """A commit made from within a hook does not start the hooks anew."""
    hooked_repo.git(
        "commit", "-q", "--allow-empty", "-m", lesson_message("alpha"), env={"MEMX_HOOK": "post-commit"}
    )
    assert taught(hooked_repo) == []


def test_hook_past_its_deadline_is_given_up(hooked_repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that takes too long ends with one line, and git goes on."""
    monkeypatch.setenv("MEMX_HOOKS_DEADLINE_SECONDS", "0.001")
    done = hooked_repo.run("commit", "-q", "--allow-empty", "-m", lesson_message("alpha"))
    assert b"post-commit skipped: it took longer than 0.001 s" in done.stderr
    assert taught(hooked_repo) == []


@pytest.mark.parametrize("name", [*HOOKS, "", "no-such-hook"])
def test_main_never_raises_and_never_blocks_by_accident(
    name: str, hooked_repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every name, with arguments missing, gives 0."""
    code = (
        "import sys; sys.path.append(sys.argv[1]); from memx.entry.hook import main;"
        "sys.exit(main(sys.argv[2:]))"
    )
    command = [sys.executable, "-EPc", code, _root(), name]
    done = subprocess.run(
        command, cwd=hooked_repo.path, input=b"\xff broken\n", capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_main_outside_a_repository_is_a_no_op(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook started by hand in the wrong place does nothing."""
    monkeypatch.chdir(tmp_path)
    assert main(["pre-commit"]) == 0
    assert BLOCKED not in (0, 1, 2, 3)


def _root() -> str:
    import memx

    return os.path.dirname(os.path.dirname(memx.__file__))


@pytest.mark.parametrize(
    "arguments",
    [["pre-commit"], ["post-checkout", "a", "a", "0"]],
    ids=["pre-commit", "post-checkout"],
)
def test_no_op_hook_loads_nothing_heavy(arguments: list[str], hooked_repo: GitRepo) -> None:
    """A commit without staged bullets loads no library and no slow part of the standard library."""
    code = (
        "import sys; sys.path.append(sys.argv[1]); from memx.entry.hook import main;"
        "main(sys.argv[2:]); print(*sys.modules)"
    )
    command = [sys.executable, "-ESPc", code, _root(), *arguments]
    done = subprocess.run(command, cwd=hooked_repo.path, capture_output=True, check=True)
    assert sorted(set(done.stdout.decode().split()) & set(HEAVY)) == []


def test_background_work_does_not_keep_gits_pipe_open(
    hooked_repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that reads git's output to its end does not wait for detached work."""
    monkeypatch.setenv("MEMX_HOOKS_DISTILL_SESSIONS", "true")
    hooked_repo.commit("x", {"b.txt": "1"})
    started = time.monotonic()
    hooked_repo.run("checkout", "-q", "HEAD~1")
    assert time.monotonic() - started < 5
    assert hooked_repo.git("status", "--porcelain") == ""


def test_session_of_an_agent_is_distilled_after_a_commit(
    hooked_repo: GitRepo, clean_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log in HOME and a commit: the lesson comes into the inbox, once, however often one commits."""
    import json
    import re

    monkeypatch.setenv("MEMX_HOOKS_DISTILL_SESSIONS", "true")
    where = str(hooked_repo.path)
    folder = clean_environment / ".claude" / "projects" / re.sub("[^A-Za-z0-9]", "-", where)
    folder.mkdir(parents=True)
    turn = {
        "type": "user",
        "cwd": where,
        "sessionId": "s1",
        "uuid": "u1",
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {
            "role": "user",
            "content": "No, always use pnpm here, never npm: npm rewrites the lock file.",
        },
    }
    (folder / "s1.jsonl").write_text(json.dumps(turn) + "\n")
    for number in range(3):
        hooked_repo.commit(f"Commit {number}")
        deadline = time.monotonic() + 20
        while not taught(hooked_repo) and time.monotonic() < deadline:
            time.sleep(0.1)
    time.sleep(1)
    assert len(taught(hooked_repo)) == 1


def test_rebase_of_many_commits_teaches_nothing_twice(hooked_repo: GitRepo) -> None:
    """Replayed commits cost no candidate and end with one catch-up, whether in front or in the background."""
    hooked_repo.git("checkout", "-q", "-b", "side")
    hooked_repo.commit(lesson_message("alpha"), {"s.txt": "0\n"})
    feed = ["blob\nmark :1\ndata 1\nx\n"]
    for number in range(24):
        text = f"commit refs/heads/side\ncommitter C <c@x> {1_700_100_000 + number} +0000\n"
        start = "from refs/heads/side^0\n" if number == 0 else ""
        feed.append(f"{text}data {len(f'Step {number}')}\nStep {number}\n{start}M 100644 :1 s{number}.txt\n")
    hooked_repo.git("fast-import", "--quiet", "--force", stdin="".join(feed).encode())
    hooked_repo.git("reset", "-q", "--hard")
    hooked_repo.git("checkout", "-q", "main")
    hooked_repo.commit("Ahead", {"m.txt": "1\n"})
    hooked_repo.git("rebase", "-q", "main", "side")
    assert taught(hooked_repo) == ["alpha"]


def test_hooks_of_two_worktrees_share_one_inbox(hooked_repo: GitRepo, tmp_path: Path) -> None:
    """Lessons of a linked worktree are where the main one finds them."""
    from tests.support.git_repo import GitRepo as Repository

    hooked_repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "wt"))
    linked = Repository(tmp_path / "wt")
    linked.commit(lesson_message("alpha"))
    hooked_repo.commit(lesson_message("beta"))
    assert taught(hooked_repo) == taught(linked) == ["alpha", "beta"]


@pytest.mark.parametrize(
    "command", [["checkout", "-q", "side"], ["merge", "-q", "side"]], ids=["checkout", "merge"]
)
def test_index_is_refreshed_behind_a_checkout_and_a_merge(
    command: list[str], hooked_repo: GitRepo, bullet: str
) -> None:
    """Soon afterwards the index of this worktree is there, without anyone having searched."""
    hooked_repo.git("checkout", "-q", "-b", "side")
    hooked_repo.commit("Add a bullet", {BULLET: bullet})
    hooked_repo.git("-c", "core.hooksPath=/dev/null", "checkout", "-q", "main")
    cache = hooked_repo.path / ".git" / "memx" / "cache"
    assert not (cache / "CURRENT").exists()
    hooked_repo.git(*command)
    deadline = time.monotonic() + 40
    while not (cache / "CURRENT").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert (cache / "CURRENT").exists()
    assert hooked_repo.git("status", "--porcelain") == ""
