"""Compare models of the shipped kind on every set, in one table.

    python tools/embedding/compare.py MODEL_FOLDER ... [--eval ../shared/eval] [--resamples 1000]

A row a set, a column a model; the last column is the last model's gain over
the first with a 95 % interval (paired bootstrap over queries or pairs, in
points). Retrieval: mean reciprocal rank in per cent. `pairs`: area under the
curve of a duplicate against unrelated and related pairs, and the rank
correlation (Spearman) of the cosine with the grade unrelated < related < near
< duplicate, which is what these data have of a test of graded similarity.
"""

from __future__ import annotations

import argparse
import os
import sys

import numpy as np
from scipy.stats import rankdata

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [ROOT, os.path.join(ROOT, "benchmarks")]

from embedding import HEAD_CHARACTERS, LANGUAGES, SEED, Bundled, area, load, ranks  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Rows = dict[str, np.ndarray]

GRADES = {"unrelated": 0, "related": 1, "distinct_near": 2, "contradiction": 2, "duplicate": 3}


class Scores:
    """What each model gets on each set: a value a query, or a function of the drawn pairs."""

    def __init__(self, folders: list[str], evaluation: str) -> None:
        """Embed everything with every model."""
        self.models = [Bundled(folder) for folder in folders]
        self._evaluation = evaluation
        self.names = [os.path.basename(os.path.normpath(folder)) for folder in folders]

    def retrieval(self) -> Iterator[tuple[str, list[np.ndarray]]]:
        """Yield (set, reciprocal ranks of each model)."""
        notes = load(self._evaluation, "notes")
        titles, own = [note["title"] for note in notes], np.arange(len(notes))
        yield "notes, title → text", self._reciprocal(titles, [note["text"] for note in notes], own)
        heads = [note["text"][:HEAD_CHARACTERS] for note in notes]
        yield f"notes, title → first {HEAD_CHARACTERS}", self._reciprocal(titles, heads, own)
        rows = load(self._evaluation, "tldr")
        pages = {lang: {row["page"]: row for row in rows if row["lang"] == lang} for lang in LANGUAGES}
        for source in LANGUAGES:
            for target in LANGUAGES:
                shared = [page for page in pages[source] if page in pages[target]]
                names = list(pages[target])
                own = np.array([names.index(page) for page in shared])
                queries = [pages[source][page]["description"] for page in shared]
                for field in ("text", "description") if source != target else ("text",):
                    found = [pages[target][page][field] for page in names]
                    yield f"commands, {source} → {field} {target}", self._reciprocal(queries, found, own)

    def _reciprocal(self, queries: list[str], texts: list[str], own: np.ndarray) -> list[np.ndarray]:
        return [1 / ranks(model.embed(queries) @ model.embed(texts).T, own) for model in self.models]

    def pairs(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the grade of each pair and each model's cosines."""
        pairs = load(self._evaluation, "pairs")
        grades = np.array([GRADES[pair["relation"]] for pair in pairs])
        left, right = [pair["a"] for pair in pairs], [pair["b"] for pair in pairs]
        return grades, [(model.embed(left) * model.embed(right)).sum(axis=1) for model in self.models]


def duplicate_area(cosines: np.ndarray, grades: np.ndarray) -> float:
    """Return the area of duplicates against related and unrelated pairs."""
    return area(cosines[grades == GRADES["duplicate"]], cosines[grades <= GRADES["related"]])


def correlation(cosines: np.ndarray, grades: np.ndarray) -> float:
    """Return Spearman's rank correlation."""
    return float(np.corrcoef(rankdata(cosines), rankdata(grades))[0, 1])


def gain(
    first: Callable[[np.ndarray], float], last: Callable[[np.ndarray], float], count: int, n: int
) -> str:
    """Return `last - first` in points with its interval over `n` draws of `count` items."""
    rng = np.random.default_rng(SEED)
    drawn = [rng.integers(0, count, count) for _ in range(n)]
    low, high = np.percentile([100 * (last(d) - first(d)) for d in drawn], [2.5, 97.5])
    everything = np.arange(count)
    return f"{100 * (last(everything) - first(everything)):+5.1f} [{low:+5.1f}, {high:+5.1f}]"


def print_row(name: str, values: list[float], change: str, count: int) -> None:
    """Print one line of the table."""
    cells = " | ".join(f"{100 * value:5.1f}" for value in values)
    print(f"| {name} ({count}) | {cells} | {change} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--eval", default=os.path.join(ROOT, "..", "shared", "eval"))
    parser.add_argument("--resamples", type=int, default=1000)
    arguments = parser.parse_args()
    scores = Scores(arguments.models, arguments.eval)
    print(f"| set (n) | {' | '.join(scores.names)} | gain of the last over the first |")
    print("| --- |" + " --- |" * (len(scores.names) + 1))
    for name, reciprocal in scores.retrieval():
        change = gain(
            lambda d, v=reciprocal[0]: v[d].mean(),
            lambda d, v=reciprocal[-1]: v[d].mean(),
            len(reciprocal[0]),
            arguments.resamples,
        )
        print_row(name, [float(v.mean()) for v in reciprocal], change, len(reciprocal[0]))
    grades, cosines = scores.pairs()
    for name, function in (("pairs, AUC", duplicate_area), ("pairs, Spearman with the grade", correlation)):
        change = gain(
            lambda d, f=function: f(cosines[0][d], grades[d]),
            lambda d, f=function: f(cosines[-1][d], grades[d]),
            len(grades),
            arguments.resamples,
        )
        print_row(name, [function(c, grades) for c in cosines], change, len(grades))


if __name__ == "__main__":
    sys.exit(main())
