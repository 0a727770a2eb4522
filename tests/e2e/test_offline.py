"""With the network cut everything works, and with it there nothing asks for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

LESSON = "Back up the ledger before the nightly migration, since it drops the old rows."
QUESTION = "save the account book ahead of moving the data"
COMMIT = (
    "fix(cache): stop the stalls at noon\n\n"
    "The root cause was the connection pool: with fewer connections than workers the rest\n"
    "block until the timeout, so `pool_size` must be at least the number of workers.\n"
)
MOST_SECONDS = 30

WATCH = """
import os, sys
EVENTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"}
def note(event, arguments):
    if event in EVENTS:
        with open(os.environ["SOCKETS_SEEN"], "a") as file:
            file.write(f"{event} {arguments[-1]} {sys.argv}\\n")
sys.addaudithook(note)
"""

has_namespaces = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0


class Cut:
    """Runs programs in a network namespace without any way out, not even loopback."""

    def __init__(self, store: Program) -> None:
        """Remember the store."""
        self._store = store

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
        """Run a program; a wait for the network would end in the time limit."""
        return subprocess.run(
            ["unshare", "-rn", *words],
            cwd=self._store.folder,
            env=self._store.environ,
            input=stdin.encode(),
            capture_output=True,
            check=False,
            timeout=MOST_SECONDS,
        )

    def memx(self, *words: str, stdin: str = "") -> str:
        """Run memx, which must succeed, and return its standard output."""
        done = self.run(sys.executable, "-m", "memx", *words, stdin=stdin)
        assert done.returncode == 0, (words, done.stdout.decode(), done.stderr.decode())
        return done.stdout.decode()


@pytest.mark.skipif(not has_namespaces, reason="user namespaces are not available")
def test_everything_works_with_the_network_cut(store: Program) -> None:
    """Adding, searching by meaning, a commit with its hook, the inbox, the index and the doctor miss nothing."""
    cut = Cut(store)
    assert json.loads(cut.memx("add", LESSON, "--json"))["action"] == "written"
    answer = json.loads(cut.memx("search", QUESTION, "--json"))
    assert answer["degraded"] == []
    assert answer["hits"][0]["text"] == LESSON
    assert answer["hits"][0]["semantic"] > 0
    for words in (["add", "-A"], ["commit", "-q", "-m", COMMIT]):
        done = cut.run("git", "-c", "safe.directory=*", *words)
        assert done.returncode == 0, done.stderr.decode()
    assert len(json.loads(cut.memx("inbox", "--json"))["candidates"]) == 1
    cut.memx("reindex", "--rebuild")
    cut.memx("context", "ledger")
    checks = {check["name"]: check for check in json.loads(cut.memx("doctor", "--json"))["checks"]}
    assert checks["model"]["ok"]


def test_nothing_opens_a_connection(store: Program, tmp_path: Path) -> None:
    """No command resolves a name, connects or sends, be the network there or not."""
    seen = tmp_path / "sockets"
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    path = os.pathsep.join(filter(None, [str(tmp_path / "watch"), store.environ.get("PYTHONPATH", "")]))
    store.environ |= {"PYTHONPATH": path, "SOCKETS_SEEN": str(seen)}
    for name in "ab":
        store.ok("add", f"Lesson {name}: keep {name} apart from the other services.")
    store.commit(COMMIT)
    for words in (
        ["search", QUESTION],
        ["hooks", "run", "post-commit"],
        ["hooks", "run", "post-merge"],
        ["doctor"],
        ["reindex", "--rebuild"],
        ["trust", "--yes"],
        ["demo"],
    ):
        store.run(*words)
    assert not seen.exists(), seen.read_text()


def test_watch_sees_a_connection(store: Program, tmp_path: Path) -> None:
    """The watch of the test before this one does see a connection."""
    seen = tmp_path / "sockets"
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    subprocess.run(
        [sys.executable, "-c", "import socket; socket.socket().connect_ex(('127.0.0.1', 9))"],
        env={**store.environ, "PYTHONPATH": str(tmp_path), "SOCKETS_SEEN": str(seen)},
        check=True,
    )
    assert "socket.connect" in seen.read_text()
