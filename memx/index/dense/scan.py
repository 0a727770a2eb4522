"""The nearest rows of an int8 matrix by cosine, without numpy and without a Python loop over the rows.

simsimd fills a float32 a row: the dot product, which is exact, times the row's stored inverse
norm; or its own cosine, at nearly twice the time, where no norms are stored. Moved to between a half and
two, such a float is ordered by its second highest byte alone, so counting and filtering are
`bytes.translate` over one byte a row. Rows are taken from there in bands, the nearest
first, and scored exactly; a row is returned when no row of a lower band can beat it.
"""

from __future__ import annotations

import sys

from memx.errors import ModelUnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_MIDDLE, _SLOPE = 1.25, 0.74
"""What maps a cosine to between 0.51 and 1.99: there the second highest byte of a float32 orders it."""
_ROUNDING, _ROUNDING_OF_COSINE = 1e-6, 1e-3
"""How far the mapped value may lie from the exact one: float32 throughout, and simsimd's own approximate roots."""
_FLOAT_BYTES = 4
_BLOCK_ROWS = 16_384
"""Products of so many rows stay in the cache of a core until their bytes are read."""
_SAMPLE_STEP, _SAMPLE_MARGIN = 256, 4
_DIGITS = 4
_WIDER = 4
"""Each band is sought among so many times the rows of the one before."""


def load_simsimd() -> Any:
    """Return the library, None where it has no build or its files are damaged: numpy does its work then."""
    try:
        import simsimd
    except ImportError:
        return None
    # What is left of a damaged installation imports as an empty package.
    return simsimd if hasattr(simsimd, "cdist") else None


def nearest_rows(
    query: bytes, rows: memoryview, count: int, limit: int, inverse_norms: bytes | memoryview = b""
) -> list[tuple[float, int]]:
    """Return the `limit` best (exact cosine, row), best first, as `iter_nearest` yields them."""
    found: list[tuple[float, int]] = []
    if limit > 0:
        for hit in iter_nearest(query, rows, count, limit, inverse_norms):
            found.append(hit)
            if len(found) == limit:
                break
    return found


def iter_nearest(
    query: bytes, rows: memoryview, count: int, first: int, inverse_norms: bytes | memoryview = b""
) -> Iterator[tuple[float, int]]:
    """Yield (exact cosine, row), best first; zero rows are left out, equal cosines keep the order of rows.

    `rows` holds `count` rows of len(query) signed bytes, `inverse_norms` a native float32 a row (1 / its
    length; empty: not known). `first` is how many will probably be wanted: more cost another look at the
    bytes, not another scan.
    """
    if count == 0 or not any(query):
        return
    if count <= _WIDER * first:
        keys, margin = bytes(count), 0.0
    else:
        keys, margin = _keys(query, rows, count, inverse_norms)
    dimension = len(query)
    cosine = _exact_cosine(query)
    waiting: list[tuple[float, int]] = []
    above, wanted = 256, max(first, 1)
    while above > 0:
        least = _threshold(keys, wanted)
        for row in _rows_between(keys, least, above):
            value = cosine(rows[row * dimension : (row + 1) * dimension])
            if value is not None:
                waiting.append((-value, row))
        waiting.sort()
        # Rows below this band may come up to here, when rounding put them there.
        certain = _lower_edge(least) + margin if least else -1.0
        given = 0
        for negative, row in waiting:
            if _MIDDLE - _SLOPE * negative < certain:
                break
            yield -negative, row
            given += 1
        del waiting[:given]
        above = least
        wanted *= _WIDER


def make_inverse_norms(rows: bytes | memoryview, dimension: int) -> bytes:
    """Return 1 / length of each row as native float32 bytes; 0 for a row of zeros."""
    view = memoryview(rows)
    count = len(view) // dimension
    buffer = bytearray(_FLOAT_BYTES * count)
    norms = memoryview(buffer).cast("f")
    square = _exact_dot()
    for row in range(count):
        signed = view[row * dimension : (row + 1) * dimension].cast("b")
        length = square(signed, signed)
        norms[row] = length**-0.5 if length else 0.0
    return bytes(buffer)


