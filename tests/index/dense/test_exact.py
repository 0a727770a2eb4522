"""Sums of weighted rows without numpy are those of plain Python, or none are made."""

# ruff: noqa: S311 (test data)

from __future__ import annotations

import random
import sys
from array import array
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.index.dense import exact
from memx.index.dense.embedder import quantize
from memx.index.dense.exact import ExactPool

DIMENSION, TOKENS, MARKER = 40, 300, 7
ROWS = random.Random(5).randbytes(DIMENSION * TOKENS)


def weights_of(*exponents: int) -> list[float]:
    """Return a float32 weight a token, of 24 significant bits each, spread over some powers of two."""
    rng = random.Random(6)
    mantissas = [rng.randrange(1 << 23, 1 << 24) for _ in range(TOKENS)]
    return [mantissa * 2.0 ** rng.choice(exponents) for mantissa in mantissas]


def in_plain_python(tokens: list[int], weights: list[float]) -> bytes | None:
    """Return the vector of some tokens, computed component by component."""
    total = [0.0] * DIMENSION
    for token in tokens:
        row = memoryview(ROWS)[token * DIMENSION : (token + 1) * DIMENSION].cast("b")
        total = [value + weights[token] * component for value, component in zip(total, row, strict=True)]
    return None if tokens.count(MARKER) == len(tokens) else quantize(total)


def open_pool(weights: list[float]) -> ExactPool:
    """Return the pool of the rows with these weights."""
    pool = ExactPool.open(memoryview(ROWS), DIMENSION, memoryview(array("f", weights)))
    assert pool is not None
    return pool


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, TOKENS - 1), max_size=50), max_size=5))
def test_sums_are_those_of_plain_python(texts: list[list[int]]) -> None:
    """Any tokens give the same bytes, whatever the order of the sums."""
    weights = weights_of(-32, -33, -36)
    assert open_pool(weights)(texts, MARKER) == [in_plain_python(tokens, weights) for tokens in texts]


def test_many_texts_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are forgotten and made again, in several batches, change nothing."""
    monkeypatch.setattr(exact, "MAX_ROWS", 100)
    monkeypatch.setattr(exact, "ROWS_AT_ONCE", 11)
    rng, weights = random.Random(8), weights_of(-30, -34)
    texts = [rng.choices(range(TOKENS), k=rng.randrange(20)) for _ in range(4 * exact.BATCH_TEXTS + 3)]
    assert open_pool(weights)(texts, MARKER) == [in_plain_python(tokens, weights) for tokens in texts]


def test_rows_without_weights_are_summed_up() -> None:
    """A model without weights has the weight 1 for each token."""
    pool = ExactPool.open(memoryview(ROWS), DIMENSION, None)
    assert pool is not None
    assert pool([[1, 2, 3]], MARKER) == [in_plain_python([1, 2, 3], [1.0] * TOKENS)]


@pytest.mark.parametrize("odd", [2.0**-60, float("inf"), float("nan")])
def test_weights_that_a_double_cannot_add_are_refused(odd: float) -> None:
    """A weight far smaller than another, or no number, would make the order of sums matter."""
    weights = weights_of(-30)
    weights[5] = odd
    assert open_pool(weights)([[1, 2, 5]], MARKER) is None
    assert open_pool(weights)([[1, 2, 4]], MARKER) == [in_plain_python([1, 2, 4], weights)]


def test_weights_in_double_precision_are_refused() -> None:
    """A product of 61 significant bits is not exact."""
    assert ExactPool.open(memoryview(ROWS), DIMENSION, memoryview(array("d", weights_of(-30)))) is None


def test_other_arithmetic_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release of simsimd that computed in single precision would not be used, and none is needed."""
    weights = memoryview(array("f", weights_of(-30))).cast("B").cast("f")

    def in_single(a: memoryview, b: memoryview, *, alpha: float = 1.0, beta: float = 1.0) -> bytes:
        return memoryview(array("d", array("f", [alpha * x + beta * y for x, y in zip(a, b, strict=True)])))  # type: ignore[return-value]

    monkeypatch.setitem(sys.modules, "simsimd", SimpleNamespace(wsum=in_single))
    assert ExactPool.open(memoryview(ROWS), DIMENSION, weights) is None
    monkeypatch.setitem(sys.modules, "simsimd", SimpleNamespace())
    assert ExactPool.open(memoryview(ROWS), DIMENSION, weights) is None
    monkeypatch.setitem(sys.modules, "simsimd", None)
    assert ExactPool.open(memoryview(ROWS), DIMENSION, weights) is None
