"""Counts on their way into front matter: once each, and only in a change that somebody asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memx.errors import GitError
from tests.recall.conftest import Clone, make_second

if TYPE_CHECKING:
    from pathlib import Path


def test_effective_count_is_the_same_everywhere(clone: Clone) -> None:
    """search, list, show, why and decay count the file and the journal; the work tree stays clean."""
    name = clone.add()
    clone.commit()
    clone.recall(3)
    assert clone.git("status", "--porcelain") == ""
    hit = clone.json("search", "redis pool", "--no-recall")["hits"][0]
    found = [
        hit["recall_count"],
        clone.json("list")["bullets"][0]["recall_count"],
        clone.json("show", name)["bullet"]["recall_count"],
        clone.json("why", name)["recall_count"],
        clone.count(name),
    ]
    assert found == [3] * 5
    clone.ok("fold")
    assert clone.count(name) == clone.file_count(name) == 3


def test_fold_changes_two_lines_and_a_second_fold_none(clone: Clone) -> None:
    """The count and the day of the last recall; a fold is idempotent."""
    name = clone.add()
    clone.commit()
    clone.recall(2)
    assert clone.json("fold")["folded"] == [{"id": name, "recall_count": 2}]
    changed = [
        line for line in clone.git("diff", "-U0").split("\n") if line[:1] in "+-" and line[1:2] != line[:1]
    ]
    assert [line for line in changed if line] == [
        "-recall_count: 0",
        "+recall_count: 2",
        "+last_recalled: 2026-03-02T12:00:00Z",
    ]
    assert clone.json("fold")["folded"] == []


@pytest.mark.parametrize(
    "command",
    [
        ("mv", "{id}", "tools"),
        ("wrong", "{id}", "--because", "it is 100 now"),
        (
            "add",
            "Redis timeouts under load come from the pool ceiling: set MAX_POOL_SIZE to 50",
            "--tag",
            "extra",
        ),
    ],
    ids=["mv", "wrong", "add"],
)
def test_command_that_rewrites_a_bullet_folds_it(clone: Clone, command: tuple[str, ...]) -> None:
    """The pending count goes along in the same write; afterwards a fold has nothing left."""
    name = clone.add()
    clone.recall(2)
    clone.ok(*(word.format(id=name) for word in command))
    assert clone.file_count(name) == 2
    assert clone.json("fold")["folded"] == []


def test_edit_folds_and_fmt_of_a_canonical_file_does_not(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rewrite that changes nothing is none: the work tree stays clean."""
    name = clone.add()
    clone.commit()
    clone.recall(2)
    clone.ok("fmt")
    assert clone.git("status", "--porcelain") == ""
    monkeypatch.setenv("GIT_EDITOR", "sed -i s/50/60/")
    clone.ok("edit", name)
    text = clone.file(name).read_text(encoding="utf-8")
    assert "to 60" in text
    assert clone.file_count(name) == 2


def test_branch_without_the_fold_loses_nothing(clone: Clone) -> None:
    """The journal keeps the highest folded value, whatever is checked out."""
    name = clone.add()
    clone.commit()
    clone.recall(3)
    clone.git("switch", "--quiet", "-c", "folded")
    clone.ok("fold")
    clone.commit("Fold")
    clone.git("switch", "--quiet", "main")
    assert (clone.file_count(name), clone.count(name)) == (0, 3)
    clone.recall(1, first_day=10)
    assert clone.count(name) == 4
    clone.ok("fold")
    assert clone.count(name) == 4
    clone.commit("Fold here")
    clone.git("merge", "--quiet", "--no-edit", "folded")
    assert clone.file_count(name) == clone.count(name) == 4


def test_fold_of_a_branch_that_is_gone_is_caught_up(clone: Clone) -> None:
    """--catch-up writes what only the journal still knows."""
    name = clone.add()
    clone.commit()
    clone.recall(3)
    clone.ok("fold")
    clone.git("checkout", "--quiet", "--", ".")
    assert (clone.file_count(name), clone.count(name)) == (0, 3)
    assert clone.json("fold")["folded"] == []
    clone.ok("fold", "--catch-up")
    assert clone.file_count(name) == clone.count(name) == 3


def test_staged_fold_goes_into_the_index_alone_where_nothing_else_would(clone: Clone) -> None:
    """--staged folds the staged bullets and stages them, but never stages another change of theirs."""
    one, other = clone.add(), clone.add("Use pnpm here because npm breaks the lockfile")
    clone.git("add", "--all")
    third = clone.add("Deploys need VPN: connect before make deploy")
    for query in ("redis pool", "pnpm lockfile", "deploys VPN"):
        clone.recall(1, query)
    file = clone.file(other)
    file.write_text(file.read_text(encoding="utf-8") + "More.\n", encoding="utf-8")
    folded = {entry["id"] for entry in clone.json("fold", "--staged")["folded"]}
    assert folded == {one, other}
    assert "has other changes" in clone.err
    staged = clone.git("diff", "--cached")
    assert staged.count("+recall_count: 1") == 1
    assert "More." not in staged
    assert clone.file_count(third) == 0


def test_two_clones_fold_with_the_driver(clone: Clone, tmp_path: Path) -> None:
    """The merge driver adds what each clone folded."""
    name = clone.add()
    clone.commit()
    second = make_second(clone, tmp_path / "two")
    for here, times in ((clone, 2), (second, 3)):
        here.recall(times)
        here.ok("fold")
        here.commit("Fold")
    second.git("pull", "--quiet", "--no-rebase", "--no-edit")
    assert second.file_count(name) == 5
    assert second.git("status", "--porcelain") == ""


def test_two_clones_fold_without_the_driver(clone: Clone, tmp_path: Path) -> None:
    """Plain git reports a conflict in the lines of the counts alone, and `memx resolve` mends it."""
    name = clone.add()
    clone.commit()
    second = make_second(clone, tmp_path / "two", driver=False)
    for here, times in ((clone, 2), (second, 3)):
        here.recall(times)
        here.ok("fold")
        here.commit("Fold")
    second.git("fetch", "--quiet")
    with pytest.raises(GitError):
        second.git("merge", "--no-edit", "origin/main")
    text = second.file(name).read_text(encoding="utf-8")
    inside = text.partition("<<<<<<<")[2].partition("=======")[0].split("\n")[1:-1]
    assert [line.partition(":")[0] for line in inside] == ["recall_count", "last_recalled"]
    second.ok("resolve")
    assert second.file_count(name) == 5
    assert "<<<<<<<" not in second.file(name).read_text(encoding="utf-8")


def test_fold_never_raises_for_a_file_that_is_broken(clone: Clone) -> None:
    """One bad file neither stops the others nor loses its own count."""
    name = clone.add()
    other = clone.add("Use pnpm here because npm breaks the lockfile")
    clone.recall(2)
    clone.recall(1, "pnpm lockfile")
    file = clone.file(name)
    whole = file.read_bytes()
    file.write_bytes(b"---\nid: [\n" + whole)
    assert [entry["id"] for entry in clone.json("fold")["folded"]] == [other]
    file.write_bytes(whole)
    assert clone.json("fold")["folded"] == [{"id": name, "recall_count": 2}]