def cosine(a: bytes, b: bytes) -> float:
    """Return the exact cosine of two int8 vectors; 0.0 when one is zero."""
    return cosine_with(a)(b)


def cosine_with(query: bytes) -> Callable[[bytes], float]:
    """Return what gives the exact cosine of a vector with this one; 0.0 when one is zero."""
    if not any(query):
        return lambda _row: 0.0
    exact = _exact_cosine(query)
    return lambda row: exact(memoryview(row)) or 0.0


def pairs_above(
    first: bytes, second: bytes, dimension: int, least: float
) -> Iterator[tuple[int, int, float]]:
    """Yield (row of `first`, row of `second`, cosine) of all pairs whose cosine is at least `least`, in order.

    Cosines are rounded: their last digits depend on the processor, and what is ordered by them must not.
    """
    counts = len(first) // dimension, len(second) // dimension
    keys, mapped = _compared(first, second, dimension, counts)
    for at in _rows_between(keys, _key_of(_MIDDLE + _SLOPE * least), 256):
        cosine = round((mapped[at] - _MIDDLE) / _SLOPE, _DIGITS)
        if cosine >= least:
            yield at // counts[1], at % counts[1], cosine


def _compared(
    first: bytes, second: bytes, dimension: int, counts: tuple[int, int]
) -> tuple[bytes, memoryview[float]]:
    """Return a byte a pair of rows that is higher for nearer ones, and the pairs' mapped cosines."""
    simsimd = load_simsimd()
    if simsimd is None:
        rows = [first[at : at + dimension] for at in range(0, len(first), dimension)]
        parts = [_mapped_by_numpy(row, memoryview(second), counts[1]) for row in rows]
        floats = b"".join(parts)
        return _high_bytes(floats), memoryview(floats).cast("f")
    left = memoryview(first).cast("b", shape=[counts[0], dimension])
    right = memoryview(second).cast("b", shape=[counts[1], dimension])
    distances: Any = simsimd.cdist(left, right, "cosine", out_dtype="float32")
    distances = memoryview(distances).cast("B").cast("f")
    ones: Any = memoryview(_one() * len(distances)).cast("f")
    mapped: Any = simsimd.fma(distances, ones, ones, alpha=-_SLOPE, beta=_MIDDLE + _SLOPE)
    return _high_bytes(bytes(memoryview(mapped))), memoryview(mapped)


class _Cosine:
    """Cosine from integer dot products, which are exact in whichever way they are computed."""

    def __init__(self, query: bytes, dot: Any) -> None:
        self._query = memoryview(query).cast("b")
        self._dot = dot
        self.norm: float = dot(self._query, self._query) ** 0.5

    def __call__(self, row: memoryview) -> float | None:
        """Return the cosine with a row, or None when the row is zero."""
        signed = row.cast("b")
        square = self._dot(signed, signed)
        return self._dot(self._query, signed) / (self.norm * square**0.5) if square else None


def _exact_cosine(query: bytes) -> _Cosine:
    return _Cosine(query, _exact_dot())


def _exact_dot() -> Any:
    simsimd = load_simsimd()
    if simsimd is None:
        return _plain_dot
    dot: Any = simsimd.dot
    return lambda a, b: float(dot(a, b))


def _plain_dot(a: memoryview, b: memoryview) -> float:
    return float(sum(x * y for x, y in zip(a, b, strict=True)))


