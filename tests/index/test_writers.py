"""Two processes write one index: no answer holds a bullet whose file is gone, and no index goes back in time."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from memx.app.search import SearchRequest, SearchStore, search
from memx.config import Config
from memx.generator.scopes import Viewer
from memx.index import index as index_module
from memx.index import manifest
from memx.index.index import Index, IndexPlace
from memx.store.codec import parse_bullet

if TYPE_CHECKING:
    from pathlib import Path

    from memx.model import Bullet
    from tests.index.conftest import IndexedStore

TABLES = ("files", "digests", "log", "head")


def ask(store: IndexedStore, words: str) -> list[str]:
    """Search as a command does."""
    stores = [SearchStore(store.index(), str(store.root))]
    found = search(SearchRequest(words), stores, config=Config(), now=9_000_000.0, viewer=Viewer())
    return sorted(hit.text for hit in found.hits)


def generation(store: IndexedStore) -> str:
    """Return the folder of the index in use."""
    folder = manifest.current_generation(str(store.cache))
    assert folder is not None
    return folder


def kill_before_tables(store: IndexedStore, aside: Path) -> None:
    """Refresh, and leave the tables as they were before: as a writer that was killed, or is not done yet."""
    folder = generation(store)
    aside.mkdir()
    kept = [name for name in TABLES if os.path.exists(os.path.join(folder, name))]
    for name in kept:
        shutil.copy2(os.path.join(folder, name), aside / name)
    store.index().refresh()
    for name in TABLES:
        os.unlink(os.path.join(folder, name)) if name not in kept else None
    for name in kept:
        shutil.copy2(aside / name, os.path.join(folder, name))


def test_bullet_of_a_late_writer_is_not_found_once_its_file_is_gone(
    store: IndexedStore, tmp_path: Path
) -> None:
    """A writer indexed a file that a checkout then removed, and its tables do not say so yet."""
    store.write("a", "alpha harbour")
    store.write("c", "gamma harbour")
    store.index().rebuild()
    store.write("b", "beta harbour")
    kill_before_tables(store, tmp_path / "aside")
    store.path("b").unlink()
    assert ask(store, "harbour") == ["alpha harbour", "gamma harbour"]
    assert [bullet.id[0] for bullet in store.index().snapshot().everything()] in (["a", "c"], ["c", "a"])
    folder = generation(store)
    assert manifest.load_head(folder).file_count == len(manifest.load_stats(folder)) == 2


def test_bullet_of_a_killed_writer_is_found_once(store: IndexedStore, tmp_path: Path) -> None:
    """The same files are indexed once more after a kill, and are not there twice."""
    store.write("a", "alpha harbour")
    store.index().rebuild()
    store.write("b", "beta harbour")
    kill_before_tables(store, tmp_path / "aside")
    assert ask(store, "harbour") == ["alpha harbour", "beta harbour"]
    assert store.index().snapshot().size == 2


@pytest.mark.parametrize("limit", [2_000, 0])
def test_bullet_of_a_killed_writer_goes_with_its_file(
    store: IndexedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """A writer indexed an edit and was killed; the edit is taken back, so the file is as the tables have it."""
    store.write("a", "alpha harbour")
    store.write("b", "beta harbour")
    store.index().rebuild()
    store.write("a", "omega harbour")
    kill_before_tables(store, tmp_path / "aside")
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", limit)
    store.write("b", "beta quay")
    assert store.index().snapshot(changed=["bullets/general/b.md"]).size == 2
    store.write("a", "alpha harbour")
    assert ask(store, "harbour") == ["alpha harbour"]
    store.write("a", "omega harbour")
    store.write("a", "alpha harbour")
    assert ask(store, "harbour quay") == ["alpha harbour", "beta quay"]
    assert store.index().snapshot().size == 2


def test_what_was_found_before_another_write_is_not_applied_over_it(store: IndexedStore) -> None:
    """A refresh reads a file; before it writes, another process reads and writes a newer one."""
    store.write("a", "alpha harbour")
    store.write("b", "beta harbour")
    store.index().rebuild()
    store.write("b", "beta quay")
    read: list[str] = []

    def parse(data: bytes, path: str) -> Bullet:
        bullet = parse_bullet(data, path=path)
        read.append(bullet.text)
        if len(read) == 1:
            store.write("b", "beta wharf")
            assert store.index().refresh() is not None
        return bullet

    late = Index(IndexPlace(str(store.root), str(store.cache)), parse=parse)
    assert late.refresh() is not None
    assert read == ["beta quay"]
    assert ask(store, "wharf") == ["beta wharf"]
    assert ask(store, "quay") == []
    assert store.index().refresh() is not None


def test_search_that_lost_the_race_still_answers_with_the_files(store: IndexedStore) -> None:
    """Where another process wrote in between, the search lays over the index what it found itself."""
    store.write("a", "alpha harbour")
    store.index().rebuild()
    store.write("b", "beta quay")

    def parse(data: bytes, path: str) -> Bullet:
        if path.endswith("b.md"):
            store.write("c", "gamma quay")
            assert store.index().refresh() is not None
        return parse_bullet(data, path=path)

    snapshot = Index(IndexPlace(str(store.root), str(store.cache)), parse=parse).snapshot()
    assert snapshot.check_due
    texts = sorted(bullet.text for bullet in snapshot.everything())
    assert texts in (["alpha harbour", "beta quay"], ["alpha harbour", "beta quay", "gamma quay"])
    assert ask(store, "quay") == ["beta quay", "gamma quay"]
