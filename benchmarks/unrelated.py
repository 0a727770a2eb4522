"""What the answer floor costs and what it keeps silent.

    python benchmarks/unrelated.py [--queries N] [--floors F ...]

For each floor (the least evidence of a hit: memx.generator.generator): the share of right answers
among the first five hits that it takes away, per kind of query of
retrieval.py, and the share of the 100 questions in data/unrelated.txt (25 of
everyday life in four languages) that are answered with nothing, by a store of
ten lessons and by the stores of retrieval.py.
"""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections import Counter

from retrieval import HERE, SEED, Store, known_items, own_lessons

LESSONS = (
    "Setting the Redis connection pool to 50 is needed for stability under load",
    "Use pytest -n auto to run tests in parallel",
    "Always quote shell variables",
    "Docker builds are slow when the context holds node_modules",
    "Prefer tabs in Makefiles",
    "Run migrations before deploying",
    "The CI cache key must contain the lock file hash",
    "Set MAX_POOL_SIZE to 50",
    "git rebase --autostash keeps local changes",
    "Retry with exponential backoff on 429",
)
TOP = 5


def read_questions():
    """Return the unrelated questions."""
    with open(os.path.join(HERE, "data", "unrelated.txt"), encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t")[1] for line in file if not line.startswith("#")]


def best(store, text):
    """Return (id, evidence) of the first hits as they are without any floor."""
    generator = store.generator()
    query = generator.query(text)
    scored = generator.score(query, generator._candidates(query))  # noqa: SLF001
    scored.sort(key=lambda s: (-s.relevance, s.bullet.id))
    return [(s.bullet.id, generator.evidence(s)) for s in scored[:TOP]]


def main():
    """Print one line a floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=60, help="at most this many queries a set")
    parser.add_argument(
        "--floors", type=float, nargs="*", default=[0.03, 0.05, 0.06, 0.07, 0.08, 0.10, 0.12, 0.2]
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small = Store([(f"l{i}", t, [], None) for i, t in enumerate(LESSONS)], os.path.join(folder, "small"))
        sets = [*known_items(options.queries, folder, random.Random(SEED)), *own_lessons(folder)]
        stores = {"10 lessons": small, "notes": sets[0][3], "notes and pages": sets[-1][3]}
        silent = {
            name: [max((evidence for _, evidence in best(store, q)), default=0.0) for q in read_questions()]
            for name, store in stores.items()
        }
        asked, found = Counter(), {}
        for _, kind, _, store, queries in sets:
            for text, good in queries:
                asked[kind] += 1
                found.setdefault(kind, []).extend(b for i, b in best(store, text) if i in good)
    kinds = sorted(asked)
    print("floor   silent on unrelated: " + ", ".join(stores) + "; right answers lost: " + ", ".join(kinds))
    for floor in options.floors:
        quiet = [sum(b < floor for b in scores) / len(scores) for scores in silent.values()]
        lost = [sum(b < floor for b in found[kind]) / asked[kind] for kind in kinds]
        cells = "".join(f"{100 * share:8.1f} %" for share in (*quiet, *lost))
        print(f"{floor:5.2f}{cells}")


if __name__ == "__main__":
    main()
