"""The bytes of a bullet's file, as many as a bullet may have: a sparse file of terabytes lies in one block."""

from __future__ import annotations

import os

from memx.document import FILE_LIMIT_BYTES

_CHUNK_BYTES = 1 << 16


def read_bounded(descriptor: int) -> bytes:
    """Return what an open file holds; of one that is too long, one byte more than a bullet may have.

    Whoever parses that refuses it. Raises OSError.
    """
    data = os.read(descriptor, _CHUNK_BYTES)
    if len(data) < _CHUNK_BYTES:
        return data
    chunks, size = [data], len(data)
    while size <= FILE_LIMIT_BYTES:
        chunk = os.read(descriptor, FILE_LIMIT_BYTES + 1 - size)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)
