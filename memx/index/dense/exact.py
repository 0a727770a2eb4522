"""Token ids to vectors with simsimd in double precision: for many tokens, without loading numpy.

An int8 row becomes doubles without a loop over its components: its bytes are laid into the lowest bytes of
1.5 × 2^52, whose last binary place is 1, and what was added is subtracted again. The same number added to a
scaled sum rounds it to whole numbers, half to even as `round` does, and leaves them in the lowest bytes.

All products and sums are exact as long as none has more than 53 significant bits, so the order of addition does
not matter and the bytes are those of `embedder` and `pooling`; where that is not certain, neither is asked here.
"""

from __future__ import annotations

from math import frexp, inf, ldexp, sqrt

from memx.index.dense.embedder import PEAK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

BATCH_TEXTS = 64
ROWS_AT_ONCE = 128
"""Rows that are made doubles together: these buffers stay in the cache of a core."""
MAX_ROWS = 8_192
"""Rows that are kept as doubles, of 2 KiB each with the bundled model."""

_DOUBLE_BYTES = 8
_DOUBLE_BITS, _WEIGHT_BITS = 53, 24
_COMPONENT = 128
"""What no component of an int8 row exceeds."""
_ROUNDER = 1.5 * 2.0**52
_ROUNDER_BYTES = bytes.fromhex("0000000000003843")
_UNSIGNED = bytes((byte + _COMPONENT) & 0xFF for byte in range(256))
_MAGNITUDE = bytes(min(byte, 256 - byte) for byte in range(256))
_UP_TO = tuple(bytes(range(level + 1)) for level in range(_COMPONENT))
_LEVELS = 120
"""The largest component is sought among so many levels; the length of a vector is the highest of them."""


