"""A store's folder with its index beside it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.index.index import Index, IndexPlace
from memx.index.query import LexicalQuery
from memx.model import Bullet
from memx.store.codec import format_bullet

if TYPE_CHECKING:
    from pathlib import Path


class IndexedStore:
    """Files of bullets, and what the index says of them."""

    def __init__(self, folder: Path) -> None:
        """Make an empty store."""
        self.root = folder / ".memx"
        self.cache = folder / "cache"
        (self.root / "bullets" / "general").mkdir(parents=True)

    def path(self, name: str, folder: str = "bullets/general") -> Path:
        """Return the file of a bullet."""
        return self.root / folder / f"{name}.md"

    def write(self, name: str, text: str, folder: str = "bullets/general", **fields: object) -> None:
        """Write a bullet as an editor does: a new file renamed over the old one."""
        target = self.path(name, folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        identifier = f"{name:x<10}"[:10]
        temporary = target.with_suffix(".tmp")
        temporary.write_bytes(format_bullet(Bullet(id=identifier, text=text, **fields)))  # type: ignore[arg-type]
        temporary.replace(target)

    def index(self, cache: str | None = None) -> Index:
        """Return the index as a new process would see it."""
        return Index(IndexPlace(str(self.root), str(self.cache) if cache is None else cache))

    def find(self, word: str, index: Index | None = None) -> list[str]:
        """Return the names of the bullets that a word finds, sorted."""
        index = index or self.index()
        query = LexicalQuery(index.analyser.terms(word))
        wanted = f" {word.lower()} "
        found = index.snapshot().candidates(query, 1000)
        return sorted(os.path.basename(b.path)[:-3] for b in found if wanted in b.exact)


@pytest.fixture
def store(tmp_path: Path) -> IndexedStore:
    """An empty store."""
    return IndexedStore(tmp_path)
