"""Fit the table from a model's cosine to `semantic` and print how reliable it is.

    python tools/embedding/calibrate.py [--eval ../shared/eval] [--write]

Grades: 0 two texts that were drawn at random; 1 a title or description and its
own text, in one language or across two, and pairs labelled related; 2 a
description and its translation, and pairs labelled duplicate. Every grade has
the same weight, within it every source, within that every pair of languages.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections import defaultdict

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

from memx.index.dense.bulk import embed_many  # noqa: E402
from memx.index.dense.calibration import parse_table, semantic  # noqa: E402
from memx.resources import resource  # noqa: E402

SEED = 20261130
LANGUAGES = ("en", "es", "zh", "ja")
LEAST_PAIRS = 10
STEPS = [round(0.05 * step, 2) for step in range(21)]

Group = tuple[str, str, int]
"""Source of the texts, languages, grade."""


def load(folder: str, name: str) -> list[dict[str, str]]:
    """Read one file of development data."""
    with open(os.path.join(folder, f"{name}.dev.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def embed(texts: list[str]) -> np.ndarray:
    """Return unit rows."""
    rows = [np.frombuffer(v or bytes(256), dtype=np.int8) for v in embed_many(resource("model"), texts)]
    matrix = np.array(rows, dtype=np.float64)
    return matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-9)


def note_cosines(folder: str, rng: random.Random) -> dict[Group, list[float]]:
    """Title against text: its own, and another's of another category."""
    notes = load(folder, "notes")
    titles, texts = embed([n["title"] for n in notes]), embed([n["text"][:400] for n in notes])
    groups: dict[Group, list[float]] = defaultdict(list)
    for i, note in enumerate(notes):
        groups["notes", "en", 1].append(float(titles[i] @ texts[i]))
        for j in rng.sample(range(len(notes)), 10):
            if notes[j]["category"] != note["category"]:
                groups["notes", "en", 0].append(float(titles[i] @ texts[j]))
    return groups


def command_cosines(folder: str, rng: random.Random) -> dict[Group, list[float]]:
    """Compare description against text and against translation, in and across languages."""
    rows = load(folder, "tldr")
    descriptions, texts = embed([r["description"] for r in rows]), embed([r["text"] for r in rows])
    at = {(r["page"], r["lang"]): i for i, r in enumerate(rows)}
    groups: dict[Group, list[float]] = defaultdict(list)
    for i, row in enumerate(rows):
        for lang in LANGUAGES:
            names = f"{row['lang']}-{lang}"
            own = at.get((row["page"], lang))
            if own is not None:
                groups["commands", names, 1].append(float(descriptions[i] @ texts[own]))
                if lang != row["lang"]:
                    groups["commands", names, 2].append(float(descriptions[i] @ descriptions[own]))
        for j in rng.sample(range(len(rows)), 20):
            other = rows[j]
            if other["page"].split("/")[-1][:3] != row["page"].split("/")[-1][:3]:
                groups["commands", f"{row['lang']}-{other['lang']}", 0].append(
                    float(descriptions[i] @ texts[j])
                )
    return groups


def pair_cosines(folder: str) -> dict[Group, list[float]]:
    """Labelled pairs; contradictions and near misses are left out: topic does not tell them apart."""
    grades = {"duplicate": 2, "related": 1, "unrelated": 0}
    pairs = [p for p in load(folder, "pairs") if p["relation"] in grades]
    left, right = embed([p["a"] for p in pairs]), embed([p["b"] for p in pairs])
    groups: dict[Group, list[float]] = defaultdict(list)
    for i, pair in enumerate(pairs):
        names = "-".join((pair["lang_a"], pair["lang_b"]))
        groups["pairs", names, grades[pair["relation"]]].append(float(left[i] @ right[i]))
    return groups


