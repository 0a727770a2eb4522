"""A refreshed index answers as a rebuilt one does, and a refresh does no more than what changed asks for."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memx.app.search import SearchRequest, SearchStore, search
from memx.config import Config
from memx.generator.scopes import Viewer
from memx.index import freshness, manifest, segments, vectors
from memx.index import index as index_module
from memx.index.index import Index, IndexPlace
from memx.index.vectors import Vectors
from memx.store.lock import Lock
from tests.index.conftest import IndexedStore

WORDS = ("alpha", "beta", "gammas", "MAX_POOL_SIZE", "--no-verify", "数据库", "prueba")
NAMES = st.sampled_from(("a", "b", "c", "d"))
FOLDERS = st.sampled_from(("bullets/general", "bullets/tools", "bullets/tools/deep"))
EDITS = st.one_of(
    st.tuples(st.just("write"), NAMES, FOLDERS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)),
    st.tuples(
        st.sampled_from(("remove", "break", "touch", "archive", "append")), NAMES, FOLDERS, st.just(())
    ),
    st.tuples(st.just("look"), NAMES, FOLDERS, st.just(())),
    st.tuples(st.just("switch"), NAMES, FOLDERS, st.just(())),
)


def edit(store: IndexedStore, action: str, name: str, folder: str, words: tuple[str, ...]) -> None:
    """Do one thing to a file, if it is there to be done."""
    path = store.path(name, folder)
    if action == "switch":
        switch(store)
    elif action == "write":
        store.write(f"{name}", " ".join(words), folder, created=1_000_000.0 * len(words), tags=words[:1])
    elif not path.exists():
        return
    elif action == "remove":
        path.unlink()
    elif action == "break":
        path.write_text("---\nid: [\n---\nalpha")
    elif action == "touch":
        os.utime(path, (7, 7))
    elif action == "append":
        with path.open("a") as file:
            file.write("beta in place\n")
    elif action == "archive":
        target = store.path(name, "archive/general")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)


def switch(store: IndexedStore) -> None:
    """Put all files aside and make those anew that were put aside before, as git does."""
    here, there = store.root / "bullets", store.root.parent / "other branch"
    found = {path.relative_to(here): path.read_bytes() for path in here.rglob("*.md")}
    before = {path.relative_to(there): path.read_bytes() for path in there.rglob("*.md")}
    for folder, files in ((here, before), (there, found)):
        shutil.rmtree(folder, ignore_errors=True)
        for name, data in {**files, Path("general/kept.md"): b"alpha\n"}.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def answers(
    store: IndexedStore, cache: str, vectors_folder: str, *, fresh: bool, git_files: tuple[str, ...] = ()
) -> str:
    """Return what searches say, as one text."""
    place = IndexPlace(str(store.root), cache, git_files=git_files)
    index = Index(place, Vectors.open(Config().embedding, vectors_folder))
    said = []
    for query in WORDS:
        asked = SearchRequest(query, max_results=50, archived=True, fresh=fresh)
        stores = [SearchStore(index, str(store.root))]
        answer = search(asked, stores, config=Config(), now=9_000_000.0, viewer=Viewer())
        said.append(answer.document())
    return json.dumps(said, ensure_ascii=False, sort_keys=True, indent=1)


@pytest.mark.parametrize(
    ("limit", "has_git", "few"),
    [(2_000, False, 20), (0, False, 20), (0, True, 20), (2_000, False, 0), (0, True, 0)],
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(EDITS, min_size=2, max_size=9))
def test_refreshed_index_answers_as_a_rebuilt_one(
    tmp_path_factory: pytest.TempPathFactory,
    limit: int,
    has_git: bool,  # noqa: FBT001 (a parameter of the test)
    few: int,
    edits: list[tuple[str, str, str, tuple[str, ...]]],
) -> None:
    """Whatever happens to the files, in whatever steps: the same bytes, below the limit of stats and above.

    With `few` = 0 every bullet that leaves is remembered, as after a switch of branch with many of them.
    """
    folder = tmp_path_factory.mktemp("store")
    store = IndexedStore(folder)
    kept, new, shared = str(folder / "kept"), str(folder / "new"), str(folder / "vectors")
    git_files = (still_git_index(folder),) if has_git else ()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "STAT_ALL_LIMIT", limit)
        patch.setattr(index_module, "FEW", few)
        patch.setattr(segments, "FEW_DEAD", few)
        for action, name, inside, words in edits:
            if action == "look":
                answers(store, kept, shared, fresh=False, git_files=git_files)
            else:
                edit(store, action, name, inside, words)
        assert answers(store, kept, shared, fresh=limit == 0) == answers(store, new, shared, fresh=False)


def still_git_index(folder: Path) -> str:
    """Make what stands for git's index, long enough ago to prove something, and return its path."""
    path = folder / "index"
    path.write_bytes(b"DIRC")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return str(path)


