"""Names and paths of every kind (faults.md part F), through the installed program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

TITLES = (
    *("部署说明", "Развёртывание", "데이터베이스", "🚀", "!!!", "CON", "nul.txt", "com1", ".", "..", "..."),
    *(
        "API Keys for staging",
        "api keys for production",
        "a > b: c?",
        'q"uote',
        "*?<>|",
        "\\",
        "~/x",
        "$HOME",
    ),
    *(
        "trailing dot.",
        "another trailing space ",
        "한" * 100,
        "a" * 300,
        "b" * 250 + " one",
        "b" * 250 + " two",
    ),
    *("--force", "-n", "--", "x\ny", "tab\tbed", "%2e%2e%2f", "cafe\u0301 au lait", "\u202eevil", "ǅ"),
)
RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{name}{number}" for name in ("com", "lpt") for number in range(10)),
}
FORBIDDEN = set('<>:"/\\|?*') | {chr(code) for code in range(32)}


def is_portable(name: str) -> bool:
    """Say whether a file name can be checked out on every system."""
    stem = name.partition(".")[0]
    return (
        len(name.encode()) <= 100
        and not set(name) & FORBIDDEN
        and name == unicodedata.normalize("NFC", name)
        and name[0] not in ".- "
        and stem.casefold() not in RESERVED
        and stem[-1] not in ". "
    )


def test_names_are_distinct_portable_and_short(store: Program) -> None:
    """Rows 57-59: every title gets a file of its own whose name works everywhere, and loses no text."""
    ids = {}
    for number, title in enumerate(TITLES):
        # The text is of another kind each time, so that no two are merged.
        text = f"{title} {chr(0x4E00 + 97 * number)} {number}"
        added = json.loads(store.ok("add", "--json", "--title", title, "--", text))
        assert added["action"] in ("written", "flagged"), (title, added)
        ids[added["id"]] = title
    paths = [path for path in (store.folder / ".memx/bullets").rglob("*") if path.is_file()]
    assert len(paths) == len(ids) == len(TITLES)
    assert [path.name for path in paths if not is_portable(path.name)] == []
    folded = {unicodedata.normalize("NFC", str(path)).casefold() for path in paths}
    assert len(folded) == len(paths)
    for bullet in store.json("list")["bullets"]:
        assert " ".join(bullet["title"].split()) == " ".join(ids[bullet["id"]].split())
    assert store.run("lint").returncode == 0


def test_names_that_differ_by_case_or_normal_form_never_meet(store: Program) -> None:
    """Row 59: `API Keys` and `api keys`, `café` composed and decomposed, are one lesson or two portable files."""
    for text in ("API Keys", "api keys", "caf\u00e9", "cafe\u0301"):
        store.ok("add", text)
    names = [path.name for path in (store.folder / ".memx/bullets").rglob("*.md")]
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(names) == 2


OUTSIDE = ("../x", "/etc/x", "..\\x", "C:x.md", "bullets/../../x.md")


@pytest.mark.parametrize("path", OUTSIDE)
def test_path_that_leads_out_is_refused_by_every_command(store: Program, path: str) -> None:
    """Row 60: the same refusal everywhere; nothing is read, written or removed outside."""
    (store.folder.parent / "x").write_text("outside\n")
    name = store.json("add", "The harbour crane needs calm wind")["id"]
    commands = [
        *(["show", path], ["rm", path], ["mv", path, "tools"], ["edit", path], ["log", path], ["why", path]),
        *(["blame", path], ["archive", path], ["restore", path], ["lint", path], ["fmt", path]),
        *(["add", "Something else", "--anchor", path], ["add", "Something else", "--scope", path]),
        *(["add", "Something else", "--section", path], ["mv", name, path], ["review", "--accept", path]),
        *(["review", "--reject", path], ["search", "x", "--scope", path], ["list", "--section", path]),
        *(["why-not", path, "crane"], ["config", "get", path], ["distill", "--session", path]),
    ]
    for words in commands:
        done = store.run(*words, environ={"EDITOR": "true"})
        assert done.returncode in (1, 2), (words, done.stdout)
        if words[0] == "lint":  # what lint finds is its data
            assert b"outside" not in done.stdout + done.stderr
            continue
        assert done.stdout == b"", words
        assert done.stderr.startswith(b"memx: "), (words, done.stderr)
        assert b"outside" not in done.stderr
    assert (store.folder.parent / "x").read_text() == "outside\n"
    assert len(store.json("list")["bullets"]) == 1


def test_revision_that_looks_like_an_option_is_none(store: Program, tmp_path: Path) -> None:
    """Row 60: nothing that a user names reaches git as an option."""
    store.commit("A commit")
    target = tmp_path / "written"
    for words in (
        ["distill", "--commit", f"--output={target}"],
        ["distill", f"--range=--output={target}"],
        ["distill", "--range", f"HEAD..--output={target}"],
        ["distill", "--history", "--max-count", "-1"],
    ):
        assert store.run(*words).returncode in (1, 2), words
    assert not target.exists()


def test_store_behind_a_link_is_refused_or_kept_inside(memx: Program, tmp_path: Path) -> None:
    """Row 60: a folder of the store that is a link elsewhere is not followed, in reading or in writing."""
    memx.ok("init")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret.md").write_text("Words from elsewhere.\n")
    (memx.folder / ".memx/bullets/general").symlink_to(tmp_path / "elsewhere")
    assert "elsewhere" not in memx.ok("list")
    assert memx.run("add", "Any lesson", "--section", "general").returncode == 1
    assert sorted(path.name for path in (tmp_path / "elsewhere").iterdir()) == ["secret.md"]
    assert b".memx/bullets/general: " in memx.run("lint").stdout


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_files_have_the_mode_that_the_user_asks_for(store: Program, mask: int, mode: int) -> None:
    """Row 62: new files follow the umask, edited ones keep their mode, and no temporary file stays."""
    command = f"umask {mask:03o}; exec {sys.executable} -m memx "
    run = subprocess.run(
        ["sh", "-c", command + "add 'The harbour crane needs calm wind' --section general"],
        cwd=store.folder,
        env=store.environ,
        check=True,
        capture_output=True,
    )
    path = store.folder / ".memx" / run.stdout.decode().split()[2]
    assert path.stat().st_mode & 0o777 == mode
    path.chmod(0o664)
    store.ok("mv", str(path), "tools")
    moved = store.folder / ".memx/bullets/tools" / path.name
    assert moved.stat().st_mode & 0o777 == 0o664
    names = [entry.name for entry in (store.folder / ".memx").rglob("*")]
    assert not [name for name in names if "tmp" in name or name.endswith("~")]


def test_killed_writers_leave_whole_files(store: Program) -> None:
    """Row 62: whenever a writer is killed, every bullet that is listed is whole and no remnant is taken for one."""
    for number in range(12):
        running = subprocess.Popen(
            [sys.executable, "-m", "memx", "add", "-"],
            cwd=store.folder,
            env=store.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert running.stdin is not None
        running.stdin.write(
            f"Lesson {number} about {chr(0x4E00 + 97 * number)} ".encode() + b"and more. " * 20_000
        )
        running.stdin.close()
        try:
            running.wait(0.05 + number * 0.03)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.wait()
    listed = store.json("list")
    assert listed["problems"] == []
    assert all(bullet["text"].endswith("and more.") for bullet in listed["bullets"])
    assert store.run("add", "The next one is written all the same").returncode == 0
    assert os.listdir(store.folder / ".memx/bullets")


def test_names_that_no_anchor_can_hold_are_left_out(store: Program) -> None:
    """A commit may add a file of any name; its lesson is proposed without it, and accepted."""
    folder = os.fsencode(store.folder)
    for name in (b"new\nline.py", b"tab\there.py", b"bad\xff.py", b"good.py"):
        with open(os.path.join(folder, name), "wb") as stream:
            stream.write(b"x\n")
    store.git("add", "--", ":/*.py")
    store.git(
        "commit", "-q", "-m", "Crane\n\nLearned: Lower the crane before a storm, because wind bends it."
    )
    store.run("distill")
    assert store.run("review", "--all").returncode == 0
    (bullet,) = store.json("list")["bullets"]
    assert store.json("show", bullet["id"])["bullet"]["anchors"] == ["good.py"]


def test_review_of_all_goes_on_after_a_candidate_that_cannot_be_written(store: Program) -> None:
    """What was accepted is printed, the one that failed is named and waits, and the exit status says so."""
    lessons = {
        "crane": "Lower the crane before a storm, because wind bends it.",
        "pool": "The Redis pool needs MAX_POOL_SIZE 50, because 10 connections time out.",
    }
    for name, text in lessons.items():
        store.git("commit", "-q", "--allow-empty", "-m", f"Change {name}\n\nLearned: {text}")
    store.run("distill", "HEAD~2..HEAD")
    state = store.folder / ".git" / "memx" / "inbox.jsonl"
    first, rest = state.read_text().split("\n", 1)
    failing = json.loads(first)
    state.write_text(json.dumps(failing | {"section": "unheard-of"}, separators=(",", ":")) + "\n" + rest)
    done = store.run("review", "--all")
    assert done.returncode == 1
    assert done.stdout.count(b"\n") == 2
    assert done.stdout.startswith(b"written ")
    assert f"failed {failing['id']}".encode() in done.stdout
    assert done.stderr.startswith(b"memx: ")
    assert [candidate["id"] for candidate in store.json("inbox")["candidates"]] == [failing["id"]]
