"""Many texts a process: an answer a line, and what cannot be answered says where it stands."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from memx.app.judge_corpus import compare_lines, distil_lines
from memx.app.project import Project

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.git_repo import GitRepo

LESSON = "TypeError: x is undefined. Turns out you need a type assertion, because the API returns unknown."


@pytest.fixture
def project(git_repo: GitRepo) -> Project:
    """Return a project without a store."""
    return Project(str(git_repo.path), dict(os.environ), 1_796_000_000.0)


def write(folder: Path, *lines: str) -> str:
    """Write the lines to a file and return its path."""
    path = folder / "corpus.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def answers(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return what was printed, parsed."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_text_is_answered_in_order(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A commit, a session and an empty text are answered, and the run is a success."""
    session = json.dumps([{"role": "user", "content": LESSON}])
    lines = [
        json.dumps({"id": 1, "text": LESSON}),
        json.dumps({"id": 2, "kind": "session", "text": session}),
        json.dumps({"id": 3, "text": ""}),
        json.dumps({"id": 4, "kind": "session", "text": " "}),
    ]
    assert distil_lines(project, write(tmp_path, *lines)) == 0
    found = answers(capsys)
    assert [answer["id"] for answer in found] == [1, 2, 3, 4]
    assert [bool(answer["candidates"]) for answer in found] == [True, True, False, False]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id":2}', "no text"),
        ('{"id":2,"text":null}', "no text"),
        ('{"id":2,"text":7}', "text is not a text"),
        ('{"id":2,"kind":"diary","text":"x"}', "there is no kind 'diary'"),
        ('{"id":2,"kind":"session","format":"nonesuch","text":"x"}', "nonesuch"),
        ('{"id":2,"kind":"session","text":"{}"}', ""),
    ],
)
def test_unanswerable_line_gets_an_error_with_its_place(
    line: str, message: str, project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the line as an editor counts it, the others are answered, and the exit code tells."""
    path = write(
        tmp_path, json.dumps({"id": 1, "text": LESSON}), "", line, json.dumps({"id": 3, "text": "x"})
    )
    assert distil_lines(project, path) == 1
    first, second, third = answers(capsys)
    assert first["candidates"]
    assert (second["id"], "candidates" in second) == (2, False)
    assert message in second["error"]["message"]
    assert (second["error"]["path"], second["error"]["line"]) == (path, 3)
    assert third == {"id": 3, "candidates": []}


@pytest.mark.parametrize("line", ["[1]", "nonsense", "7", '"text"', "[" * 100_000, "\x00", '{"id":'])
def test_line_without_an_object_gets_an_error(
    line: str, project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is no object is answered without an id."""
    path = write(tmp_path, line, json.dumps({"id": 3, "text": "x"}))
    assert distil_lines(project, path) == 1
    first, second = answers(capsys)
    assert list(first) == ["error"]
    assert first["error"]["message"].startswith("not a JSON object")
    assert first["error"]["line"] == 1
    assert second["id"] == 3


def test_pair_without_a_side_gets_an_error(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a pair has no verdict."""
    assert compare_lines(project, write(tmp_path, '{"id":1,"a":"Use pnpm here."}')) == 1
    assert answers(capsys)[0]["error"]["message"] == "no b"
