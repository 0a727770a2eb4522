"""What every search promises, whatever the store: the same bytes, no writes, no waiting, factors that multiply out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import memx
from memx.store.lock import Lock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

NOW = "2026-11-30"
LESSONS = (
    "Redis timeouts under load come from the pool ceiling: MAX_POOL_SIZE 10 is too small",
    "Run pytest -n auto to use every core",
    "数据库连接池要设置超时",
    "El café de la oficina cierra a las seis",
)


@pytest.fixture
def filled(store: Program) -> Program:
    """A store of four lessons in three languages, indexed."""
    for text in LESSONS:
        store.ok("add", text)
    store.commit("Add lessons")
    store.ok("search", "pool")
    return store


def tree_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file of a work tree with its time and content, without git's own folder."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


@pytest.mark.parametrize("form", ["json", "text", "markdown", "xml"])
def test_search_same_store_query_and_time_gives_same_bytes(filled: Program, form: str) -> None:
    """Three processes with other seeds of Python's hashes print the same."""
    command = ("search", "redis pool 超时", "--format", form, "--explain", "--no-recall", "--now", NOW)
    printed = {filled.run(*command, environ={"PYTHONHASHSEED": seed}).stdout for seed in ("0", "1", "77")}
    assert len(printed) == 1
    assert b"MAX_POOL_SIZE" in printed.pop()


def test_search_leaves_the_work_tree_as_it_is(filled: Program) -> None:
    """Neither a file nor its time changes, and git sees nothing, though the recall is counted."""
    before = tree_of(filled.folder)
    for query in ("redis", "café", "数据库", "nothing of the kind"):
        filled.ok("search", query)
    assert tree_of(filled.folder) == before
    assert filled.git("status", "--porcelain") == ""


def test_search_does_not_wait_for_a_writer(filled: Program) -> None:
    """Every lock that memx takes is held by somebody else, and a changed file is found at once."""
    common = filled.folder / ".git" / "memx"
    (filled.folder / ".memx" / "bullets" / "general").mkdir(parents=True, exist_ok=True)
    (filled.folder / ".memx" / "bullets" / "general" / "byhand.md").write_text(
        "---\nid: byhand0000\n---\nThe heron waits at the weir\n", encoding="utf-8"
    )
    paths = {path for path in common.rglob("*lock*") if path.is_file() and path.name != ".tantivy-meta.lock"}
    locks = [Lock(str(path)) for path in sorted({*paths, common / "cache.lock"})]
    held = [lock for lock in locks if lock.try_acquire()]
    try:
        started = time.monotonic()
        found = filled.json("search", "heron weir")
        waited = time.monotonic() - started
    finally:
        for lock in held:
            lock.release()
    assert held
    assert [hit["id"] for hit in found["hits"][:1]] == ["byhand0000"]
    assert waited < 25, "the default patience of a lock is 30 seconds"


def test_folded_word_is_nearly_exact(filled: Program) -> None:
    """Without its accent a word finds its bullet first, and far ahead of what has only a similar meaning."""
    first, *others = filled.json("search", "cafe")["hits"]
    assert first["text"] == LESSONS[3]
    assert 6 < first["l1"] < 15  # nine tenths of what a single word earns that is not the whole query
    assert all(first["score"] > 1.5 * other["score"] for other in others)


def test_explained_factors_multiply_out_to_the_printed_final(filled: Program) -> None:
    """Whoever multiplies the printed table gets what is printed last, within its last digit."""
    printed = filled.ok("search", "redis pool size", "--explain", "--now", NOW)
    tables = re.findall(r"L1 exact words.*?\n *final +[\d.e-]+", printed, flags=re.DOTALL)
    assert tables
    for table in tables:
        rows = (re.match(r" *(\w+).*?  +([\d.e-]+)(?:  |$)", line) for line in table.splitlines())
        value = {row[1]: row[2] for row in rows if row}
        number = {name: float(text) for name, text in value.items()}
        assert number["keyword"] == pytest.approx((number["L1"] + number["L2"] + number["L3"]) / 35, abs=6e-4)
        blended = number["keyword"] * 0.6 + number["L4"] * 0.4
        assert number["blended"] == pytest.approx(blended, abs=1.1e-3)
        final = number["blended"] * number["decay"] * number["recency"] * number["scope"]
        assert number["final"] == pytest.approx(final, abs=1.5e-3)


