"""Vectors that are damaged or cannot be kept, as a person meets it."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program


@pytest.fixture
def damaged(store: Program) -> tuple[Program, Path]:
    """A store whose file of keys was overwritten, and that file."""
    store.ok("add", "Redis timeouts under load come from the pool ceiling")
    store.ok("reindex")  # in this process: nothing works behind its back afterwards
    (path,) = (store.folder / ".git" / "memx" / "vectors").rglob("keys-1")
    path.write_bytes(os.urandom(path.stat().st_size))
    return store, path


def lacking(program: Program) -> str:
    """Return what doctor says of the index, nothing when all is well."""
    checks = json.loads(program.run("doctor", "--json").stdout)["checks"]
    return "".join(check["detail"] for check in checks if check["name"] == "index" and not check["ok"])


def test_reindex_embeds_what_lacks_a_vector(damaged: tuple[Program, Path]) -> None:
    """Doctor counts, the hint mends, and the answer says how many texts were embedded."""
    program, _ = damaged
    assert lacking(program) == "1 bullet without a vector of 1 bullet"
    assert program.json("reindex")["embedded"] == 1
    assert (lacking(program), program.json("reindex")["embedded"]) == ("", 0)


def test_search_that_meets_a_gap_has_it_filled(damaged: tuple[Program, Path]) -> None:
    """The answer is whole at once; the work is done behind its back."""
    program, path = damaged
    before = path.stat().st_size
    assert program.json("search", "redis timeouts")["hits"][0]["semantic"] > 0.3
    until = time.monotonic() + 60
    while path.stat().st_size == before and time.monotonic() < until:
        time.sleep(0.2)
    assert path.stat().st_size > before


def test_place_that_cannot_be_written_is_an_error(store: Program) -> None:
    """A file where the folder of vectors should be is named by reindex and doctor."""
    store.ok("add", "Redis timeouts under load come from the pool ceiling")
    place = store.folder / ".git" / "memx" / "vectors"
    for entry in sorted(place.rglob("*"), reverse=True):
        entry.unlink() if entry.is_file() else entry.rmdir()
    place.rmdir()
    place.write_text("x")
    done = store.run("reindex", "--json")
    assert done.returncode == 1
    assert str(place) in json.loads(done.stdout)["error"]["path"]
    assert str(place) in lacking(store)
