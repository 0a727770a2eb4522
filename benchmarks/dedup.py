"""How long `memx dedup` and `memx conflicts --all` take, with how much memory, and what they find.

Usage: python benchmarks/dedup.py [COUNT ...]
Makes stores of COUNT invented bullets (default 1000 10000 100000), one in
twenty of them said twice in other words, and prints a table. Each stage runs
in a process of its own, so that its peak memory is its own. `add` is one
lesson against the whole store. Planted pairs that differ in a number must not
be merged, and the second plan must find nothing.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

NOW = 1_796_000_000.0
SUBJECTS = ("gateway", "scheduler", "importer", "indexer", "mailer", "billing", "search", "ledger")
PARTS = ("retry", "queue", "cache", "lock", "session", "token", "batch", "cursor", "snapshot", "webhook")
CAUSES = (
    "the upstream closes idle connections",
    "the nightly import holds the table",
    "clients retry without a pause",
    "two workers pick the same row",
    "the certificate is read only at start",
    "the clock of the host drifts",
    "old pods keep serving during a rollout",
    "the driver swallows the first error",
)
EFFECTS = (
    "requests time out",
    "orders are counted twice",
    "memory grows until the process is killed",
    "users are logged out",
    "the queue never drains",
    "totals are off by a cent",
    "the page stays empty",
    "alerts fire all night",
)
VERBS = ("Renew", "Flush", "Pin", "Rebuild", "Throttle", "Mirror", "Compact", "Audit", "Drain", "Rotate")


def lesson(number: int, chooser: random.Random) -> tuple[str, str]:
    """Return a lesson and the same one in other words; the number makes its name distinct."""
    verb, subject, part = chooser.choice(VERBS), chooser.choice(SUBJECTS), chooser.choice(PARTS)
    name = f"`{subject}_{part}_{number:05d}`"
    cause, effect = chooser.choice(CAUSES), chooser.choice(EFFECTS)
    first = f"Always {verb.lower()} {name} before the deployment, because {cause} and then {effect}."
    again = f"Before the deployment always {verb.lower()} {name}, because {cause} and {effect} then."
    return first, again


def make_store(folder: str, count: int) -> dict[str, int]:
    """Write a store of `count` bullets and return how many planted pairs of each kind it has."""
    from memx.model import Bullet
    from memx.store.codec import format_bullet
    from memx.store.naming import bullet_id, bullet_path

    chooser = random.Random(count)
    texts: list[str] = []
    planted = {"duplicates": 0, "near": 0}
    number = 0
    while len(texts) < count:
        number += 1
        first, again = lesson(number, chooser)
        texts.append(first)
        if number % 20 == 0:
            texts.append(again)
            planted["duplicates"] += 1
        elif number % 20 == 10:
            texts += [
                f"The {first.split('`')[1]} port is {8000 + number % 900}.",
                f"The {first.split('`')[1]} port is {9000 + number % 900}.",
            ]
            planted["near"] += 1
    for text in texts:
        bullet = Bullet(bullet_id(text), text, created=NOW, updated=NOW, source="hand")
        path = os.path.join(folder, ".memx", bullet_path(bullet))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(format_bullet(bullet))
    return planted


def stage(name: str, folder: str) -> dict[str, object]:
    """Run one stage in this process and return its figures."""
    from memx.app import dedup
    from memx.app.add import Draft, add
    from memx.app.conflicts import find_conflicts
    from memx.app.index import refresh_index
    from memx.app.project import Project

    project = Project(folder, dict(os.environ), NOW)
    started = time.perf_counter()
    found: object = ""
    if name == "index":
        found = refresh_index(project).bullets
    elif name == "plan":
        planned = dedup.plan(project)
        found = sum(len(group.absorbed) for group in planned.groups)
    elif name == "merge":
        found = len(dedup.apply(project, dedup.plan(project)).survivors)
    elif name == "again":
        found = len(dedup.plan(project).groups)
    elif name == "conflicts":
        listed = find_conflicts(project, everywhere=True)
        found = f"{len(listed.conflicts)} shown, {listed.alike + listed.duplicates} not"
    else:
        found = add(project, Draft(text="Never restart `ledger_lock_x` while the import runs.")).action
    seconds = time.perf_counter() - started
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in used)
    return {"found": found, "seconds": seconds, "cpu": cpu, "peak_mb": used[0].ru_maxrss / 1024}


STAGES = ("index", "add", "plan", "conflicts", "merge", "again")


def main(arguments: list[str]) -> None:
    """Print the table."""
    if arguments[:1] == ["--stage"]:
        print(json.dumps(stage(arguments[1], arguments[2])))
        return
    counts = [int(argument) for argument in arguments] or [1000, 10_000, 100_000]
    print("bullets  stage      seconds    CPU s  peak MB  found")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "--quiet", folder], check=True)
            planted = make_store(folder, count)
            for name in STAGES:
                done = subprocess.run(
                    [sys.executable, __file__, "--stage", name, folder], check=True, capture_output=True
                )
                row = json.loads(done.stdout)
                figures = f"{row['seconds']:8.1f} {row['cpu']:8.1f} {row['peak_mb']:8.0f}"
                print(f"{count:7}  {name:9} {figures}  {row['found']}", flush=True)
            print(
                f"         planted   {planted['duplicates']} duplicates, {planted['near']} pairs one number apart"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
