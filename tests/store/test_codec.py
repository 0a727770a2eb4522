"""A bullet file's bytes to a Bullet and back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import FrontMatterError, StoreError
from memx.model import SECTIONS, TYPES, Bullet
from memx.store.codec import edit_bullet, format_bullet, parse_bullet
from memx.store.naming import bullet_id

CANONICAL = b"""---
id: k3v9q2m7xa
section: debugging
type: pitfall
score: 82
scope: project
recall_count: 6
tags:
  - redis
tools:
  - redis-cli
entities:
  - MAX_POOL_SIZE
anchors:
  - src/cache/pool.py
created: 2026-11-30T09:12:00Z
updated: 2026-11-30T09:12:00Z
source: commit 4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff
---
Redis timeouts under load come from the pool ceiling.
"""

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
sets = st.lists(words, max_size=3).map(lambda items: tuple(sorted(set(items))))
ids = st.sampled_from(["k3v9q2m7xa", "b000000000"])
times = st.none() | st.integers(0, 253402300799).map(float)
bullets = st.builds(
    Bullet,
    id=ids,
    text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(
        lambda t: t.strip() and "<<<<" not in t
    ),
    section=st.sampled_from(SECTIONS),
    type=st.sampled_from(TYPES),
    score=st.integers(0, 100),
    scope=st.sampled_from(["global", "project", "project:api", "workspace:feat/认证"]),
    recall_count=st.integers(0, 10**6),
    title=st.just("") | words,
    tags=sets,
    anchors=sets,
    created=times,
    updated=times,
    accepted=times,
    source=st.just("") | words,
    half_life_days=st.sampled_from([None, 0.5, 30.0]),
    pinned=st.booleans(),
    merged_from=st.sampled_from([(), ("b000000000",)]),
)


def parse(front: str, body: str = "Text.\n", path: str = "bullets/general/x.md") -> Bullet:
    """Return the bullet with this front matter."""
    return parse_bullet(f"---\n{front}\n---\n{body}".encode(), path=path)


def parse_or_error(front: str | bytes) -> Bullet | FrontMatterError:
    """Return the bullet with this front matter, or in these bytes, or the error; any other exception is a bug."""
    try:
        return parse(front) if isinstance(front, str) else parse_bullet(front, path="x.md")
    except FrontMatterError as error:
        return error


@given(bullets)
@settings(max_examples=200, deadline=None)
def test_format_then_parse_is_the_same_bullet(bullet: Bullet) -> None:
    """Every bullet survives its file."""
    data = format_bullet(bullet)
    if "\n" not in bullet.text and "\r" in bullet.text:
        return
    assert parse_bullet(data, path="x.md") == bullet.__class__(
        **{n: getattr(bullet, n) for n in bullet.__slots__} | {"text": bullet.text.removesuffix("\r")}
    )


def test_canonical_file_is_written_again_byte_for_byte() -> None:
    """Reading and writing the documented example changes nothing."""
    assert format_bullet(parse_bullet(CANONICAL, path="x.md")) == CANONICAL


def test_scalars_stay_as_typed() -> None:
    """YAML 1.1 turns none of these into something else (faults row 1 and 14)."""
    bullet = parse("title: 10:00\ntags: [no, on, 0123, 1_000, 2024-01-05, 3.10, true, ~]\nsource: 1e3")
    assert (bullet.title, bullet.source) == ("10:00", "1e3")
    assert bullet.tags == ("no", "on", "0123", "1_000", "2024-01-05", "3.10", "true", "~")


def test_time_with_zone_is_utc_and_naive_counts_as_utc() -> None:
    """Both forms are seconds since the epoch."""
    assert parse("created: 2024-01-05T10:00:00+02:00").created == 1704441600.0
    assert parse("created: 2024-01-05 08:00:00").created == 1704441600.0


def test_body_only_file_is_a_bullet() -> None:
    """A file written by hand takes its id from its text, its section from its folder, its time from the caller."""
    bullet = parse_bullet(b"Hello\n", path="bullets/tools/x.md", created_fallback=5.0)
    assert bullet == Bullet(id=bullet_id("Hello"), text="Hello", section="tools", created=5.0)


@pytest.mark.parametrize(
    "front", ["1: one", "content: x", "handler: y", "self: z", "true: t", "null: n", "[a]: b"]
)
def test_odd_keys_are_read_or_refused(front: str) -> None:
    """Keys that crash python-frontmatter's loads are ordinary, or a named error (faults row 3)."""
    outcome = parse_or_error(front)
    assert outcome.line == 2 if isinstance(outcome, FrontMatterError) else outcome.text == "Text."


