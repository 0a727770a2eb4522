"""CPU time of the merge driver a file, against `python -I -S -c pass`, on 200 files that both sides changed.

Run: python benchmarks/merge.py [FILES]. The driver runs as git runs it, by file path.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPT = os.path.join(ROOT, "memx", "entry", "merge_driver.py")
BULLET = """---
id: k3v9q2m{number:03d}
section: debugging
type: pitfall
score: 82
scope: project
recall_count: {recalls}
tags:
{tags}tools:
  - redis-cli
entities:
  - MAX_POOL_SIZE
anchors:
  - src/cache/pool.py
created: 2026-11-30T09:12:00Z
updated: {updated}
source: commit 4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff
---
{body}
"""


def bullet(number: int, recalls: int, tags: tuple[str, ...], day: int, body: str) -> bytes:
    """Return one bullet file."""
    lines = "".join(f"  - {tag}\n" for tag in tags)
    updated = f"2026-12-{day:02d}T00:00:00Z"
    return BULLET.format(number=number, recalls=recalls, tags=lines, updated=updated, body=body).encode()


def write_sides(folder: str, number: int, *, conflict: bool) -> list[str]:
    """Write base, ours and theirs of one file and return their paths."""
    text = "Redis timeouts under load come from the pool ceiling."
    theirs = f"{text} It is 50 now." if conflict else text
    ours = f"{text} Raise it." if conflict else text
    sides = (
        bullet(number, 3, ("redis",), 1, text),
        bullet(number, 5, ("pool", "redis"), 2, ours),
        bullet(number, 7, ("redis", "timeout"), 3, theirs),
    )
    paths = [os.path.join(folder, f"{number}.{side}") for side in "OAB"]
    for path, data in zip(paths, sides, strict=True):
        with open(path, "wb") as file:
            file.write(data)
    return paths


def cpu_of(command: list[str]) -> float:
    """Return user and system milliseconds of one run."""
    pid = os.posix_spawn(command[0], command, os.environ)
    usage = os.wait4(pid, 0)[2]
    return 1000 * (usage.ru_utime + usage.ru_stime)


def main() -> None:
    """Print the median of the milliseconds a file and its ratio; the three kinds of run take turns."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    python = [sys.executable, "-I", "-S"]
    spent: dict[str, list[float]] = {"pass": [], "clean": [], "conflict": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(files):
            spent["pass"].append(cpu_of([*python, "-c", "pass"]))
            for name in ("clean", "conflict"):
                paths = write_sides(folder, number, conflict=name == "conflict")
                spent[name].append(cpu_of([*python, SCRIPT, *paths, "7", "x.md"]))
    print(f"{files} files, CPU (user + system) in ms a file")
    print(f"{'run':10} {'median':>7} {'least':>7} {'ratio of medians':>17}")
    for name, times in spent.items():
        ratio = statistics.median(times) / statistics.median(spent["pass"])
        print(f"{name:10} {statistics.median(times):7.2f} {min(times):7.2f} {ratio:17.2f}")


if __name__ == "__main__":
    main()
