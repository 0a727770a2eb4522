"""Whatever becomes of the files of a cache, a search answers as before or names what is missing; it never fails."""

from __future__ import annotations

import os
import random
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from memx.app.project import Project
from memx.app.recall import recall
from memx.app.search import SearchRequest
from tests.support.damage import overwrite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memx.app.search import SearchAnswer
    from tests.e2e.conftest import Program

TEXTS = 12
NOW = 1_790_000_000.0


@pytest.fixture
def small(store: Program) -> Program:
    """A store with an index that has a log and a dead bullet, vectors, marks, a journal and an inbox."""
    folder = store.folder / ".memx" / "bullets" / "general"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(TEXTS):
        words = f"The pool of worker {number} needs zqword{number} under load."
        anchor = "anchors:\n  - code.py\n" if number == 1 else ""
        (folder / f"n-a{number:09d}.md").write_text(
            f"---\nid: a{number:09d}\nsection: general\ntype: pitfall\nscore: 60\nscope: project\n{anchor}"
            f"created: 2026-08-01T00:00:00Z\nsource: hand\n---\n{words}\n"
        )
    (store.folder / "code.py").write_text("x = 1\n")
    store.commit("Add bullets")
    store.ok("reindex")
    store.ok("verify")  # else each search has it done behind it
    for word in ("one", "two"):
        with (folder / "n-a000000002.md").open("a") as stream:
            stream.write(f"And {word}.\n")
        store.ok("search", "--no-recall", "zqword2")
    store.ok("search", "zqword5")
    return store


def ask(program: Program) -> SearchAnswer:
    """Search in this process, without anything behind its back."""
    return recall(Project(str(program.folder), os.environ, NOW), SearchRequest("zqword3"), is_counted=False)


def flip(path: Path) -> None:
    """Turn five bits around."""
    data = bytearray(path.read_bytes())
    chance = random.Random(path.name)  # noqa: S311 (no secret)
    for _ in range(5 if data else 0):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    overwrite(path, bytes(data))


def restore(whole: Path, state: Path) -> None:
    """Put back what was there, although a process behind an earlier command may still be writing."""
    for _ in range(50):
        try:
            shutil.rmtree(state)
            break
        except OSError:
            time.sleep(0.1)
    shutil.copytree(whole, state, dirs_exist_ok=True)


def make_folder(path: Path) -> None:
    """Put a folder with something in it where the file was."""
    path.unlink()
    (path / "x").mkdir(parents=True)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "removed": lambda path: path.unlink(),
    "emptied": lambda path: overwrite(path, b""),
    "halved": lambda path: overwrite(path, path.read_bytes()[: path.stat().st_size // 2]),
    "zeros-appended": lambda path: overwrite(path, path.read_bytes() + bytes(100)),
    "garbage": lambda path: overwrite(path, b"\x9e\x03garbage" * (1 + path.stat().st_size // 9)),
    "bits-flipped": flip,
    "folder": make_folder,
}

UNSEEN = {("bits-flipped", "rows"), ("bits-flipped", "tokens"), ("garbage", "tokens")}
"""What no reader can know of, in a file of vectors without checksums: scores may be others then. So they are
without the journal, which is no cache: the recalls that it counted are gone."""


def is_seen(damage: str, file: Path) -> bool:
    """Return whether a reader can know of it; tantivy compares no checksum of its files when it opens them."""
    is_lexical_flip = damage == "bits-flipped" and "lexical" in file.parts
    return (
        not is_lexical_flip and (damage, file.name.partition("-")[0]) not in UNSEEN and file.name != "journal"
    )


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_file_of_the_state_is_absent(small: Program, damage: str, tmp_path: Path) -> None:
    """For each file of the cache and of git's common folder: the same hits, or the answer says what it lacks."""
    state, whole = small.folder / ".git" / "memx", tmp_path / "whole"
    expected = [(hit.id, round(hit.score, 6)) for hit in ask(small).hits]
    assert expected[0][0] == "a000000003"
    shutil.copytree(state, whole)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    assert {"log", "drifted", "journal", "CURRENT"} <= {path.name for path in files}
    for file in files:
        restore(whole, state)
        DAMAGES[damage](state / file)
        for attempt in ("first", "second"):
            answer = ask(small)
            found = [(hit.id, round(hit.score, 6)) for hit in answer.hits]
            if is_seen(damage, file):
                assert found == expected or answer.degraded, (str(file), attempt)
            if (damage, "lexical" in file.parts) != ("bits-flipped", True):
                assert "a000000003" in [name for name, _ in found], (str(file), attempt)


@pytest.mark.parametrize("name", ["rows-1", "keys-1", "norms-1", "tokens-1", "manifest"])
def test_folder_in_place_of_vectors_is_replaced(small: Program, name: str) -> None:
    """Searches answer, and a rebuild brings back what was lost."""
    expected = ask(small).hits
    (vectors,) = (small.folder / ".git" / "memx" / "vectors").iterdir()
    make_folder(vectors / name)
    assert "a000000003" in small.ok("search", "--no-recall", "zqword3")
    small.ok("reindex")
    small.ok("reindex", "--rebuild")
    answer = ask(small)
    assert ([hit.score for hit in answer.hits], answer.degraded) == ([hit.score for hit in expected], ())
    assert not [path for path in vectors.iterdir() if path.is_dir()]
