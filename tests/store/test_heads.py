"""What decay reads of a file is what the reader reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import StoreError
from memx.model import SECTIONS, TYPES, Bullet, StoredBullet
from memx.record import replace
from memx.store import halves, head_cache
from memx.store.codec import format_bullet, parse_bullet
from memx.store.heads import Head, read_head, values_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memx.store.store import Store

CANONICAL = Bullet(
    id="a123456789",
    text="Set MAX_POOL_SIZE to 50.\n\n- or not: 10 # is too few",
    type="pitfall",
    score=82,
    recall_count=6,
    title="The pool",
    tags=("redis",),
    entities=("MAX_POOL_SIZE", "foo.bar()"),
    created=1.7e9,
    updated=1.7e9,
    accepted=1.75e9,
    pinned=True,
    half_life_days=90.0,
    source="commit 4f2c1e9b7d3a5c8e6f1029384756aabbccddeeff",
)


def by_reader(data: bytes) -> tuple[object, ...] | None:
    """Return the head through the whole reader, None for a file that does not parse."""
    try:
        return values_of(StoredBullet(parse_bullet(data, path="bullets/general/x.md"), "x.md"))
    except StoreError:
        return None


def test_canonical_file_needs_no_reader() -> None:
    """The expression takes what memx writes, or it would be of no use."""
    assert read_head(format_bullet(CANONICAL), "x.md") == by_reader(format_bullet(CANONICAL))
    assert read_head(format_bullet(CANONICAL), "x.md") is not None


words = st.text(st.sampled_from("ab Zé:#-~'\"\\[]{}|>&*!%@`,?.()_/\u200b\u3000null0123"), max_size=12)
sets = st.lists(words, max_size=3).map(lambda items: tuple(sorted(set(filter(None, items)))))
times = st.none() | st.integers(0, 4_000_000_000).map(float)
bullets = st.builds(
    Bullet,
    id=st.just("a123456789"),
    text=st.text(min_size=1, max_size=40) | words.filter(bool),
    section=st.sampled_from(SECTIONS),
    type=st.sampled_from(TYPES),
    score=st.integers(0, 100),
    recall_count=st.integers(0, 99_999),
    title=words,
    tags=sets,
    anchors=sets,
    created=times,
    updated=times,
    accepted=times,
    source=words,
    author=words,
    pinned=st.booleans(),
    half_life_days=st.none() | st.integers(1, 9999).map(float),
    merged_from=st.just(()) | st.just(("b123456789",)),
    disputed=times,
)


@given(bullets)
@settings(max_examples=200, deadline=None)
def test_what_the_expression_takes_reads_the_same(bullet: Bullet) -> None:
    """Whatever the values, the expression agrees with the reader or says nothing."""
    data = format_bullet(bullet)
    head = read_head(data, "x.md")
    assert head is None or head == by_reader(data)


@given(
    st.integers(0, 400),
    st.sampled_from([b"\n", b" ", b":", b"#", b"\r", b"\0", b"\xff", b"0", b"---\n", b""]),
)
@settings(max_examples=300, deadline=None)
def test_damaged_files_are_left_to_the_reader(place: int, damage: bytes) -> None:
    """A byte changed anywhere: the same answer as the reader's, or none."""
    data = format_bullet(CANONICAL)
    damaged = data[:place] + damage + data[place + 1 :]
    head = read_head(damaged, "x.md")
    assert head is None or head == by_reader(damaged)


@pytest.mark.parametrize("text", ["<<<<<<< ours", "\u3000", " \n "])
def test_body_that_is_none_is_left_to_the_reader(text: str) -> None:
    """Conflict markers and blank texts are the reader's to report."""
    data = format_bullet(CANONICAL).split(b"---\n")
    assert read_head(b"---\n" + data[1] + b"---\n" + text.encode() + b"\n", "x.md") is None


def test_scan_of_heads_reports_what_the_scan_reports(store: Store) -> None:
    """Broken, duplicate and hand-written files: the same bullets in the same order, the same problems."""
    store.add(CANONICAL)
    folder = f"{store.root}/bullets/general"
    files = {
        "hand.md": b"Only a text\n",
        "broken.md": b"---\nid: [\n---\nx\n",
        "twin-a123456789.md": format_bullet(CANONICAL),
        "latin.md": b"caf\xe9\n",
    }
    for name, data in files.items():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(data)
    bullets, problems = store.scan()
    heads = [Head(*values_of(stored)[1:]) for stored in bullets]  # type: ignore[arg-type]
    assert store.scan_heads() == (heads, problems)
    assert len(problems) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("fails", [False, True])
def test_two_processes_read_what_one_reads(
    store: Store, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    """The child's half comes after the parent's; a child that dies is replaced."""
    for number in range(9):
        store.add(replace(CANONICAL, id=f"k{number:09d}", text=f"Lesson {number}"))
    expected = store.scan_heads()
    parent = os.getpid()
    readers = []
    read = type(store)._read_heads

    def noted(self: Store, paths: list[str]) -> list[tuple[object, ...]]:
        if os.getpid() != parent and fails:
            raise MemoryError
        readers.append(len(paths))
        return read(self, paths)

    monkeypatch.setattr(type(store), "_read_heads", noted)
    monkeypatch.setattr(halves, "WORTH_A_PROCESS", 2)
    monkeypatch.setattr(halves, "_can_fork", lambda: True)
    assert store.scan_heads() == expected
    assert readers == ([4, 5] if fails else [4])


@pytest.fixture
def remembered(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Head]]:
    """Return a scan with a cache, which asserts that it finds what a scan without one finds."""
    monkeypatch.setattr(head_cache, "WORTH_REMEMBERING", 1)
    monkeypatch.setattr(head_cache, "_RACY_NS", 0)
    for number in range(5):
        store.add(replace(CANONICAL, id=f"k{number:09d}", text=f"Lesson {number}"))

    def scan() -> list[Head]:
        found, problems = store.scan_heads(str(tmp_path / "cache" / "heads"))
        assert (found, problems) == store.scan_heads()
        return found

    return scan


def test_second_scan_reads_only_what_changed(
    store: Store,
    remembered: Callable[[], list[Head]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that is new, changed, broken or gone is noticed; the others are not opened."""
    paths = {head.id: f"{store.root}/{head.path}" for head in remembered()}
    with monkeypatch.context() as patched:
        patched.setattr(type(store), "_read_heads", lambda _, paths: [] if not paths else 1 / 0)
        store.scan_heads(str(tmp_path / "cache" / "heads"))
    os.unlink(paths["k000000001"])
    with open(paths["k000000002"], "ab") as file:
        file.write(b"More.\n")
    with open(f"{os.path.dirname(paths['k000000002'])}/new.md", "wb") as file:
        file.write(b"By hand\n")
    with open(paths["k000000003"], "wb") as file:
        file.write(b"---\nid: [\n---\nx\n")
    found = remembered()
    assert [head.headline for head in found if head.id == "k000000002"] == ["The pool"]
    assert len(found) == 4


@pytest.mark.parametrize("damage", [b"", b"abcdefgh", b"\0" * 40])
def test_damaged_memory_of_heads_is_read_again(
    remembered: Callable[[], list[Head]], tmp_path: Path, damage: bytes
) -> None:
    """The cache is derived: whatever it holds, the files decide."""
    expected = remembered()
    (tmp_path / "cache" / "heads").write_bytes(damage)
    assert remembered() == expected
    assert remembered() == expected
