"""How often the Curator merges wrongly, finds contradictions and joins duplicates.

Usage: python benchmarks/curator.py [PAIRS.jsonl] [MODEL_DIR] [--fitted]
Without --fitted the two models are refitted in ten folds and every pair is
judged by models that never saw it; with it, the packaged models judge (for
pairs kept apart from tuning, data/pairs.own.jsonl, and harder ones,
data/pairs.hard.jsonl). Needs scikit-learn and model2vec.
"""

from __future__ import annotations

import math
import os
import sys
import time

import numpy as np
from sklearn.model_selection import StratifiedKFold

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "tools", "curator")]

from fit import cosines, fit_models, read_pairs, trust_in  # noqa: E402 (the path is set above)

from memx.config import CuratorConfig  # noqa: E402
from memx.curator.features import compare  # noqa: E402
from memx.curator.judge import Verdict, judge_comparison, judge_texts  # noqa: E402
from memx.curator.tokens import analyse  # noqa: E402

MINIMAL = os.path.join(HERE, "data", "pairs.minimal.jsonl")
SHARED = os.path.join(HERE, "..", "..", "shared")
RELATIONS = ("duplicate", "contradiction", "distinct_near", "related", "unrelated")
LANGUAGES = ("en", "zh", "ja", "es", "cross")
FOLDS = 10


def judge_folds(rows: list[dict[str, str]], near: list[float], model_dir: str) -> list[Verdict]:
    """Judge every pair by models fitted on the other folds and the minimal pairs."""
    minimal = read_pairs(MINIMAL)
    more = [compare(analyse(row["a"]), analyse(row["b"])) for row in minimal]
    more_near = cosines(minimal, model_dir)
    more_relations = [row["relation"] for row in minimal]
    pairs = [compare(analyse(row["a"]), analyse(row["b"])) for row in rows]
    relations = np.array([row["relation"] for row in rows])
    verdicts: list[Verdict | None] = [None] * len(rows)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(relations, relations):
        models = fit_models(
            [*(pairs[i] for i in train), *more],
            [*(near[i] for i in train), *more_near],
            np.array([*relations[train], *more_relations]),
            trust_in([*(rows[i] for i in train), *minimal]),
        )
        for i in test:
            verdicts[i] = judge_comparison(pairs[i], near[i], CuratorConfig(), models)
    return [verdict for verdict in verdicts if verdict is not None]


def upper_bound(hits: int, total: int) -> float:
    """Return the upper end of the two-sided 95 % Wilson interval."""
    if not total:
        return 1.0
    z, share = 1.96, hits / total
    middle = share + z * z / (2 * total)
    return (middle + z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))) / (
        1 + z * z / total
    )


def language(row: dict[str, str]) -> str:
    """Return the language of a pair, `cross` for two."""
    return row["lang_a"] if row["lang_a"] == row["lang_b"] else "cross"


def share(name: str, hits: list[bool], aim: str) -> None:
    """Print one rate with its upper bound."""
    count, total = sum(hits), len(hits)
    rate, upper = 100 * count / max(total, 1), 100 * upper_bound(count, total)
    print(f"{name:52} {count:4}/{total:<4} {rate:5.1f} %   95 % upper {upper:5.1f} %   aim {aim}")


def report(rows: list[dict[str, str]], verdicts: list[Verdict], near: list[float]) -> None:
    """Print the rates, the table per relation, the one per language and the curve."""

    def among(*relations: str) -> list[Verdict]:
        return [v for v, row in zip(verdicts, rows, strict=True) if row["relation"] in relations]

    share(
        "merged among contradictions and distinct_near",
        [v.action == "merge" for v in among("contradiction", "distinct_near")],
        "<= 1 %",
    )
    share("duplicates merged", [v.action == "merge" for v in among("duplicate")], ">= 60 %")
    share("duplicates merged or flagged", [v.action != "independent" for v in among("duplicate")], ">= 90 %")
    share("contradictions flagged", [v.action == "conflict" for v in among("contradiction")], ">= 85 %")
    share(
        "false alarms, related and unrelated",
        [v.action != "independent" for v in among("related", "unrelated")],
        "<= 5 %",
    )
    share("distinct_near flagged", [v.action == "conflict" for v in among("distinct_near")], "-")
    print("\nlanguage relation        pairs  merge  conflict  independent")
    for name in LANGUAGES:
        for relation in RELATIONS:
            chosen = [
                v.action
                for v, row in zip(verdicts, rows, strict=True)
                if language(row) == name and row["relation"] == relation
            ]
            if chosen:
                counts = (chosen.count(action) for action in ("merge", "conflict", "independent"))
                print(f"{name:8} {relation:14} {len(chosen):6} " + " ".join(f"{n:8}" for n in counts))
    curve(rows, verdicts, near)


def curve(rows: list[dict[str, str]], verdicts: list[Verdict], near: list[float]) -> None:
    """Print what a bare threshold would merge: raw cosine against calibrated similarity, without the gate."""
    kinds = np.array([row["relation"] for row in rows])
    scores = {"raw cosine": np.array(near), "calibrated": np.array([v.similarity for v in verdicts])}
    print("\nthreshold score         duplicates above contradictions above distinct_near above   precision")
    for limit in (0.5, 0.6, 0.7, 0.8, 0.9):
        for name, values in scores.items():
            above = [float((values[kinds == kind] >= limit).mean()) for kind in RELATIONS[:3]]
            taken = values >= limit
            precision = float((kinds[taken] == "duplicate").mean()) if taken.any() else 1.0
            shares = "".join(f"{100 * value:19.1f}%" for value in (*above, precision))
            print(f"{limit:9} {name:12}{shares}")


def speed(rows: list[dict[str, str]], near: list[float]) -> None:
    """Print pairs judged a second, texts read before."""
    config = CuratorConfig()
    started = time.process_time()
    for _ in range(5):
        for row, cosine in zip(rows, near, strict=True):
            judge_texts(row["a"], row["b"], cosine, config)
    print(f"\n{5 * len(rows) / (time.process_time() - started):.0f} pairs judged a second")


def main(arguments: list[str]) -> None:
    """Run the benchmark."""
    named = [argument for argument in arguments if not argument.startswith("--")]
    path = named[0] if named else os.path.join(SHARED, "eval", "pairs.dev.jsonl")
    model_dir = named[1] if len(named) > 1 else os.path.join(os.path.dirname(HERE), "memx", "data", "model")
    rows = read_pairs(path)
    near = cosines(rows, model_dir)
    if "--fitted" in arguments:
        verdicts = [
            judge_texts(row["a"], row["b"], cosine, CuratorConfig())
            for row, cosine in zip(rows, near, strict=True)
        ]
    else:
        verdicts = judge_folds(rows, near, model_dir)
    report(rows, verdicts, near)
    speed(rows, near)


if __name__ == "__main__":
    main(sys.argv[1:])
