"""A call becomes text that rules can compare across tools."""

from __future__ import annotations

from typing import Any

import pytest

from memx.transcripts.tool import action_of, describe_call


@pytest.mark.parametrize(
    ("name", "arguments", "action", "text", "path"),
    [
        ("Bash", {"command": "ls -l", "description": "List"}, "shell", "ls -l", ""),
        ("shell", {"command": ["bash", "-lc", "a && b"]}, "shell", "a && b", ""),
        ("shell", {"command": ["pwsh.exe", "-NoLogo", "-Command", "dir x"]}, "shell", "dir x", ""),
        (
            "shell",
            {"command": ["git", "commit", "-m", "two words"]},
            "shell",
            "git commit -m 'two words'",
            "",
        ),
        ("exec_command", '{"cmd": "make"}', "shell", "make", ""),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, "edit", "a\n-x\n+y", "a"),
        (
            "MultiEdit",
            {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]},
            "edit",
            "a\n-x\n+y",
            "a",
        ),
        (
            "replace_in_file",
            {"path": "a", "diff": "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE"},
            "edit",
            "a\n-x\n+y",
            "a",
        ),
        ("Read", {"file_path": "a"}, "read", '{"file_path": "a"}', "a"),
        ("mcp__search__Grep", {"pattern": "x"}, "search", '{"pattern": "x"}', ""),
        ("Strange", None, "other", "null", ""),
        ("Bash", "broken {json", "shell", "broken {json", ""),
    ],
)
def test_calls_become_text(name: str, arguments: Any, action: str, text: str, path: str) -> None:
    """The command, the changed lines or compact JSON."""
    described = describe_call(name, arguments, 4000)
    assert (described.action, described.text, described.path) == (action, text, path)


def test_no_name_has_no_action() -> None:
    """A result whose call is unknown is not taken for any kind."""
    assert action_of("") == ""


def test_long_files_are_bounded() -> None:
    """Writing a file of a megabyte gives a short text."""
    assert len(describe_call("Write", {"file_path": "a", "content": "x\n" * 500_000}, 4000).text) <= 4000
