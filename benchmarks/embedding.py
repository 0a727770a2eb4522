"""What the embedding model finds, alone and with words, against others.

    python benchmarks/embedding.py [--eval ../shared/eval] [--quick]

Sets: notes (a title finds its text), commands (a description finds the text of
its page in another or the same language, and its own translation), pairs of
bullets. Systems: the bundled model, `wordllama` when it is installed, BM25 (words and CJK
bigrams), and both fused 0.6 : 0.4 by the design's weights, the words
divided by the most that the query could score. Intervals are 95 % bootstrap
over the queries (over the pairs).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import time
from collections import Counter, defaultdict

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from memx.index.dense.bulk import embed_many  # noqa: E402
from memx.index.dense.calibration import load_table, semantic  # noqa: E402
from memx.index.dense.embedder import QueryEmbedder  # noqa: E402
from memx.resources import resource  # noqa: E402

SEED = 20261130
RESAMPLES = 1000
LANGUAGES = ("en", "es", "zh", "ja")
KEYWORD_WEIGHT, SEMANTIC_WEIGHT = 0.6, 0.4
K1, B = 1.2, 0.75
TIERS = (0.8, 0.65, 0.5, 0.4, 0.3)
HEAD_CHARACTERS = 400


def load(folder: str, name: str) -> list[dict[str, str]]:
    """Read one file of development data."""
    with open(os.path.join(folder, f"{name}.dev.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Bundled:
    """The shipped model, or another one in its place."""

    name = "bundled"

    def __init__(self, folder: str) -> None:
        """Name the model's folder."""
        self.folder = folder

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return unit rows (n × dimension)."""
        vectors = embed_many(self.folder, texts)
        zero = bytes(max(len(v) for v in vectors if v))
        rows = [np.frombuffer(v or zero, dtype=np.int8) for v in vectors]
        return to_unit(np.array(rows, dtype=np.float64))


class Wordllama:
    """The best ready-made static model on the package index."""

    name = "wordllama"

    def __init__(self) -> None:
        """Load its 256 dimensions; raises ImportError when it is not installed."""
        import wordllama

        # Its own folder as cache: it looks for the tokenizer it ships under another name otherwise.
        folder = os.path.dirname(wordllama.__file__)
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return unit rows (n × 256)."""
        return to_unit(np.array(self._model.embed(texts), dtype=np.float64))


def to_unit(rows: np.ndarray) -> np.ndarray:
    """Scale rows to length one, zero rows stay zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def tokens(text: str) -> list[str]:
    """Return lower-case words, and bigrams of CJK runs."""
    found = []
    for word in re.findall(r"[a-z0-9_áéíóúñü]+|[\u3040-\u30ff\u3400-\u9fff]+", text.lower()):
        is_cjk = word[0] >= "\u3040"
        found += [word[i : i + 2] for i in range(max(1, len(word) - 1))] if is_cjk else [word]
    return found


class Bm25:
    """Okapi BM25 over a list of texts; scores are shares of the most the query could reach."""

    def __init__(self, texts: list[str]) -> None:
        """Index the texts."""
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for i, text in enumerate(texts):
            counts = Counter(tokens(text))
            lengths.append(sum(counts.values()))
            for token, count in counts.items():
                self.postings[token].append((i, count))
        mean = sum(lengths) / len(lengths)
        self.norms = np.array([K1 * (1 - B + B * length / mean) for length in lengths])

    def scores(self, query: str) -> np.ndarray:
        """Return a score in 0–1 a text."""
        total, most = np.zeros(len(self.norms)), 0.0
        for token in set(tokens(query)):
            found = self.postings.get(token, [])
            idf = math.log(1 + (len(self.norms) - len(found) + 0.5) / (len(found) + 0.5))
            most += idf * (K1 + 1)
            for i, count in found:
                total[i] += idf * count * (K1 + 1) / (count + self.norms[i])
        return total / most if most else total


def ranks(scores: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the rank of each query's own text; ties count half, so that zeros do not win."""
    at = scores[np.arange(len(own)), own][:, None]
    return 1 + (scores > at).sum(axis=1) + ((scores == at).sum(axis=1) - 1) / 2


