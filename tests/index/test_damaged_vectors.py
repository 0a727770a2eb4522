"""Vectors that are gone or are not what was written are noticed and made again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.config import Config
from memx.index.index import Index, IndexPlace
from memx.index.vectors import Vectors
from tests.support.damage import overwrite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.index.conftest import IndexedStore

COUNT = 25


def open_index(store: IndexedStore, folder: Path) -> Index:
    """Return the index with its vectors as a new process would see it."""
    return Index(IndexPlace(str(store.root), str(store.cache)), Vectors.open(Config().embedding, str(folder)))


@pytest.fixture
def indexed(store: IndexedStore, tmp_path: Path) -> tuple[IndexedStore, Path]:
    """A store whose bullets all have a vector, and the folder of these."""
    for number in range(COUNT):
        store.write(f"b{number}", f"The harbour crane number {number} stands still at noon.")
    store.write("empty", "\u2603\u2603\u2603")
    open_index(store, tmp_path / "vectors").rebuild()
    assert open_index(store, tmp_path / "vectors").unembedded() == 0
    return store, tmp_path / "vectors"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "random": lambda data: os.urandom(len(data)),
    "zeros": lambda data: bytes(len(data)),
    "half": lambda data: data[: len(data) // 2],
    "empty": lambda _data: b"",
}


def damage(folder: Path, kind: str, change: Callable[[bytes], bytes]) -> None:
    """Change the one file of this kind."""
    (path,) = folder.rglob(f"{kind}-1")
    overwrite(path, change(path.read_bytes()))


@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("kind", ["keys", "rows", "norms", "tokens"])
def test_thorough_refresh_embeds_what_damage_took(
    indexed: tuple[IndexedStore, Path], kind: str, change: Callable[[bytes], bytes]
) -> None:
    """Whichever file was damaged, afterwards every bullet has its vector again, and the files are whole."""
    store, folder = indexed
    key = open_index(store, folder).snapshot().everything()[0].vector_key
    before = Vectors.open(Config().embedding, str(folder)).store.get(key)
    damage(folder, kind, change)
    if kind == "tokens" and change in (DAMAGES["random"], DAMAGES["zeros"]):
        return  # nothing says what the tokens of a text were
    index = open_index(store, folder)
    assert index.vectors is not None
    assert index.unembedded() or not index.vectors.store.is_whole()
    index.refresh(is_thorough=True)
    again = open_index(store, folder)
    assert again.vectors is not None
    assert (again.unembedded(), again.vectors.store.is_whole()) == (0, True)
    assert again.vectors.store.get(key) == before
    assert index.vectors.added


def test_whole_vectors_are_left_alone(indexed: tuple[IndexedStore, Path]) -> None:
    """A thorough refresh embeds nothing where nothing is missing, not even a text that the model does not know."""
    store, folder = indexed
    index = open_index(store, folder)
    assert index.vectors is not None
    generation = index.vectors.store.generation
    index.refresh(is_thorough=True)
    assert (index.vectors.added, index.vectors.store.generation) == (0, generation)


def test_folder_that_cannot_be_written_is_named(store: IndexedStore, tmp_path: Path) -> None:
    """A file where the folder should be: the search says so instead of promising that vectors are being made."""
    for number in range(COUNT):
        store.write(f"b{number}", f"The harbour crane number {number} stands still at noon.")
    place = tmp_path / "vectors"
    place.write_text("x")
    index = open_index(store, place)
    index.refresh(is_thorough=True)
    assert index.unembedded() == COUNT
    assert str(place) in index.snapshot().degraded
    assert "cannot be written" in index.snapshot().degraded
