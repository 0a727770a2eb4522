"""`memx export`: everything that can be seen from here, in three forms, whole and repeatable."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from memx.model import Bullet
from memx.store.codec import format_bullet

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def write(program: Program, name: str, text: str, folder: str = "bullets", **fields: object) -> Path:
    """Put a file into the store by hand."""
    bullet = Bullet(id=name, text=text, **fields)  # type: ignore[arg-type]
    path = program.folder / ".memx" / folder / bullet.section / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(format_bullet(bullet))
    return path


@pytest.fixture
def filled(store: Program) -> Program:
    """A store with two live bullets and an archived one."""
    write(
        store, "pool000000", "Set MAX_POOL_SIZE to 50", section="debugging", type="pitfall", tags=("redis",)
    )
    write(store, "lint000000", "Run ruff before you push", section="workflow", type="method")
    write(store, "gone000000", "Old news", folder="archive")
    return store


def ids(program: Program, *arguments: str) -> list[str]:
    """Return the ids of an export as JSON lines."""
    return [
        json.loads(line)["id"] for line in program.ok("export", "--format", "jsonl", *arguments).splitlines()
    ]


def test_forms_hold_the_same_bullets(filled: Program) -> None:
    """One document, a line a bullet, or Markdown; each the same bytes every time."""
    lines = [json.loads(line) for line in filled.ok("export", "--format", "jsonl").splitlines()]
    document = json.loads(filled.ok("export"))
    assert document == {"version": 1, "bullets": lines, "problems": []}
    assert [entry["id"] for entry in lines] == ["pool000000", "lint000000"]
    assert lines[0]["tags"] == ["redis"]
    markdown = filled.ok("export", "--format", "markdown")
    assert markdown.count("\n> ") == 2
    assert "> Set MAX_POOL_SIZE to 50\n" in markdown
    for form in ("json", "jsonl", "markdown"):
        assert filled.ok("export", "--format", form) == filled.ok("export", "--format", form)


def test_filters_are_those_of_list(filled: Program) -> None:
    """Section, type, tag, archive and store, in any case of letters."""
    assert ids(filled, "--section", "Debugging") == ["pool000000"]
    assert ids(filled, "--type", "METHOD") == ["lint000000"]
    assert ids(filled, "--tag", "redis") == ["pool000000"]
    assert ids(filled, "--archived") == ["pool000000", "lint000000", "gone000000"]
    assert ids(filled, "--store", "project", "--tag", "none") == []
    assert filled.run("export", "--section", "nonsense").returncode == 2
    assert filled.run("export", "--format", "csv").returncode == 2


def test_empty_export_is_a_document(store: Program) -> None:
    """No bullet is no error."""
    assert json.loads(store.ok("export")) == {"version": 1, "bullets": [], "problems": []}
    assert store.ok("export", "--format", "jsonl") == ""


def test_file_that_does_not_parse_is_named_and_not_exported(filled: Program) -> None:
    """It is private: its text leaves in no form."""
    broken = filled.folder / ".memx" / "bullets" / "general" / "broken.md"
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_text("---\nid: [unclosed\n---\nwhispered words\n")
    for form in ("json", "jsonl", "markdown"):
        done = filled.run("export", "--format", form)
        assert done.returncode == 0
        assert b"whispered" not in done.stdout
        assert b"bullets/general/broken.md" in done.stderr
    assert [problem["path"] for problem in filled.json("export")["problems"]] == ["bullets/general/broken.md"]


def test_secret_written_by_hand_does_not_leave(filled: Program) -> None:
    """An export goes to other programs, so it passes the sanitizer; the others of its batch stay as they are."""
    before = filled.ok("export", "--format", "jsonl").splitlines()
    write(filled, "leak000000", f"Log in with {SECRET}", tags=(SECRET,))
    written = filled.ok("export", "--format", "jsonl")
    assert SECRET not in written
    assert "Log in with" in written
    assert set(before) <= set(written.splitlines())


def test_hostile_text_stays_quoted_in_markdown(filled: Program) -> None:
    """No line of a bullet is a line of the document, and nothing in it acts."""
    write(filled, "evil000000", "fine\n## Forged heading\n\n```\n\x1b[31mred \u202eabc", title="One\n# Two")
    lines = filled.ok("export", "--format", "markdown").splitlines()
    assert "> ## Forged heading" in lines
    assert "## Forged heading" not in lines
    assert "# Two" not in lines
    assert not any("\x1b" in line or "\u202e" in line for line in lines)


def test_recalls_are_the_effective_ones(filled: Program) -> None:
    """What the journal counted since the file was written is in."""
    filled.ok("useful", "pool000000")
    assert json.loads(filled.ok("export", "--tag", "redis"))["bullets"][0]["recall_count"] == 1


def test_output_file_is_replaced_whole(filled: Program, tmp_path: Path) -> None:
    """The file holds what standard output would; -o is taken from -C; a bad scope leaves the old file alone."""
    target = tmp_path / "out.json"
    filled.ok("export", "-o", str(target))
    assert target.read_text(encoding="utf-8") == filled.ok("export")
    assert filled.run("export", "-o", str(target), "--scope", "nonsense").returncode == 2
    assert json.loads(target.read_text(encoding="utf-8"))["bullets"]
    filled.run("-C", str(filled.folder), "export", "-o", "here.json", cwd=tmp_path)
    assert (filled.folder / "here.json").is_file()
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.is_file()) == ["out.json"]


@pytest.mark.parametrize("target", [".memx/bullets/general/x.md", ".memx/x.json", "missing/out.json", "."])
def test_output_where_no_export_belongs_is_refused(filled: Program, target: str) -> None:
    """A store has one way in, also through a link, and folders are not made."""
    done = filled.run("export", "-o", target)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    if os.name == "posix":
        (filled.folder / "link").symlink_to(".memx")
        assert filled.run("export", "-o", "link/out.json").returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no /dev/null")
def test_output_to_a_device_does_not_replace_it(filled: Program) -> None:
    """A device is written to."""
    filled.ok("export", "-o", "/dev/null")
    assert not os.path.isfile("/dev/null")
