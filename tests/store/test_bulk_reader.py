"""The reader of many files says what the codec says, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memx.errors import FrontMatterError
from memx.model import Bullet
from memx.store.bulk_reader import read_canonical
from memx.store.codec import format_bullet, parse_bullet
from tests.store.test_codec import CANONICAL, bullets

PATH = "bullets/tools/x.md"
LINES = (
    "id: k3v9q2m7xa",
    "id: null",
    "id: ../x",
    'title: "a: b"',
    "title: a: b",
    "title: a #b",
    "title: a#b:c",
    "title: ~",
    "title: NULL",
    "title: ends:",
    "title: blank ",
    'title: "a\\nb"',
    'title: ""',
    "title: 'x'",
    "section: debugging",
    "section: Debugging",
    "section: nowhere",
    "type: trick",
    "score: 82",
    "score: 082",
    "score: 101",
    "score: ٣",
    "scope: workspace:a",
    "recall_count: 6",
    "recall_count: 0123456789",
    "pinned: true",
    "pinned: no",
    "half_life_days: 30",
    "half_life_days: 0",
    "half_life_days: 1.2.3",
    "tags:\n  - redis\n  - null",
    "tags:\n  - redis\n  - a b",
    'tags:\n  - "a"',
    "tags:",
    "tags: redis",
    "tags:\n- redis",
    "created: 2026-11-30T09:12:00Z",
    "created: 2026-13-30T09:12:00Z",
    "created: 2026-11-30",
    "updated: 0000-11-30T09:12:00Z",
    "source: commit 4f2c1e9",
    "source: https://example.org/a#b",
    "source: two\ttabs",
    "source: x\u200by",
    "other: x",
    "...",
    "---",
    "",
)


def expect_the_same(data: bytes) -> bool:
    """Return whether the reader of many files reads this one; then the codec must read the same."""
    fields = read_canonical(data, PATH)
    if fields is None:
        return False
    try:
        bullet = parse_bullet(data, path=PATH)
    except FrontMatterError as error:
        pytest.fail(f"{data!r} is refused: {error}")
    assert Bullet(**fields) == bullet, data
    return True


@given(bullets)
@settings(max_examples=200, deadline=None)
def test_canonical_files_are_read_as_the_codec_reads_them(bullet: Bullet) -> None:
    """Whatever `format_bullet` writes."""
    expect_the_same(format_bullet(bullet))


def test_documented_example_is_read() -> None:
    """A reader that always gave up would pass every other test."""
    assert expect_the_same(CANONICAL)


@given(
    st.lists(st.sampled_from(LINES), max_size=6),
    st.sampled_from(["Text.\n", "", "\r\n", "<<<<<<< a\n", "a\r"]),
)
@example(["id: k3v9q2m7xa"], "Text.\n")
@settings(max_examples=500, deadline=None)
def test_lines_of_any_kind_are_read_alike_or_left(lines: list[str], body: str) -> None:
    """Odd values, odd orders, other keys, early fences."""
    expect_the_same("\n".join(("---", "id: k3v9q2m7xa", *lines, "---", body)).encode())
    expect_the_same("\n".join(("---", *lines, "---", body)).encode())


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_bytes_put_anywhere_are_read_alike_or_left(data: st.DataObject) -> None:
    """One insertion or one cut in the documented example."""
    at = data.draw(st.integers(0, len(CANONICAL)))
    until = data.draw(st.integers(at, min(len(CANONICAL), at + 4)))
    new = data.draw(
        st.sampled_from([b"", b" ", b":", b"#", b"\n", b'"', b"-", b"\0", b"\xff", b"\r\n", "é".encode()])
    )
    expect_the_same(CANONICAL[:at] + new + CANONICAL[until:])


def test_long_hostile_line_takes_no_time() -> None:
    """Colons, marks and blanks by the ten thousand, in a value and in a list."""
    for sign in (b":", b" #", b": ", b'"', b"a ", b" "):
        many = sign * 30_000
        expect_the_same(b"---\nid: x\ntitle: a" + many + b"\n---\nText.\n")
        expect_the_same(b"---\nid: x\ntags:\n" + b"  - a\n" * 5_000 + b"  - a" + many + b"\n---\nText.\n")
