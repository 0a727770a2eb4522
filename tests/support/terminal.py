"""A program on a pseudo-terminal."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.e2e.conftest import Program


def on_terminal(program: Program, typed: str, *arguments: str) -> str:
    """Run the program on a pseudo-terminal, type, and return what it wrote."""
    import pty  # absent on Windows

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memx", *arguments],
        cwd=program.folder,
        env=program.environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        close_fds=True,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    said, until = b"", time.monotonic() + 30
    while time.monotonic() < until:
        if not select.select([ours], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        said += data
    process.wait(timeout=10)
    os.close(ours)
    assert process.returncode == 0, said.decode()
    return said.decode()
