"""A lesson is neither lost nor damaged on its way in, and what the Curator did with it is said."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.terminal import on_terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

LESSON = "The kiosk needs a reboot on Mondays, or the badge reader stays silent."
LATIN_1 = "Die Schl\u00fcssel liegen im Tresor".encode("latin-1")


def block(store: Program) -> None:
    """Make every write into the store's bullets fail, for root too: a file stands where their folder should be."""
    bullets = store.folder / ".memx/bullets"
    for path in sorted(bullets.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    bullets.rmdir()
    bullets.write_text("")


def edit_with(store: Program, words: list[str], script: str, stdin: str = "") -> tuple[int, str, str]:
    """Run a command whose editor is a shell script on the file; return code, output and standard error."""
    editor = store.folder.parent / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    done = store.run(*words, environ={"EDITOR": str(editor)}, stdin=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("way", ["argument", "stdin"])
def test_lesson_that_cannot_be_stored_is_printed(store: Program, way: str) -> None:
    """A store that cannot be written costs the command, not the lesson; programs get it in the document."""
    block(store)
    words, stdin = (["add", LESSON], "") if way == "argument" else (["add", "-"], LESSON)
    done = store.run(*words, stdin=stdin)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().endswith(f"not stored:\n{LESSON}\n")
    document = json.loads(store.run(*words, "--json", stdin=stdin).stdout)
    assert (document["text"], bool(document["error"]["message"])) == (LESSON, True)


def test_lesson_outside_of_any_store_is_printed(memx: Program) -> None:
    """Where there is no store yet the lesson comes back with the error, its secrets redacted as ever."""
    key = "AKIA" + "IOSFODNN7QRSTUVW"
    done = memx.run("add", f"{LESSON} The key is {key} in prod.")
    assert (done.returncode, LESSON in done.stderr.decode(), key in done.stderr.decode()) == (1, True, False)


@pytest.mark.parametrize(
    "words",
    [
        ["add", os.fsdecode(LATIN_1)],
        ["add", LESSON, "--title", "\udcff"],
        ["add", LESSON, "--scope", "workspace:\udcff"],
        ["add", LESSON, "--tag", "good", "--tag", "b\udcffd"],
        ["add", LESSON, "--tool", "\udcff"],
        ["add", LESSON, "--entity", "\udcff"],
        ["add", LESSON, "--anchor", "\udcff.py"],
        ["wrong", "{id}", "--because", "\udcff"],
        ["config", "set", "sync.remote", "\udcff"],
    ],
    ids=lambda words: " ".join(words).encode("ascii", "backslashreplace").decode(),
)
def test_argument_that_is_no_utf8_is_refused(store: Program, words: list[str]) -> None:
    """What would be stored with replacement characters is not stored at all, and the place is named."""
    known = store.json("add", "Whales sleep under the ice of the northern bay")["id"]
    before = store.git("status", "--porcelain", "-uall")
    done = store.run(*(word.replace("{id}", known) for word in words))
    assert (done.returncode, b"is not UTF-8" in done.stderr, b"iconv" in done.stderr) == (2, True, True)
    assert store.git("status", "--porcelain", "-uall") == before


@pytest.mark.parametrize("words", [["add", "-"], ["distill", "--stdin"]], ids=" ".join)
def test_standard_input_that_is_no_utf8_is_refused(store: Program, words: list[str]) -> None:
    """Bytes of another encoding are named with their line."""
    done = store.run(*words, stdin=b"first line\n" + LATIN_1)
    assert (done.returncode, b"byte 0xfc is not UTF-8: standard input:2" in done.stderr) == (1, True)
    assert store.git("status", "--porcelain") == ""


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marked_encoding_is_read_as_it_says(store: Program, encoding: str) -> None:
    """The pipes of some shells begin with a byte order mark; it tells how to read the rest and is no text."""
    done = store.run("add", "-", "--json", stdin="Der Schlüssel liegt im Tresor".encode(encoding))
    assert done.returncode == 0
    assert [one["text"] for one in store.json("list")["bullets"]] == ["Der Schlüssel liegt im Tresor"]


def test_edit_that_is_no_utf8_is_kept_aside(store: Program) -> None:
    """What the editor left in another encoding reaches no bullet, and the error says where it lies."""
    added = store.json("add", LESSON)
    path = store.folder / ".memx" / added["path"]
    before = path.read_bytes()
    code, _, said = edit_with(store, ["edit", added["id"]], "printf 'caf\\351\\n' >> \"$1\"")
    assert (code, "is not UTF-8" in said, "your text is kept in" in said) == (1, True, True)
    assert path.read_bytes() == before


def test_edit_into_a_known_lesson_says_what_was_merged(store: Program) -> None:
    """When an edited text is another bullet's lesson, the one that is gone, the one that stays and the way back."""
    known = store.json("add", LESSON, "--score", "90")["id"]
    other = store.json("add", "Whales sleep under the ice of the northern bay", "--score", "10")["id"]
    script = f"sed -i 's/^Whales.*/{LESSON}/' \"$1\""
    code, out, said = edit_with(store, ["edit", other], script)
    assert (code, out.split()[:2]) == (0, ["merged", known])
    assert f"merged {other} into {known}" in said
    assert f"memx unmerge {known}" in said


def test_fmt_into_a_known_lesson_says_what_was_merged(store: Program) -> None:
    """A file written by hand that repeats a lesson is merged when it gets its id, and both ids are named."""
    known = store.json("add", LESSON, "--score", "90")["id"]
    path = store.folder / ".memx/bullets/general/hand.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LESSON.replace("a reboot", "rebooting") + "\n")
    said = store.run("fmt").stderr.decode()
    assert f" into {known} " in said
    assert f"memx unmerge {known}" in said


def test_review_asks_again_when_an_edit_is_no_utf8(store: Program, tmp_path: Path) -> None:
    """A candidate whose edited text cannot be read stays in the inbox, and the text is kept."""
    store.commit("Share it\n\nGotcha: SECRET_KEY must be the same on every replica, or cookies are rejected.")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'caf\\351\\n' > \"$1\"\n")
    editor.chmod(0o755)
    store.environ["EDITOR"] = str(editor)
    said = on_terminal(store, "e\nq\n", "review")
    assert ("is not UTF-8" in said, said.count("accept, edit, merge")) == (True, 2)
    assert len(store.json("inbox")["candidates"]) == 1
