"""Questions, indexes and lessons that broke others (faults.md parts D and E), through the installed program."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

QUESTIONS = (
    *("foo:bar", "title:", '"unbalanced', "AND", "a AND", "NOT", "C++", "[", ")", "{}", "-foo", "+", "don't"),
    *("'it", "std::vector", "interface{}", "https://x.y/z", "feat(api): add", "Fix: [ERROR] x", "a/b.py:12"),
    *("`code`", "\\", "/re/", ">=5", "😀:x", "*", "?", "~2", "^3", "--json", "-n", "\x1b[31m", "\u202ex"),
    *("a\udcffb", "a" * 50_000, "𝔘𝔫𝔦", "\ufeff", "ﷺ", "%s%n", "$(x)", "x" * 300 + " crane"),
)
CRANE = "The harbour crane needs calm wind below 12 knots"


def test_any_text_is_a_question(store: Program) -> None:
    """Row 41: no text is a syntax error; a blank one is said to be blank, and a NUL is only a character."""
    store.ok("add", CRANE)
    store.ok("add", "Wrap C++ calls such as `std::vector` in interface{} at a/b.py:12")
    for question in QUESTIONS:
        done = store.run("search", "--json", "--no-recall", "--", question)
        assert done.returncode == 0, (question, done.stderr.decode())
        for hit in json.loads(done.stdout)["hits"]:
            assert math.isfinite(hit["score"])
    for question in ("", "  ", "\t\n"):
        done = store.run("search", question)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"blank" in done.stderr
    assert "std::vector" in store.ok("search", "std::vector")
    dashed = store.run("search", "--no-verify")
    assert dashed.returncode == 2
    assert b"--" in dashed.stderr.splitlines()[-1]


SCRIPTS = (
    ("数据库连接池要设置超时", ("数据库", "连接", "超时")),
    ("しりとりの辞書は小文字で保存する", ("しりとり", "辞書", "保存")),
    ("데이터베이스 연결 풀은 반드시 시간 제한을 설정한다", ("데이터베이스", "연결")),
    ("Das Café braucht größere Tassen für Crème", ("cafe", "CRÈME", "größere")),
    ("Перед выпуском всегда обновляй журнал изменений", ("журнал", "ВЫПУСКОМ")),
    ("MAX_POOL_SIZE_OF_" + "VERY_" * 60 + "LONG must be 50", ("MAX_POOL_SIZE_OF_" + "VERY_" * 60 + "LONG",)),
)


def test_words_of_every_script_are_found_by_words(store: Program) -> None:
    """Row 42: the lexical layers alone find part of a text without spaces, folded letters and long names."""
    ids = [store.json("add", text)["id"] for text, _ in SCRIPTS]
    for name, (_, words) in zip(ids, SCRIPTS, strict=True):
        for word in words:
            hits = {hit["id"]: hit for hit in store.json("search", word, "-n", "9")["hits"]}
            assert hits[name]["l1"] + hits[name]["l2"] > 0, word


def run_together(store: Program, lines: list[list[str]]) -> list[subprocess.CompletedProcess[bytes]]:
    """Run several commands at once."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "memx", *line],
            cwd=store.folder,
            env=store.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for line in lines
    ]
    done = []
    for process in running:
        out, error = process.communicate(timeout=120)
        done.append(subprocess.CompletedProcess(process.args, process.returncode, out, error))
    return done


ANIMALS = ("whale", "otter", "heron", "lynx", "badger", "falcon", "gecko", "tapir", "ibex", "quokka")


def test_parallel_writers_lose_and_double_nothing(store: Program) -> None:
    """Rows 43, 56: twenty at once, the same text ten times and one title on ten texts: eleven bullets, all found."""
    same = [["add", CRANE]] * 10
    texts = [f"Feed the {animal} in enclosure {animal[:2]} at noon, never later" for animal in ANIMALS]
    different = [["add", text, "--title", "Feeding"] for text in texts]
    searches = [["search", "feed noon"]] * 3
    for done in run_together(store, [*same, *different, *searches]):
        assert done.returncode == 0, done.stderr.decode()
    listed = store.json("list")
    assert listed["problems"] == []
    assert sorted(b["text"] for b in listed["bullets"]) == sorted([CRANE, *texts])
    for animal in ANIMALS:
        assert animal in store.json("search", f"feed {animal}")["hits"][0]["text"]


