"""The scan returns the exact nearest rows, with simsimd and without."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import ModelUnavailableError
from memx.index.dense import scan
from memx.index.dense.scan import cosine, iter_nearest, make_inverse_norms, nearest_rows

DIMENSION = 32


def exact(query: bytes, rows: np.ndarray, limit: int) -> list[tuple[float, int]]:
    """Return the same by plain arithmetic."""
    vector = np.frombuffer(query, dtype=np.int8).astype(np.int64)
    wide = rows.astype(np.int64)
    squares = (wide * wide).sum(axis=1)
    norm = int(vector @ vector) ** 0.5
    scored = [
        (-(int(wide[i] @ vector) / (norm * int(squares[i]) ** 0.5)), i)
        for i in range(len(rows))
        if squares[i]
    ]
    return [(-negative, i) for negative, i in sorted(scored)[:limit]]


def make_rows(count: int, seed: int, spread: float) -> np.ndarray:
    """Return rows around one direction; a small spread makes all of them near."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=DIMENSION) + spread * random.normal(size=(count, DIMENSION))
    rows = np.rint(rows * 127 / np.abs(rows).max(axis=1, keepdims=True)).astype(np.int8)
    rows[::17] = 0
    return rows


@pytest.mark.parametrize("library", ["simsimd", "norms", "numpy"])
@pytest.mark.parametrize("spread", [0.02, 0.1, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("limit", [1, 20, 300])
def test_nearest_rows_are_exact(
    library: str, spread: float, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Far, near and very near rows, zeros among them, come out in the exact order."""
    if library == "numpy":
        monkeypatch.setitem(sys.modules, "simsimd", None)
    rows = make_rows(5000, int(spread * 100), spread)
    query = rows[1].tobytes()
    norms = make_inverse_norms(rows.tobytes(), DIMENSION) if library == "norms" else b""
    found = nearest_rows(query, memoryview(rows.tobytes()), len(rows), limit, norms)
    expected = exact(query, rows, limit)
    assert [value for value, _ in found] == [value for value, _ in expected]
    assert found[0] == (pytest.approx(1.0), 1)
    assert all(rows[row].any() for _, row in found)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 400), st.integers(0, 10**6), st.floats(0.01, 20), st.integers(1, 50))
def test_any_matrix_is_scanned_exactly(count: int, seed: int, spread: float, limit: int) -> None:
    """The best cosine is never missed, whatever the distribution."""
    rows = make_rows(count, seed, spread)
    query = make_rows(2, seed + 1, spread)[1].tobytes()
    norms = make_inverse_norms(rows.tobytes(), DIMENSION) if seed % 2 else b""
    found = nearest_rows(query, memoryview(rows.tobytes()), count, limit, norms)
    assert [value for value, _ in found] == [value for value, _ in exact(query, rows, limit)]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 2000), st.integers(0, 10**6), st.floats(0.01, 20), st.integers(1, 50))
def test_all_rows_come_in_order(count: int, seed: int, spread: float, first: int) -> None:
    """However far one reads on, no row is missing, none comes twice and none comes too early."""
    rows = make_rows(count, seed, spread)
    query = make_rows(2, seed + 1, spread)[1].tobytes()
    norms = make_inverse_norms(rows.tobytes(), DIMENSION) if seed % 2 else b""
    found = list(iter_nearest(query, memoryview(rows.tobytes()), count, first, norms))
    assert [value for value, _ in found] == [value for value, _ in exact(query, rows, count)]
    assert sorted(row for _, row in found) == [row for row in range(count) if rows[row].any()]


def test_opposite_rows_are_found() -> None:
    """Cosines down to -1 are in range."""
    rows = np.array([[1, 2], [-1, -2], [2, -1]] * 40, dtype=np.int8)
    found = nearest_rows(bytes([1, 2]), memoryview(rows.tobytes()), len(rows), 90)
    assert [round(value) for value, _ in found] == [1] * 40 + [0] * 40 + [-1] * 10


def test_many_rows_at_the_same_distance_are_found() -> None:
    """A tie larger than the limit is cut, not lost."""
    rows = np.array([[1, 2]] * 3000, dtype=np.int8)
    assert len(nearest_rows(bytes([1, 2]), memoryview(rows.tobytes()), len(rows), 10)) == 10


def test_zero_rows_do_not_take_places() -> None:
    """However many zero rows there are, the others are returned (faults 48)."""
    rows = np.zeros((2000, 2), dtype=np.int8)
    rows[1999] = [-1, -2]
    assert nearest_rows(bytes([1, 2]), memoryview(rows.tobytes()), len(rows), 5) == [
        (pytest.approx(-1.0), 1999)
    ]


def test_zero_query_finds_nothing() -> None:
    """A query of zeros has no neighbours."""
    assert nearest_rows(bytes(2), memoryview(bytes([1, 2])), 1, 5) == []


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (bytes([1, 0]), bytes([1, 0]), 1.0),
        (bytes([1, 0]), bytes([0, 1]), 0.0),
        (bytes(2), bytes([1, 0]), 0.0),
    ],
)
def test_cosine_of_two_vectors(a: bytes, b: bytes, expected: float) -> None:
    """Two stored vectors are compared exactly, zero ones give 0."""
    assert cosine(a, b) == expected
    assert cosine(b, a) == expected


@pytest.mark.parametrize("has_norms", [False, True])
def test_blocks_join_to_the_whole(has_norms: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    """A matrix of several blocks, the last one shorter, is scanned as one."""
    monkeypatch.setattr(scan, "_BLOCK_ROWS", 100)
    rows = make_rows(1234, 5, 0.5)
    query = rows[1].tobytes()
    norms = make_inverse_norms(rows.tobytes(), DIMENSION) if has_norms else b""
    found = nearest_rows(query, memoryview(rows.tobytes()), len(rows), 30, norms)
    assert found == exact(query, rows, 30)


def test_damaged_library_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of simsimd without its compiled file imports as an empty package: numpy does the same."""
    rows = make_rows(600, 5, 0.5)
    query = rows[1].tobytes()
    found = nearest_rows(query, memoryview(rows.tobytes()), len(rows), 20)
    monkeypatch.setitem(sys.modules, "simsimd", ModuleType("simsimd"))
    assert scan.load_simsimd() is None
    assert nearest_rows(query, memoryview(rows.tobytes()), len(rows), 20) == found


def test_without_any_library_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither simsimd nor numpy: the error says so instead of naming an attribute."""
    rows = make_rows(600, 5, 0.5).tobytes()
    for name in ("simsimd", "numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelUnavailableError, match="neither simsimd nor numpy") as raised:
        nearest_rows(rows[DIMENSION : 2 * DIMENSION], memoryview(rows), 600, 20)
    assert "pip install" in (raised.value.hint or "")