def test_replaced_files_of_a_large_store_are_found_by_their_numbers(
    store: IndexedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While git is still, new, replaced and removed files show in the folder, and no other file is asked for a stat."""
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", 0)
    for name in ("a", "b", "c"):
        store.write(name, f"alpha {name}")
    place = IndexPlace(str(store.root), str(store.cache), git_files=(still_git_index(tmp_path),))
    Index(place).rebuild()
    time.sleep(0.05)
    Index(place).refresh()
    monkeypatch.setattr(freshness, "list_folders", lambda *_: pytest.fail("every file was asked for a stat"))
    store.write("a", "omega a")
    store.write("d", "omega d", "bullets/general/deep.md")
    store.path("b").unlink()
    assert store.find("omega", Index(place)) == ["a", "d"]
    assert store.find("alpha", Index(place)) == ["c"]
    assert Index(place).snapshot().checks_hits


@pytest.mark.parametrize("is_at_work", [True, False])
def test_files_that_git_made_anew_are_found_whatever_their_numbers(
    store: IndexedStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_at_work: bool,  # noqa: FBT001
) -> None:
    """Git may be given the number of a file that it removed: while it works and after, all files are asked."""
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", 0)
    store.write("a", "alpha")
    git_index = still_git_index(tmp_path)
    place = IndexPlace(str(store.root), str(store.cache), git_files=(git_index,))
    Index(place).rebuild()
    monkeypatch.setattr(freshness, "list_numbers", lambda *_: pytest.fail("numbers were believed"))
    time.sleep(0.05)
    Index(place).refresh()
    if is_at_work:
        (tmp_path / "index.lock").touch()
    else:
        os.utime(git_index, (1_700_000_001, 1_700_000_001))
    store.write("a", "omega")
    assert store.find("omega", Index(place)) == ["a"]


def test_refresh_of_named_files_looks_at_nothing_else(
    store: IndexedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook knows what changed: new, edited, broken and removed files come in without a listing of the store."""
    for name in ("a", "b", "c"):
        store.write(name, f"alpha {name}")
    store.index().rebuild()
    store.write("a", "omega a")
    store.write("d", "omega d")
    store.write("e", "not named")
    store.path("b").unlink()
    store.path("c").write_text("---\nid: [\n---\n")
    with monkeypatch.context() as patch:
        patch.setattr(freshness, "list_folders", lambda *_: pytest.fail("the store was listed"))
        named = [f"bullets/general/{name}.md" for name in ("a", "b", "c", "d", "never")]
        snapshot = store.index().snapshot(changed=named)
        assert sorted(b.path for b in snapshot.everything() if " omega " in b.exact) == named[0::3]
        assert [problem.path for problem in snapshot.problems] == ["bullets/general/c.md"]
        assert snapshot.size == 2
        with Lock(str(store.cache / "lock")):
            store.write("d", "omicron d")
            laid = store.index().snapshot(changed=named[:4])
            assert sorted(" omicron " in bullet.exact for bullet in laid.everything()) == [False, True]
        assert store.index().snapshot(changed=named).size == 2
    place = manifest.current_generation(str(store.cache))
    assert place is not None
    assert manifest.load_head(place).file_count == len(manifest.load_stats(place)) == 3
    assert store.find("omega") == ["a"]
    assert store.find("omicron") == ["d"]
    assert store.find("named") == ["e"]


def test_large_store_lists_only_folders_that_moved(
    store: IndexedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above the limit a changed file costs the listing of its folder; a new folder costs that of all."""
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", 0)
    for folder in ("bullets/general", "bullets/tools", "bullets/tools/deep"):
        store.write("a", "alpha", folder)
    store.index().rebuild()
    time.sleep(0.05)
    store.index().refresh()
    listed: list[object] = []
    list_folders = freshness.list_folders

    def spy(root: str, only: object = freshness.FOLDERS) -> dict[str, bytes]:
        listed.append(only)
        return list_folders(root, only)  # type: ignore[arg-type]

    monkeypatch.setattr(freshness, "list_folders", spy)
    store.find("alpha")
    assert listed == []
    store.write("b", "beta", "bullets/tools")
    store.write("c", "beta", "bullets/tools/deep")
    assert store.find("beta") == ["b", "c"]
    assert listed == [("bullets/tools",)]
    store.write("d", "delta", "bullets/new")
    assert store.find("delta") == ["d"]
    assert listed[-1] == freshness.FOLDERS


def test_stamp_of_a_young_folder_proves_nothing(store: IndexedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two changes within one tick of the clock look alike: the second one is seen all the same."""
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", 0)
    store.write("a", "alpha")
    with monkeypatch.context() as patch:
        patch.setattr(freshness, "RACY_NS", 10**12)  # as if the disk had been listed in the very same tick
        store.find("alpha")
    folder = store.path("a").parent
    before = folder.stat()
    store.write("b", "beta")
    os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.find("beta") == ["b"]


def test_vectors_that_nobody_uses_are_dropped(
    store: IndexedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rebuild keeps what it uses, what other work trees use, and the newest of the rest."""
    monkeypatch.setattr(vectors, "SPARE_ROWS", 4)
    monkeypatch.setattr(vectors, "SPARE_SHARE", 1)

    def index(cache: str) -> Index:
        opened = Vectors.open(Config().embedding, str(tmp_path / "vectors"))
        return Index(IndexPlace(str(store.root), str(tmp_path / cache)), opened)

    store.write("a", "alpha of another work tree")
    index("other").rebuild()
    for number in range(12):
        store.write("a", f"the harbour crane number {number} stands still")
        index("cache").refresh()
    assert len(index("cache").vectors.store) == 13  # type: ignore[union-attr]
    index("cache").rebuild()
    left = index("cache").vectors
    assert left is not None
    assert len(left.store) == 4  # that of the other tree, and the newest three of which one is in use
    assert index("cache").snapshot().check_due is False
    assert index("other").snapshot().check_due  # its vectors may be gone
    index("other").refresh()
    assert index("other").snapshot().check_due is False
    store.write("a", "alpha of another work tree")
    known = len(index("cache").vectors.store)  # type: ignore[union-attr]
    index("cache").refresh()
    assert len(index("cache").vectors.store) == known  # type: ignore[union-attr]


def test_edited_hit_of_a_large_store_is_read_anew_alone(
    store: IndexedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit in place shows in no folder; the hit's own stat tells, and only that file is read again."""
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", 0)
    for name in ("a", "b"):
        store.write(name, f"alpha {name}")
    store.index().rebuild()
    time.sleep(0.05)
    store.index().refresh()
    monkeypatch.setattr(freshness, "list_folders", lambda *_: pytest.fail("the store was listed"))
    with store.path("a").open("a") as file:
        file.write("in place\n")
    store_of_search = SearchStore(store.index(), str(store.root))
    answer = search(
        SearchRequest("alpha"), [store_of_search], config=Config(), now=9_000_000.0, viewer=Viewer()
    )
    assert sorted(hit.text for hit in answer.hits) == ["alpha a\nin place", "alpha b"]
