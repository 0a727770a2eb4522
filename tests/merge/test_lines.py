"""The line merge against git's own and against what every merge must keep."""

from __future__ import annotations

import functools
import operator

from hypothesis import given
from hypothesis import strategies as st

from memx.merge.lines import matching_blocks, merge_lines

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=9)


@given(LINES, LINES)
def test_matching_blocks_are_equal_and_in_order(base: list[str], side: list[str]) -> None:
    """Each block is equal on both sides and begins after the one before ended."""
    at_base = at_side = 0
    for in_base, in_side, length in matching_blocks(base, side):
        assert base[in_base : in_base + length] == side[in_side : in_side + length]
        assert in_base >= at_base
        assert in_side >= at_side
        at_base, at_side = in_base + length, in_side + length


@given(LINES, LINES, LINES)
def test_sides_can_be_read_back_from_conflicts(base: list[str], ours: list[str], theirs: list[str]) -> None:
    """With one side unchanged the merge is the other; swapped sides swap the conflicts alone."""
    assert (
        functools.reduce(
            operator.iadd, (c for c in merge_lines(base, base, theirs) if isinstance(c, list)), []
        )
        == theirs
    )
    swapped = [c[::-1] if isinstance(c, tuple) else c for c in merge_lines(base, theirs, ours)]
    assert merge_lines(base, ours, theirs) == swapped


def test_distant_changes_merge_and_neighbours_conflict() -> None:
    """Changes with an unchanged line between them merge; changes side by side are one conflict, as in git."""
    base = ["1\n", "2\n", "3\n"]
    assert merge_lines(base, ["x\n", "2\n", "3\n"], ["1\n", "2\n", "y\n"]) == [["x\n"], ["2\n"], ["y\n"]]
    assert merge_lines(base, ["x\n", "2\n", "3\n"], ["1\n", "y\n", "3\n"])[0] == (
        ["x\n", "2\n"],
        ["1\n", "y\n"],
    )


def test_large_rewrites_need_no_large_table() -> None:
    """Thousands of repeated lines on both sides stay quick and lose nothing."""
    base = ["a\n", "b\n"] * 3000
    ours = ["b\n", "c\n"] * 3000
    assert functools.reduce(operator.iadd, merge_lines(base, ours, base), []) == ours
