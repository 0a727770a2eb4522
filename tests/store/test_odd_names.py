"""Files that their names alone keep from being served are named, not passed over."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.index.freshness import STAT_ALL_LIMIT
from memx.index.index import Index, IndexPlace
from memx.store.lint import lint_store
from tests.store.conftest import OneSecret

if TYPE_CHECKING:
    from pathlib import Path

    from memx.store.store import Store

ODD = ["bullets/general/UPPER.MD", "bullets/general/Mixed.Md", "bullets/tools/.hidden.md"]
PASSED_OVER = ["bullets/general/.n-a.md.123.tmp", "bullets/general/notes.txt", "bullets/general/.swap.md.swp"]


@pytest.mark.parametrize("count", [1, STAT_ALL_LIMIT + 1])
def test_file_with_an_odd_name_is_named_by_every_reader(store: Store, tmp_path: Path, count: int) -> None:
    """Scans, lint and the index, small or large, at each look."""
    names = [f"bullets/general/n-{number}.md" for number in range(count)]
    for name in names[:1]:
        write(store, name)
    index = Index(IndexPlace(store.root, str(tmp_path / "cache")))
    assert index.snapshot().size == 1
    for name in (*names, *ODD, *PASSED_OVER):
        write(store, name)
    for _ in range(2):
        snapshot = index.snapshot()
        assert (snapshot.size, sorted(p.path for p in snapshot.problems)) == (count, sorted(ODD))
    write(store, "bullets/general/another.md")
    assert sorted(problem.path for problem in index.snapshot().problems) == sorted(ODD)
    index.rebuild()
    assert sorted(problem.path for problem in index.snapshot().problems) == sorted(ODD)
    if count == 1:
        assert sorted(problem.path for problem in store.scan()[1]) == sorted(ODD)
        assert {problem.path for problem in lint_store(store, OneSecret())} == set(ODD)
    for name in ODD:
        os.rename(f"{store.root}/{name}", f"{store.root}/{name.lower().replace('/.', '/')}")
    assert index.snapshot().problems == ()


def write(store: Store, name: str) -> None:
    """Write a bullet by hand."""
    path = f"{store.root}/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"---\nid: a{abs(hash(name)) % 10**9:09d}\n---\nThe pool of {name} needs more.\n")
