"""Bullet files of every wrong and odd shape (faults.md part A and row 33), through every command that reads them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess

    from tests.e2e.conftest import Program

GOOD_TEXT = "The harbour crane needs calm wind below 12 knots"
ID = "a123456789"


def fields(*lines: str, body: str = "Words of a broken bullet.\n") -> bytes:
    """Return a file with an id and these lines of front matter."""
    return "\n".join(("---", f"id: {ID}", *lines, "---", body)).encode()


BROKEN: dict[str, tuple[bytes, int]] = {
    # Row 2: values that escape a library as ValueError or OverflowError.
    "impossible-date": (fields("created: 2024-02-30"), 3),
    "zero-date": (fields("created: 0000-00-00"), 3),
    "hexadecimal-torso": (fields("score: 0x_"), 3),
    "huge-score": (fields("score: " + "9" * 5000), 3),
    "huge-count": (fields("recall_count: " + "9" * 5000), 3),
    "negative-count": (fields("recall_count: -1"), 3),
    "fractional-score": (fields("score: 3.5"), 3),
    "infinite-half-life": (fields("half_life_days: .inf"), 3),
    "timestamp-tag": (fields("created: !!timestamp zzz"), 3),
    # Row 3: keys that are not text.
    "list-as-key": (fields("? [a, b]", ": c"), 3),
    # Row 4: encodings.
    "utf-16": (fields().decode().encode("utf-16-le"), 1),
    "utf-16-with-mark": (fields().decode().encode("utf-16"), 1),
    "latin-1": (fields(body="Caf\xe9.\n").decode().encode("latin-1"), 4),
    "binary": (bytes(range(256)), 1),
    "nul": (fields(body="A NUL \0 here.\n"), 1),
    # Row 6: fences.
    "never-closed": (b"---\nid: a123456789\nWords.\n", 1),
    "four-dashes": (b"---\nid: a123456789\n----\nWords.\n", 1),
    "lone-fence": (b"---\n", 1),
    # Row 8: what a person types and YAML refuses.
    "backtick": (fields("title: `C:\\x`"), 3),
    "emphasis": (fields("title: *Italic*"), 3),
    "wiki-link": (fields("tags:", "- [[a]]b"), 4),
    "colon": (fields("title: fix: retry"), 3),
    "per-cent": (fields("title: %done"), 3),
    "tab": (fields("\ttitle: x"), 3),
    "open-quote": (fields('title: "abc'), 4),
    "bad-escape": (fields('title: "a\\qb"'), 3),
    "list-for-mapping": (b"---\n- a\n- b\n---\nWords.\n", 2),
    "text-for-mapping": (b"---\njust text\n---\nWords.\n", 2),
    "second-document": (b"---\nid: a123456789\n--- x\n---\nWords.\n", 3),
    # Row 9: two values for one key.
    "duplicate-key": (fields("type: trick", "section: tools", "type: pitfall"), 5),
    # Row 13: bombs.
    "alias": (fields("x: &a [1, 1]", "y: *a"), 4),
    "alias-bomb": (
        fields(
            "a: &a [x,x,x,x,x,x,x]",
            *(f"{b}: &{b} [{','.join(['*' + a] * 9)}]" for a, b in zip("abcdefg", "bcdefgh", strict=True)),
        ),
        4,
    ),
    "deep-nesting": (fields("x: " + "[" * 3000 + "]" * 3000), 3),
    # Row 14: lists of another shape.
    "tags-as-mapping": (fields("tags: {a: 1}"), 3),
    "tags-nested": (fields("tags: [[a], b]"), 3),
    "title-as-list": (fields("title: [a]"), 3),
    "flag-of-another-word": (fields("pinned: maybe"), 3),
    "scope-of-another-form": (fields("scope: galaxy"), 3),
    # Row 33: markers of git.
    "marker-in-field": (fields("tags:", "<<<<<<< ours", "- a", "=======", "- b", ">>>>>>> theirs"), 4),
    "marker-in-body": (fields(body="Words.\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"), 5),
    # Row 60: an id that is a path.
    "id-leads-out": (b"---\nid: ../../x\n---\nWords.\n", 2),
    "id-with-slash": (b"---\nid: a/b\n---\nWords.\n", 2),
    "id-of-control": (b'---\nid: "\\0"\n---\nWords.\n', 2),
    # Row 67: half a character.
    "lone-surrogate": (fields('title: "\\ud83d"'), 3),
    # Nothing to serve.
    "empty": (b"", 1),
    "blank-body": (fields(body="\n\n"), 4),
}
"""Each broken shape with the line that must be named."""


def write_all(store: Program, files: dict[str, bytes], folder: str = "general") -> Path:
    """Write bullet files by hand and return their folder."""
    target = store.folder / ".memx/bullets" / folder
    target.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (target / f"{name}.md").write_bytes(data)
    return target


def said(done: CompletedProcess[bytes]) -> str:
    """Return all that a command said, after checking that it ended as a command may."""
    text = (done.stdout + done.stderr).decode()
    assert done.returncode in (0, 1, 2), (done.args, text)
    assert "Traceback" not in text, (done.args, text)
    return text


@pytest.fixture
def broken(store: Program) -> Program:
    """Return a store with one good bullet among all the broken ones."""
    store.ok("add", GOOD_TEXT)
    write_all(store, {name: data for name, (data, _) in BROKEN.items()})
    return store


@pytest.mark.parametrize(
    ("words", "code", "serves"),
    [
        (["list"], 0, True),
        (["search", "harbour crane wind"], 0, True),
        (["lint"], 1, False),
        (["doctor"], 1, False),
        (["fmt", "--check"], 1, False),
        (["decay"], 0, True),
        (["reindex"], 0, False),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_broken_files_are_named_by_every_reader_and_hide_no_other(
    broken: Program, words: list[str], code: int, *, serves: bool
) -> None:
    """Rows 2, 4-6, 8, 9, 13, 14, 33: path and line of all of them, and the good one is served."""
    done = broken.run(*words)
    text = said(done)
    assert done.returncode == code, text
    missing = [
        f"{name}.md:{line}" for name, (_, line) in BROKEN.items() if f"general/{name}.md:{line}" not in text
    ]
    assert missing == []
    if serves:
        assert GOOD_TEXT in done.stdout.decode()
    assert b"broken bullet" not in done.stdout


def test_broken_files_are_problems_in_every_json_document(broken: Program) -> None:
    """Rows 8, 33: programs find path and line of each too, and one document only."""
    expected = {(f"bullets/general/{name}.md", line) for name, (_, line) in BROKEN.items()}
    for words in (["list"], ["search", "harbour crane"], ["lint"]):
        document = json.loads(broken.run(*words, "--json").stdout)
        found = {(problem["path"], problem["line"]) for problem in document["problems"]}
        assert expected <= found, words
        assert all(problem["message"] for problem in document["problems"])


def test_broken_file_is_refused_by_every_command_that_names_it(broken: Program) -> None:
    """Rows 2-14: show, edit, mv and fmt say what is wrong where, and leave the bytes alone."""
    folder = broken.folder / ".memx/bullets/general"
    chosen = ["impossible-date", "latin-1", "never-closed", "colon", "duplicate-key", "alias-bomb"]
    chosen += ["tags-nested", "marker-in-field", "id-leads-out", "empty"]
    for name in chosen:
        _, line = BROKEN[name]
        path = f".memx/bullets/general/{name}.md"
        for words in (["show", path], ["mv", path, "tools"], ["edit", path]):
            done = broken.run(*words, environ={"EDITOR": "true"})
            assert done.returncode == 1, (words, said(done))
            assert f"general/{name}.md:{line}" in said(done), words
    done = broken.run("fmt", *(f".memx/bullets/general/{name}.md" for name in BROKEN))
    assert done.returncode == 1
    assert all(f"general/{name}.md:{line}" in said(done) for name, (_, line) in BROKEN.items())
    assert {p.stem: p.read_bytes() for p in folder.glob("*.md") if p.stem in BROKEN} == {
        name: data for name, (data, _) in BROKEN.items()
    }


def test_broken_files_do_not_stop_adding_and_reviewing(broken: Program) -> None:
    """Row 8: new lessons go in beside them, by hand, from a commit and from the inbox."""
    broken.git("config", "core.hooksPath", "/dev/null")
    assert "written" in broken.ok("add", "Always end a ZPL job with ^XZ and a newline, or it is dropped")
    broken.commit(
        "Share it\n\nGotcha: SECRET_KEY must be the same on every replica, or cookies are rejected."
    )
    broken.ok("distill", "--commit", "HEAD")
    assert "written" in broken.ok("review", "--all")
    assert len(broken.json("list")["bullets"]) == 3


def test_lint_of_chosen_files_names_those_alone(broken: Program) -> None:
    """`lint FILE` and `fmt FILE` answer for what they were given."""
    done = broken.run("lint", ".memx/bullets/general/colon.md")
    assert done.returncode == 1
    assert "colon.md:3" in said(done)
    assert "alias-bomb" not in said(done)
    outside = broken.run("lint", "../elsewhere.md")
    assert outside.returncode == 1
    assert "elsewhere.md" in said(outside)


def test_findings_of_lint_are_data_with_paths_to_open(broken: Program) -> None:
    """A finding a line on standard output, its path from the working folder, whichever folder that is."""
    (broken.folder / "deep").mkdir()
    done = broken.run("lint", "-C", "deep", "../.memx/bullets/general/colon.md")
    assert done.stderr == b""
    (line,) = done.stdout.decode().splitlines()
    assert line.startswith("../.memx/bullets/general/colon.md:3: ")


def test_conflict_without_driver_names_file_and_line_everywhere(store: Program) -> None:
    """Row 33: a committed conflict is reported, its name (which holds the id) with it, and `resolve`-able."""
    store.ok("add", GOOD_TEXT, "--tag", "crane")
    path = next((store.folder / ".memx/bullets").rglob("*.md"))
    store.commit("One bullet")
    store.git("config", "--remove-section", "merge.memx")
    for branch, tag in (("topic", "alpha"), ("main", "beta")):
        store.git("switch", "--quiet", *(["-c"] if branch == "topic" else []), branch)
        path.write_text(path.read_text().replace("  - crane\n", f"  - {tag}\n  - crane\n"))
        store.git("commit", "--quiet", "--no-verify", "-a", "-m", branch)
    with pytest.raises(AssertionError):
        store.git("merge", "--quiet", "--no-edit", "topic")
    line = path.read_text().splitlines().index("<<<<<<< HEAD") + 1
    for words in (["list"], ["search", "crane"], ["lint"], ["doctor"]):
        assert f"{path.name}:{line}" in said(store.run(*words)), words
    store.git("add", "-A")
    with pytest.raises(AssertionError, match="conflict marker"):
        store.git("commit", "--quiet", "--no-edit")


ODD_BODY = (
    "---\nHello\n---\nrest\n\n| a | b |\n|---|---|\n\n***\n\n    indented code\n\n```\n---\n```\n...\n\n\n"
)
ODD: dict[str, tuple[bytes, dict[str, object]]] = {
    # Row 1, 14: scalars stay as they were typed.
    "typed": (
        fields("title: 10:00", "tags: [no, on, 0123, 1_000, 2024-01-05, 3.10, true, null]"),
        {"title": "10:00", "tags": ["no", "on", "0123", "1_000", "2024-01-05", "3.10", "true", "null"]},
    ),
    "comma-tags": (fields("tags: a, b"), {"tags": ["a", "b"]}),
    "no-tags": (fields("tags:"), {"tags": []}),
    # Row 3: keys that a library takes for arguments.
    "odd-keys": (
        fields("1: one", "true: x", "content: c", "handler: h", "self: s", "metadata: m", "title: T"),
        {"title": "T"},
    ),
    # Row 4: a byte order mark, and Windows line ends.
    "mark": (b"\xef\xbb\xbf" + fields("title: T"), {"title": "T"}),
    "mark-crlf": (b"\xef\xbb\xbf" + fields("title: T").replace(b"\n", b"\r\n"), {"title": "T"}),
    "crlf": (fields("title: T").replace(b"\n", b"\r\n"), {"title": "T"}),
    # Row 6: the other end of a YAML document.
    "dots": (b"---\ntitle: T\n...\nWords.\n", {"title": "T", "text": "Words."}),
    # Row 7: rules and fences in the body.
    "rules": (fields("title: T", body=ODD_BODY), {"text": ODD_BODY[:-1]}),
    "body-alone": (b"Only a lesson.\n\n---\nwith a rule\n", {"text": "Only a lesson.\n\n---\nwith a rule"}),
    "title-of-dashes": (fields('title: "--- a ---"'), {"title": "--- a ---"}),
    # Row 12: comments, flow lists, foreign keys.
    "comments": (
        fields("# why", "zeta: {b: 1, a: 2}  # ours", "title: 'quoted'", "tags: [b, a]"),
        {"title": "quoted"},
    ),
}


def test_odd_but_valid_files_are_served_alike_by_every_reader(store: Program) -> None:
    """Rows 1, 3-7, 12, 14: list, show and search agree, and lint has nothing to say."""
    files = {
        name: data.replace(ID.encode(), f"b{n:09}".encode())
        for n, (name, (data, _)) in enumerate(ODD.items())
    }
    folder = write_all(store, files)
    listed = {os.path.basename(b["path"])[:-3]: b for b in store.json("list")["bullets"]}
    assert listed.keys() == ODD.keys()
    for name, (_, expected) in ODD.items():
        shown = store.json("show", f".memx/bullets/general/{name}.md")["bullet"]
        assert {**shown, "superseded": False} == listed[name]
        assert {key: shown[key] for key in expected} == expected, name
    done = store.run("lint")
    assert (done.returncode, done.stderr) == (0, b"")
    hits = store.json("search", "words broken bullet lesson Hello rest", "-n", "50")["hits"]
    texts = {os.path.basename(hit["path"])[:-3]: hit["text"] for hit in hits}
    assert all(listed[name]["text"] == text for name, text in texts.items())
    assert {"typed", "mark-crlf", "rules", "body-alone"} <= texts.keys()
    assert {p.stem: p.read_bytes() for p in folder.glob("*.md")} == files


def test_edit_of_one_field_changes_one_line(store: Program) -> None:
    """Rows 1, 12: moving a bullet to another section touches that line of the file alone."""
    text = (
        "---\nid: b000000001\n# a comment\nzeta: {b: 1, a: 2}  # ours\nsection: general\ntitle: 'quoted'\n"
        "tags: [no, 0123]\ncreated: 2024-01-05T10:00:00+02:00\n---\n\n    indented\n\nWords.\n\n\n"
    )
    folder = write_all(store, {"hand-b000000001": text.encode()})
    store.ok("mv", "b000000001", "tools")
    assert not (folder / "hand-b000000001.md").exists()
    moved = folder.parent / "tools/hand-b000000001.md"
    assert moved.read_text() == text.replace("section: general", "section: tools")


def test_editor_that_breaks_the_file_loses_nothing(store: Program, tmp_path: Path) -> None:
    """Row 8: what was typed is kept and named with its line; the bullet stays as it was."""
    name = store.json("add", GOOD_TEXT)["id"]
    path = next((store.folder / ".memx/bullets").rglob("*.md"))
    before = path.read_bytes()
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/^type: .*/title: fix: retry/' \"$1\"\n")
    editor.chmod(0o755)
    done = store.run("edit", name, environ={"EDITOR": str(editor)})
    assert done.returncode == 1
    assert ":4" in said(done)
    kept = said(done).partition("kept in ")[2].strip()
    with open(kept, encoding="utf-8") as stream:
        assert "fix: retry" in stream.read()
    assert path.read_bytes() == before


def test_file_where_a_folder_belongs_is_an_expected_failure(memx: Program) -> None:
    """`init` and `add` say what is in the way, and an editor that cannot be read or started is named."""
    (memx.folder / ".memx").write_text("no folder")
    done = memx.run("init")
    assert done.returncode == 1
    assert b".memx" in done.stderr
    (memx.folder / ".memx").unlink()
    (memx.folder / ".memx").mkdir()
    (memx.folder / ".memx/bullets").write_text("no folder")
    for words in (["init"], ["add", GOOD_TEXT]):
        done = memx.run(*words)
        assert done.returncode == 1, said(done)
        assert b"bullets" in done.stderr
    (memx.folder / ".memx/bullets").unlink()
    name = memx.json("add", GOOD_TEXT)["id"]
    for editor in ('"unbalanced', "/nonexistent/editor", "false"):
        done = memx.run("edit", name, environ={"EDITOR": editor})
        assert done.returncode == 1, said(done)


def test_what_is_no_plain_file_is_named_and_never_opened(store: Program) -> None:
    """A named pipe, links, undecodable and forging names: reported, nothing hangs, the good one is served."""
    store.ok("add", GOOD_TEXT)
    folder = write_all(store, {})
    os.mkfifo(folder / "pipe.md")
    (folder / "folder.md").mkdir()
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "loop.md").symlink_to("loop.md")
    with open(os.fsencode(folder) + b"/\xff\xfe.md", "wb") as stream:
        stream.write(b"Undecodable words.\n")
    (folder / "two\nlines.md").write_text("Forged words.\n")
    for words in (
        ["list"],
        ["lint"],
        ["doctor"],
        ["search", "harbour crane"],
        ["reindex"],
        ["fmt", "--check"],
    ):
        done = store.run(*words)
        text = said(done)
        if words[0] in ("list", "lint", "doctor"):
            for name in ("pipe.md", "link.md", "loop.md", "not UTF-8", "control character"):
                assert name in text, (words, name)
        if words[0] in ("list", "search"):
            assert GOOD_TEXT in done.stdout.decode()
        assert "\nlines.md" not in text, words
        assert "Undecodable" not in text
    assert said(store.run("show", ".memx/bullets/general/pipe.md"))
    assert len(store.json("list")["problems"]) == 5