class ExactPool:
    """The weighted sums of int8 rows, scaled to int8: the bytes that `QueryEmbedder` gives one by one."""

    def __init__(
        self, rows: memoryview, dimension: int, weights: memoryview[float] | None, simsimd: Any
    ) -> None:
        """Take `dimension` bytes a token and a float32 weight a token, or None where all weights are 1."""
        self._bytes, self._dimension, self._weights = rows, dimension, weights
        self._sum: Callable[..., Any] = simsimd.wsum
        self._dot: Callable[..., float] = simsimd.dot
        self._rounder = memoryview(_ROUNDER_BYTES * dimension).cast("d")
        self._zero = memoryview(bytes(dimension * _DOUBLE_BYTES)).cast("d")
        self._offset = memoryview(_double_bytes(_ROUNDER + _COMPONENT) * (dimension * ROWS_AT_ONCE)).cast("d")
        self._rows: dict[int, Any] = {}
        self._least_exponent, self._largest = 0, 0.0

    @classmethod
    def open(cls, rows: memoryview, dimension: int, weights: memoryview[float] | None) -> ExactPool | None:
        """Return the pool; None where simsimd is missing or does not compute in double precision."""
        try:
            import simsimd
        except ImportError:
            return None
        is_single = weights is None or weights.format == "f"
        return cls(rows, dimension, weights, simsimd) if is_single and _computes_in_double(simsimd) else None

    def __call__(self, texts: Sequence[Sequence[int]], marker: int) -> list[bytes | None] | None:
        """Return a vector a text, None for one of no tokens but `marker`; None when the sums may not be exact."""
        vectors: list[bytes | None] = []
        for begin in range(0, len(texts), BATCH_TEXTS):
            batch = texts[begin : begin + BATCH_TEXTS]
            self._take_rows(token for ids in batch for token in ids)
            if not self._is_exact(max(map(len, batch))):
                return None
            vectors += [None if ids.count(marker) == len(ids) else self._vector(ids) for ids in batch]
        return vectors

    def _take_rows(self, tokens: Iterable[int]) -> None:
        """Make weighted doubles of the rows of some tokens."""
        if len(self._rows) > MAX_ROWS:
            self._rows.clear()
        new = [token for token in dict.fromkeys(tokens) if token not in self._rows]
        size, add, weights = self._dimension, self._sum, self._weights
        for begin in range(0, len(new), ROWS_AT_ONCE):
            some = new[begin : begin + ROWS_AT_ONCE]
            data = b"".join([self._bytes[token * size : (token + 1) * size] for token in some])
            doubles = bytearray(_ROUNDER_BYTES) * len(data)
            doubles[::_DOUBLE_BYTES] = data.translate(_UNSIGNED)
            raised = memoryview(doubles).cast("d")
            plain = memoryview(add(raised, self._offset[: len(data)], alpha=1.0, beta=-1.0))
            own = [1.0] * len(some) if weights is None else [weights[token] for token in some]
            self._note(own)
            for token, weight, at in zip(some, own, range(0, len(data), size), strict=True):
                row = plain[at : at + size]
                self._rows[token] = add(row, row, alpha=weight, beta=0.0)

    def _note(self, weights: Iterable[float]) -> None:
        """Remember the lowest binary place of the weights and the largest of them."""
        sizes = sorted(set(map(abs, weights)) - {0.0})
        if sizes:
            self._least_exponent = min(self._least_exponent, frexp(sizes[0])[1])
            self._largest = max(self._largest, sizes[-1] if sum(sizes) < inf else inf)

    def _is_exact(self, tokens: int) -> bool:
        """Return whether no sum of so many weighted rows can have more bits than a double."""
        place = self._least_exponent - _WEIGHT_BITS + _DOUBLE_BITS
        return tokens * _COMPONENT * self._largest <= ldexp(1.0, place)

    def _vector(self, tokens: Sequence[int]) -> bytes | None:
        rows, add = self._rows, self._sum
        total = self._zero
        for token in tokens:
            total = add(total, rows[token])
        square = self._dot(total, total)
        if not 0.0 < square < inf:
            return None
        peak = self._peak(memoryview(total), self._rounded(total, _LEVELS / sqrt(square)))
        return self._rounded(total, PEAK / peak)

    def _rounded(self, total: Any, scale: float) -> bytes:
        """Return the scaled components as int8."""
        return memoryview(self._sum(self._sum(total, total, alpha=scale, beta=0.0), self._rounder)).tobytes()[
            ::_DOUBLE_BYTES
        ]

    def _peak(self, total: memoryview, rounded: bytes) -> float:
        """Return the largest magnitude, sought only where the rounded ones are largest."""
        levels = rest = rounded.translate(_MAGNITUDE)
        level, step = 0, _COMPONENT // 2
        while step:
            above = rest.translate(None, _UP_TO[level + step - 1])
            if above:
                rest, level = above, level + step
            step //= 2
        peak, at = 0.0, levels.find(level)
        while at >= 0:
            peak = max(peak, abs(total[at]))
            at = levels.find(level, at + 1)
        return peak


def _double_bytes(number: float) -> bytes:
    from struct import pack

    return pack("<d", number)


def _computes_in_double(simsimd: Any) -> bool:
    """Return whether sums and multiples of doubles are rounded as Python's own: other releases could differ."""
    numbers = [(2.0**52 + 1) / 3**power for power in range(23)]
    view = memoryview(b"".join(map(_double_bytes, numbers))).cast("d")
    reverse = memoryview(b"".join(map(_double_bytes, numbers[::-1]))).cast("d")
    weight = 0.1
    try:
        summed = memoryview(simsimd.wsum(view, reverse)).tolist()
        differences = memoryview(simsimd.wsum(view, reverse, alpha=1.0, beta=-1.0)).tolist()
        scaled = memoryview(simsimd.wsum(view, view, alpha=weight, beta=0.0)).tolist()
    except (AttributeError, TypeError, ValueError):
        return False
    pairs = list(zip(view, reverse, strict=True))
    return (
        summed == [a + b for a, b in pairs]
        and differences == [a - b for a, b in pairs]
        and scaled == [a * weight for a in view]
    )
