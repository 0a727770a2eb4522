"""Whoever reads may stop reading: no command says a word about it, and none calls it a failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

DRIVER = """
import json, os, sys
import memx.entry.cli.typer_app
from memx.entry.cli.main import iter_commands, main

def run(words, is_read):
    # A process of its own for each command line: its streams are what it is about.
    told, said = os.pipe()
    out = os.open(os.devnull, os.O_WRONLY)
    if not is_read:
        reader, out = os.pipe()
        os.close(reader)
    if not os.fork():
        os.dup2(out, 1)
        os.dup2(said, 2)
        os.close(told)
        os._exit(main(words))
    os.close(said)
    os.close(out)
    with os.fdopen(told, "rb") as stream:
        text = stream.read().decode()
    return os.waitstatus_to_exitcode(os.wait()[1]), text

lines = json.loads(sys.argv[1])
names = [[*([group] if group else []), command.name] for group, command in iter_commands()]
help = [["--help"], ["store", "-h"], *([*name, "--help"] for name in names)]
found = [[words, (0, ""), run(words, False)] for words in help]
found += [[words, run(words, True), run(words, False)] for words in lines]
sys.stdout.write(json.dumps(found))
"""

LINES = (
    "list",
    "list --json",
    "search kiosk",
    "search kiosk --format xml",
    "context",
    "export",
    "inbox --json",
    "stats",
    "doctor --json",
    "config",
    "decay",
    "diff HEAD",
    "conflicts --all",
    "dedup -n",
    "verify",
    "lint --json",
    "log zzz",
    "show zzz --json",
    "trust --json",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a repository with a store of one bullet."""
    for words in (
        ["git", "init", "--quiet", "."],
        [sys.executable, "-m", "memx", "init"],
        [sys.executable, "-m", "memx", "add", "The kiosk needs a reboot on Mondays"],
        ["git", "add", "-A"],
        ["git", "commit", "--quiet", "-m", "Start"],
    ):
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_reader_that_left_changes_nothing_for_any_command(folder: Path) -> None:
    """Help, data and errors, of every command: the same words on standard error, and no failure that was none."""
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps([line.split() for line in LINES])],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.stderr == b""
    loud = [
        (words, read, unread)
        for words, read, unread in json.loads(done.stdout)
        if unread[0] not in (0, read[0]) or not read[1].startswith(unread[1])
    ]
    assert loud == []
