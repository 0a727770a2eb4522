"""A hit whose file was changed in place is read again by the search that found it, however large the store is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.index.freshness import STAT_ALL_LIMIT
from tests.support.mcp_process import McpProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.conftest import Program

OLD, NEW = "zqoldword", "zqnewword"
FILES = STAT_ALL_LIMIT + 1


def text_of(number: int, word: str = OLD) -> str:
    """Return the file of a bullet, pinned and thus in every context."""
    return (
        f"---\nid: a{number:09d}\nsection: general\ntype: pitfall\nscore: 60\nscope: project\npinned: true\n"
        f"created: 2026-10-01T00:00:00Z\nsource: hand\n---\nThe pool needs {word}{number} under load.\n"
    )


@pytest.fixture
def large(store: Program) -> Program:
    """An indexed store of one file more than are all stat-ed by each search."""
    folder = store.folder / ".memx" / "bullets" / "general"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        content = text_of(number)
        path = folder / name_of(number)
        path.write_text(content if number < len(EDITS) else content.replace("pinned: true\n", ""))
        os.utime(path, (1_700_000_000, 1_700_000_000))
    store.git("add", "-A")
    store.git("commit", "-qm", "Many bullets")
    store.ok("reindex")
    return store


def name_of(number: int) -> str:
    """Return the file name of a bullet."""
    return f"n-a{number:09d}.md"


def rewrite(path: Path, content: str) -> None:
    """Write a file in place, so that its folder does not change."""
    with path.open("r+") as stream:
        stream.write(content)
        stream.truncate()


def keep_time(path: Path, content: str) -> None:
    """Write a file in place and give it back its time."""
    before = path.stat()
    rewrite(path, content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def recreate(path: Path, content: str) -> None:
    """Remove a file and make it anew."""
    path.unlink()
    path.write_text(content)


EDITS: dict[str, Callable[[Path, int], None]] = {
    "same-size": lambda path, n: rewrite(path, text_of(n, NEW)),
    "longer": lambda path, n: rewrite(path, text_of(n, NEW + "andmore")),
    "mtime-kept": lambda path, n: keep_time(path, text_of(n, NEW)),
    "recreated": lambda path, n: recreate(path, text_of(n, NEW)),
    "deleted": lambda path, _: path.unlink(),
    "broken": lambda path, n: rewrite(path, text_of(n).replace("type:", "id: twice\ntype:")),
    "emptied": lambda path, _: rewrite(path, ""),
}


def search(program: Program, query: str) -> list[str]:
    """Return the texts that a search finds."""
    return [hit["text"] for hit in program.json("search", "--no-recall", query)["hits"]]


def context(program: Program, query: str) -> list[str]:
    """Return the block of a context for a question."""
    return [program.ok("context", query)]


def unasked(program: Program, _: str) -> list[str]:
    """Return the block of a context without a question."""
    return [program.ok("context", "-n", "60", "--token-budget", "100000")]


def over_mcp(program: Program, query: str) -> list[str]:
    """Return what the tool of an agent finds."""
    with McpProcess(program.folder, program.environ) as server:
        return [server.ok("search", query=query)]


@pytest.mark.parametrize("ask", [search, context, unasked, over_mcp])
def test_hit_changed_in_place_is_never_served_with_old_text(
    large: Program, ask: Callable[[Program, str], list[str]]
) -> None:
    """After each kind of change, by each way to ask, nobody sees what a file said before."""
    folder = large.folder / ".memx" / "bullets" / "general"
    for number, (kind, edit) in enumerate(EDITS.items()):
        path = folder / name_of(number)
        word = f"{OLD}{number} "
        assert any(word in text for text in ask(large, f"{OLD}{number}")), (kind, "not found at first")
        edit(path, number)
        assert not any(word in text for text in ask(large, f"{OLD}{number}")), kind
        if path.exists() and NEW in path.read_text():
            assert any(NEW in text for text in ask(large, path.read_text().partition("needs ")[2])), kind
    problems = large.json("search", "--no-recall", "zqnothing")["problems"]
    broken = name_of(list(EDITS).index("broken"))
    assert any(problem["path"].endswith(broken) for problem in problems)
