"""Anchors: their three forms, and when the code they name counts as changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.repo.anchors import (
    DRIFTED,
    FRESH,
    ORPHANED,
    Anchor,
    check_anchor,
    code_words,
    find_symbol,
    format_anchor,
    parse_anchor,
)

POOL = b"""import os

class Pool:
    def acquire(self):
        return self.queue.get()

    def release(self, item):
        self.queue.put(item)


class Other:
    def acquire(self):
        return None


MAX_POOL_SIZE = 10
"""


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("src/pool.py", Anchor("src/pool.py")),
        ("src/cache/", Anchor("src/cache")),
        ("src/pool.py:Pool.acquire", Anchor("src/pool.py", "Pool.acquire")),
        ("src/a.rs:pool::acquire", Anchor("src/a.rs", "pool::acquire")),
        ("src/pool.py#L10-L20@abc1234", Anchor("src/pool.py", "", 10, 20, "abc1234")),
        ("src/pool.py#L7", Anchor("src/pool.py", "", 7, 7)),
        ("docs/a b#c.md", Anchor("docs/a b#c.md")),
    ],
)
def test_text_of_each_form_is_read(text: str, anchor: Anchor) -> None:
    """Each form gives its parts; a hash that names no lines belongs to the path."""
    assert anchor == parse_anchor(text)


@given(
    st.builds(
        Anchor,
        st.from_regex(r"[a-z]{1,8}(/[a-z.]{1,8}[a-z]){0,2}", fullmatch=True),
        st.just(""),
        st.integers(1, 999),
        st.integers(1, 999),
        st.sampled_from(["", "abcdef123456"]),
    )
)
def test_formatted_anchor_reads_back(anchor: Anchor) -> None:
    """What is written reads back as the same anchor."""
    assert anchor == parse_anchor(format_anchor(anchor))


def test_unchanged_file_is_fresh() -> None:
    """Equal bytes are fresh in every form."""
    for text in ("p.py", "p.py:Pool.acquire", "p.py#L3-L5"):
        assert check_anchor(parse_anchor(text), POOL, POOL).state == FRESH


def test_missing_file_is_orphaned() -> None:
    """A file that is gone orphans its anchors."""
    assert check_anchor(parse_anchor("p.py"), POOL, None).state == ORPHANED


def test_small_change_elsewhere_leaves_file_fresh() -> None:
    """A line that has nothing to do with the lesson does not spoil it."""
    after = POOL.replace(b"import os", b"import sys")
    assert check_anchor(parse_anchor("p.py"), POOL, after, frozenset({"MAX_POOL_SIZE"})).state == FRESH


def test_change_of_a_named_line_drifts() -> None:
    """The same small change drifts when it touches a name that the lesson speaks of."""
    after = POOL.replace(b"MAX_POOL_SIZE = 10", b"MAX_POOL_SIZE = 50")
    state = check_anchor(parse_anchor("p.py"), POOL, after, frozenset({"MAX_POOL_SIZE"}))
    assert (state.state, "MAX_POOL_SIZE" in state.reason) == (DRIFTED, True)


def test_rewritten_file_drifts() -> None:
    """A file of which a quarter was rewritten drifts whatever the lesson says."""
    assert check_anchor(parse_anchor("p.py"), POOL, b"nothing\nof\nit\nis\nleft\n").state == DRIFTED


def test_moved_and_reindented_block_is_fresh() -> None:
    """Lines that only moved or were indented anew have not changed."""
    lines = POOL.splitlines()
    after = b"\n".join([*lines[9:], *(b"  " + line for line in lines[:9])])
    assert check_anchor(parse_anchor("p.py"), POOL, after).state == FRESH


def test_crlf_checkout_is_fresh() -> None:
    """Line ends that a checkout converts are no change."""
    after = POOL.replace(b"\n", b"\r\n")
    for text in ("p.py", "p.py:Pool.acquire", "p.py#L3-L5"):
        assert check_anchor(parse_anchor(text), POOL, after).state == FRESH


def test_symbol_follows_its_own_body_only() -> None:
    """A method drifts when its own lines change, not when a namesake in another class does."""
    anchor = parse_anchor("p.py:Pool.acquire")
    other = POOL.replace(b"return None", b"return 1")
    own = POOL.replace(b"self.queue.get()", b"self.queue.get(timeout=5)")
    assert check_anchor(anchor, POOL, other).state == FRESH
    assert check_anchor(anchor, POOL, own).state == DRIFTED


def test_removed_symbol_is_orphaned() -> None:
    """A symbol that is nowhere in the file any more is orphaned."""
    after = POOL.replace(b"def release(self, item)", b"def give_back(self, item)")
    assert check_anchor(parse_anchor("p.py:Pool.release"), POOL, after).state == ORPHANED


@pytest.mark.parametrize(
    ("source", "symbol", "expected"),
    [
        ("func (p *Pool) Get() int {\n\treturn 1\n}\nfunc Put() {}\n", "Get", 3),
        ("export const retry = () => {\n  go();\n};\nlet x = 1;\n", "retry", 3),
        ("#define LIMIT 5\nint f(void)\n{\n  return LIMIT;\n}\n", "f", 4),
        ("pub fn acquire(&self) -> u8 {\n    1\n}\n", "acquire", 3),
        ("server:\n  port: 80\n  host: a\nother: 1\n", "server", 3),
        ("def go\n  1\nend\n", "go", 3),
    ],
)
def test_definition_is_found_in_many_languages(source: str, symbol: str, expected: int) -> None:
    """A definition is its first line, what is indented below it and what closes it."""
    assert expected == len(find_symbol(source.splitlines(), symbol))


def test_lines_that_moved_are_followed() -> None:
    """Lines found elsewhere in the file are fresh, with their new numbers."""
    state = check_anchor(parse_anchor("p.py#L4-L5@abc1"), POOL, b"# one\n# two\n" + POOL)
    assert (state.state, state.now) == (FRESH, "p.py#L6-L7@abc1")


def test_changed_lines_drift() -> None:
    """Lines that are nowhere in the file drift."""
    after = POOL.replace(b"self.queue.get()", b"None")
    assert check_anchor(parse_anchor("p.py#L4-L5"), POOL, after).state == DRIFTED


def test_lines_beyond_the_end_are_orphaned() -> None:
    """A range that the file never had cannot be fresh."""
    assert check_anchor(parse_anchor("p.py#L900-L901"), POOL, POOL).state == ORPHANED


def test_code_words_are_names_not_prose() -> None:
    """Backticks and identifiers are taken, ordinary words are not."""
    words = code_words(["Set `--no-verify` and MAX_POOL_SIZE before pool.acquire; it is OK Then"])
    assert words == {"--no-verify", "MAX_POOL_SIZE", "pool.acquire"}


@given(
    st.text(max_size=60),
    st.one_of(st.none(), st.binary(max_size=80)),
    st.one_of(st.none(), st.binary(max_size=80)),
)
def test_any_anchor_and_content_gives_a_state(text: str, before: bytes | None, after: bytes | None) -> None:
    """Whatever a bullet and a file hold, the answer is one of the three states."""
    assert check_anchor(parse_anchor(text), before, after).state in (FRESH, DRIFTED, ORPHANED)