def weigh(groups: dict[Group, list[float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return cosines, grades and weights: equal by grade, then by source, then by languages."""
    groups = {group: values for group, values in groups.items() if values}
    cosines, grades, weights = [], [], []
    for (source, _, grade), values in groups.items():
        sources = {s for s, _, g in groups if g == grade}
        languages = [n for s, n, g in groups if (s, g) == (source, grade)]
        share = 1 / (3 * len(sources) * len(languages) * len(values))
        cosines += values
        grades += [grade] * len(values)
        weights += [share] * len(values)
    return np.array(cosines), np.array(grades), np.array(weights)


def fit_logistic(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return slope and intercept by Newton's method; the two classes get equal weight."""
    weights = weights.copy()
    for label in (0, 1):
        weights[y == label] /= 2 * weights[y == label].sum()
    design = np.column_stack([x, np.ones_like(x)])
    theta = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ theta))
        gradient = design.T @ (weights * (y - p)) - 1e-6 * theta
        hessian = (design * (weights * p * (1 - p))[:, None]).T @ design + 1e-6 * np.eye(2)
        theta += np.linalg.solve(hessian, gradient)
    return float(theta[0]), float(theta[1])


def fit_table(groups: dict[Group, list[float]]) -> list[tuple[float, float]]:
    """Return the points of the map."""
    cosines, grades, weights = weigh(groups)
    topic = fit_logistic(cosines, (grades >= 1).astype(float), weights)
    known = grades >= 1
    same = fit_logistic(cosines[known], (grades[known] == 2).astype(float), weights[known])

    def relevance(cosine: float) -> float:
        curves = [1 / (1 + np.exp(-(slope * cosine + offset))) for slope, offset in (topic, same)]
        return float(curves[0] * (1 + curves[1]) / 2)

    floor, top = relevance(0.0), relevance(1.0)
    return [(c, round((relevance(c) - floor) / (top - floor), 4)) for c in STEPS]


def split(groups: dict[Group, list[float]], part: int) -> dict[Group, list[float]]:
    """Return every other value, from the first or the second on."""
    return {group: values[part::2] for group, values in groups.items()}


def print_reliability(groups: dict[Group, list[float]]) -> None:
    """Fit on one half and compare with the other: predicted against observed relevance in ten bins."""
    predicted, observed, weights = [], [], []
    for part in (0, 1):
        table = fit_table(split(groups, part))
        cosines, grades, share = weigh(split(groups, 1 - part))
        predicted += [semantic(float(c), table) for c in cosines]
        observed += list(grades / 2)
        weights += list(share)
    p, o, w = map(np.array, (predicted, observed, weights))
    print("\nreliability, two-fold: predicted, observed mean relevance, share of weight, n")
    bins = np.minimum((p * 10).astype(int), 9)
    error = 0.0
    for b in range(10):
        m = bins == b
        if m.any():
            mean_p, mean_o, share = (
                np.average(p[m], weights=w[m]),
                np.average(o[m], weights=w[m]),
                w[m].sum() / w.sum(),
            )
            error += share * abs(mean_p - mean_o)
            print(f"  {mean_p:.2f}  {mean_o:.2f}  {share:6.1%}  {m.sum():6}")
    print(f"  expected calibration error {error:.3f}")


def print_groups(groups: dict[Group, list[float]], table: list[tuple[float, float]], title: str) -> None:
    """Print mean semantic and the 5th and 95th percentile of every group that is large enough."""
    print(f"\n{title}: semantic of unrelated mean (p95) | same topic mean (p5) | same mean (p5)")
    for source, names in sorted({(s, n) for s, n, _ in groups}):
        cells = []
        for grade, percentile in ((0, 95), (1, 5), (2, 5)):
            values = [semantic(c, table) for c in groups.get((source, names, grade), [])]
            if len(values) < LEAST_PAIRS:
                cells.append("       –       ")
                continue
            cells.append(
                f"{np.mean(values):.2f} ({np.percentile(values, percentile):.2f}) n={len(values):<5}"
            )
        if any("n=" in cell for cell in cells):
            print(f"  {source:9} {names:6} {' | '.join(cells)}")


def main() -> None:
    """Fit, report, and write when asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", default=os.path.join(ROOT, "..", "shared", "eval"))
    parser.add_argument("--write", action="store_true", help="write calibration.txt beside the model")
    arguments = parser.parse_args()
    rng = random.Random(SEED)
    groups = (
        note_cosines(arguments.eval, rng)
        | command_cosines(arguments.eval, rng)
        | pair_cosines(arguments.eval)
    )
    table = fit_table(groups)
    lines = [f"{cosine:.2f} {value:.4f}\n" for cosine, value in table]
    print("".join(lines), end="")
    parse_table(lines)
    print_reliability(groups)
    print_groups(groups, table, "all data")
    for left_out in ("notes", "commands", "pairs"):
        rest = {group: values for group, values in groups.items() if group[0] != left_out}
        unseen = {group: values for group, values in groups.items() if group[0] == left_out}
        print_groups(unseen, fit_table(rest), f"fitted without {left_out}")
    if arguments.write:
        path = os.path.join(resource("model"), "calibration.txt")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write("# cosine semantic; tools/embedding/calibrate.py made it\n")
            file.writelines(lines)
        print(f"\nwrote {path}; now run tools/embedding/build_vocab_map.py")


if __name__ == "__main__":
    main()
