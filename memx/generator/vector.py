"""L4: nearness of meaning, the model's calibrated cosine (0-1)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memx.index.dense.embedder import QueryEmbedder
    from memx.index.dense.vectors import VectorStore
    from memx.index.packed import PackedBullet


class VectorSearcher:
    """Compares one query with the vectors of several stores.

    `calibrate` turns a cosine into 0-1 and never falls; `extra` holds vectors
    that no store has yet, by key.
    """

    def __init__(
        self,
        embedder: QueryEmbedder,
        stores: Iterable[VectorStore],
        calibrate: Callable[[float], float],
        extra: dict[bytes, bytes] | None = None,
    ) -> None:
        """Keep what is needed; nothing is embedded yet."""
        self._embedder = embedder
        self._stores = tuple(stores)
        self._calibrate = calibrate
        self._extra = extra or {}
        self._query: bytes | None = None
        self._cosines: dict[bytes, float] = {}

    def prepare(self, text: str) -> bool:
        """Embed a query; False when the model knows nothing of it, and then every score is 0."""
        self._query = self._embedder.embed(text)
        self._cosines = {}
        return self._query is not None

    def nearest(self, limit: int) -> list[bytes]:
        """Return the keys of the nearest texts, best first."""
        if self._query is None:
            return []
        hits = [hit for store in self._stores for hit in store.scan(self._query, limit)]
        self._cosines.update(hits)
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        return [key for key, _ in hits[:limit]]

    def score(self, bullet: PackedBullet) -> float:
        """Return the semantic score of one bullet; 0 when it has no vector."""
        cosine = self._cosine(bullet.vector_key)
        return 0.0 if cosine is None else min(1.0, max(0.0, self._calibrate(cosine)))

    def _cosine(self, key: bytes) -> float | None:
        if self._query is None:
            return None
        if key not in self._cosines:
            from memx.index.dense.scan import cosine

            row = self._extra.get(key) or next(
                (row for store in self._stores if (row := store.get(key)) is not None), None
            )
            if row is None:
                return None
            self._cosines[key] = cosine(self._query, row)
        return self._cosines[key]
