"""Train an existing model on with more text: translation pairs and (summary, description), no teachers.

    python tools/embedding/tune.py --start memx/data/model --work /tmp/memx-tune [--steps 1500]

Needs tools/embedding/requirements.txt and apt-get. The vocabulary stays. A
text should stay where the model has it, a translation halfway between its own
place and the English side's; on top of that a contrastive loss draws the two
sides of a pair together against the rest of the batch. `--hard` makes a batch
of seeds and their nearest neighbours, so that a negative differs in little.
The result is `WORK/model`; see train.py on when to ship it.
"""

from __future__ import annotations

import argparse
import os
import random
import sys

import numpy as np
from catalogues import catalogue_pairs, fetch_packages, manual_pairs
from corpus import (
    description_texts,
    docstring_texts,
    fetch_descriptions,
    read_descriptions,
    translated_summaries,
)
from overlap import Evaluation, evaluation_texts
from static import SEED, Fit, export, load_table, mean_matrix, unit
from tokenizers import Tokenizer

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BATCH_PAIRS = 256
HARD_SEEDS = 32
NEIGHBOURS = 8
POOL = 4096

Pair = tuple[str, str]


def read_groups(work: str, evaluation: Evaluation) -> list[list[Pair]]:
    """Return the pairs of each source, without any that shares text with the evaluation data."""
    lists, packages = os.path.join(work, "lists"), os.path.join(work, "packages")
    fetch_descriptions(lists)
    fetch_packages(packages)
    descriptions = read_descriptions(lists)
    _, short_long, translations = description_texts(descriptions)
    _, docstrings = docstring_texts()
    sources = {
        "translated descriptions": translations,
        "translated messages": catalogue_pairs(packages),
        "translated manual pages": manual_pairs(packages),
        "summary and description": short_long,
        "docstrings": docstrings,
        "translated summary and description": translated_summaries(descriptions),
    }
    groups = []
    for name, pairs in sources.items():
        distinct = sorted(set(pairs))
        kept = [pair for pair in distinct if not any(map(evaluation.reason, pair))]
        print(
            f"{name}: {len(kept)} pairs, {len(distinct) - len(kept)} left out as evaluation text", flush=True
        )
        random.Random(SEED).shuffle(kept)
        groups.append(kept)
    return groups


class Draw:
    """Batches of pairs, each source by its share."""

    def __init__(
        self, sizes: list[int], shares: list[float], start: np.ndarray, translated: int, *, hard: bool
    ) -> None:
        """`start`: unit rows of all left sides, then of all right sides; the first groups are translations."""
        self._ends = np.cumsum(sizes)
        self._shares, self._hard = shares, hard
        count = int(self._ends[-1])
        self._count, self._start = count, start
        self._target = start.copy()
        last = int(self._ends[translated - 1])
        self._target[count : count + last] = unit(start[:last] + start[count : count + last])

    def __call__(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the numbers of the texts, their targets, and the number of pairs."""
        pool = self._sample(rng, POOL if self._hard else BATCH_PAIRS)
        if self._hard:
            seeds = self._start[pool[:HARD_SEEDS]]
            nearest = np.argpartition(-seeds @ self._start[pool].T, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
            pool = pool[np.unique(nearest)]
        chosen = np.concatenate([pool, pool + self._count])
        return chosen, self._target[chosen], len(pool)

    def _sample(self, rng: np.random.Generator, wanted: int) -> np.ndarray:
        drawn = []
        begin = 0
        for end, share in zip(self._ends, self._shares, strict=True):
            drawn.append(rng.integers(begin, end, int(wanted * share)))
            begin = int(end)
        return rng.permutation(np.unique(np.concatenate(drawn)))


def main() -> None:
    """Train the model on and write the new folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--start", default=os.path.join(ROOT, "memx", "data", "model"))
    parser.add_argument("--work", required=True, help="folder for everything that is made")
    parser.add_argument("--name", default="model", help="name of the result below it")
    parser.add_argument("--eval", default=os.path.join(ROOT, "..", "shared", "eval"))
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--contrast", type=float, default=0.2)
    parser.add_argument("--shares", type=float, nargs=6, default=[0.2, 0.2, 0.1, 0.2, 0.1, 0.2])
    parser.add_argument("--hard", action="store_true", help="batches of near neighbours")
    arguments = parser.parse_args()
    groups = read_groups(arguments.work, Evaluation(evaluation_texts(arguments.eval)))
    pairs = [pair for group in groups for pair in group]
    texts = [left for left, _ in pairs] + [right for _, right in pairs]
    tokenizer = Tokenizer.from_file(os.path.join(arguments.start, "tokenizer.json"))
    table = load_table(arguments.start)
    means = mean_matrix(tokenizer, texts, len(table))
    draw = Draw(
        list(map(len, groups)),
        arguments.shares,
        unit(means @ table).astype(np.float32),
        translated=3,
        hard=arguments.hard,
    )
    checkpoint = os.path.join(arguments.work, f"{arguments.name}.checkpoint.npz")
    table = Fit(table, means, checkpoint, rate=arguments.rate).run(arguments.steps, arguments.contrast, draw)
    export(table, means, tokenizer, os.path.join(arguments.work, arguments.name))


if __name__ == "__main__":
    sys.exit(main())
