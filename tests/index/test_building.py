"""A whole index in parts: who reads which file, and the tables that the parts are joined to."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.index import building, freshness, manifest
from memx.index.bulk import digest_of, read_listed
from memx.index.index import Index, IndexPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.index.conftest import IndexedStore

FOLDERS = ("bullets/a", "bullets/a-b", "bullets/a/b", "archive/a")
folders = st.dictionaries(st.sampled_from(FOLDERS), st.lists(st.text("a-/0z", min_size=1), unique=True))


@given(folders, st.integers(1, 5))
def test_shares_are_slices_of_the_sorted_paths(listed: dict[str, list[str]], count: int) -> None:
    """Whatever the folders are called: equal stores give equal answers on any number of cores."""
    listed = {folder: [name.replace("/", "_") for name in names] for folder, names in listed.items()}
    listed = {folder: list(dict.fromkeys(names)) for folder, names in listed.items()}
    shares = building._shares("part", listed, count)
    paths = [sorted(f"{f}/{name}" for f, names in share.files.items() for name in names) for share in shares]
    everything = sorted(f"{folder}/{name}" for folder, names in listed.items() for name in names)
    assert [path for part in paths for path in part] == everything
    assert len(shares) <= count
    assert max(map(len, paths)) - min(map(len, paths[:-1]), default=0) <= max(map(len, paths))
    for share in shares:
        for folder, names in share.files.items():
            assert names == [name for name in listed[folder] if name in names]


def test_tables_are_those_of_the_folders(store: IndexedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that two processes have read is as it is listed: the next check takes nothing apart."""
    monkeypatch.setattr(building, "SPREAD_ABOVE", 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    for number in range(11):
        store.write(f"x{7 * number % 11}", f"alpha {number}")
    store.write("y", "beta", folder="bullets/general/below")
    store.write("z", "gamma", folder="archive/tools")
    store.path("bad").write_text("---\nid: [\n---\n")
    time.sleep(0.05)  # until the files are old enough to be believed
    place = IndexPlace(str(store.root), str(store.cache))
    index = Index(
        place, spread=lambda function, batches, *more: [function(batch, *more) for batch in batches]
    )
    outcome = index.rebuild()
    assert outcome is not None
    assert outcome.indexed == 13
    generation = manifest.current_generation(str(store.cache))
    assert generation is not None
    tables = manifest.Tables(generation)
    listed = freshness.list_folders(str(store.root))
    assert tables.folders() == set(listed)
    assert all(tables.is_as_listed(folder, listing) for folder, listing in listed.items())
    assert manifest.load_digests(generation) == {
        f"{folder}/{name}": digest_of((store.root / folder / name).read_bytes())
        for folder, listing in listed.items()
        for name in freshness.read_listing(listing)
    }
    assert manifest.load_head(generation).file_count == 14


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_what_took_the_place_of_a_listed_file_is_not_read(tmp_path: Path) -> None:
    """A link would lead elsewhere, and a pipe would be waited for."""
    (tmp_path / "file").write_bytes(b"alpha")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert [read_listed(str(tmp_path), name) for name in ("link", "folder", "pipe", "gone")] == [None] * 4
    assert read_listed(str(tmp_path), "file") == (freshness.stat_file(str(tmp_path / "file")), b"alpha")
