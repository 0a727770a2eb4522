"""1,000 searches by 8 processes in 3 work trees: git's status stays clean and each recall counts once.

    python benchmarks/recalls.py [--searches N]

The test suite has the short form (tests/recall/test_processes.py).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEMX = (sys.executable, "-m", "memx")
PROCESSES = 8


def run(*command: str, cwd: str) -> str:
    """Run a command that must succeed and return its output."""
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, check=True).stdout.decode()


def main() -> None:
    """Search, then compare what git and the journal say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=1000)
    each = parser.parse_args().searches // PROCESSES
    os.environ |= {"PYTHONPATH": ROOT}
    with tempfile.TemporaryDirectory() as folder:
        main_tree = os.path.join(folder, "main")
        run("git", "init", "--quiet", "-b", "main", main_tree, cwd=folder)
        run(*MEMX, "init", "--no-hooks", cwd=main_tree)
        run(*MEMX, "add", "Redis timeouts come from the pool ceiling: set MAX_POOL_SIZE to 50", cwd=main_tree)
        run("git", "add", "--all", cwd=main_tree)
        run("git", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "-m", "x", cwd=main_tree)
        trees = [main_tree]
        for name in ("left", "right"):
            trees.append(os.path.join(folder, name))
            run("git", "worktree", "add", "--quiet", "-b", name, trees[-1], cwd=main_tree)
        searcher = os.path.join(ROOT, "tests", "recall", "searcher.py")
        begun = time.perf_counter()
        running = [
            subprocess.Popen(
                [sys.executable, searcher, trees[n % len(trees)], str(n * each), str(each)],
                stdout=subprocess.PIPE,
            )
            for n in range(PROCESSES)
        ]
        done = sum(process.communicate()[0].count(b".") for process in running)
        spent = time.perf_counter() - begun
        dirty = [tree for tree in trees if run("git", "status", "--porcelain", "--ignored", cwd=tree)]
        counted = json.loads(run(*MEMX, "decay", "--json", cwd=main_tree))["bullets"][0]["recall_count"]
    print(f"{done} searches by {PROCESSES} processes in {len(trees)} work trees in {spent:.1f} s")
    print(f"counted {counted}, dirty work trees {len(dirty)}")
    if dirty or counted != done:
        sys.exit(1)


if __name__ == "__main__":
    main()
