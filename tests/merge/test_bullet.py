"""Properties and rules of the three-way merge of bullet files."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memx.document import Document, find_conflict_marker
from memx.merge import merge_bullets

ITEMS = st.sets(st.sampled_from(["alpha", "beta", "c++", "delta", "no", "redis", "日本"]), max_size=5)
LINES = st.lists(st.sampled_from(["one", "two", "three", "", "  four", "---", "日本語"]), max_size=6)
HEAD = "---\nid: k3v9q2m7xa\nsection: debugging\n"


def bullet(
    *,
    tags: object = (),
    recall_count: int | None = None,
    created: str = "2026-01-01T00:00:00Z",
    updated: str = "2026-01-01T00:00:00Z",
    scope: str = "project",
    extra: str = "",
    body: str = "Text.\n",
) -> bytes:
    """Return a bullet file in canonical form."""
    document = Document.parse(
        f"{HEAD}scope: {scope}\ncreated: {created}\nupdated: {updated}\n{extra}---\n{body}".encode()
    )
    if recall_count is not None:
        document = document.with_field("recall_count", recall_count)
    return document.with_field("tags", tuple(tags)).to_bytes()


BULLETS = st.builds(
    bullet,
    tags=ITEMS,
    recall_count=st.none() | st.integers(0, 30),
    created=st.sampled_from(["2026-01-01T00:00:00Z", "2026-02-01T00:00:00+02:00", "2025-01-01"]),
    updated=st.sampled_from(["2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "soon"]),
    scope=st.sampled_from(["project", "global", "workspace:a"]),
    extra=st.sampled_from(
        [
            "",
            "# a comment\n",
            "x-team:\n  - core\n  - web\n",
            "x-team:\n  - core\n",
            "pinned: true # why\n",
            "x: 1\n",
        ]
    ),
    body=LINES.map("\n".join),
)


def field(data: bytes, key: str) -> object:
    """Return a field's value in a merged file."""
    found = Document.parse(data).get(key)
    return None if found is None else found.value


@given(BULLETS | st.binary(max_size=30), BULLETS | st.binary(max_size=30))
def test_same_change_on_both_sides_is_that_change(base: bytes, side: bytes) -> None:
    """merge(b, x, x) is x, and a side that did not change leaves the other's bytes alone."""
    for ours, theirs in ((side, side), (base, side), (side, base)):
        outcome = merge_bullets(base, ours, theirs)
        assert (outcome.data, outcome.clean) == (side, True)


@settings(max_examples=300)
@given(BULLETS | st.just(b""), BULLETS, BULLETS)
def test_swapped_sides_give_the_same_result(base: bytes, ours: bytes, theirs: bytes) -> None:
    """A rebase swaps the sides: a clean result does not depend on it, nor does whether it is clean."""
    one, other = merge_bullets(base, ours, theirs), merge_bullets(base, theirs, ours)
    assert one.clean == other.clean
    if one.clean:
        assert one.data == other.data


@settings(max_examples=300)
@given(BULLETS | st.just(b""), BULLETS, BULLETS)
def test_result_parses_and_loses_no_line(base: bytes, ours: bytes, theirs: bytes) -> None:
    """A clean result is a valid file; in a conflicted one the front matter still reads and both texts stand."""
    outcome = merge_bullets(base, ours, theirs)
    text = outcome.data.decode()
    if outcome.clean:
        Document.parse(outcome.data)
    else:
        assert find_conflict_marker(text) is not None
        block = text[: text.index("\n---\n", 3) + 5]
        Document.parse(block.encode())
    old = Document.parse(base).body.split("\n")
    for side in (ours, theirs):
        for line in Document.parse(side).body.split("\n"):
            assert line in old or line in text


@given(BULLETS | st.just(b""), BULLETS, BULLETS)
def test_sets_merge_as_sets(base: bytes, ours: bytes, theirs: bytes) -> None:
    """Tags: what either side added is there, what either side removed is not."""
    tags = [set(field(data, "tags") or ()) if data else set() for data in (base, ours, theirs)]
    outcome = merge_bullets(base, ours, theirs)
    if outcome.clean:
        assert set(field(outcome.data, "tags") or ()) == (tags[1] & tags[2]) | (tags[1] - tags[0]) | (
            tags[2] - tags[0]
        )


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_recall_count_adds_both_deltas(start: int, one: int, other: int) -> None:
    """The same value stays; otherwise base plus both deltas."""
    base, ours, theirs = (bullet(recall_count=start + extra) for extra in (0, one, other))
    outcome = merge_bullets(base, ours, theirs)
    expected = start + one if one == other else start + one + other
    assert (field(outcome.data, "recall_count"), outcome.clean) == (str(expected), True)


def test_times_merge_by_rule() -> None:
    """created: the earliest; updated: the latest."""
    ours = bullet(created="2025-05-01T00:00:00Z", updated="2026-02-01T00:00:00Z")
    theirs = bullet(created="2025-04-01T00:00:00Z", updated="2026-03-01T00:00:00Z")
    merged = merge_bullets(bullet(), ours, theirs)
    assert merged.clean
    assert (field(merged.data, "created"), field(merged.data, "updated")) == (
        "2025-04-01T00:00:00Z",
        "2026-03-01T00:00:00Z",
    )


