"""Fit the Curator's two models and write their readable coefficients into memx/data/curator.

Usage: python tools/curator/fit.py MODEL_DIR PAIRS.jsonl ...
Fitted on the development pairs and benchmarks/data/pairs.minimal.jsonl, short
pairs one fact or one turn of phrase apart. PAIRS.jsonl: objects with `a`, `b`, `relation` (duplicate, contradiction,
distinct_near, related, unrelated). MODEL_DIR: a model2vec folder, for cosines.
Needs scikit-learn and model2vec, which the product itself does not use here.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from model2vec import StaticModel
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from memx.curator.features import NAMES, Comparison, compare, features
from memx.curator.similarity import Model, Models
from memx.curator.tokens import analyse
from memx.resources import resource

STRENGTH = 0.6  # inverse regularisation, chosen by ten folds
MINIMAL_TRUST = 0.4  # weight of a minimal pair; they are many variants of few sentences
MODELS = {
    "subject": (None, ("duplicate", "contradiction")),
    "conclusion": (("duplicate", "contradiction"), ("duplicate",)),
}
"""Model: the relations it is fitted on (None: all) and those that count as yes."""
NEVER_NEGATIVE = ("cosine", "cosine_x_overlap")


def cosines(rows: list[dict[str, str]], model_dir: str) -> list[float]:
    """Return the exact cosine of each pair's vectors."""
    model = StaticModel.from_pretrained(model_dir)
    left, right = (np.asarray(model.encode([row[side] for row in rows])) for side in ("a", "b"))
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return [float(value) for value in (left * right).sum(axis=1) / np.maximum(norms, 1e-9)]


def fit(x: np.ndarray, y: np.ndarray, trust: np.ndarray) -> Model:
    """Return a model on the features' own scale; a forbidden negative weight is taken out and the rest refitted."""
    keep = np.ones(x.shape[1], dtype=bool)
    while True:
        scaler = StandardScaler().fit(x[:, keep])
        model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(scaler.transform(x[:, keep]), y, trust)
        weights = np.zeros(x.shape[1])
        weights[keep] = model.coef_[0] / scaler.scale_
        bad = [NAMES.index(name) for name in NEVER_NEGATIVE if weights[NAMES.index(name)] < 0]
        if not bad:
            shift = float((model.coef_[0] * scaler.mean_ / scaler.scale_).sum())
            return Model(float(model.intercept_[0]) - shift, tuple(float(weight) for weight in weights))
        keep[bad] = False


def fit_models(
    pairs: list[Comparison], near: list[float], relations: np.ndarray, trust: np.ndarray
) -> Models:
    """Fit both models on compared pairs with their cosines and labels."""
    x = np.array([features(pair, cosine) for pair, cosine in zip(pairs, near, strict=True)])
    found = {}
    for name, (among, yes) in MODELS.items():
        chosen = np.isin(relations, among) if among else np.ones(len(relations), dtype=bool)
        found[name] = fit(x[chosen], np.isin(relations[chosen], yes), trust[chosen])
    return Models(**found)


def read_pairs(path: str) -> list[dict[str, str]]:
    """Read a file of labelled pairs."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def trust_in(rows: list[dict[str, str]]) -> np.ndarray:
    """Return the weight of each pair in the fit."""
    return np.array([MINIMAL_TRUST if row["id"].startswith("min-") else 1.0 for row in rows])


def main(model_dir: str, *paths: str) -> None:
    """Fit both models on all pairs and write their files."""
    rows = [row for path in paths for row in read_pairs(path)]
    pairs = [compare(analyse(row["a"]), analyse(row["b"])) for row in rows]
    models = fit_models(
        pairs, cosines(rows, model_dir), np.array([row["relation"] for row in rows]), trust_in(rows)
    )
    write("subject", models.subject)
    write("conclusion", models.conclusion)


def write(name: str, model: Model) -> None:
    """Write one model, a coefficient a line."""
    with open(f"{resource('curator')}/{name}.txt", "w", encoding="utf-8") as file:
        file.write(
            f"# Log-odds of the same {name}: intercept plus value times weight; see tools/curator/fit.py.\n"
        )
        file.write(f"intercept {model.intercept:.4f}\n")
        file.writelines(
            f"{feature} {weight:.4f}\n" for feature, weight in zip(NAMES, model.weights, strict=True)
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
