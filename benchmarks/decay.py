"""What forgetting costs: the time to weigh 100,000 bullets, and answers on a store of two years with recalls and pins.

    python benchmarks/decay.py [--bullets N] [--queries N] [--speed | --answers]

The speed is that of the whole process `memx decay`, text and JSON, best of
three. The answers use the notes of ../shared/eval (as benchmarks/retrieval.py
does): ages drawn evenly over two years; recalls drawn with a long tail; a pin on
every twentieth. An archived bullet is found with `--archived` only, so the last
columns show what `memx archive` would take out of reach.
"""

# ruff: noqa: ANN001, ANN201, ANN202

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memx.config import DecayConfig
from memx.decay import ARCHIVE_CANDIDATE, weight
from memx.model import Bullet
from memx.store.codec import format_bullet
from memx.store.naming import bullet_path

SECTIONS = ("tools", "debugging", "general")
TYPES = ("method", "trick", "pitfall", "preference", "knowledge")
DAY = 86_400.0
NOW = 1_796_000_000.0
SEED = 20261130


def example(number, rng):
    """Return a bullet of ordinary size, up to two years old, one in ten recalled, one in fifty pinned."""
    created = NOW - rng.random() * 730 * DAY
    return Bullet(
        id=f"k{number:09d}",
        text=f"Redis timeouts under load come from the pool ceiling: set `POOL_{number}` to 50; 10 is not enough.",
        section=SECTIONS[number % 3],
        type=TYPES[number % 5],
        score=82,
        recall_count=rng.randrange(20) if number % 10 == 0 else 0,
        tags=("redis",),
        entities=(f"POOL_{number}",),
        anchors=("src/cache/pool.py",),
        created=created,
        updated=created,
        pinned=number % 50 == 0,
        source="commit 4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff",
    )


def speed_table(count):
    """Print how long `memx decay` takes over so many bullets, beside the bare interpreter."""
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        for number in range(count):
            bullet = example(number, rng)
            path = os.path.join(folder, ".memx", bullet_path(bullet))
            if number < len(SECTIONS):
                os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(format_bullet(bullet))
        bare = best([sys.executable, "-c", "pass"], folder)
        print(f"\nmemx decay over {count} bullets (bare interpreter {bare[0] * 1000:.0f} ms)")
        print(f"{'output':14}{'seconds':>10}{'CPU':>10}")
        for label, options in (("text", []), ("json", ["--json"]), ("one state", ["--state", "pinned"])):
            command = [sys.executable, "-m", "memx", "decay", "-q", "--now", "2026-11-30", *options]
            wall, cpu = best(command, folder)
            print(f"{label:14}{wall:>10.2f}{cpu:>10.2f}")


def best(command, folder):
    """Return the least wall and CPU seconds of three runs."""
    walls, cpus = [], []
    for _ in range(3):
        before, begun = os.times(), time.perf_counter()
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        walls.append(time.perf_counter() - begun)
        cpus.append(
            after.children_user - before.children_user + after.children_system - before.children_system
        )
    return min(walls), min(cpus)


def recalls_of(rng):
    """Return a bullet's recalls: half are never recalled, one in twenty more than 15 times."""
    return min(40, int(rng.paretovariate(1.0)) - 1)


def answers_table(count):
    """Print Recall@5 by age, recalls and pins, without decay, with it, and after `memx archive`."""
    from retrieval import Store, read

    rng = random.Random(SEED)
    config = DecayConfig()
    notes = read("notes.dev.jsonl")
    created = {n["id"]: NOW - rng.random() * 730 * DAY for n in notes}
    recalls = {n["id"]: recalls_of(rng) for n in notes}
    pinned = {n["id"] for n in notes[::20]}
    results = {
        n["id"]: weight(
            NOW,
            created[n["id"]],
            None,
            None,
            recalls[n["id"]],
            "knowledge",
            None,
            n["id"] in pinned,
            config,
        )
        for n in notes
    }
    gone = {name for name, result in results.items() if result.state == ARCHIVE_CANDIDATE}
    with tempfile.TemporaryDirectory() as folder:
        rows = [(n["id"], n["text"], [n["category"]], created[n["id"]]) for n in notes]
        store = Store(rows, os.path.join(folder, "all"))
        kept = Store([row for row in rows if row[0] not in gone], os.path.join(folder, "kept"))
        print(f"\ntwo-year store, {len(notes)} bullets, {len(pinned)} pinned, {len(gone)} archive candidates")
        print("Recall@5 of queries whose only answer is such a bullet")
        print(f"{'answer':34}{'n':>6}{'no decay':>10}{'decay':>10}{'archived':>10}{'after':>10}")
        for label, has in groups(created, recalls, pinned):
            asked = [n for n in notes if has(n["id"])]
            asked = rng.sample(asked, min(count, len(asked)))
            if asked:
                print_row(label, asked, store, kept, results, gone)


def groups(created, recalls, pinned):
    """Yield (label, test of an id)."""
    ages = ((0, 90), (90, 365), (365, 730))
    for low, high in ages:
        for name, least, most in (("never recalled", 0, 0), ("1-14 recalls", 1, 14), ("15 and more", 15, 99)):

            def has(i, low=low, high=high, least=least, most=most):
                age = (NOW - created[i]) / DAY
                return i not in pinned and low <= age < high and least <= recalls[i] <= most

            yield f"{low}-{high} days, {name}", has
    yield "90-730 days, pinned", lambda i: i in pinned and NOW - created[i] >= 90 * DAY


def print_row(label, asked, store, kept, results, gone):
    """Print one line of the table."""
    found = [0, 0, 0]
    for note in asked:
        plain = store.generator().rank(note["title"]).hits
        faded = store.generator(lambda b: results[b.id].weight).rank(note["title"]).hits
        after = kept.generator(lambda b: results[b.id].weight).rank(note["title"]).hits
        for place, hits in enumerate((plain, faded, after)):
            found[place] += note["id"] in {scored.bullet.id for scored in hits}
    share = sum(note["id"] in gone for note in asked) / len(asked)
    plain, faded, after = (f"{f / len(asked):>10.3f}" for f in found)
    print(f"{label:34}{len(asked):>6}{plain}{faded}{share:>10.3f}{after}")


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bullets", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200, help="at most this many queries a row")
    parser.add_argument("--speed", action="store_true", help="only the speed")
    parser.add_argument("--answers", action="store_true", help="only the answers")
    chosen = parser.parse_args()
    if not chosen.answers:
        speed_table(chosen.bullets)
    if not chosen.speed:
        answers_table(chosen.queries)


if __name__ == "__main__":
    main()
