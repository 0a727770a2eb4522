"""What hooks cost: a hook with nothing to do, a commit with and without a lesson, a rebase of 100 commits.

    python benchmarks/hooks.py [--runs N] [--commits N]

The hooks are the installed scripts, started as git starts them. Whole processes that take turns with
`python -c pass`, the least of N, wall and CPU milliseconds; what a hook starts detached is in
neither. A rebase is timed with and without hooks.
PYTHONDONTWRITEBYTECODE must not be set for the figures to mean anything, so it is removed.
"""

# ruff: noqa: ANN001, ANN002, ANN201

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from speed import once

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {
    "PYTHONPATH": ROOT,
    "GIT_CONFIG_GLOBAL": os.devnull,
}
IDENTITY = ("-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0")
SHORT = "Fix typo {}"
LESSON = (
    "Raise POOL_{0} to 50\n\n"
    "Requests timed out under load because the pool of service {0} held ten connections only. "
    "Raising POOL_{0} from 10 to 50 fixed it; turn the health check off before you change it.\n"
)


def git(folder, *arguments):
    """Run git without hooks of its own accord."""
    subprocess.run(
        ["git", *IDENTITY, *arguments], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True
    )


def commit(folder, message, number):
    """Make a commit while no hook runs."""
    with open(os.path.join(folder, "code.py"), "a", encoding="utf-8") as file:
        file.write(f"value_{number} = {number}\n")
    git(folder, "-c", f"core.hooksPath={os.devnull}", "add", ".")
    git(folder, "-c", f"core.hooksPath={os.devnull}", "commit", "-qm", message.format(number))


def make_repository(folder):
    """Make a repository with a store and memx's hooks."""
    git(folder, "init", "-q", "-b", "main")
    command = [sys.executable, "-m", "memx", "-C", folder, "init"]
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    git(folder, "-c", f"core.hooksPath={os.devnull}", "add", ".")
    git(folder, "-c", f"core.hooksPath={os.devnull}", "commit", "-qm", "Begin")


def single_hooks(folder, runs):
    """Print the cost of one hook at a time."""
    hook = os.path.join(folder, ".git", "hooks")
    rows = {
        name: []
        for name in (
            "python -c pass",
            "post-checkout of a file",
            "pre-commit, no bullet staged",
            "post-commit, nothing learnt",
            "post-commit, a lesson",
        )
    }
    for number in range(runs + 1):
        figures = [
            once([sys.executable, "-c", "pass"], folder, ENVIRONMENT),
            once([os.path.join(hook, "post-checkout"), "0" * 40, "0" * 40, "0"], folder, ENVIRONMENT),
            once([os.path.join(hook, "pre-commit")], folder, ENVIRONMENT),
        ]
        for message in (SHORT, LESSON):
            commit(folder, message, number)
            figures.append(once([os.path.join(hook, "post-commit")], folder, ENVIRONMENT))
        if number:  # the first round only warms the caches
            for row, values in zip(rows.values(), figures, strict=True):
                row.append(values)
    print(f"{'hook':36}{'wall ms':>9}{'CPU ms':>9}{'x wall':>8}{'x CPU':>8}")
    least = {name: tuple(map(min, zip(*row, strict=True))) for name, row in rows.items()}
    floor = least["python -c pass"]
    for name, (wall, cpu) in least.items():
        print(f"{name:36}{wall:9.1f}{cpu:9.1f}{wall / floor[0]:8.2f}{cpu / floor[1]:8.2f}", flush=True)


def rebase(folder, commits):
    """Print what hooks add to each commit of a rebase."""
    git(folder, "checkout", "-qb", "side")
    for number in range(commits):
        commit(folder, LESSON, 10_000 + number)
    git(folder, "checkout", "-q", "main")
    with open(os.path.join(folder, "other.py"), "w", encoding="utf-8") as file:
        file.write("other = 1\n")
    git(folder, "-c", f"core.hooksPath={os.devnull}", "add", ".")
    git(folder, "-c", f"core.hooksPath={os.devnull}", "commit", "-qm", "Other")
    found = {}
    for label, options in (("without", ("-c", f"core.hooksPath={os.devnull}")), ("with", ())):
        git(folder, "branch", "-f", label, "side")
        git(folder, "-c", f"core.hooksPath={os.devnull}", "checkout", "-q", label)
        found[label] = once(["git", *IDENTITY, *options, "rebase", "-q", "main"], folder, ENVIRONMENT)
    for label, (wall, cpu) in found.items():
        print(f"rebase of {commits} commits {label} hooks{'':3}{wall:9.1f}{cpu:9.1f}")
    wall, cpu = ((b - a) / commits for a, b in zip(found["without"], found["with"], strict=True))
    print(f"{'hooks, for each commit':36}{wall:9.1f}{cpu:9.1f}")


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--commits", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_repository(folder)
        single_hooks(folder, options.runs)
        rebase(folder, options.commits)


if __name__ == "__main__":
    main()
