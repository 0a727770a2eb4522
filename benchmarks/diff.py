"""How long `memx diff` and `memx verify` take on a store of thousands, and a branch that changes some of it.

    python benchmarks/diff.py [--bullets 2000] [--changed 50] [--runs 5]

Whole processes are timed, warm (the vectors are embedded) and once cold.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

WORDS = (  # noqa: SIM905 (words read better as a text)
    "pool timeout retry cache index worker queue deploy branch token schema migration lock thread buffer parser "
    "release config proxy header cookie session cluster replica backup cursor shard batch stream socket kernel "
    "driver router gateway balancer scheduler container image volume secret certificate metric alert dashboard"
).split()
VERBS = ("needs", "blocks", "breaks", "loses", "doubles", "hides", "drops", "delays", "forgets", "leaks")


def sentence(rng: random.Random) -> str:
    """Return a lesson that no other one is like."""
    names = rng.sample(WORDS, 4)
    verb, number, name = rng.choice(VERBS), rng.randrange(9000), "_".join(names[:2]).upper()
    setting = f"{name}_{number} is {rng.randrange(500)}"
    return f"The {names[0]} {names[1]} {verb} the {names[2]} when {setting} in {names[3]}."


def bullet(text: str, number: int, anchor: str) -> str:
    """Return a bullet file."""
    return (
        f"---\nid: b{number:09d}\nsection: general\ntype: pitfall\nscore: 60\nscope: project\nanchors:\n"
        f"  - {anchor}\ncreated: 2026-01-01T00:00:00Z\nupdated: 2026-01-01T00:00:00Z\nsource: hand\n---\n{text}\n"
    )


def build(folder: str, bullets: int, changed: int) -> None:
    """Make the repository with its two branches."""
    rng = random.Random(7)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)

    def write(path: str, text: str) -> None:
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as stream:
            stream.write(text)

    git("init", "--quiet", "--initial-branch=main")
    for number in range(200):
        write(f"src/m{number}.py", "".join(f"def f{i}():\n    return {number * i}\n" for i in range(40)))
    for number in range(bullets):
        write(
            f".memx/bullets/general/b-b{number:09d}.md",
            bullet(sentence(rng), number, f"src/m{number % 200}.py"),
        )
    write(".memx/config.yml", "schema: 1\n")
    git("add", "-A")
    git("commit", "--quiet", "-m", "Start")
    git("checkout", "--quiet", "-b", "feature")
    for number in range(changed):
        path = f".memx/bullets/general/b-b{number if number % 2 else bullets + number:09d}.md"
        write(path, bullet(sentence(rng), number if number % 2 else bullets + number, "src/m1.py"))
    for number in range(20):
        write(f"src/m{number}.py", "def g():\n    return 0\n")
    git("add", "-A")
    git("commit", "--quiet", "-m", "Change")


def measure(folder: str, *arguments: str, runs: int) -> tuple[float, float, float]:
    """Return the first and the median time of a command, and the median of its processor time, in milliseconds."""
    times, processor = [], []
    for _ in range(runs + 1):
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "memx", *arguments], cwd=folder, check=False, capture_output=True
        )
        times.append((time.perf_counter() - start) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
        if done.returncode > 1:
            raise SystemExit(done.stderr.decode())
    return times[0], statistics.median(times[1:]), statistics.median(processor[1:])


def main() -> None:
    """Print one line a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bullets", type=int, default=2000)
    parser.add_argument("--changed", type=int, default=50)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    commands = {
        "diff (work tree)": ("diff", "--json"),
        "diff main...HEAD": ("diff", "main...HEAD", "--json"),
        "diff main..HEAD as SARIF": ("diff", "main..HEAD", "--format", "sarif"),
        "verify": ("verify", "--json"),
    }
    with tempfile.TemporaryDirectory() as folder:
        build(folder, options.bullets, options.changed)
        print(
            f"{options.bullets} bullets, {options.changed} changed, 20 files of code changed; ms, whole process"
        )
        print(f"{'command':<28} {'first':>8} {'median':>8} {'processor':>10}")
        for name, arguments in commands.items():
            first, median, processor = measure(folder, *arguments, runs=options.runs)
            print(f"{name:<28} {first:>8.0f} {median:>8.0f} {processor:>10.0f}")


if __name__ == "__main__":
    main()
