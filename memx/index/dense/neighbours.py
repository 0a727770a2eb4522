"""The nearest neighbours of every row of a matrix, block by block, so that memory stays bounded.

One product of matrices a block: a sixth of the time that as many scans of
single rows take. This is for whole-store work: a search must not import numpy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

BLOCK_ROWS = 64
"""Rows compared at once; 64 × 100,000 cosines are 26 MB, beside 1 KB a row for the matrix."""
_DIGITS = 6
"""Cosines are rounded so far: their last bits depend on the block, and equal ones must stay equal."""


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
    count = len(rows)
    unit = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(count, len(rows[0])).astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    for start in range(0, count, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, count)
        for i, row in enumerate(unit[start:stop] @ unit.T, start):
            near = np.flatnonzero(row >= least)
            near = near[near != i]
            cosines = np.round(row[near].astype(np.float64), _DIGITS)
            if len(near) > limit:
                # Stable: among equals the first rows win, whatever the block.
                best = np.argsort(-cosines, kind="stable")[:limit]
                near, cosines = near[best], cosines[best]
            yield from zip((i,) * len(near), near.tolist(), cosines.tolist(), strict=True)
        report(stop)
