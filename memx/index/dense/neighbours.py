"""The nearest neighbours of every row of a matrix, block by block, so that memory stays bounded.

simsimd compares a block of rows with all of them; numpy picks the near ones.
This is for whole-store work: a search must not import numpy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

BLOCK_ROWS = 64
"""Rows compared at once; 64 × 100,000 distances are 26 MB."""


def near_pairs(
    rows: Sequence[bytes],
    limit: int,
    least: float,
    report: Callable[[int], None] = lambda _: None,
) -> Iterator[tuple[int, int, float]]:
    """Yield (i, j, cosine) for the `limit` nearest others of each row i with a cosine of at least `least`.

    `rows` are int8 vectors of one length, none of zeros. A pair may come from
    both of its sides. `report` hears how many rows are done.
    """
    import numpy as np

    if not rows:
        return
    count, dimension = len(rows), len(rows[0])
    matrix = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(count, dimension)
    distances = _measure(matrix)
    for start in range(0, count, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, count)
        for i, row in enumerate(distances(start, stop), start):
            near = np.flatnonzero(row <= 1.0 - least)
            near = near[near != i]
            if len(near) > limit:
                # Stable: among equals the first rows win, whatever the block.
                near = near[np.argsort(row[near], kind="stable")[:limit]]
            yield from ((i, int(j), 1.0 - float(row[j])) for j in near)
        report(stop)


def _measure(matrix: Any) -> Callable[[int, int], Any]:
    """Return a function from a range of rows to their cosine distances from all rows."""
    import numpy as np

    try:
        import simsimd
    except ImportError:
        unit = matrix.astype(np.float32)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        return lambda start, stop: 1.0 - unit[start:stop] @ unit.T
    return lambda start, stop: np.asarray(
        simsimd.cdist(matrix[start:stop], matrix, "cosine", out_dtype="float32")
    ).reshape(stop - start, len(matrix))
