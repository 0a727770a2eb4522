"""The teachers' vectors of texts, kept in shards so that an interrupted run goes on.

A shard holds the keys (first 16 bytes of the text's SHA-256) and the float16
rows of at most 1,024 texts; a text is computed once, whatever corpus asks for it.
"""

from __future__ import annotations

import glob
import hashlib
import os
import time

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Encode = Callable[[list[str]], np.ndarray]

KEY_BYTES = 16
SHARD = 1024


class VectorCache:
    """Teacher vectors by the hash of their text, in one folder a teacher."""

    def __init__(self, folder: str) -> None:
        """Read the shards that are there."""
        self._folder = folder
        self._rows: dict[bytes, np.ndarray] = {}
        os.makedirs(folder, exist_ok=True)
        for path in sorted(glob.glob(os.path.join(folder, "*.npz"))):
            with np.load(path) as shard:
                keys, rows = shard["keys"], shard["rows"]
            self._rows.update(zip(map(bytes, keys), rows, strict=True))

    def encode(self, texts: Sequence[str], compute: Encode) -> np.ndarray:
        """Return one row a text, computing and storing the missing ones; prints progress."""
        keys = [hashlib.sha256(text.encode()).digest()[:KEY_BYTES] for text in texts]
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in self._rows}
        wanted = list(missing.items())
        start = time.monotonic()
        for at in range(0, len(wanted), SHARD):
            part = wanted[at : at + SHARD]
            rows = compute([text for _, text in part]).astype(np.float16)
            self._store([key for key, _ in part], rows)
            seconds = time.monotonic() - start
            done = at + len(part)
            print(
                f"{os.path.basename(self._folder)}: {done}/{len(wanted)} texts, {seconds:.0f} s", flush=True
            )
        return np.array([self._rows[key] for key in keys], dtype=np.float32)

    def _store(self, keys: list[bytes], rows: np.ndarray) -> None:
        name = hashlib.sha256(b"".join(keys)).hexdigest()[:16]
        temporary = os.path.join(self._folder, f"{name}.tmp")
        with open(temporary, "wb") as file:
            np.savez(file, keys=np.array([list(key) for key in keys], dtype=np.uint8), rows=rows)
        os.replace(temporary, os.path.join(self._folder, f"{name}.npz"))
        self._rows.update(zip(keys, rows, strict=True))