def test_explained_document_multiplies_out_exactly(filled: Program) -> None:
    """The JSON holds every factor unrounded."""
    for hit in filled.json("search", "redis pool size", "--explain")["hits"]:
        assert hit["keyword"] == pytest.approx((hit["l1"] + hit["l2"] + hit["l3"]) / 35, rel=1e-9)
        assert hit["blended"] == pytest.approx(0.6 * hit["keyword"] + 0.4 * hit["semantic"], rel=1e-9)
        final = hit["blended"] * hit["decay"] * hit["recency_boost"] * hit["scope_boost"]
        assert hit["score"] == pytest.approx(final, rel=1e-9)


BREAKERS = {
    "l1": "import memx.generator.exact as m; m.ExactMatcher.score = fail",
    "l2": "import memx.generator.fuzzy as m; m.FuzzyMatcher.score = fail",
    "l3": "import memx.generator.metadata as m; m.MetadataMatcher.score = fail",
    "l4": "import memx.generator.vector as m; m.VectorSearcher.prepare = m.VectorSearcher.score = fail",
    "index": "import sys; sys.modules['tantivy'] = None",
}


@pytest.mark.parametrize("broken", [*((name,) for name in BREAKERS), tuple(BREAKERS)], ids="-".join)
def test_broken_layer_is_named_and_the_search_goes_on(
    filled: Program, tmp_path: Path, broken: tuple[str, ...]
) -> None:
    """One layer, tantivy, or all at once: exit 0, each is named, and what is left answers."""
    lines = [
        "def fail(*values):",
        "    raise RuntimeError('out of order')",
        *(BREAKERS[name] for name in broken),
    ]
    (tmp_path / "sitecustomize.py").write_text("\n".join(lines), encoding="utf-8")
    path = os.pathsep.join((str(tmp_path), os.path.dirname(os.path.dirname(memx.__file__))))
    done = filled.run("search", "redis pool ceiling", "--json", environ={"PYTHONPATH": path})
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    named = " ".join(found["degraded"])
    assert all(name in named or (name == "index" and "tantivy" in named) for name in broken), named
    if len(broken) == 1:
        assert found["hits"][0]["text"] == LESSONS[0]


SEAL = "mount --bind .git .git && mount -o remount,bind,ro .git"


def test_switched_branch_is_all_that_a_search_without_writing_sees(filled: Program) -> None:
    """After the hook has run, words and meaning find the branch's bullets only, and nothing is embedded anew."""
    filled.git("switch", "--quiet", "-c", "topic")
    filled.ok("add", "Kafka consumers lag behind when their offsets are committed too late")
    filled.commit("A lesson of the topic")
    filled.ok("search", "kafka")
    rows = row_bytes(filled)
    seen = {"main": False, "topic": True}
    for branch in ("main", "topic", "main", "topic"):
        filled.git("switch", "--quiet", branch)
        wait_for_refresh(filled)
        for query, layer in (("kafka offsets", "l1"), ("broker consumers fall behind", "semantic")):
            hits = sealed_search(filled, query)
            found = [hit for hit in hits if hit["text"].startswith("Kafka") and hit[layer] > 0]
            assert bool(found) is seen[branch], (branch, layer)
    assert row_bytes(filled) == rows


def row_bytes(program: Program) -> int:
    """Return the size of all vector files."""
    return sum(path.stat().st_size for path in (program.folder / ".git").rglob("rows-*"))


def wait_for_refresh(program: Program) -> None:
    """Let what the hook has started come to its end."""
    program.ok("hooks", "run", "post-checkout", "HEAD", "HEAD", "1")
    time.sleep(0.2)


def sealed_search(program: Program, query: str) -> list[dict[str, object]]:
    """Return the hits of a search that cannot write into git's folder."""
    done = subprocess.run(
        [
            "unshare",
            "-m",
            "sh",
            "-c",
            f'{SEAL} && exec "$0" -m memx search "$1" --json',
            sys.executable,
            query,
        ],
        cwd=program.folder,
        env=program.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    if b"unshare" in done.stderr or b"mount:" in done.stderr:
        pytest.skip("no name spaces here")
    assert done.returncode == 0, done.stderr.decode()
    hits: list[dict[str, object]] = json.loads(done.stdout)["hits"]
    return hits
