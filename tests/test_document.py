"""Bullet files as text: fences, the strict reader, edits of one field."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.document import Document, decode_text, find_conflict_marker, format_field, read_strict
from memx.errors import ConflictMarkerError, FrontMatterError
from memx.scalar import format_scalar
from memx.store.bulk_reader import read_canonical
from memx.store.codec import parse_bullet
from memx.store.heads import read_head
from memx.store.yaml_reader import read_general

HAND_WRITTEN = b"""---
# who knows this
id: "k3v9q2m7xa"   # frozen
tags: [b, 'a']  # flow
Custom-Key: keep   me
score: 82
tools:
  # the client
  - redis-cli
  - psql  # both
nested:
  deep: [1, 2]
---
Body.
"""

characters = st.characters(codec="utf-8", exclude_characters="\r")
scalars = st.one_of(
    st.text(characters, max_size=12),
    st.sampled_from(
        ["no", "on", "0123", "1_000", "10:00", "2024-01-05", "1e3", "~", "null", "a: b", "a #b", "-"]
    ),
    st.text(st.sampled_from(": #-'\"\\[]{}a,&*!|>%@`\t\n\u0085\u2028\ufeff\u3000"), max_size=6),
)
keys = st.from_regex(r"\A[a-z][a-z_]{0,8}\Z")
fields = st.dictionaries(keys, st.one_of(scalars, st.lists(scalars, min_size=1, max_size=4)), max_size=6)


def write(values: dict[str, object], body: str) -> None:
    """Return a canonical file."""
    lines = [line for key, value in values.items() for line in format_field(key, value)]
    return "\n".join(["---", *lines, "---", body])


def split_bodies() -> None:
    """Return bodies that a careless reader would damage."""
    return [
        "---\nHello\n---\nrest\n",
        "    indented code\n",
        "| a | b |\n| --- | --- |\n",
        "\n\ntext\n\n\n",
        "```\n---\n```",
        "- a\n- b\n---\n",
        "a\rb\r\nc\n",
        "",
    ]


@given(fields, st.text(characters, max_size=20))
@settings(max_examples=200, deadline=None)
def test_canonical_file_both_readers_agree(values: dict[str, object], body: str) -> None:
    """The strict reader takes every canonical file and reads it as the general reader does."""
    text = write(values, body)
    strict = read_strict(text)
    assert strict is not None
    expected = {k: sorted(set(v)) if isinstance(v, list) else v for k, v in values.items()}
    assert (strict[0], text[strict[1] :]) == (expected, body)
    if "<<<<<<<" not in text:
        assert read_general(text) == (expected, body)


@given(st.text(st.sampled_from("ab:- #\n\"'[],&*~|>?{}!%@`.\t0\\"), max_size=40))
@settings(max_examples=500, deadline=None)
def test_any_block_strict_reader_never_disagrees(block: str) -> None:
    """Whatever the strict reader accepts, YAML reads in the same way."""
    text = f"---\n{block}\n---\nbody"
    strict = read_strict(text)
    if strict is not None:
        general, body = read_general(text)
        assert general == strict[0]
        assert body == text[strict[1] :]


@given(scalars)
@settings(max_examples=300, deadline=None)
def test_scalar_yaml_reads_the_same_string(text: str) -> None:
    """PyYAML, with its own YAML 1.1 typing, reads each scalar that we write as that string."""
    assert yaml.safe_load(f"a: {format_scalar(text)}") == {"a": text}


@pytest.mark.parametrize(
    "word", ["no", "Yes", "0123", "1_000", "10:00", "2024-01-05", "1e3", "~", ".inf", "y", "3.10", ""]
)
def test_ambiguous_scalar_is_quoted(word: str) -> None:
    """What YAML 1.1 or 1.2 would type is double-quoted."""
    assert format_scalar(word) == f'"{word}"'


@pytest.mark.parametrize("body", split_bodies())
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_body_is_kept_byte_for_byte(body: str, newline: str, mark: str) -> None:
    """Rules, indents, line ends and trailing newlines of a body come back as they were."""
    text = f"{mark}---{newline}title: x --- y{newline}---{newline}{body}"
    document = Document.parse(text.encode())
    assert document.body == body
    assert document.to_bytes() == text.encode()
    assert read_general(text) == ({"title": "x --- y"}, body)


def test_dots_close_the_block() -> None:
    """A line of three dots closes the block, as in YAML."""
    assert read_general("---\ntitle: x\n...\nbody") == ({"title": "x"}, "body")


def test_four_hyphens_are_no_fence() -> None:
    """A file that begins with four hyphens has no front matter, and they do not close a block."""
    assert Document.parse(b"----\ntitle: x\n----\n").body == "----\ntitle: x\n----\n"
    with pytest.raises(FrontMatterError, match="never closed"):
        Document.parse(b"---\ntitle: x\n----\nbody\n")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("id: a\n".encode("utf-16"), 1),
        ("---\nid: a\n---\ncaf\xe9\n".encode("latin-1"), 4),
        (b"---\rid: a\r---\rbody\r", 1),
        (b"---\nid: a\nbody\n", 1),
        (b"---\nid: a\nid: b\n---\nx\n", 3),
        (b"---\n<<<<<<< ours\nid: a\n=======\nid: b\n>>>>>>> theirs\n---\nx\n", 2),
        (b"---\nid: a\n---\nx\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> b\n", 5),
        (b"\n\n---\nid: a\n---\nx\n", 3),
        (b"--- # mine\nid: a\n---\nx\n", 1),
        (b"a\0b\n", 1),
        ("---\nid: a\ntitle: a\u2028b\n---\nx\n".encode(), 3),
    ],
)
def test_broken_file_error_names_the_line(data: bytes, line: int | None) -> None:
    """Each broken shape is an error with its line."""
    with pytest.raises(FrontMatterError) as caught:
        Document.parse(data, "x.md")
    assert (caught.value.path, caught.value.line) == ("x.md", line)


@pytest.mark.parametrize("size", [7, 8, 9])
@pytest.mark.parametrize("place", ["block", "body"])
def test_conflict_within_a_conflict_is_a_conflict(size: int, place: str) -> None:
    """Git lengthens the markers of what it merged from conflicts: a file that both sides moved, a base of bases."""
    conflict = f"{'<' * size} HEAD:a.md\nx\n{'=' * size}\ny\n{'>' * size} topic:b.md\n"
    text = f"---\nid: a\n{conflict}---\nText\n" if place == "block" else f"---\nid: a\n---\n{conflict}"
    with pytest.raises(ConflictMarkerError) as caught:
        Document.parse(text.encode())
    assert caught.value.line == (3 if place == "block" else 4)
    nested = f"{'<' * 6}< o\n{conflict}{'=' * 7}\nz\n{'>' * 7} t\n"
    assert find_conflict_marker(nested) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Title\n========\n",
        "<<<<<<<<\na\n=======\nb\n>>>>>>>>\n",
        "<<<<<<<<<\n> quote\n",
        "Title\n=======\n<<<<<<<\n",
        "| a |\n||||||||\n",
        ">>>>>>>> deep quote\n",
    ],
)
def test_parts_of_other_lengths_make_no_conflict(text: str) -> None:
    """Headings, quotes and arrows stay text; markers belong together by their length."""
    assert find_conflict_marker(text) is None


LEFT_MARKERS = {
    "before-front-matter": (b"<<<<<<< HEAD\n---\nid: a\n---\nText\n", 1),
    "opening": (b"---\nid: a\n---\nText\n<<<<<<< HEAD\n", 5),
    "longer": (b"---\nid: a\n---\nText\n\n<<<<<<<< HEAD:moved.md\n", 6),
    "base": (b"Text\n||||||| 4f2c1e9\n", 2),
    "closing": (b"Text\n>>>>>>> topic\n", 2),
    "windows": (b"Text\r\n<<<<<<< HEAD\r\n", 2),
}


@pytest.mark.parametrize(("data", "line"), LEFT_MARKERS.values(), ids=LEFT_MARKERS)
def test_marker_left_of_a_conflict_is_a_conflict_for_every_reader(data: bytes, line: int) -> None:
    """Whoever reads the file refuses it, and names the line."""
    assert find_conflict_marker(data.decode()) == line
    with pytest.raises(ConflictMarkerError) as refused:
        parse_bullet(data, path="x.md")
    assert refused.value.line == line
    assert read_canonical(data, "x.md") is None
    assert read_head(data, "x.md") is None


def test_conflict_markers_have_their_own_error() -> None:
    """A hook can tell an unfinished merge from a typing error."""
    with pytest.raises(ConflictMarkerError):
        Document.parse(b"<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> b\n")


def test_setext_heading_is_no_conflict() -> None:
    """A line of equals signs in a body is a heading."""
    assert Document.parse(b"Title\n=======\n<<<<<<<\n").body


def test_fields_have_values_and_lines() -> None:
    """Simple values are read in any quoting and style; others are None."""
    document = Document.parse(HAND_WRITTEN)
    found = {field.key: (field.value, field.first_line, field.last_line) for field in document.fields}
    assert found == {
        "id": ("k3v9q2m7xa", 3, 3),
        "tags": (("b", "a"), 4, 4),
        "Custom-Key": ("keep   me", 5, 5),
        "score": ("82", 6, 6),
        "tools": (("redis-cli", "psql"), 7, 10),
        "nested": (None, 11, 12),
    }


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("score", 7, b"score: 82\n", b"score: 7\n"),
        ("id", "b123456789", b'id: "k3v9q2m7xa"   # frozen', b"id: b123456789   # frozen"),
        ("tools", ("redis-cli", "pg"), b"  - psql  # both\n", b""),
        ("tags", ("a",), b"tags: [b, 'a']  # flow\n", b"tags:  # flow\n  - a\n"),
        ("score", None, b"score: 82\n", b""),
        ("created", 0.0, b"nested:", b"created: 1970-01-01T00:00:00Z\nnested:"),
    ],
)
def test_edit_touches_one_field(key: str, value: object, old: bytes, new: bytes) -> None:
    """Every byte outside the field, and the comments in it, stay."""
    expected = HAND_WRITTEN.replace(old, new)
    if key == "tools":
        expected = expected.replace(b"  # the client\n", b"  - pg\n  # the client\n")
    assert Document.parse(HAND_WRITTEN).with_field(key, value).to_bytes() == expected


@given(fields, keys, st.one_of(scalars, st.lists(scalars, min_size=1, max_size=3)))
@settings(max_examples=150, deadline=None)
def test_edit_then_read_returns_the_value(values: dict[str, object], key: str, value: object) -> None:
    """A field that was set reads as set, all others as before."""
    document = Document.parse(write(values, "body").encode()).with_field(key, value)
    strict = read_strict(document.to_bytes().decode())
    assert strict is not None
    expected = values | {key: value}
    assert {k: sorted(v) if isinstance(v, list) else v for k, v in strict[0].items()} == {
        k: sorted(set(v)) if isinstance(v, list) else v for k, v in expected.items()
    }


def test_edit_without_front_matter_makes_a_block() -> None:
    """The first field of a file written by hand opens a block and leaves the body alone."""
    assert (
        Document.parse(b"\xef\xbb\xbfHello\r\n").with_field("id", "a").to_bytes()
        == b"\xef\xbb\xbf---\r\nid: a\r\n---\r\nHello\r\n"
    )


@given(st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_bytes_parse_or_raise_our_error(data: bytes) -> None:
    """Nothing but FrontMatterError leaves the parser, and what parses is written back unchanged."""
    try:
        assert Document.parse(data).to_bytes() == data
        read_general(decode_text(data))
    except FrontMatterError:
        return


def test_field_shapes_of_hand_written_files() -> None:
    """Quoted keys, keys with colons, zero indents and folded texts are found where they are."""
    document = Document.parse(
        b'---\n"quo ted" : x\na:b: y\nzero:\n- 1\n-\nfold: >\n  many\n  lines\nmap:\n  k: v\nempty:\n---\nx\n'
    )
    assert [(f.key, f.value, f.first_line, f.last_line) for f in document.fields] == [
        ("quo ted", "x", 2, 2),
        ("a:b", "y", 3, 3),
        ("zero", ("1", ""), 4, 6),
        ("fold", None, 7, 9),
        ("map", None, 10, 11),
        ("empty", "", 12, 12),
    ]
    assert document.get("none") is None


@pytest.mark.parametrize("line", ["? a", "- a", '"a', "a", "{a: 1}", "&x a: 1"])
def test_line_that_is_no_field_is_an_error(line: str) -> None:
    """The editor leaves alone what it cannot cut into fields."""
    if line == "- a":
        assert Document.parse(b"---\n- a\n---\nx\n").fields == ()
        return
    with pytest.raises(FrontMatterError, match="expected"):
        Document.parse(f"---\n{line}\n---\nx\n".encode())


def test_large_file_and_block_are_refused() -> None:
    """Sizes that no bullet needs are an error before they are work."""
    with pytest.raises(FrontMatterError, match="larger"):
        Document.parse(b"x" * (4 * 1024 * 1024 + 1))
    block = "".join(f"k{n}: v\n" for n in range(9000))
    with pytest.raises(FrontMatterError, match="longer"):
        Document.parse(f"---\n{block}---\nx\n".encode())
    assert read_strict(f"---\n{block}---\nx\n") is None


def test_edit_of_a_list_in_another_style_rewrites_it() -> None:
    """A block list that is not indented as ours becomes canonical when it is edited, and only then."""
    document = Document.parse(b"---\ntags:\n- b\n- a\nscore: 1 # one#two\n---\nx\n")
    assert (
        document.with_field("tags", ("a", "c")).to_bytes()
        == b"---\ntags:\n  - a\n  - c\nscore: 1 # one#two\n---\nx\n"
    )
    assert document.with_field("score", 2).to_bytes() == b"---\ntags:\n- b\n- a\nscore: 2 # one#two\n---\nx\n"
    assert document.with_field("a key", "v").get("a key") is not None


def test_line_that_was_met_before_is_read_the_same() -> None:
    """What is remembered of lines that many bullets share forgives no mistake around them."""
    good = "---\nid: x\nsection: tools\nscore: 50\n---\nText.\n"
    for _ in range(2):
        assert read_strict(good) == ({"id": "x", "section": "tools", "score": "50"}, len(good) - 6)
    assert read_strict("---\nsection: tools\nsection: tools\n---\nText.\n") is None
    assert read_strict("---\ntags:\nsection: tools\n---\nText.\n") is None
    listed = read_strict("---\ntags:\n  - a\nsection: tools\n  - b\n---\nText.\n")
    assert listed is None
