"""How well weak hits are told from right ones.

    python benchmarks/unrelated.py [--queries N] [--limits F ...] [--cache FOLDER]

The evidence that a store's best hit needs grows with the store up to a limit
(memx.generator.evidence). For each limit: the share of right answers among the
first five hits that are called weak by it or not shown, per kind of query of
retrieval.py, and the share of unrelated questions that are answered with nothing
or with weak hits: the 100 of data/unrelated.txt, which choices were made on, and the 60 of
data/unrelated_held_out.txt, which they were not.
"""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import argparse
import os
import random
import tempfile

from retrieval import HERE, SEED, Store, known_items, own_lessons

from memx.config import GeneratorConfig
from memx.generator import evidence

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


def read_questions(name):
    """Return the unrelated questions of a file."""
    with open(os.path.join(HERE, "data", name), encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t")[1] for line in file if not line.startswith("#")]


def best(store, text):
    """Return (id, evidence) of the first hits without any floor, the size of the store, and the words they hold."""
    generator = store.generator()
    query = generator.query(text)
    scored = generator.score(query, generator._candidates(query))  # noqa: SLF001
    scored.sort(key=lambda s: (-s.relevance, s.bullet.id))
    hits = [(s.bullet.id, generator.evidence(s)) for s in scored[:TOP]]
    return hits, store.index.size, generator.held_words(query, scored)


def is_weak(hits, size, words):
    """Return whether nothing is shown, or hits that are called weak."""
    needed = evidence.needed_evidence(size, GeneratorConfig().semantic_weight, words)
    return max((value for _, value in hits), default=0.0) < needed


def ask_everything(options, folder):
    """Return {(questions, store): answers} of unrelated questions and {kind: (answers, right ids)} of the others."""
    small = Store([(f"l{i}", t, [], None) for i, t in enumerate(LESSONS)], os.path.join(folder, "small"))
    sets = [*known_items(options.queries, folder, random.Random(SEED)), *own_lessons(folder)]
    stores = {"10 lessons": small, "notes": sets[0][3], "notes, pages": sets[-1][3]}
    unrelated = {
        (name, label): [best(store, text) for text in read_questions(f"{name}.txt")]
        for label, store in stores.items()
        for name in ("unrelated", "unrelated_held_out")
    }
    related = {}
    for _, kind, _, store, queries in sets:
        related.setdefault(kind, []).extend((*best(store, text), good) for text, good in queries)
    return unrelated, related


def doubted(answers):
    """Return the share of right answers among the first five that are called weak or are not shown."""
    rows = [
        (is_weak(hits, size, words), max(value for name, value in hits if name in good))
        for hits, size, words, good in answers
        if any(name in good for name, _ in hits)
    ]
    return sum(weak or value < evidence.LEAST_EVIDENCE for weak, value in rows) / max(1, len(rows))


def main():
    """Print one line a limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100, help="at most this many queries a set")
    parser.add_argument(
        "--limits",
        type=float,
        nargs="*",
        default=[0.0, 0.05, 0.06, 0.07, 0.08, 0.1],
    )
    parser.add_argument("--cache", help="a folder that keeps the vectors from run to run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        unrelated, related = ask_everything(options, options.cache or temporary)
    least, some = evidence.LEAST_EVIDENCE, evidence.SOME_EVIDENCE
    kinds = sorted(related)
    print("n: " + ", ".join(f"{kind} {len(related[kind])}" for kind in kinds))
    print("limit   weak: " + ", ".join(f"{a} on {b}" for a, b in unrelated))
    print("        right ones called weak: " + ", ".join(kinds) + ", all")
    for limit in options.limits:
        evidence.MOST_EVIDENCE = limit
        evidence.LEAST_EVIDENCE, evidence.SOME_EVIDENCE = min(limit, least), min(limit, some)
        weak = [sum(is_weak(*answer) for answer in answers) / len(answers) for answers in unrelated.values()]
        called = [doubted(related[kind]) for kind in kinds] + [
            doubted([a for kind in kinds for a in related[kind]])
        ]
        cells = "".join(f"{100 * share:7.1f} %" for share in weak)
        print(
            f"{limit:6.3f}{cells}   right{''.join(f'{100 * share:7.2f} %' for share in called)}", flush=True
        )


if __name__ == "__main__":
    main()
