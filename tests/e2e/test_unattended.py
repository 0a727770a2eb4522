"""What a program gets that runs memx without a person: an answer or a refusal, never a screen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import memx as package

if TYPE_CHECKING:
    from tests.e2e.conftest import Program

LESSON = "The kiosk needs a reboot on Mondays"


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])
def test_edit_without_terminal_and_editor_is_refused(store: Program, flags: tuple[str, ...]) -> None:
    """No editor is started that would wait for keys that nobody types."""
    name = store.json("add", LESSON)["id"]
    for variable in ("GIT_EDITOR", "VISUAL", "EDITOR"):
        store.environ.pop(variable, None)
    done = store.run("edit", name, *flags)
    assert done.returncode == 2
    assert b"needs a terminal" in done.stdout + done.stderr
    assert b"\x1b" not in done.stdout + done.stderr


def test_edit_with_an_editor_answers_programs(store: Program) -> None:
    """An editor that the environment names needs no terminal."""
    name = store.json("add", LESSON)["id"]
    store.environ["EDITOR"] = "sed -i s/Mondays/Fridays/"
    assert store.json("edit", name)["action"] == "edited"
    store.environ["EDITOR"] = "true"
    assert store.json("edit", name)["action"] == "unchanged"


def test_hook_run_for_a_program_answers(store: Program) -> None:
    """One document with the hook's name and how it ended."""
    document = json.loads(store.ok("--json", "hooks", "run", "post-commit"))
    assert (document["hook"], document["exit"]) == ("post-commit", 0)
    assert store.ok("hooks", "run", "post-commit") == ""


@pytest.mark.parametrize("words", [("--json", "--version"), ("--version", "--json"), ("-q", "-V", "--json")])
def test_version_for_a_program_is_a_document(store: Program, words: tuple[str, ...]) -> None:
    """The version of the documents stands beside that of the program."""
    assert json.loads(store.ok(*words)) == {"version": 1, "memx": package.__version__}


def test_version_stays_a_line(store: Program) -> None:
    """A person and a shell script read one line."""
    assert store.ok("--version") == store.ok("-q", "--version") == f"memx {package.__version__}\n"


def test_add_for_another_project_says_that_nobody_sees_it(store: Program) -> None:
    """The hint names this project's own name; its scopes and workspaces are no mistake."""
    answer = store.json("add", LESSON, "--scope", "project:my-backend")
    assert answer["action"] == "written"
    assert "this is project:repo" in answer["hint"]
    assert b"not seen here" in store.run("add", "Rotate keys weekly", "--scope", "project:my-backend").stderr
    for scope in ("project", "project:repo", "global", "workspace:feat-pay"):
        assert store.json("add", f"The falcon of {scope} lands at noon", "--scope", scope)["hint"] == ""
