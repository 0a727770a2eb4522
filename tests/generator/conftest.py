"""Rankings over bullets in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memx.config import EmbeddingConfig, GeneratorConfig
from memx.generator.generator import Engines, Generator, default_engines
from memx.generator.scopes import Viewer
from memx.generator.vector import VectorSearcher
from memx.index.index import make_analyser
from memx.index.lexical import LexicalIndex
from memx.index.packed import PackedBullet, pack
from memx.index.query import NO_FILTERS, Filters
from memx.index.snapshot import Snapshot
from memx.index.vectors import Vectors
from memx.model import Bullet, StoredBullet

if TYPE_CHECKING:
    from collections.abc import Callable

    from memx.generator.generator import Ranking, Scored

ANALYSER = make_analyser()


class Corpus:
    """Bullets that can be searched without files; `texts` get the ids b0, b1 and so on."""

    def __init__(self, *bullets: Bullet | str) -> None:
        """Index the bullets in memory."""
        made = [b if isinstance(b, Bullet) else Bullet(id=f"b{i}", text=b) for i, b in enumerate(bullets)]
        self.packed = [pack(StoredBullet(b, f"bullets/general/{b.id}.md"), ANALYSER) for b in made]
        index = LexicalIndex.in_memory()
        index.apply(self.packed)
        self.snapshot = Snapshot(index, tuple(sorted({b.scope for b in made})))

    def generator(
        self,
        engines: Engines | None = None,
        *,
        config: GeneratorConfig | None = None,
        viewer: Viewer | None = None,
        filters: Filters = NO_FILTERS,
        decay: Callable[[PackedBullet], float] = lambda _bullet: 1.0,
    ) -> Generator:
        """Return a generator over these bullets."""
        return Generator(
            [self.snapshot],
            ANALYSER,
            config or GeneratorConfig(),
            viewer or Viewer(),
            engines or default_engines(),
            now=1_000_000_000.0,
            decay=decay,
            filters=filters,
        )

    def engines(self, folder: str) -> Engines:
        """Return all layers, with the bullets' vectors in a folder."""
        vectors = Vectors.open(EmbeddingConfig(), folder)
        assert vectors.ensure(self.packed)
        return default_engines(VectorSearcher([vectors]))

    def rank(self, query: str, *, path: str = "", limit: int = 5) -> Ranking:
        """Return the ranking by words alone."""
        return self.generator().rank(query, path=path, limit=limit)

    def ids(self, query: str) -> list[str]:
        """Return the ids of the hits."""
        return [scored.bullet.id for scored in self.rank(query).hits]

    def score(self, query: str, number: int = 0) -> Scored:
        """Return the factors of one bullet for a query."""
        generator = self.generator()
        return generator.score(generator.query(query), [self.packed[number]])[0]


@pytest.fixture
def corpus() -> type[Corpus]:
    """The class that indexes bullets in memory."""
    return Corpus
