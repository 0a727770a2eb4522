"""The dense side of an index: the model, its vectors and its calibration, each opened when first needed."""

from __future__ import annotations

import os

from memx.errors import IndexUnavailableError, ModelUnavailableError
from memx.index.dense.calibration import cosine_of, load_table
from memx.index.dense.model import load_model_info
from memx.index.dense.text import embedding_text
from memx.index.dense.tokens import pack_tokens
from memx.index.dense.vectors import VectorStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memx.config import EmbeddingConfig
    from memx.index.dense.embedder import QueryEmbedder
    from memx.index.dense.model import ModelInfo
    from memx.index.packed import PackedBullet

FETCHED_AT_ONCE = 8_192

SPARE_ROWS, SPARE_SHARE = 10_000, 3
"""Rows that nothing uses are dropped when there are more than so many, and so many times the rows in use."""

CHANCE_RELEVANCE = 0.0386
"""The calibrated relevance that texts reach which have nothing to do with each other: the bundled model's at a
cosine of 0.1, so that another model's vectors are read with the same sense."""

PATIENCE_S = 0.5
"""How long a search waits for another writer of vectors; what it could not store the next one stores."""

FEW_TEXTS = 20
"""So many texts without a vector a search embeds by the way; more are left to the next refresh."""


class Vectors:
    """Vectors of one model in one folder."""

    def __init__(self, info: ModelInfo, folder: str, cache_dir: str = "") -> None:
        """Remember where things are; `cache_dir` takes what is derived from a model of the user's own."""
        self._info = info
        self._folder = folder
        self._cache_dir = cache_dir
        self._embedder: QueryEmbedder | None = None
        self._store: VectorStore | None = None
        self._chance: float | None = None
        self.added = 0
        """How many vectors this process has stored."""

    @classmethod
    def open(
        cls, config: EmbeddingConfig, folder: str, cache_dir: str = "", *, trusted: bool = False
    ) -> Vectors:
        """Return the vectors of the configured model; raises ModelUnavailableError."""
        return cls(load_model_info(config, trusted=trusted, cache_dir=cache_dir), folder, cache_dir)

    @property
    def fingerprint(self) -> str:
        """What changes whenever vectors could differ."""
        return self._info.fingerprint

    @property
    def state(self) -> str:
        """What an index remembers of its vectors: another value says that some may be gone."""
        return f"{self.fingerprint} {self.store.generation}"

    @property
    def embedder(self) -> QueryEmbedder:
        """The embedder of single texts."""
        if self._embedder is None:
            from memx.index.dense.embedder import QueryEmbedder

            self._embedder = QueryEmbedder(self._info.dir, self._cache_dir)
        return self._embedder

    @property
    def store(self) -> VectorStore:
        """The vectors of all texts that were ever embedded here."""
        if self._store is None:
            self._store = VectorStore(self._folder, self.fingerprint)
        return self._store

    @property
    def chance(self) -> float:
        """The cosine up to which this model sees no relation, by its calibration."""
        if self._chance is None:
            self._chance = cosine_of(CHANCE_RELEVANCE, load_table(self._info.dir))
        return self._chance

    def missing(self, bullets: Iterable[PackedBullet]) -> dict[bytes, str]:
        """Return {key: text to embed} of the bullets that have no vector yet."""
        wanted = {bullet.vector_key: embedding_text(bullet) for bullet in bullets}
        for key in self.store.has(wanted):
            del wanted[key]
        return wanted

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return the vectors of texts; None for a text that the model knows nothing of."""
        return self.embedder.embed_many(texts)

    def add(self, texts: Mapping[bytes, str], patience_s: float | None = None) -> None:
        """Embed texts and store their vectors and tokens by the given keys, as `VectorStore.add`."""
        embedded = self.embedder.embed_tokens_many(list(texts.values()))
        weights = self.embedder.token_weights
        cells = {key: pack_tokens(tokens, weights) for key, (_, tokens) in zip(texts, embedded, strict=True)}
        rows = (row for row, _ in embedded)
        self.added += self.store.add(zip(texts, rows, strict=True), patience_s, cells)

    def ensure(self, bullets: Iterable[PackedBullet]) -> bool:
        """Embed what has no vector and store it; False when that is not possible now."""
        try:
            wanted = self.missing(bullets)
            if wanted:
                self.add(wanted, PATIENCE_S)
        except (ModelUnavailableError, IndexUnavailableError, OSError):
            return False
        return True

    def ensure_keys(
        self, keys: Sequence[bytes], fetch: Callable[[list[bytes]], Iterable[PackedBullet]]
    ) -> bool:
        """Embed what has no vector, as `ensure`; `fetch` returns the bullets of some keys."""
        try:
            known = self.store.has(keys)
        except IndexUnavailableError:
            return False
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        slices = (missing[at : at + FETCHED_AT_ONCE] for at in range(0, len(missing), FETCHED_AT_ONCE))
        return all(self.ensure(fetch(some)) for some in slices)

    def drop_damaged(self) -> None:
        """Forget all vectors when some are not what was written; raises IndexUnavailableError, see `obstacle`."""
        if not self.store.is_whole():
            self.store.clear()

    def mend(self, bullets: Sequence[PackedBullet]) -> bool:
        """Embed what lost its vector, all when some are damaged; False when that is not possible now."""
        try:
            self.drop_damaged()
        except IndexUnavailableError:
            return False
        return self.ensure(bullets)

    def obstacle(self) -> str:
        """Return the folder of the vectors where it cannot be written, empty where it can."""
        place = self.store.folder
        while not os.path.lexists(place):
            place = os.path.dirname(place)
        return "" if os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK) else self.store.folder

    def tidy(self, live: Sequence[bytes], user: str) -> int:
        """Drop old vectors that no index uses once they outnumber the others by far; return how many went.

        `live` are the keys that one index, named by `user`, uses now. What other work trees use is known
        from their own calls; the newest of the rest are kept for branches that one comes back to. An index
        of another work tree whose vectors are gone all the same notices by `state` and embeds them again.
        """
        try:
            used = self.store.remember_use(user, live)
            most = SPARE_ROWS + SPARE_SHARE * len(used)
            if len(self.store) <= most:
                return 0
            keys = self.store.keys()
            newest = set(keys[-(most // 2) :])
            return self.store.compact([key for key in keys if key in used or key in newest])
        except (IndexUnavailableError, OSError):
            return 0
