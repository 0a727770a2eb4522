"""Fit the rows of a static model so that the mean of a text's rows points where it should, and write the model.

Shapes: V tokens, D components, B texts in a batch.
"""

from __future__ import annotations

import json
import os
import time

import numpy as np
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_matrix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenizers import Tokenizer

    # step's generator -> numbers of the batch's texts, targets (B × D), how many pairs stand first
    Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, int]]

SEED = 20261130
DIMENSION = 256
BETAS, EPSILON = (0.9, 0.999), 1e-8
TEMPERATURE = 0.05
MOST_TOKENS = 512
CHECKPOINT_STEPS = 100


def unit(rows: np.ndarray) -> np.ndarray:
    """Scale rows to length one; zero rows stay zero."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def mean_matrix(tokenizer: Tokenizer, texts: list[str], size: int) -> csr_matrix:
    """Return a sparse matrix (texts × V) whose product with the rows is each text's mean."""
    columns, values, ends = [], [], [0]
    for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
        ids = [token for token in encoding.ids if token][:MOST_TOKENS]
        columns += ids
        values += [1 / len(ids)] * len(ids) if ids else []
        ends.append(len(columns))
    data = (np.array(values, dtype=np.float32), np.array(columns, dtype=np.int32), np.array(ends))
    return csr_matrix(data, shape=(len(texts), size))


def loss_gradient(z: np.ndarray, target: np.ndarray, pairs: int, contrast: float) -> tuple[float, np.ndarray]:
    """Return the loss of a batch of unit rows and its gradient.

    (1 - cosine with the target) + the squared error of the batch's similarity
    matrix + `contrast` × a contrastive loss, both ways, on the pairs: rows
    0 … pairs-1 and pairs … 2·pairs-1 are their two sides.
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
            loss -= contrast / 2 * float(np.log(np.maximum(np.diag(p), 1e-12)).mean())
            error = (p - np.eye(pairs, dtype=p.dtype)) * (contrast / 2 / pairs / TEMPERATURE)
            gradient[:pairs] += error @ right
            gradient[pairs : 2 * pairs] += error.T @ left
    return loss, gradient


class Fit:
    """Adam on the rows that a batch touches; goes on from its checkpoint, with the same draws."""

    def __init__(self, table: np.ndarray, means: csr_matrix, checkpoint: str, *, rate: float) -> None:
        """Begin with `table` (V × D), or with what the checkpoint holds."""
        self.table, self._means, self._checkpoint, self._rate = table, means, checkpoint, rate
        self._first, self._second, self._done = np.zeros_like(table), np.zeros_like(table), 0
        if os.path.exists(checkpoint):
            with np.load(checkpoint) as saved:
                if saved["table"].shape != table.shape:
                    raise SystemExit(f"{checkpoint} is of another vocabulary: remove it")
                self.table, self._first, self._second = saved["table"], saved["first"], saved["second"]
                self._done = int(saved["done"])

    def run(self, steps: int, contrast: float, draw: Draw) -> np.ndarray:
        """Do the steps that are left and return the table."""
        start = time.monotonic()
        for step in range(self._done + 1, steps + 1):
            chosen, target, pairs = draw(np.random.default_rng([SEED, step]))
            loss = self._step(step, steps, chosen, target, pairs, contrast)
            if step % CHECKPOINT_STEPS == 0 or step in {1, steps}:
                print(f"step {step}/{steps}: loss {loss:.4f}, {time.monotonic() - start:.0f} s", flush=True)
                self._save(step)
        return self.table

    def _step(
        self, step: int, steps: int, chosen: np.ndarray, target: np.ndarray, pairs: int, contrast: float
    ) -> float:
        batch = self._means[chosen]
        rows = np.unique(batch.indices)
        compact = batch[:, rows]
        sums = compact @ self.table[rows]
        lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        z = sums / lengths
        loss, gradient = loss_gradient(z, target, pairs, contrast)
        gradient = (gradient - z * (z * gradient).sum(axis=1, keepdims=True)) / lengths
        update = compact.T @ gradient
        first = BETAS[0] * self._first[rows] + (1 - BETAS[0]) * update
        second = BETAS[1] * self._second[rows] + (1 - BETAS[1]) * update**2
        rate = self._rate * (1 - step / (steps + 1)) * (1 - BETAS[1] ** step) ** 0.5 / (1 - BETAS[0] ** step)
        self.table[rows] -= rate * first / (np.sqrt(second) + EPSILON)
        self._first[rows], self._second[rows] = first, second
        return loss

    def _save(self, done: int) -> None:
        temporary = f"{self._checkpoint}.tmp"
        with open(temporary, "wb") as file:
            np.savez(file, table=self.table, first=self._first, second=self._second, done=done)
        os.replace(temporary, self._checkpoint)


def load_table(folder: str) -> np.ndarray:
    """Return the rows (V × D, float32) of a model folder, each times its weight."""
    tensors = load_file(os.path.join(folder, "model.safetensors"))
    return tensors["embeddings"].astype(np.float32) * tensors["weights"][:, None]


def export(table: np.ndarray, means: csr_matrix, tokenizer: Tokenizer, folder: str) -> None:
    """Rotate to 256 on the second moment of the sentence vectors and write the folder."""
    sentences = unit(means @ table)
    values, vectors = np.linalg.eigh(sentences.T @ sentences)
    write_model(table @ vectors[:, np.argsort(values)[::-1][:DIMENSION]], tokenizer, folder)


def write_model(rows: np.ndarray, tokenizer: Tokenizer, folder: str) -> None:
    """Make rows (V × 256) int8, each with its scale, and write a folder that model2vec loads."""
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
