"""What the embedding model finds, alone and with words, against others.

    python benchmarks/embedding.py [--eval ../shared/eval] [--quick]
        [--wordllama-python PYTHON] [--texts FILE ...]

Sets: notes (a title finds its text), commands (a description finds the text of
its page in another or the same language, and its own translation), pairs of
bullets. Systems: the bundled model, `wordllama` when this or the given
interpreter has it, BM25 (words and CJK bigrams), and both fused 0.6 : 0.4 by
the design's weights, the words divided by the most that the query could score.
Intervals are 95 % bootstrap over the queries (over the pairs).

Equal vectors share a rank (the middle of theirs). Command pages repeat one
another's descriptions ("an alias of …"), so a translation's own page is one of
several right ones: the line "any page of that description" counts them all.

Last come the CPU time from a cold start to a vector and to those of many texts, and how
many texts get the token ids of the `tokenizers` library, one by one and together: the data
here, the standard library, and the lines of `--texts`. With `--speed` only the times are
printed, and with `--other CHECKOUT` those of another state of the project, in turns.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from memx.index.dense.bulk import embed_many  # noqa: E402
from memx.index.dense.calibration import load_table, semantic  # noqa: E402
from memx.index.dense.embedder import QueryEmbedder  # noqa: E402
from memx.index.dense.text import clean_text  # noqa: E402
from memx.index.dense.tokenizer import UnigramTokenizer  # noqa: E402
from memx.resources import resource  # noqa: E402
from memx.store.codec import parse_bullet  # noqa: E402

SEED = 20261130
RESAMPLES = 1000
LANGUAGES = ("en", "es", "zh", "ja")
KEYWORD_WEIGHT, SEMANTIC_WEIGHT = 0.6, 0.4
K1, B = 1.2, 0.75
TIERS = (0.8, 0.65, 0.5, 0.4, 0.3)
HEAD_CHARACTERS = 400
COLD_RUNS = 20
BYTE_CODE = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


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
    """The best ready-made static model on the package index, in an interpreter that may be another."""

    name = "wordllama"
    # Its own folder as cache: it looks for the tokenizer it ships under another name otherwise.
    _PROGRAM = """
import json, os, sys
import numpy, wordllama
folder = os.path.dirname(wordllama.__file__)
model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
for line in sys.stdin:
    rows = numpy.asarray(model.embed(json.loads(line)), dtype="<f4")
    sys.stdout.buffer.write(len(rows.tobytes()).to_bytes(8, "little") + rows.tobytes())
    sys.stdout.buffer.flush()
"""

    def __init__(self, python: str) -> None:
        """Start the interpreter; raises ImportError when it has no wordllama."""
        if subprocess.run([python, "-c", "import wordllama"], capture_output=True, check=False).returncode:
            raise ImportError("wordllama")
        process = subprocess.Popen(
            [python, "-c", self._PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._input, self._output = process.stdin, process.stdout

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return unit rows (n × 256)."""
        self._input.write(json.dumps(texts).encode() + b"\n")
        self._input.flush()
        size = int.from_bytes(self._output.read(8), "little")
        rows = np.frombuffer(self._output.read(size), dtype="<f4").reshape(len(texts), -1)
        return to_unit(rows.astype(np.float64))


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


def compare(
    queries: list[str],
    texts: list[str],
    own: np.ndarray,
    models: list[Bundled | Wordllama],
    *,
    repeated: bool = False,
) -> None:
    """Print one line a system for one retrieval task; `repeated`: texts of the same words are equally right."""
    index = Bm25(texts)
    words = np.array([index.scores(query) for query in queries])
    table = load_table(resource("model"))
    for model in models:
        cosines = model.embed(queries) @ model.embed(texts).T
        print_row(model.name, ranks(cosines, own))
        if repeated:
            first = [texts.index(text) for text in texts]
            distinct = sorted(set(first))
            at = np.array([distinct.index(first[i]) for i in own])
            print_row(f"{model.name}, any such page", ranks(cosines[:, distinct], at))
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
            if source != target and (target == "en" or not quick):
                print(f"\ncommands, description {source} → description {target}")
                described = [by_language[target][page]["description"] for page in names]
                compare(queries, described, own, models, repeated=True)


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


COLD = """
import sys
sys.path.insert(0, {root!r})
from memx.index.dense.embedder import QueryEmbedder
from memx.resources import resource
assert QueryEmbedder(resource("model")).embed("Redis timeouts under load come from the pool ceiling")
"""


COLD_MANY = """
import json, sys
root, path, wanted = sys.argv[1:]
sys.path.insert(0, root)
from memx.index.dense.embedder import QueryEmbedder
from memx.resources import resource
with open(path) as file:
    texts = json.load(file)
if wanted == "vectors":
    assert len(QueryEmbedder(resource("model")).embed_many(texts)) == len(texts)
"""
MANY, MANY_RUNS = 500, 8
EACH = 30
"""Of so many texts one is embedded in every way."""


def cpu_seconds(code: str) -> float:
    """Return the least CPU time of a fresh isolated interpreter that runs `code`."""
    return min(spent(["-I", "-S", "-c", code]) for _ in range(COLD_RUNS))


def spent(arguments: list[str]) -> float:
    """Return the CPU time of a fresh interpreter."""
    pid = os.posix_spawn(sys.executable, [sys.executable, *arguments], BYTE_CODE)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit("the cold start failed")
    return usage.ru_utime + usage.ru_stime