def _keys(
    query: bytes, rows: memoryview, count: int, inverse_norms: bytes | memoryview
) -> tuple[bytes, float]:
    """Return a byte a row that is higher for nearer rows, and how far a mapped cosine may be from the exact one."""
    simsimd = load_simsimd()
    if simsimd is None:
        return _high_bytes(_mapped_by_numpy(query, rows, count)), _ROUNDING
    dimension = len(query)
    vector = memoryview(query).cast("b", shape=[1, dimension])
    ones: Any = memoryview(_one() * min(count, _BLOCK_ROWS)).cast("f")
    has_norms = len(inverse_norms) >= _FLOAT_BYTES * count
    metric: Any = "cosine"
    slope, middle, rounding = -_SLOPE, _MIDDLE + _SLOPE, _ROUNDING_OF_COSINE
    if has_norms:
        metric, slope, middle, rounding = "dot", _SLOPE / _exact_cosine(query).norm, _MIDDLE, _ROUNDING
    norms: Any = memoryview(inverse_norms)[: _FLOAT_BYTES * count].cast("f") if has_norms else None
    keys = []
    for start in range(0, count, _BLOCK_ROWS):
        size = min(_BLOCK_ROWS, count - start)
        matrix = rows[start * dimension : (start + size) * dimension].cast("b", shape=[size, dimension])
        products: Any = simsimd.cdist(vector, matrix, metric, out_dtype="float32")
        products = memoryview(products).cast("B").cast("f")
        factors = ones[:size] if norms is None else norms[start : start + size]
        # Not in place: with `out` simsimd 6.5 gives back a reference to None that it never took.
        mapped: Any = simsimd.fma(products, factors, ones[:size], alpha=slope, beta=middle)
        keys.append(_high_bytes(bytes(memoryview(mapped))))
    return b"".join(keys), rounding


def _one() -> bytes:
    return b"\0\0\x80\x3f" if sys.byteorder == "little" else b"\x3f\x80\0\0"


def _mapped_by_numpy(query: bytes, rows: memoryview, count: int) -> bytes:
    """Return the mapped cosines as float32 bytes where simsimd has no build, in blocks that fit the cache."""
    try:
        import numpy as np
    except ImportError as error:
        message = "neither simsimd nor numpy can be loaded, so vectors cannot be compared"
        raise ModelUnavailableError(message, hint="pip install --force-reinstall git-memx") from error

    dimension, block = len(query), 8192
    matrix = np.frombuffer(rows, dtype=np.int8, count=count * dimension).reshape(count, dimension)
    vector = np.frombuffer(query, dtype=np.int8).astype(np.float32)
    vector /= np.linalg.norm(vector)
    mapped = np.empty(count, dtype=np.float32)
    for start in range(0, count, block):
        part = matrix[start : start + block].astype(np.float32)
        norms = np.linalg.norm(part, axis=1)
        mapped[start : start + block] = _MIDDLE + _SLOPE * (part @ vector / np.maximum(norms, 1e-9))
    return mapped.tobytes()


def _high_bytes(mapped: bytes) -> bytes:
    """Return the second highest byte of each float32."""
    return mapped[2::_FLOAT_BYTES] if sys.byteorder == "little" else mapped[1::_FLOAT_BYTES]


def _lower_edge(key: int) -> float:
    """Return the smallest mapped value whose second highest byte is `key` (the highest one is 0x3F)."""
    return (1 + key / 128) / 2 if key < 128 else key / 128  # noqa: PLR2004 (the lowest bit of the exponent)


def _key_of(value: float) -> int:
    """Return the second highest byte of a mapped value."""
    return int((2 * value - 1) * 128) if value < 1 else int(value * 128)


def _rows_between(keys: bytes, least: int, above: int) -> Iterator[int]:
    """Yield the rows whose key is at least `least` and below `above`."""
    flags = keys.translate(bytes(least <= key < above for key in range(256)))
    at = flags.find(1)
    while at >= 0:
        yield at
        at = flags.find(1, at + 1)


def _threshold(keys: bytes, wanted: int) -> int:
    """Return the highest key that at least `wanted` rows reach; 0 when there are not so many."""
    if wanted >= len(keys):
        return 0
    sample = sorted(keys[::_SAMPLE_STEP], reverse=True)
    guess = sample[min(2 * wanted // _SAMPLE_STEP + _SAMPLE_MARGIN, len(sample) - 1)]
    near = keys.translate(None, bytes(range(guess)))
    if len(near) < wanted:
        guess, near = 0, keys
    taken = 0
    for key in range(max(near), guess, -1):
        taken += near.count(key)
        if taken >= wanted:
            return key
    return guess
