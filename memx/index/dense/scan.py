"""The nearest rows of an int8 matrix by cosine, without numpy and without a Python loop over the rows.

simsimd fills a float32 distance a row (1 − cosine, memory bandwidth is its
limit). Which rows are near is then read from the bytes of those floats: for a
fixed exponent the second highest byte orders them, so counting and filtering
are `bytes.translate` and big-integer operations over one byte a row. The
few rows that remain are scored exactly.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# Highest byte of a float32 in [0.5, 2), [0.125, 0.5), [1/32, 1/8) …, the widest first.
_OCTAVES = range(0x3F, 0x38, -1)
_FLOAT_BYTES = 4
_SIGN_BIT = 0x80
_SAMPLE_STEP, _SAMPLE_MARGIN = 64, 4


def nearest_rows(query: bytes, rows: memoryview, count: int, limit: int) -> list[tuple[float, int]]:
    """Return the `limit` best (exact cosine, row), best first; zero rows are left out.

    `rows` holds `count` rows of len(query) signed bytes. Equal cosines keep the order of rows.
    """
    if count == 0 or limit <= 0 or not any(query):
        return []
    dimension = len(query)
    candidates = _candidates(_distances(query, rows, count), count, limit)
    cosine = _exact_cosine(query)
    scored = []
    for row in candidates:
        value = cosine(rows[row * dimension : (row + 1) * dimension])
        if value is not None:
            scored.append((-value, row))
    scored.sort()
    if len(scored) < limit and len(candidates) < count:
        # Zero rows took places: rare, so simply look at everything.
        return nearest_rows(query, rows, count, count)[:limit]
    return [(-negative, row) for negative, row in scored[:limit]]


def _distances(query: bytes, rows: memoryview, count: int) -> bytes:
    """Return 1 − cosine of each row as native float32 bytes."""
    dimension = len(query)
    try:
        import simsimd
    except ImportError:
        return _distances_by_numpy(query, rows, count)
    matrix = rows[: count * dimension].cast("b", shape=[count, dimension])
    vector = memoryview(query).cast("b", shape=[1, dimension])
    distances: Any = simsimd.cdist(vector, matrix, "cosine", out_dtype="float32")
    return bytes(memoryview(distances))


def _distances_by_numpy(query: bytes, rows: memoryview, count: int) -> bytes:
    """Do the same where simsimd has no build, in blocks that fit the cache."""
    import numpy as np

    dimension, block = len(query), 8192
    matrix = np.frombuffer(rows, dtype=np.int8, count=count * dimension).reshape(count, dimension)
    vector = np.frombuffer(query, dtype=np.int8).astype(np.float32)
    vector /= np.linalg.norm(vector)
    distances = np.empty(count, dtype=np.float32)
    for start in range(0, count, block):
        part = matrix[start : start + block].astype(np.float32)
        norms = np.linalg.norm(part, axis=1)
        distances[start : start + block] = 1.0 - part @ vector / np.maximum(norms, 1e-9)
    return distances.tobytes()


def _exact_cosine(query: bytes) -> _Cosine:
    try:
        import simsimd
    except ImportError:
        return _Cosine(query, None)
    return _Cosine(query, simsimd.dot)


class _Cosine:
    """Cosine from integer dot products, which are exact in whichever way they are computed."""

    def __init__(self, query: bytes, dot: Any) -> None:
        self._query = memoryview(query).cast("b")
        self._simsimd_dot = dot
        self._norm = self._dot(self._query, self._query) ** 0.5

    def __call__(self, row: memoryview) -> float | None:
        """Return the cosine with a row, or None when the row is zero."""
        signed = row.cast("b")
        square = self._dot(signed, signed)
        return self._dot(self._query, signed) / (self._norm * square**0.5) if square else None

    def _dot(self, a: memoryview, b: memoryview) -> float:
        if self._simsimd_dot is None:
            return float(sum(x * y for x, y in zip(a, b, strict=True)))
        return float(self._simsimd_dot(a, b))


def cosine(a: bytes, b: bytes) -> float:
    """Return the exact cosine of two int8 vectors; 0.0 when one is zero."""
    if not any(a):
        return 0.0
    return _exact_cosine(a)(memoryview(b)) or 0.0


def _candidates(distances: bytes, count: int, limit: int) -> Sequence[int]:
    """Return rows among which the `limit` smallest distances are, and not many more."""
    if count <= 4 * limit:
        return range(count)
    high, low = _significant_bytes(distances)
    keys = b""
    for octave in _OCTAVES:
        keys = _keys(high, low, octave)
        # Below this octave there are enough: it is too coarse, look at the next one.
        if keys.count(0) < limit:
            break
    threshold = _threshold(keys, limit)
    flags = keys.translate(bytes(byte <= threshold for byte in range(256)))
    found, at = [], flags.find(1)
    while at >= 0:
        found.append(at)
        at = flags.find(1, at + 1)
    return found


def _significant_bytes(distances: bytes) -> tuple[bytes, bytes]:
    """Return the highest and the second highest byte of each float32, in native byte order."""
    import sys

    if sys.byteorder == "little":
        return distances[3::_FLOAT_BYTES], distances[2::_FLOAT_BYTES]
    return distances[::_FLOAT_BYTES], distances[1::_FLOAT_BYTES]


def _keys(high: bytes, low: bytes, octave: int) -> bytes:
    """Return a byte a row that orders the rows of one octave; 0 for nearer rows, 255 for farther ones.

    A distance that rounding made negative has its sign bit set and counts as near.
    """
    inside = high.translate(bytes(0xFF if byte == octave else 0 for byte in range(256)))
    keys = int.from_bytes(inside, "little") & int.from_bytes(low, "little")
    if octave != _OCTAVES[0]:
        beyond = high.translate(bytes(0xFF if octave < byte < _SIGN_BIT else 0 for byte in range(256)))
        keys |= int.from_bytes(beyond, "little")
    return keys.to_bytes(len(high), "little")


def _threshold(keys: bytes, limit: int) -> int:
    """Return the smallest key up to which there are at least `limit` rows."""
    least, most, rest, taken = 0, 255, keys, 0
    sample = sorted(keys[::_SAMPLE_STEP])
    guess = sample[min(2 * limit // _SAMPLE_STEP + _SAMPLE_MARGIN, len(sample) - 1)]
    near = keys.translate(None, bytes(range(guess + 1, 256)))
    if len(near) >= limit:
        most, rest = guess, near
    while least < most:
        middle = (least + most) // 2
        lower = rest.translate(None, bytes(range(middle + 1, 256)))
        if taken + len(lower) >= limit:
            most, rest = middle, lower
        else:
            taken += len(lower)
            rest = rest.translate(None, bytes(range(middle + 1)))
            least = middle + 1
    return least
