"""Average models of one vocabulary: what two trainings learnt differently evens out, what both learnt stays.

    python tools/embedding/average.py FIRST SECOND OUT [--share 0.5]

Two trainings end in different directions, and nothing says that component 1 of
one means what component 1 of the other does. So the second's rows are first
turned onto the first's by the rotation that brings them nearest (orthogonal
Procrustes: R = U·Vᵀ of the singular value decomposition of secondᵀ·first), and
scaled to the same Frobenius norm. `--share` is the second's part. No text is
read, so there is nothing to seed.
"""

from __future__ import annotations

import argparse
import os
import sys

import numpy as np
from static import load_table, write_model
from tokenizers import Tokenizer


def align(rows: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """Turn and scale rows (V × D) so that they lie as near to `onto` (V × D) as a rotation can bring them."""
    left, _, right = np.linalg.svd(rows.T @ onto)
    return rows @ (left @ right) * (np.linalg.norm(onto) / np.linalg.norm(rows))


def main() -> None:
    """Write the average of two models."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("first", help="model folder; its tokenizer and its directions are taken")
    parser.add_argument("second", help="model folder with the same vocabulary")
    parser.add_argument("out", help="folder to write")
    parser.add_argument("--share", type=float, default=0.5)
    arguments = parser.parse_args()
    tokenizers = [
        Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        for folder in (arguments.first, arguments.second)
    ]
    if tokenizers[0].get_vocab() != tokenizers[1].get_vocab():
        raise SystemExit("the two models have different vocabularies: nothing to average")
    first, second = load_table(arguments.first), load_table(arguments.second)
    turned = align(second, first)
    print(f"distance after turning: {np.linalg.norm(turned - first) / np.linalg.norm(first):.3f} of the norm")
    write_model((1 - arguments.share) * first + arguments.share * turned, tokenizers[0], arguments.out)


if __name__ == "__main__":
    sys.exit(main())