@pytest.mark.parametrize(
    "front", ["tags: a, b", "tags: [a, b]", "tags:\n- a\n- b", "tags: {a: 1}", "tags:", "tags: [[a]]"]
)
def test_tags_are_words_or_an_error(front: str) -> None:
    """Each shape is a list of words, or one clear error (faults row 14)."""
    outcome = parse_or_error(front)
    if isinstance(outcome, FrontMatterError):
        assert (outcome.message, outcome.line) == ("tags: expected a list of words", 2)
    else:
        assert outcome.tags in (("a", "b"), ())


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("created: 2024-02-30", 2),
        ("created: 0000-00-00", 2),
        ("updated: 99999-01-01", 2),
        ("score: 0x_", 2),
        ("id: k3v9q2m7xa\nscore: " + "9" * 5000, 3),
        ("score: 101", 2),
        ("score: -1", 2),
        ("half_life_days: .nan", 2),
        ("half_life_days: 0", 2),
        ("pinned: perhaps", 2),
        ("scope: team", 2),
        ("scope: 'workspace:'", 2),
        ("id: ../../x", 2),
        ("id: [a]", 2),
        ("title: `C:\\x`", 2),
        ("title: *Italic*", 2),
        ("- [[a]]b", 2),
        ("title: fix: retry", 2),
        ("title: %done\ntitle: x", 2),
        ("a: 1\nb:\n\t- c", 4),
        ("status: active\nx: 1\nstatus: archived", 4),
        ("a: &x 1\nb: *x", 3),
        ("a: " + "[" * 3000, 2),
        ("just text", 2),
        ("a: \u0001", 2),
        ("a: b\n--- \nid: c", None),
    ],
)
def test_bad_front_matter_is_an_error_with_line(front: str, line: int | None) -> None:
    """Nothing but FrontMatterError with path and line leaves the codec."""
    if line is None:
        assert parse(front).text == "id: c\n---\nText."
        return
    with pytest.raises(FrontMatterError) as caught:
        parse(front)
    assert caught.value.path == "bullets/general/x.md"
    assert caught.value.line == line


def test_alias_bomb_is_refused_at_once() -> None:
    """A few hundred bytes cannot expand (faults row 13)."""
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))
    with pytest.raises(FrontMatterError, match="alias"):
        parse(f"a0: &a0 [x]\n{levels}")


@given(st.binary(max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_bytes_parse_or_raise_our_error(data: bytes) -> None:
    """No file can bring another exception out."""
    outcome = parse_or_error(b"---\n" + data + b"\n---\nbody")
    assert isinstance(outcome, Bullet) or outcome.line is not None


def test_empty_body_is_an_error() -> None:
    """A bullet is its text."""
    with pytest.raises(FrontMatterError, match="no text"):
        parse("id: k3v9q2m7xa", body=" \n")


def test_unknown_section_reads_as_general() -> None:
    """A word of a newer version does not hide the lesson; lint names it."""
    bullet = parse("section: Novel\ntype: HINT")
    assert (bullet.section, bullet.type) == ("general", "knowledge")
    assert parse("section: DEBUGGING").section == "debugging"


@pytest.mark.parametrize("key", ["score", "title", "tags", "updated", "text"])
def test_edit_changes_one_field(key: str) -> None:
    """The rest of the file keeps every byte."""
    value = {"score": 1, "title": "T", "tags": ("redis", "zz"), "updated": 0.0, "text": "new"}[key]
    edited = edit_bullet(CANONICAL, {key: value}, path="x.md")
    assert getattr(parse_bullet(edited, path="x.md"), key) == value
    old, new = CANONICAL.split(b"\n"), edited.split(b"\n")
    assert sum(line not in old for line in new) == 1
    assert sum(line not in new for line in old) == (0 if key in ("title", "tags") else 1)


def test_edit_of_crlf_file_keeps_crlf() -> None:
    """Line ends are the file's own."""
    data = CANONICAL.replace(b"\n", b"\r\n")
    edited = edit_bullet(data, {"score": 1, "text": "a\nb"}, path="x.md")
    assert edited.count(b"\n") == edited.count(b"\r\n")
    assert parse_bullet(edited, path="x.md").text == "a\r\nb"


def test_edit_that_lines_cannot_express_is_refused() -> None:
    """YAML that our lines would cut wrongly is left alone."""
    with pytest.raises(FrontMatterError):
        edit_bullet(b"---\n{id: k3v9q2m7xa, score: 3}\n---\nx\n", {"score": 1}, path="x.md")
    with pytest.raises(FrontMatterError):
        edit_bullet(b"---\ntitle: |\n  a\nb: 'x\n\n  y'\ntags: [a,\nc]\n---\nx\n", {"score": 1}, path="x.md")


def test_edit_of_unknown_field_is_refused() -> None:
    """A typing error does not become a key."""
    with pytest.raises(StoreError, match="no field"):
        edit_bullet(CANONICAL, {"colour": "red"})
