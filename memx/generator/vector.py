"""L4: nearness of meaning, the model's calibrated cosine (0-1)."""

from __future__ import annotations

from memx.generator.evidence import semantic_of
from memx.index.dense.text import embedding_text
from memx.index.dense.tokens import NO_TOKENS, pack_tokens, unpack_tokens
from memx.index.vectors import FEW_TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memx.index.packed import PackedBullet
    from memx.index.vectors import Vectors


class VectorSearcher:
    """Compares one query with the vectors of several folders, all of one model.

    A bullet without a stored vector (its file changed just now, the cache
    cannot be written) is embedded on the spot, for the first FEW_TEXTS of them.
    """

    def __init__(self, vectors: Sequence[Vectors]) -> None:
        """Keep what is needed; nothing is opened yet. `vectors` must not be empty."""
        self._vectors = vectors
        self._embedded_here: dict[bytes, tuple[bytes | None, bytes]] = {}
        self._query: bytes | None = None
        self._cosines: dict[bytes, float] = {}
        self._compare: Callable[[bytes], float] | None = None
        self.has_gaps = False
        """Whether a bullet that was scored has no stored vector although the model knows something of it."""

    def prepare(self, text: str) -> bool:
        """Embed a query; False when the model knows nothing of it, and then every score is 0."""
        self._query = self._vectors[0].embedder.embed(text)
        self._cosines, self._compare = {}, None
        return self._query is not None

    def knows(self, word: str) -> bool:
        """Return whether the model has a word of its own for it, not pieces only."""
        return self._vectors[0].embedder.knows(word)

    def nearest(self, limit: int) -> list[bytes]:
        """Return the keys of the nearest texts, best first."""
        if self._query is None:
            return []
        hits = [hit for vectors in self._vectors for hit in vectors.store.scan(self._query, limit)]
        self._cosines.update(hits)
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        return [key for key, _ in hits[:limit]]

    def word_cosines(self, words: Sequence[str], bullets: Sequence[PackedBullet]) -> list[list[float]]:
        """Return a row a bullet: how near it comes to each word, 0-1; no rows where tokens cannot be compared."""
        embedder = self._vectors[0].embedder
        rows = embedder.token_rows
        if rows is None:
            return []
        from memx.index.dense.interaction import word_cosines

        asked = [embedder.tokens_of(word) for word in words]
        return word_cosines(asked, [unpack_tokens(self._tokens(bullet)) for bullet in bullets], rows)

    def score(self, bullet: PackedBullet) -> float:
        """Return the semantic score of one bullet; 0 when it has no vector."""
        cosine = self._cosine(bullet)
        return 0.0 if cosine is None else semantic_of(cosine, self._vectors[0].chance)

    def _cosine(self, bullet: PackedBullet) -> float | None:
        if self._query is None:
            return None
        key = bullet.vector_key
        if key not in self._cosines:
            row = next((row for v in self._vectors if (row := v.store.get(key)) is not None), None)
            if row is None:
                row = self._embed_now(bullet)[0]
                if row is None or not any(row):
                    return None
                self.has_gaps = True
            if self._compare is None:
                from memx.index.dense.scan import cosine_with

                self._compare = cosine_with(self._query)
            self._cosines[key] = self._compare(row)
        return self._cosines[key]

    def _tokens(self, bullet: PackedBullet) -> bytes | memoryview:
        for vectors in self._vectors:
            cell = vectors.store.tokens(bullet.vector_key)
            if cell is not NO_TOKENS:
                return cell
        return self._embed_now(bullet)[1]

    def _embed_now(self, bullet: PackedBullet) -> tuple[bytes | None, bytes]:
        """Return the vector and the packed tokens of a bullet that has none stored."""
        found = self._embedded_here.get(bullet.vector_key)
        if found is None:
            if len(self._embedded_here) >= FEW_TEXTS:
                return None, NO_TOKENS
            embedder = self._vectors[0].embedder
            ((row, tokens),) = embedder.embed_tokens_many([embedding_text(bullet)])
            found = self._embedded_here[bullet.vector_key] = row, pack_tokens(tokens, embedder.token_weights)
        return found