def run_many(folder: str, roots: list[str]) -> None:
    """Print what the vectors of many texts cost a fresh process that has read them, in each state of the project."""
    pages = load(folder, "tldr")
    sets = {f"commands {lang}": [row["text"] for row in pages if row["lang"] == lang] for lang in LANGUAGES}
    sets = {"bullets of speed.py": mixed_texts()} | sets
    for name, texts in sets.items():
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(texts[:MANY], file)
            file.flush()
            found: dict[tuple[str, str], list[float]] = defaultdict(list)
            for _ in range(MANY_RUNS):
                for root in roots:
                    for wanted in ("nothing", "vectors"):
                        found[root, wanted].append(spent(["-c", COLD_MANY, root, file.name, wanted]))
        number = len(texts[:MANY])
        costs = [1e6 * (min(found[root, "vectors"]) - min(found[root, "nothing"])) / number for root in roots]
        print(
            f"  {name:20} {number:4} texts" + "".join(f"{cost:7.0f} µs a text" for cost in costs), flush=True
        )


def mixed_texts() -> list[str]:
    """Return texts as `speed.py` makes them."""
    from speed import make_bullets

    return [parse_bullet(data, path=path).text for path, data in make_bullets(MANY)]


def run_cold() -> None:
    """Print what importing, opening the model and the first vector cost a fresh process."""
    bare, whole = cpu_seconds("pass"), cpu_seconds(COLD.format(root=ROOT))
    print(
        f"  import to first vector   {(whole - bare) * 1e3:7.1f} ms CPU"
        f" (bare interpreter {bare * 1e3:.1f} ms; least of {COLD_RUNS})"
    )


def real_texts(folder: str, files: list[str]) -> list[str]:
    """Return the distinct texts of the data, the lines of the standard library and of the given files."""
    found: dict[str, None] = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jsonl"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for line in file:
                    found.update((v, None) for v in json.loads(line).values() if isinstance(v, str))
    library = os.path.dirname(os.__file__)
    sources = [os.path.join(library, name) for name in sorted(os.listdir(library)) if name.endswith(".py")]
    for path in sources + files:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            found.update((line.strip(), None) for line in file if line.strip())
    return list(found)


def run_tokens(folder: str, model: str, files: list[str]) -> None:
    """Print how many texts our tokenizer cuts as the library does."""
    from tokenizers import Tokenizer

    with open(os.path.join(model, "vocabulary.map"), "rb") as file:
        data = memoryview(file.read())
    ours, by_tables = UnigramTokenizer(data), UnigramTokenizer(data)
    library = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
    texts = [clean_text(text) for text in real_texts(folder, files)]
    equal = other_script = tokens = 0
    for start in range(0, len(texts), 1000):
        part = texts[start : start + 1000]
        cut = [text[: ours.max_characters] for text in part]
        encodings = library.encode_batch(cut, add_special_tokens=False)
        for text, encoding, together in zip(part, encodings, by_tables.encode_many(part), strict=True):
            ids = [token for token in encoding.ids[: ours.max_tokens] if token != ours.unknown_id]
            equal += ids == ours.encode(text) == together
            other_script += not text.isascii()
            tokens += len(ids)
    print(
        f"\ntoken ids equal to the library's: {equal} of {len(texts)} texts"
        f" ({other_script} beyond ASCII, {tokens} tokens)"
    )


def run_vectors(folder: str) -> None:
    """Print how many texts get the same bytes alone, together, and with numpy."""
    texts = real_texts(folder, [])[::EACH]
    alone, together = QueryEmbedder(resource("model")), QueryEmbedder(resource("model"))
    ways = zip(texts, together.embed_many(texts), embed_many(resource("model"), texts), strict=True)
    equal = sum(alone.embed(text) == ours == theirs for text, ours, theirs in ways)
    print(
        f"vectors equal alone, together and by model2vec's tokens with numpy: {equal} of {len(texts)} texts"
    )


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", default=os.path.join(ROOT, "..", "shared", "eval"))
    parser.add_argument("--model", default=resource("model"), help="folder of the model to measure")
    parser.add_argument("--quick", action="store_true", help="across languages only into English")
    parser.add_argument("--wordllama-python", default=sys.executable, help="interpreter that has wordllama")
    parser.add_argument("--speed", action="store_true", help="only what vectors cost")
    parser.add_argument(
        "--other", nargs="*", default=[], help="checkouts of other states to measure in turns"
    )
    parser.add_argument("--texts", nargs="*", default=[], help="more texts for the tokenizers, one a line")
    arguments = parser.parse_args()
    if not arguments.speed:
        run_quality(arguments)
    print("\nspeed, warm")
    run_speed(arguments.eval)
    run_cold()
    print("\nmany texts, cold" + "".join(f", then {root}" for root in arguments.other))
    run_many(arguments.eval, [ROOT, *arguments.other])
    if not arguments.speed:
        run_tokens(arguments.eval, arguments.model, arguments.texts)
        run_vectors(arguments.eval)


def run_quality(arguments: argparse.Namespace) -> None:
    """Print what each system finds."""
    models: list[Bundled | Wordllama] = [Bundled(arguments.model)]
    try:
        models.append(Wordllama(arguments.wordllama_python))
    except ImportError:
        print("wordllama is not installed: skipped (pip install wordllama)")
    run_notes(arguments.eval, models)
    run_commands(arguments.eval, models, quick=arguments.quick)
    run_pairs(arguments.eval, models)


if __name__ == "__main__":
    main()