def test_both_rewrote_body_keeps_both_texts_between_markers() -> None:
    """Front matter is merged, both texts stand between git's markers with labels and size."""
    ours, theirs = bullet(tags=["a"], body="Ours.\n"), bullet(tags=["b"], body="Theirs.\n")
    merged = merge_bullets(bullet(), ours, theirs, labels=("HEAD", "base", "feature"), marker_size=9)
    assert not merged.clean
    assert merged.data.endswith(b"---\n<<<<<<<<< HEAD\nOurs.\n=========\nTheirs.\n>>>>>>>>> feature\n")
    assert b"tags:\n  - a\n  - b\n" in merged.data


def test_both_changed_scope_conflicts_beside_the_body() -> None:
    """A field that both sides set differently is shown between markers, never in the front matter."""
    merged = merge_bullets(bullet(), bullet(scope="global"), bullet(scope="workspace:a"))
    assert not merged.clean
    assert (
        b"---\n<<<<<<< ours\nscope: global\n=======\nscope: workspace:a\n>>>>>>> theirs\nText.\n"
        in merged.data
    )


def test_both_added_the_same_lesson_merges_clean() -> None:
    """Two branches learnt one lesson from two commits: one file, the earliest time, all tags."""
    ours = bullet(tags=["a"], recall_count=3, extra="source: commit aaaa\n")
    theirs = bullet(tags=["b"], recall_count=5, created="2025-12-01T00:00:00Z", extra="source: commit bbbb\n")
    merged = merge_bullets(b"", ours, theirs)
    assert merged.clean
    assert field(merged.data, "tags") == ("a", "b")
    assert field(merged.data, "recall_count") == "8"
    assert field(merged.data, "created") == "2025-12-01T00:00:00Z"


def test_comments_and_unknown_keys_survive() -> None:
    """Comments of both sides and keys that memx does not know are in the result."""
    base = b"---\nid: a\ntags:\n  - m\nx-list:\n  - 1\n  - 2\n  - 3\n---\nText.\n"
    ours = b"---\nid: a\n# ours says\ntags: # set\n  - a # first\n  - m\n"
    ours += b"x-list:\n  - 0\n  - 1\n  - 2\n  - 3\n---\nText.\n"
    theirs = b"---\nid: a\ntags:\n  - m\n  # last\n  - z # end\n"
    theirs += b"x-list:\n  - 1\n  - 2\n  - 3\n  - 4\nx-new: [1, 2]\n---\nText.\n"
    merged = merge_bullets(base, ours, theirs)
    assert merged.clean
    assert merged.data == (
        b"---\nid: a\n# ours says\ntags: # set\n  - a # first\n  - m\n  # last\n  - z # end\n"
        b"x-list:\n  - 0\n  - 1\n  - 2\n  - 3\n  - 4\nx-new: [1, 2]\n---\nText.\n"
    )


def test_fence_without_line_end_gets_one_before_a_body() -> None:
    """A file that ends in its closing fence takes the other side's body on a new line."""
    merged = merge_bullets(b"---\nid: a\n---", b"---\nid: a\n---\nText.\n", b"---\nid: a\npinned: true\n---")
    assert (merged.data, merged.clean) == (b"---\nid: a\npinned: true\n---\nText.\n", True)


def test_windows_line_ends_merge_with_unix_ones() -> None:
    """A side that turned LF into CRLF is no rewrite of everything; its line end is the result's."""
    ours = bullet(tags=["a"]).replace(b"\n", b"\r\n")
    merged = merge_bullets(bullet(), ours, bullet(body="New text.\n"))
    assert merged.clean
    assert merged.data == bullet(tags=["a"], body="New text.\n").replace(b"\n", b"\r\n")


def test_unparseable_side_is_merged_as_text_with_markers() -> None:
    """A broken side never loses the other one."""
    broken = b"---\nid: a\nnever closed\n"
    merged = merge_bullets(bullet(), broken, bullet(body="Theirs.\n"))
    assert not merged.clean
    assert b"never closed" in merged.data
    assert b"Theirs." in merged.data


@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_merge(base: bytes, ours: bytes, theirs: bytes) -> None:
    """The merge is total, and swapping the sides of a clean one changes nothing."""
    one, other = merge_bullets(base, ours, theirs), merge_bullets(base, theirs, ours)
    assert one.clean == other.clean
    assert not one.clean or one.data == other.data


def test_other_bullet_taken_for_a_rename_keeps_its_fields() -> None:
    """Git takes a removed bullet and a similar new one for a rename: the old one's tags are nothing to the new one."""
    base = bullet(tags=("alpha",), recall_count=3)
    changed = bullet(tags=("alpha", "beta"), recall_count=9)
    other = bullet(tags=("delta",), recall_count=0, body="Another text.\n").replace(
        b"k3v9q2m7xa", b"yg1q772wwb"
    )
    for ours, theirs in ((other, changed), (changed, other)):
        outcome = merge_bullets(base, ours, theirs)
        assert (outcome.data, outcome.clean) == (other, True)


def test_other_bullet_and_a_rewritten_text_are_a_conflict_with_both() -> None:
    """What the other side made of the removed bullet's text stands between markers, below the new one's fields."""
    base, changed = bullet(), bullet(tags=("beta",), body="Rewritten.\n")
    other = bullet(tags=("delta",), body="Another text.\n").replace(b"k3v9q2m7xa", b"yg1q772wwb")
    outcome = merge_bullets(base, changed, other)
    assert not outcome.clean
    assert outcome.data.startswith(other.removesuffix(b"Another text.\n"))
    assert outcome.data.endswith(b"<<<<<<< ours\nRewritten.\n=======\nAnother text.\n>>>>>>> theirs\n")
