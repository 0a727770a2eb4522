"""A first search says on a terminal why it takes longer."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pty = pytest.importorskip("pty")

NOTICE = b"there is no index here yet"


def errors_of(folder: Path, *options: str) -> bytes:
    """Return what a search prints on standard error, which is a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "memx", "search", "--no-recall", *options, "redis pool"]
    subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.write(theirs, b"end")
    os.close(theirs)
    found = b""
    while not found.endswith(b"end"):
        found += os.read(ours, 4096)
    os.close(ours)
    return found


def test_first_search_says_that_it_builds_the_index(tmp_path: Path) -> None:
    """Once, and never when quiet."""
    for name in ("loud", "quiet"):
        bullets = tmp_path / name / ".memx" / "bullets" / "general"
        bullets.mkdir(parents=True)
        (bullets / "a.md").write_text("Set the redis pool to 50.\n")
        subprocess.run(["git", "init", "-q", str(tmp_path / name)], check=True)
    assert NOTICE in errors_of(tmp_path / "loud")
    assert NOTICE not in errors_of(tmp_path / "loud")
    assert NOTICE not in errors_of(tmp_path / "quiet", "-q")
