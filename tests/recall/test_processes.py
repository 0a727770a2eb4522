"""Many processes in several work trees, killed or not: a clean tree, and every recall counted once.

The long form, 1,000 searches by 8 processes in 3 work trees, is benchmarks/recalls.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.recall import searcher

if TYPE_CHECKING:
    from tests.recall.conftest import Clone

PROCESSES, SEARCHES = 8, 5


def start(folder: str, first: int, count: int) -> subprocess.Popen[bytes]:
    """Start one searching process."""
    command = [sys.executable, searcher.__file__, folder, str(first), str(count)]
    environ = {**os.environ, "PYTHONPATH": os.getcwd()}
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environ, bufsize=0)


def worktrees(clone: Clone) -> list[str]:
    """Return three work trees of one clone, each on a branch of its own."""
    clone.commit()
    folders = [str(clone.folder)]
    for name in ("left", "right"):
        folder = str(clone.folder.with_name(name))
        clone.git("worktree", "add", "--quiet", "-b", name, folder)
        folders.append(folder)
    return folders


def acknowledged(process: subprocess.Popen[bytes]) -> int:
    """Return how many searches a process has reported by its end."""
    return process.communicate(timeout=120)[0].count(b".")


def test_searches_of_many_processes_count_once_and_leave_the_tree_clean(clone: Clone) -> None:
    """The three work trees share one journal; git sees nothing of it."""
    name = clone.add()
    folders = worktrees(clone)
    running = [start(folders[n % 3], n * SEARCHES, SEARCHES) for n in range(PROCESSES)]
    assert [acknowledged(process) for process in running] == [SEARCHES] * PROCESSES
    assert clone.count(name) == PROCESSES * SEARCHES
    for folder in folders:
        assert clone.git("-C", folder, "status", "--porcelain", "--ignored") == ""
    assert clone.json("fold")["folded"] == [{"id": name, "recall_count": PROCESSES * SEARCHES}]


def test_killed_processes_lose_no_acknowledged_recall(clone: Clone) -> None:
    """Kill -9 at any moment: what was acknowledged counts, and at most one more search a process."""
    name = clone.add()
    folders = worktrees(clone)
    running = [start(folders[n % 3], n * 10_000, 10_000) for n in range(4)]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    time.sleep(0.5)
    for process in running:
        process.kill()
    done = sum(acknowledged(process) for process in running) + len(running)
    assert done <= clone.count(name) <= done + len(running)
    before = clone.count(name)
    clone.ok("fold")
    assert clone.file_count(name) == clone.count(name) == before


def test_killed_folds_count_nothing_twice(clone: Clone) -> None:
    """Kill -9 during folds, with searches between: the file ends at the number of searches."""
    name = clone.add()
    clone.commit()
    code = "import sys; from memx.entry.cli.main import main; sys.exit(main(sys.argv[1:]))"
    for number in range(6):
        clone.recall(1, first_day=number + 1)
        command = [sys.executable, "-c", code, "-C", str(clone.folder), "fold"]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.getcwd()}
        )
        time.sleep(0.05 * number)
        process.kill()
        process.wait()
        assert clone.count(name) == number + 1
    clone.ok("fold")
    assert clone.file_count(name) == clone.count(name) == 6
