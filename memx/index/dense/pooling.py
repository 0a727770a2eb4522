"""Token ids to a vector with numpy: worth its import from some dozens of texts on."""

from __future__ import annotations

import numpy as np

from memx.index.dense.embedder import PEAK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Pool:
    """The weighted mean of rows, as `QueryEmbedder` computes it: the same bytes.

    Sums are made in double precision, because a float32 mean would round a component differently now and then.
    """

    def __init__(self, matrix: Any, weights: Any = None, mapping: Any = None) -> None:
        """Take a row a token, a weight a token, and which row is whose where not every token has its own."""
        self._matrix = matrix
        self._weights = weights
        self._mapping = mapping

    @classmethod
    def of_buffers(cls, rows: Any, dimension: int, weights: Any) -> Pool:
        """Return the pool of typed memoryviews, `dimension` components a row; `weights` may be None."""
        matrix = np.asarray(rows).reshape(-1, dimension)
        return cls(matrix, None if weights is None else np.asarray(weights))

    def __call__(self, tokens: Sequence[int], marker: int) -> bytes | None:
        """Return the vector of a text; None when it has no tokens but `marker`."""
        if tokens.count(marker) == len(tokens):
            return None
        rows = tokens if self._mapping is None else self._mapping[tokens]
        vectors = self._matrix[rows].astype(np.float64)
        if self._weights is not None:
            vectors *= self._weights[tokens].astype(np.float64)[:, None]
        total = vectors.sum(axis=0)
        peak = float(np.abs(total).max(initial=0.0))
        if not 0.0 < peak < float("inf"):
            return None
        return bytes(np.rint(total * (PEAK / peak)).astype(np.int8).tobytes())
