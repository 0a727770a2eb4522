"""Nearest neighbours of all rows at once agree with comparing them one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.index.dense.neighbours import BLOCK_ROWS, near_pairs
from memx.index.dense.scan import cosine

ROW = st.binary(min_size=4, max_size=4).filter(any)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, max_size=30), st.integers(1, 5))
def test_blocks_find_what_single_comparisons_find(rows: list[bytes], limit: int) -> None:
    """The cosines are exact to six digits, at most `limit` a row, the nearest of them."""
    found: dict[int, list[float]] = {i: [] for i in range(len(rows))}
    for i, j, value in near_pairs(rows, limit, 0.4):
        assert i != j
        assert abs(value - cosine(rows[i], rows[j])) < 1e-5
        found[i].append(value)
    for i, row in enumerate(rows):
        exact = sorted((cosine(row, other) for j, other in enumerate(rows) if j != i), reverse=True)
        near = [value for value in exact if value >= 0.4 + 1e-5][:limit]
        assert len(found[i]) >= len(near)
        assert all(abs(a - b) < 1e-5 for a, b in zip(sorted(found[i], reverse=True), near, strict=False))


def test_progress_is_reported_by_blocks() -> None:
    """Whoever waits hears how far it is."""
    said: list[int] = []
    rows = [bytes((1, 2, 3, 4))] * (BLOCK_ROWS + 1)
    assert len(list(near_pairs(rows, 2, 0.4, said.append))) == 2 * len(rows)
    assert said == [BLOCK_ROWS, BLOCK_ROWS + 1]


def test_no_rows_are_no_pairs() -> None:
    """An empty store has nothing to compare."""
    assert list(near_pairs([], 3, 0.4)) == []


def test_sieve_of_first_dimensions_keeps_near_pairs_with_their_exact_cosines() -> None:
    """Of many rows the nearest are found by the first dimensions alone, and told with the cosine of all."""
    numbers = np.random.default_rng(5)
    base = numbers.normal(0, 40, (150, 256))
    rows = [
        row.clip(-127, 127).astype(np.int8).tobytes()
        for row in (*base, *(base + numbers.normal(0, 9, base.shape)))
    ]
    exact = {(i, j): cosine for i, j, cosine in near_pairs(rows, 1, 0.4)}
    sieved = {(i, j): cosine for i, j, cosine in near_pairs(rows, 1, 0.4, sieved_above=100)}
    assert len(exact) == len(rows)
    assert sieved.keys() == exact.keys()
    assert all(abs(sieved[pair] - exact[pair]) < 1e-5 for pair in exact)