def spoil_truncate(cache: Path) -> None:
    """Cut every file of the index in half."""
    for path in filter(os.path.isfile, map(str, cache.rglob("*"))):
        with open(path, "r+b") as stream:
            stream.truncate(os.path.getsize(path) // 2)


def spoil_noise(cache: Path) -> None:
    """Overwrite every file of the index."""
    for path in cache.rglob("*"):
        if path.is_file():
            path.write_bytes(b"noise" * 50)


def spoil_meta(cache: Path) -> None:
    """Leave tantivy's description of the index of another schema."""
    for path in cache.rglob("meta.json"):
        path.write_text('{"index_settings":{},"segments":[],"schema":[],"opstamp":0}')


def spoil_pointer(cache: Path) -> None:
    """Point to a generation that is not there."""
    (cache / "CURRENT").write_text("gen-99\n")


def spoil_kind(cache: Path) -> None:
    """Put a file where the folder was; the last search's detached refresh may still be writing there."""
    while not cache.is_file():
        shutil.rmtree(cache, ignore_errors=True)
        with contextlib.suppress(IsADirectoryError):
            cache.write_text("no folder")


@pytest.mark.parametrize("spoil", [spoil_truncate, spoil_noise, spoil_meta, spoil_pointer, spoil_kind])
def test_spoilt_index_is_made_anew(store: Program, spoil: object) -> None:
    """Row 45: whatever the cache holds, a search answers from the files, and the vectors are made again."""
    store.ok("add", CRANE)
    store.ok("search", "crane")
    assert callable(spoil)
    spoil(store.folder / ".git/memx/cache")
    if spoil is spoil_noise:
        spoil_noise(store.folder / ".git/memx/vectors")
    assert CRANE in store.ok("search", "crane")
    store.ok("add", "Otters eat before noon")
    assert "Otters" in store.ok("search", "otters")
    assert CRANE in store.ok("list")


SEAL = "mount --bind .git .git && mount -o remount,bind,ro .git"


def test_readonly_git_folder_still_answers(store: Program) -> None:
    """Row 45: where nothing can be written in the git folder, recall works and says nothing false."""
    store.ok("add", CRANE)
    store.git("add", "-A")
    for words in ("search crane", "list", "doctor", "inbox"):
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", f"{SEAL} && exec {sys.executable} -m memx {words}"],
            cwd=store.folder,
            env=store.environ,
            capture_output=True,
            check=False,
            timeout=60,
        )
        if b"unshare" in done.stderr or b"mount:" in done.stderr:
            pytest.skip("no name spaces here")
        assert done.returncode in (0, 1), done.stderr.decode()
        assert b"Traceback" not in done.stderr
        if words in ("search crane", "list"):
            assert (done.returncode, CRANE in done.stdout.decode()) == (0, True), done.stderr.decode()


def test_search_follows_the_files_whatever_git_does(store: Program) -> None:
    """Row 46: checkout, stash and reset are seen at once, without hooks."""
    store.git("config", "core.hooksPath", "/dev/null")
    store.git("switch", "--quiet", "-c", "topic")
    store.ok("add", CRANE)
    store.commit("A crane")

    def found() -> bool:
        return CRANE in store.ok("search", "harbour crane")

    for branch, expected in (("main", False), ("topic", True), ("main", False)):
        store.git("switch", "--quiet", branch)
        assert found() is expected, branch
    store.ok("add", CRANE)
    store.git("stash", "--quiet", "--include-untracked")
    assert not found()
    store.git("stash", "pop", "--quiet")
    assert found()
    store.commit("A crane here")
    store.git("reset", "--quiet", "--hard", "HEAD~1")
    assert not found()
    store.git("cherry-pick", "topic")
    assert found()


def test_texts_without_words_are_stored_and_never_first(store: Program) -> None:
    """Row 48: emoji, an unknown script and a megabyte keep every score finite and rank behind a real hit."""
    texts = ["🚀🚀🚀", "𓀀𓀁𓀂", "!!! ??? ...", "long " + "word " * 200_000]
    for text in texts:
        done = store.run("add", "-", stdin=text)
        assert done.returncode == 0, done.stderr.decode()
    store.ok("add", CRANE)
    for question in ("harbour crane", "🚀", "zzzz", "word"):
        hits = store.json("search", question, "--token-budget", "100000")["hits"]
        assert all(math.isfinite(hit[key]) for hit in hits for key in ("score", "semantic", "blended"))
        if question == "harbour crane":
            assert hits[0]["text"] == CRANE
    assert store.run("add", "-", stdin="   \n").returncode == 1
    assert store.run("add", "").returncode == 1
    assert store.run("add", "-", stdin="x" * 2_000_000).returncode == 1


