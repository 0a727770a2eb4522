"""Going back to a branch analyses nothing that was analysed before, and trusts no more than it should."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from memx.config import Config
from memx.index import index as index_module
from memx.index import kept, manifest
from memx.index.freshness import stat_file
from memx.index.index import Index, IndexPlace
from memx.index.vectors import Vectors

if TYPE_CHECKING:
    from pathlib import Path

    from tests.index.conftest import IndexedStore

COUNT = index_module.FEW + 5


def write_branch(store: IndexedStore, word: str) -> None:
    """Write all files as they are on a branch."""
    for number in range(COUNT):
        store.write(f"n{number}", f"{word} {number}", created=1.0)


def kept_file(store: IndexedStore) -> str:
    """Return the path of what is kept."""
    folder = manifest.current_generation(str(store.cache))
    assert folder is not None
    return os.path.join(folder, kept.NAME)


def test_going_back_analyses_nothing(store: IndexedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bullets come back as they were, and the files that they lie in now are believed where hits are checked."""
    write_branch(store, "alpha")
    store.index().rebuild()
    write_branch(store, "omega")
    assert len(store.find("omega")) == COUNT
    write_branch(store, "alpha")
    monkeypatch.setattr(index_module, "pack", lambda *_: pytest.fail("a bullet was analysed"))
    assert len(store.find("alpha")) == COUNT
    assert store.find("omega") == []
    time.sleep(0.05)
    store.index().refresh()  # what is too young to prove anything is believed now
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", 0)
    snapshot = store.index().snapshot()
    bullets = snapshot.everything()
    assert snapshot.checks_hits
    assert not any(bullet.stat == stat_file(str(store.root / bullet.path)) for bullet in bullets)
    assert all(snapshot.is_current(bullet, stat_file(str(store.root / bullet.path))) for bullet in bullets)
    os.utime(store.root / bullets[0].path)
    assert not snapshot.is_current(bullets[0], stat_file(str(store.root / bullets[0].path)))


@pytest.mark.parametrize("data", [b"", b"garbage", None])
def test_damaged_or_missing_file_is_empty(store: IndexedStore, data: bytes | None) -> None:
    """It is a cache of a cache."""
    write_branch(store, "alpha")
    store.index().rebuild()
    write_branch(store, "omega")
    store.index().refresh()
    path = kept_file(store)
    os.unlink(path)
    if data is not None:
        with open(path, "wb") as file:
            file.write(data)
    write_branch(store, "alpha")
    assert len(store.find("alpha")) == COUNT


def test_content_at_another_path_or_without_a_date_is_analysed(store: IndexedStore) -> None:
    """What is kept holds for its own path, and the date that git gave a file may be another by now."""
    dates = iter(range(100, 1000))
    place = IndexPlace(str(store.root), str(store.cache))

    def index() -> Index:
        return Index(place, created_of=lambda _path: float(next(dates)))

    def write(word: str) -> None:
        for number in range(COUNT):
            store.path(f"u{number}").write_text(f"{word} {number}\n")

    write("alpha")
    index().rebuild()
    write("omega")
    index().refresh()
    for number in range(COUNT):
        store.path(f"u{number}").rename(store.path(f"v{number}"))
    for number in range(COUNT):
        store.path(f"v{number}").write_text(f"alpha {number}\n")
    found = index().snapshot().everything()
    assert len(found) == len({bullet.path for bullet in found}) == COUNT
    assert min(bullet.created or 0.0 for bullet in found) > 100.0 + COUNT


def test_no_more_than_the_newest_are_kept(store: IndexedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file does not grow with every branch that was ever looked at."""
    monkeypatch.setattr(kept, "MOST", COUNT + 3)
    write_branch(store, "one")
    store.index().rebuild()
    for word in ("two", "three", "four"):
        write_branch(store, word)
        store.index().refresh()
    assert len(manifest.load_value(kept_file(store))[1]) == COUNT + 3


def test_bullets_that_come_back_have_their_vectors(store: IndexedStore, tmp_path: Path) -> None:
    """Vectors that are gone are made anew for the bullets that are alive; of the others nothing is believed."""
    folder = tmp_path / "vectors"

    def index() -> Index:
        place = IndexPlace(str(store.root), str(store.cache))
        return Index(place, Vectors.open(Config().embedding, str(folder)))

    write_branch(store, "harbour")
    index().rebuild()
    write_branch(store, "quay")
    index().refresh()
    shutil.rmtree(folder)
    index().refresh()
    write_branch(store, "harbour")
    index().refresh()
    vectors = index().vectors
    assert vectors is not None
    assert vectors.missing(index().snapshot().everything()) == {}