def interval(values: np.ndarray, rng: np.random.Generator) -> str:
    """Return mean and 95 % bootstrap interval in per cent."""
    means = [values[rng.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{100 * values.mean():5.1f} [{100 * low:5.1f}, {100 * high:5.1f}]"


def print_row(name: str, rank: np.ndarray) -> None:
    """Print recall at 5 and 10 and the mean reciprocal rank."""
    rng = np.random.default_rng(SEED)
    cells = [
        interval((rank <= 5).astype(float), rng),
        interval((rank <= 10).astype(float), rng),
        interval(1 / rank, rng),
    ]
    print(f"  {name:26} R@5 {cells[0]}  R@10 {cells[1]}  MRR {cells[2]}  n={len(rank)}")


def compare(queries: list[str], texts: list[str], own: np.ndarray, models: list[Bundled | Wordllama]) -> None:
    """Print one line a system for one retrieval task."""
    index = Bm25(texts)
    words = np.array([index.scores(query) for query in queries])
    table = load_table(resource("model"))
    for model in models:
        cosines = model.embed(queries) @ model.embed(texts).T
        print_row(model.name, ranks(cosines, own))
        if model.name == "bundled":
            calibrated = np.vectorize(lambda c: semantic(c, table))(cosines)
            fused = KEYWORD_WEIGHT * words + SEMANTIC_WEIGHT * calibrated
            even = (words + calibrated) / 2
    print_row("BM25", ranks(words, own))
    print_row("fused 0.6 : 0.4", ranks(fused, own))
    print_row("fused 0.5 : 0.5", ranks(even, own))


def run_notes(folder: str, models: list[Bundled | Wordllama]) -> None:
    """Find each note by its title."""
    notes = load(folder, "notes")
    own = np.arange(len(notes))
    titles = [note["title"] for note in notes]
    print("\nnotes, title → text")
    compare(titles, [note["text"] for note in notes], own, models)
    print(f"\nnotes, title → first {HEAD_CHARACTERS} characters")
    compare(titles, [note["text"][:HEAD_CHARACTERS] for note in notes], own, models)


def run_commands(folder: str, models: list[Bundled | Wordllama], *, quick: bool) -> None:
    """Find each page's text, and its English description, by its description."""
    rows = load(folder, "tldr")
    by_language = {lang: {row["page"]: row for row in rows if row["lang"] == lang} for lang in LANGUAGES}
    for source in LANGUAGES:
        for target in LANGUAGES:
            if quick and target not in {source, "en"}:
                continue
            pages = [page for page in by_language[source] if page in by_language[target]]
            names = list(by_language[target])
            own = np.array([names.index(page) for page in pages])
            queries = [by_language[source][page]["description"] for page in pages]
            print(f"\ncommands, description {source} → text {target}")
            compare(queries, [by_language[target][page]["text"] for page in names], own, models)
            if source != target == "en":
                print(f"\ncommands, description {source} → description en")
                compare(queries, [by_language[target][page]["description"] for page in names], own, models)


def area(positive: np.ndarray, negative: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    difference = positive[:, None] - negative[None, :]
    return float((difference > 0).mean() + (difference == 0).mean() / 2)


def run_pairs(folder: str, models: list[Bundled | Wordllama]) -> None:
    """Tell duplicates from the other pairs, and show what each tier of cosine holds."""
    pairs = load(folder, "pairs")
    labels = np.array([pair["relation"] for pair in pairs])
    relations = ("duplicate", "contradiction", "distinct_near", "related", "unrelated")
    for model in models:
        cosines = (model.embed([p["a"] for p in pairs]) * model.embed([p["b"] for p in pairs])).sum(axis=1)
        print(f"\npairs, {model.name}: AUC of duplicate against")
        rng = np.random.default_rng(SEED)
        for names in (relations[1:], *[(name,) for name in relations[1:]]):
            a, b = cosines[labels == "duplicate"], cosines[np.isin(labels, names)]
            drawn = [
                area(a[rng.integers(0, len(a), len(a))], b[rng.integers(0, len(b), len(b))])
                for _ in range(RESAMPLES // 2)
            ]
            low, high = np.percentile(drawn, [2.5, 97.5])
            name = "the rest" if len(names) > 1 else names[0]
            print(f"  {name:14} {area(a, b):.3f} [{low:.3f}, {high:.3f}]  n={len(a)}+{len(b)}")
        print("  cosine at least  " + "  ".join(f"{name:>13}" for name in relations) + "  P(duplicate)")
        for tier in TIERS:
            above = [int(((cosines >= tier) & (labels == name)).sum()) for name in relations]
            shares = "  ".join(
                f"{count:4} ({count / (labels == name).sum():4.0%})".rjust(13)
                for count, name in zip(above, relations, strict=True)
            )
            print(f"  {tier:15}  {shares}  {above[0] / max(1, sum(above)):.2f}")


def run_speed(folder: str) -> None:
    """Print what a text costs each way (warm)."""
    titles = [note["title"] for note in load(folder, "notes")]
    embedder = QueryEmbedder(resource("model"))
    for name, function in (
        ("query path, one title", lambda: [embedder.embed(title) for title in titles]),
        ("bulk, one title", lambda: embed_many(resource("model"), titles)),
    ):
        function()
        start = time.perf_counter()
        function()
        print(f"  {name:24} {(time.perf_counter() - start) * 1e6 / len(titles):7.0f} µs")


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", default=os.path.join(ROOT, "..", "shared", "eval"))
    parser.add_argument("--model", default=resource("model"), help="folder of the model to measure")
    parser.add_argument("--quick", action="store_true", help="across languages only into English")
    arguments = parser.parse_args()
    models: list[Bundled | Wordllama] = [Bundled(arguments.model)]
    try:
        models.append(Wordllama())
    except ImportError:
        print("wordllama is not installed: skipped (pip install wordllama)")
    run_notes(arguments.eval, models)
    run_commands(arguments.eval, models, quick=arguments.quick)
    run_pairs(arguments.eval, models)
    print("\nspeed, warm")
    run_speed(arguments.eval)


if __name__ == "__main__":
    main()
