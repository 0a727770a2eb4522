"""Whatever happens to files or cache, a search finds what the files say now."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from memx.index import building, freshness, manifest
from memx.index import index as index_module
from memx.index.index import Index, IndexPlace
from memx.store.lock import Lock
from tests.support.damage import overwrite

if TYPE_CHECKING:
    from pathlib import Path

    from tests.index.conftest import IndexedStore


def generation(store: IndexedStore) -> str:
    """Return the current generation's folder."""
    folder = manifest.current_generation(str(store.cache))
    assert folder is not None
    return folder


def test_new_edited_and_removed_files_are_seen(store: IndexedStore) -> None:
    """Without any hook, the next search knows."""
    store.write("a", "alpha")
    assert store.find("alpha") == ["a"]
    store.write("b", "beta alpha")
    assert store.find("alpha") == ["a", "b"]
    store.write("a", "gamma")
    assert store.find("alpha") == ["b"]
    store.path("b").unlink()
    assert store.find("alpha") == []
    assert store.find("gamma") == ["a"]


def test_in_place_edit_of_the_same_size_and_time_is_seen(store: IndexedStore) -> None:
    """Ctime tells what mtime hides; a file as young as its reading is read again."""
    store.write("a", "alpha")
    before = store.path("a").stat()
    assert store.find("alpha") == ["a"]
    data = store.path("a").read_bytes().replace(b"alpha", b"omega")
    with store.path("a").open("r+b") as file:
        file.write(data)
    os.utime(store.path("a"), ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.find("omega") == ["a"]
    assert store.find("alpha") == []


def test_clock_that_went_backwards_does_not_hide_an_edit(store: IndexedStore) -> None:
    """An mtime in the past or the future is merely another one."""
    store.write("a", "alpha")
    store.find("alpha")
    for moment in (1.0, time.time() + 10 * 365 * 86400):
        store.write("a", f"word{int(moment)}")
        os.utime(store.path("a"), (moment, moment))
        assert store.find(f"word{int(moment)}") == ["a"]


def test_touched_file_is_not_indexed_again(store: IndexedStore) -> None:
    """The content hash decides, so a fresh clone's times cost one reading."""
    store.write("a", "alpha")
    index = store.index()
    index.snapshot()
    os.utime(store.path("a"), (1, 1))
    outcome = index.refresh()
    assert outcome is not None
    assert (outcome.indexed, outcome.removed, outcome.rebuilt) == (0, 0, False)


def test_broken_file_is_reported_and_hides_nothing(store: IndexedStore) -> None:
    """Its old form is gone from the answers, its path and line are named until it is mended."""
    store.write("a", "alpha")
    store.write("b", "alpha")
    assert store.find("alpha") == ["a", "b"]
    store.path("b").write_text("---\nid: [\n---\nalpha")
    for _ in range(2):
        assert store.find("alpha") == ["a"]
        problems = store.index().snapshot().problems
        assert [(p.path, p.line is not None) for p in problems] == [("bullets/general/b.md", True)]
    store.write("b", "alpha")
    assert store.find("alpha") == ["a", "b"]
    assert store.index().snapshot().problems == ()


def test_archive_moves_with_the_file(store: IndexedStore) -> None:
    """A file in the archive folder is archived, and a move is a removal and an addition."""
    store.write("a", "alpha")
    store.find("alpha")
    (store.root / "archive" / "general").mkdir(parents=True)
    shutil.move(store.path("a"), store.path("a", "archive/general"))
    found = store.index().snapshot().everything()
    assert [(b.path, b.archived) for b in found] == [("archive/general/a.md", True)]


def test_symbolic_links_and_temporary_files_are_not_followed(store: IndexedStore, tmp_path: Path) -> None:
    """What Store.paths does not read is not searched either."""
    outside = tmp_path / "secret.md"
    outside.write_text("alpha")
    store.path("link").symlink_to(outside)
    store.path(".memx-tmp-1").write_text("alpha")
    assert store.find("alpha") == []


@pytest.mark.parametrize(
    "damage",
    [
        "current",
        "head",
        "files",
        "digests",
        "meta",
        "store",
        "no-lexical",
        "foreign",
        "empty-head",
        "flipped",
    ],
)
def test_damaged_cache_is_rebuilt(store: IndexedStore, damage: str) -> None:
    """Faults 45: any error on opening an index leads to a rebuild aside and a swap."""
    store.write("a", "alpha")
    store.write("b", "beta")
    store.find("alpha")
    folder = generation(store)
    lexical = os.path.join(folder, "lexical")

    def spoil(path: str) -> None:
        with open(path, "rb") as file:
            data = file.read()
        overwrite(path, data[: max(len(data) // 2, 1)])

    if damage == "current":
        (store.cache / "CURRENT").write_bytes(b"\xff../../etc\n")
    elif damage in ("head", "files", "digests"):
        spoil(os.path.join(folder, damage))
        store.write("b", "beta two")
    elif damage == "meta":
        spoil(os.path.join(lexical, "meta.json"))
    elif damage == "store":
        for name in os.listdir(lexical):
            if name.endswith(".store"):
                spoil(os.path.join(lexical, name))
    elif damage == "no-lexical":
        shutil.rmtree(lexical)
    elif damage == "foreign":
        head = manifest.load_head(folder)
        manifest.save_head(folder, index_module.replace(head, tantivy="0.1"))
    elif damage == "empty-head":
        open(os.path.join(folder, "head"), "wb").close()
    else:
        for name in os.listdir(lexical):
            if name.endswith(".store"):
                path = os.path.join(lexical, name)
                with open(path, "rb") as file:
                    data = bytearray(file.read())
                data[10] ^= 0xFF
                overwrite(path, bytes(data))
    index = store.index()
    try:
        found = store.find("alpha", index)
    except index_module.IndexUnavailableError:
        # Damage that shows only when a bullet is read: the search recovers.
        found = [b.path[-4:-3] for b in index.recover().everything() if " alpha " in b.exact]
    assert found == ["a"]
    assert store.find("alpha") == ["a"]


def test_other_generations_are_removed_after_a_swap(store: IndexedStore) -> None:
    """Rebuilding does not pile up folders."""
    store.write("a", "alpha")
    for _ in range(3):
        store.index().rebuild()
    assert sorted(n for n in os.listdir(store.cache) if n.startswith("gen-")) == ["gen-3"]


def test_old_snapshot_survives_a_rebuild(store: IndexedStore) -> None:
    """Generations are swapped, never replaced in place."""
    store.write("a", "alpha")
    snapshot = store.index().snapshot()
    store.write("b", "beta")
    store.index().rebuild()
    assert [b.path for b in snapshot.everything()] == ["bullets/general/a.md"]


def test_search_does_not_wait_for_a_writer(store: IndexedStore) -> None:
    """With the lock held elsewhere, changed files are laid over the index, removed ones hidden."""
    store.write("a", "alpha")
    store.write("b", "alpha beta")
    store.find("alpha")
    with Lock(str(store.cache / "lock")):
        store.write("c", "alpha gamma")
        store.path("b").unlink()
        store.write("a", "delta")
        index = store.index()
        assert store.find("alpha", index) == ["c"]
        assert store.find("delta", index) == ["a"]
        snapshot = index.snapshot()
        assert snapshot.check_due
        assert (snapshot.size, snapshot.count("exact", "alpha")) == (2, 1)
        assert index.refresh(wait=False) is None
    assert store.find("alpha") == ["c"]
    assert not store.index().snapshot().check_due


def test_search_without_any_cache_reads_the_files(store: IndexedStore) -> None:
    """No folder can be written: the answer is the same."""
    store.write("a", "alpha")
    assert store.find("alpha", store.index(cache="")) == ["a"]
    blocked = store.cache.parent / "file"
    blocked.write_text("")
    assert store.find("alpha", store.index(cache=str(blocked / "cache"))) == ["a"]


def test_many_files_without_a_cache_are_indexed_in_memory(
    store: IndexedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above a limit the memory holds a real index, not a list."""
    monkeypatch.setattr(index_module, "OVERLAY_LIMIT", 2)
    for number in range(4):
        store.write(f"n{number}", f"alpha {number}")
    index = store.index(cache="")
    assert not index.snapshot().is_linear
    assert len(store.find("alpha", index)) == 4


def test_missing_tantivy_is_said_and_answered(store: IndexedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library the files are scanned, and `degraded` names it."""
    monkeypatch.setitem(sys.modules, "tantivy", None)
    monkeypatch.delitem(sys.modules, "memx.index.lexical", raising=False)
    monkeypatch.delattr("memx.index.lexical", raising=False)
    store.write("a", "alpha")
    index = store.index()
    assert store.find("alpha", index) == ["a"]
    assert "tantivy" in index.snapshot().degraded


def test_above_the_limit_a_stamp_spares_the_check(
    store: IndexedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Added and replaced files change the stamp; `fresh` sees the rest, and a due check is said."""
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", 1)
    for name in ("a", "b", "c"):
        store.write(name, f"alpha {name}")
    # A folder that changed within the clock's tick proves nothing and is looked at again.
    for folder in (store.root, *(path for path in store.root.rglob("*") if path.is_dir())):
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    store.index().snapshot()
    monkeypatch.setattr(freshness, "list_folders", lambda *_: pytest.fail("every file was checked"))
    snapshot = store.index().snapshot()
    assert snapshot.checks_hits
    monkeypatch.undo()
    monkeypatch.setattr(index_module, "STAT_ALL_LIMIT", 1)
    monkeypatch.setattr(index_module, "FULL_CHECK_SECONDS", -1.0)
    assert store.index().snapshot().check_due
    with store.path("a").open("r+b") as file:
        file.write(store.path("a").read_bytes().replace(b"alpha", b"omega"))
    assert store.find("omega") == []
    assert [b.path[-4] for b in store.index().snapshot(fresh=True).everything() if " omega " in b.exact] == [
        "a"
    ]
    store.write("d", "omega d")
    assert store.find("omega") == ["a", "d"]


WRITER = """
import sys
from memx.index.index import Index, IndexPlace
index = Index(IndexPlace(sys.argv[1], sys.argv[2]))
print("ready", flush=True)
while True:
    index.rebuild()
"""


def test_killed_writer_leaves_a_usable_index(store: IndexedStore) -> None:
    """Kill -9 at any moment: the next search answers, and the lock is free."""
    for number in range(30):
        store.write(f"n{number}", f"alpha {number}")
    for delay in (0.0, 0.02, 0.05):
        arguments = [sys.executable, "-c", WRITER, str(store.root), str(store.cache)]
        writer = subprocess.Popen(arguments, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert len(store.find("alpha")) == 30


SEARCHER = """
import sys
from memx.index.index import Index, IndexPlace
from memx.index.query import LexicalQuery
for _ in range(15):
    index = Index(IndexPlace(sys.argv[1], sys.argv[2]))
    found = index.snapshot().candidates(LexicalQuery(index.analyser.terms("alpha")), 100)
    assert len(found) >= 20, len(found)
"""


def test_two_processes_search_while_files_change(store: IndexedStore) -> None:
    """Readers and writers of two processes never fail one another, and no answer misses a bullet."""
    for number in range(20):
        store.write(f"n{number}", "alpha")
    arguments = [sys.executable, "-c", SEARCHER, str(store.root), str(store.cache)]
    others = [subprocess.Popen(arguments) for _ in range(2)]
    for number in range(10):
        store.write(f"m{number}", "alpha")
        assert len(store.find("alpha")) == 21 + number
    assert [other.wait(60) for other in others] == [0, 0]


def test_index_writes_nothing_into_the_store(store: IndexedStore) -> None:
    """The cache is elsewhere, so a work tree stays clean."""
    store.write("a", "alpha")
    before = sorted(os.walk(store.root))
    for _ in range(3):
        store.find("alpha")
    assert sorted(os.walk(store.root)) == before


def test_created_of_dates_what_has_no_date(store: IndexedStore) -> None:
    """A file written by hand is dated by the caller."""
    store.path("a").write_text("alpha by hand\n")
    index = Index(IndexPlace(str(store.root), str(store.cache)), created_of=lambda _path: 42.0)
    assert [b.created for b in index.snapshot().everything()] == [42.0]


HOT = """
import sys
from memx.app.search import SearchRequest, SearchStore, search
from memx.config import Config
from memx.generator.scopes import Viewer
from memx.index.index import Index, IndexPlace
from memx.index.vectors import Vectors
vectors = Vectors.open(Config().embedding, sys.argv[3])
index = Index(IndexPlace(sys.argv[1], sys.argv[2]), vectors)
answer = search(SearchRequest("alpha"), [SearchStore(index, sys.argv[1])], config=Config(), now=0.0, viewer=Viewer())
print(len(answer.hits), *sorted(sys.modules))
"""


def test_search_loads_no_heavy_module(store: IndexedStore, tmp_path: Path) -> None:
    """The hot path has an allow-list: tantivy, simsimd and mmap, and nothing dear of the standard library."""
    store.write("a", "alpha")
    for _ in range(2):
        arguments = [sys.executable, "-c", HOT, str(store.root), str(store.cache), str(tmp_path / "vectors")]
        time.sleep(0.05)
        done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    hits, *modules = done.stdout.split()
    forbidden = {
        "typing",
        "dataclasses",
        "json",
        "subprocess",
        "pathlib",
        "numpy",
        "re",
        "logging",
        "model2vec",
    }
    assert hits == "1"
    assert not forbidden & set(modules)
    assert {"tantivy", "simsimd"} <= set(modules)


def test_refresh_of_one_file_writes_no_table_of_all(store: IndexedStore) -> None:
    """What changed is appended to a log; the tables stay as the rebuild wrote them, until the log is long."""
    for number in range(60):
        store.write(f"a{number}", "alpha")
    store.index().rebuild()
    folder = generation(store)
    before = (os.stat(f"{folder}/files").st_mtime_ns, os.stat(f"{folder}/digests").st_mtime_ns)
    time.sleep(0.05)
    store.index().refresh()  # all of them had been read while they were young
    store.write("a1", "beta")
    store.path("a2").unlink()
    store.index().refresh()
    store.index().refresh()
    assert store.find("beta") == ["a1"]
    assert len(store.find("alpha")) == 58
    assert os.path.getsize(f"{folder}/log") > 0
    assert manifest.load_stats(folder).keys() == manifest.load_digests(folder).keys()
    assert "bullets/general/a2.md" not in manifest.load_stats(folder)
    assert before[0] <= os.stat(f"{folder}/files").st_mtime_ns


def test_log_that_a_kill_tore_is_cut_and_continued(store: IndexedStore) -> None:
    """The files named in the torn part are read again; what is appended later is not lost behind it."""
    store.write("a", "alpha")
    store.write("b", "beta")
    store.index().rebuild()
    folder = generation(store)
    entry: manifest.Entry = ((1, 2, 3, 4), b"digest")
    assert manifest.append_log(folder, {"bullets/general/a.md": entry}, 10)
    with open(f"{folder}/log", "ab") as file:
        file.write(b"\x00\x01\x02\x03\xff\x00\x00\x00half")
    assert manifest.load_stats(folder)["bullets/general/a.md"] == entry[0]
    assert manifest.append_log(folder, {"bullets/general/b.md": (None, None)}, 10)
    assert manifest.load_stats(folder).keys() == {"bullets/general/a.md"}
    assert store.find("beta") == ["b"]
    assert not manifest.append_log(folder, {"bullets/general/b.md": entry}, 2)


def test_rebuild_in_processes_is_the_same(store: IndexedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store indexed in parts holds the same bullets, dates and problems as one that is indexed alone."""
    monkeypatch.setattr(building, "SPREAD_ABOVE", 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for number in range(5):
        store.write(f"a{number}", f"alpha {number}", created=1.0)
    store.path("bad").write_text("---\nid: [\n---\n")
    store.path("undated").write_text("alpha by hand\n")
    place = IndexPlace(str(store.root), str(store.cache))
    alone = Index(place, created_of=lambda _path: 5.0)
    alone.rebuild()
    expected = sorted(alone.snapshot().everything(), key=lambda bullet: bullet.path)
    calls = []

    def spread(function, batches, *more):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN202
        calls.append(len(batches))
        return [function(batch, *more) for batch in batches]

    together = Index(place, created_of=lambda _path: 5.0, spread=spread)
    outcome = together.rebuild()
    assert calls == [2]
    assert outcome is not None
    assert outcome.indexed == 6
    assert [problem.path for problem in outcome.problems] == ["bullets/general/bad.md"]
    found = sorted(together.snapshot().everything(), key=lambda bullet: bullet.path)
    assert found == expected
    assert {bullet.created for bullet in found} == {1.0, 5.0}
    store.write("a0", "omega")
    assert store.find("omega") == ["a0"]
    assert len(store.find("alpha")) == 5


@pytest.mark.parametrize("error", [OSError, RuntimeError])
def test_rebuild_goes_on_alone_when_no_process_can_be_started(
    store: IndexedStore, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """A machine that is out of processes still gets its index."""
    monkeypatch.setattr(building, "SPREAD_ABOVE", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    store.write("a", "alpha")

    def spread(*_values: object) -> list[object]:
        raise error("no more processes")

    index = Index(IndexPlace(str(store.root), str(store.cache)), spread=spread)
    index.rebuild()
    assert store.find("alpha", index) == ["a"]