def test_without_network_everything_answers_at_once(store: Program) -> None:
    """Row 49: with the network cut and no cache, search and hook answer in time and miss nothing."""
    store.ok("add", CRANE)
    cut = (
        ["unshare", "-n"]
        if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0
        else []
    )
    dead = {"HF_ENDPOINT": "http://10.255.255.1", "HTTPS_PROXY": "http://10.255.255.1:9"}
    for words in (["search", "harbour crane", "--json"], ["hooks", "run", "post-commit"], ["demo"]):
        started = time.monotonic()
        done = subprocess.run(
            [*cut, sys.executable, "-m", "memx", *words],
            cwd=store.folder,
            env={**store.environ, **dead},
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr.decode()
        if words[0] != "demo":
            assert time.monotonic() - started < 5
        if words[0] == "search":
            answer = json.loads(done.stdout)
            assert answer["degraded"] == []
            assert answer["hits"][0]["semantic"] > 0


PAIRS = (
    ("The deadline for the audit is 15 October", "The deadline for the audit is 16 October"),
    ("Retry the upload 3 times before giving up", "Retry the upload 5 times before giving up"),
    ("Use rebase for topic branches", "Never use rebase for topic branches"),
    ("The build needs Python 3.10", "The build needs Python 3.11"),
    ("Set `POOL_MIN` to 5 in staging", "Set `POOL_MIN` to 5 in production"),
    ("Deploys go through eu-west-1", "Deploys go through us-east-1"),
)


def test_facts_one_word_apart_are_both_kept(store: Program) -> None:
    """Row 50: date, count, negation, version, environment and region: the second is never dropped."""
    for first, second in PAIRS:
        assert store.json("add", first)["action"] in ("written", "flagged")
        assert store.json("add", second)["action"] in ("written", "flagged"), second
    texts = {bullet["text"] for bullet in store.json("list")["bullets"]}
    assert texts == {text for pair in PAIRS for text in pair}


CLOCKS = (
    *("2026-12-10", "2036-11-30T00:00:00", "9999-12-31T23:59:59Z", "2026-11-30T10:00:00+14:00"),
    *("0001-01-01", "", "~", "null"),
)
UNWRITABLE = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00")


def test_times_of_every_kind_decay_within_bounds(store: Program) -> None:
    """Row 54: the future counts as now, a naive time is UTC, nothing overflows, and no bullet gains by it."""
    folder = store.folder / ".memx/bullets/general"
    folder.mkdir(parents=True, exist_ok=True)
    for number, created in enumerate(CLOCKS):
        line = f"created: {created}\n" if created else ""
        (folder / f"c{number}.md").write_text(
            f"---\nid: c00000000{number}\n{line}---\nWhales number {number}.\n"
        )
    for number, created in enumerate(UNWRITABLE):
        (folder / f"bad{number}.md").write_text(
            f"---\nid: d00000000{number}\ncreated: {created}\n---\nWhales.\n"
        )
    listed = store.json("list")
    assert [(p["path"], p["line"]) for p in listed["problems"]] == [
        (f"bullets/general/bad{number}.md", 3) for number in range(len(UNWRITABLE))
    ]
    for now in ("2026-11-30", "1970-01-01", "9999-12-31"):
        done = store.run("decay", "--json", "--now", now)
        assert done.returncode == 0, done.stderr.decode()
        rows = json.loads(done.stdout)["bullets"]
        assert len(rows) == len(CLOCKS)
        assert all(0 <= row["weight"] <= 1 and row["age_days"] >= 0 for row in rows)
        hits = store.json("search", "whales", "-n", "20", "--now", now)["hits"]
        assert hits
        assert all(0 <= hit["decay"] <= 1 and hit["score"] < 2 for hit in hits)
    assert store.run("list", "--now", "yesterday-ish").returncode in (0, 2)
    assert store.run("decay", "--now", "yesterday-ish").returncode == 2


def test_clone_and_touch_change_no_age(store: Program, tmp_path: Path) -> None:
    """Row 55: weights and order come from the files' content and history, never from the file system's clock."""
    folder = store.folder / ".memx/bullets/general"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hand.md").write_text("A lesson written by hand about whales.\n")
    store.ok("add", "Whales sleep under the ice", "--now", "2024-01-05")
    store.environ.update(
        {"GIT_AUTHOR_DATE": "2024-03-01T00:00:00Z", "GIT_COMMITTER_DATE": "2024-03-01T00:00:00Z"}
    )
    store.commit("Lessons")
    now = ("--now", "2024-06-01")
    before = store.json("decay", *now)["bullets"]
    for path in folder.glob("*.md"):
        os.utime(path, (0, 0))
    assert store.json("decay", *now)["bullets"] == before
    store.git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = type(store)(tmp_path / "clone", store.environ)
    assert clone.json("decay", *now)["bullets"] == before
    ids = [hit["id"] for hit in store.json("search", "whales", "--no-recall", *now)["hits"]]
    assert [hit["id"] for hit in clone.json("search", "whales", *now)["hits"]] == ids
