"""The telling tokens of a text, kept beside its vector: words are compared with them one by one.

A column of fixed width: at most MOST_TOKENS distinct tokens, the heaviest where a text has more, as little-endian
16-bit numbers, each one above its token's, so that a hole of zeros holds none. A model with more tokens than
such a number can name has no column, and neither has one whose tokens are not known.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_TOKENS = 32
TOKENS_BYTES = 2 * MOST_TOKENS
NO_TOKENS = bytes(TOKENS_BYTES)
_MOST = 0xFFFF


def pack_tokens(tokens: Sequence[int], weights: Sequence[float] | memoryview[float] | None) -> bytes:
    """Return the cell of a text with these tokens; `weights` has one a token of the model, None: all weigh the same."""
    distinct = list(dict.fromkeys(tokens))
    if len(distinct) > MOST_TOKENS:
        if weights is not None:
            distinct.sort(key=weights.__getitem__, reverse=True)
        del distinct[MOST_TOKENS:]
    if max(distinct, default=0) >= _MOST:
        return NO_TOKENS
    # Not by `array`, which brings `collections`: 3 ms of every search.
    return b"".join([(token + 1).to_bytes(2, "little") for token in distinct]).ljust(TOKENS_BYTES, b"\0")


def unpack_tokens(cell: bytes | memoryview) -> set[int]:
    """Return the numbers of a cell, each one above its token's; 0, which stands for none, may be among them."""
    return set(memoryview(cell).cast("H"))
