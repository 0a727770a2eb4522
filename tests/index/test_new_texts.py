"""Texts without vectors are named while another process embeds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memx.config import Config
from memx.index.index import NEW_TEXTS, Index, IndexPlace
from memx.index.vectors import Vectors
from memx.store.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memx.index.packed import PackedBullet
    from tests.index.conftest import IndexedStore

MANY, FEW = 30, 3


class SlowVectors(Vectors):
    """Vectors during whose making somebody else searches."""

    other: Index
    said: list[str]

    def ensure(self, bullets: Iterable[PackedBullet]) -> bool:
        """Embed as usual, after another process has asked."""
        self.said.append(self.other.snapshot().degraded)
        return super().ensure(bullets)


def open_index(store: IndexedStore, folder: Path, kind: type[Vectors] = Vectors) -> Index:
    """Return the index with vectors in a folder, as a new process would see it."""
    return Index(IndexPlace(str(store.root), str(store.cache)), kind.open(Config().embedding, str(folder)))


def write(store: IndexedStore, count: int) -> None:
    """Write bullets that no index knows."""
    for number in range(count):
        store.write(f"new{number}", f"The harbour crane number {number} stands still at noon.")


@pytest.mark.parametrize("is_indexed", [False, True], ids=["clone", "switch of branch"])
@pytest.mark.parametrize(("count", "degraded"), [(FEW, ""), (MANY, NEW_TEXTS)], ids=["few", "many"])
def test_search_beside_another_writer_names_missing_vectors(
    store: IndexedStore, tmp_path: Path, count: int, degraded: str, *, is_indexed: bool
) -> None:
    """What many new texts lack is said and few are embedded by the way; after the work nothing is missing."""
    folder = tmp_path / "vectors"
    store.write("old", "The lighthouse is white.")
    if is_indexed:
        open_index(store, folder).rebuild()
    write(store, count)
    store.cache.mkdir(exist_ok=True)
    writer = Lock(str(store.cache / "lock"))
    writer.acquire()
    try:
        assert open_index(store, folder).snapshot().degraded == degraded
    finally:
        writer.release()
    open_index(store, folder).refresh()
    assert open_index(store, folder).snapshot().degraded == ""


def test_search_while_a_refresh_embeds_names_missing_vectors(store: IndexedStore, tmp_path: Path) -> None:
    """The tables do not say that files are in the index before their vectors are there."""
    folder = tmp_path / "vectors"
    store.write("old", "The lighthouse is white.")
    open_index(store, folder).rebuild()
    write(store, MANY)
    index = open_index(store, folder, SlowVectors)
    assert isinstance(index.vectors, SlowVectors)
    index.vectors.other, index.vectors.said = open_index(store, folder), []
    index.refresh()
    assert index.vectors.said == [NEW_TEXTS]
    assert open_index(store, folder).snapshot().degraded == ""


def test_index_whose_embedding_failed_names_missing_vectors(store: IndexedStore, tmp_path: Path) -> None:
    """Vectors that could not be written are missing until a refresh makes up for them."""
    folder, nowhere = tmp_path / "vectors", tmp_path / "a file"
    nowhere.write_text("")
    write(store, MANY)
    open_index(store, nowhere).rebuild()
    assert open_index(store, folder).snapshot().degraded == NEW_TEXTS
    open_index(store, folder).refresh()
    assert open_index(store, folder).snapshot().degraded == ""
