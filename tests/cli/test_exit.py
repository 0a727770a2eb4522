"""The process ends fast, but never before its output is out and never with another code."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = "from memx.entry.start import run; run()"


def start(folder: Path, *arguments: str, code: str = ENTRY) -> subprocess.CompletedProcess[str]:
    """Run the console script's code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_output_is_written_before_the_process_ends(tmp_path: Path) -> None:
    """A pipe is buffered: what was printed last arrives all the same."""
    done = start(tmp_path, "--version")
    assert (done.returncode, done.stdout[:5], done.stderr) == (0, "memx ", "")


def test_exit_code_is_kept(tmp_path: Path) -> None:
    """An expected failure is 1, wrong usage 2."""
    assert start(tmp_path, "search", "pool").returncode == 1
    assert start(tmp_path, "search", "--no-such-flag", "pool").returncode == 2


def test_reader_that_left_is_no_error(tmp_path: Path) -> None:
    """`memx … | head` closes the pipe early; the program ends with 0 and says nothing."""
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, "--version"], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"")


def test_atexit_is_respected(tmp_path: Path) -> None:
    """Who registered for the end of the process, as coverage does, is called."""
    code = f"import atexit, sys; atexit.register(lambda: sys.stderr.write('called')); {ENTRY}"
    assert start(tmp_path, "--version", code=code).stderr == "called"
