"""Grow-only counters: merged by the maximum within a clone, added over clones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memx.store.usage import add_usage, format_usage, merge_usage, parse_usage

ids = st.sampled_from(["a123456789", "b123456789", "c123456789"])
usages = st.dictionaries(ids, st.tuples(st.integers(0, 999), st.integers(0, 999)))


@given(usages, usages, usages)
def test_merge_is_order_free_and_idempotent(
    a: dict[str, tuple[int, int]], b: dict[str, tuple[int, int]], c: dict[str, tuple[int, int]]
) -> None:
    """In any order, however often: the same state, never below any of its parts."""
    merged = merge_usage([a, b, c])
    assert merged == merge_usage([c, merge_usage([b, a]), a, merged])
    assert all(merged[name][0] >= recalled for part in (a, b, c) for name, (recalled, _) in part.items())
    assert add_usage([a, b]) == add_usage([b, a])


@given(usages)
def test_text_reads_back(usage: dict[str, tuple[int, int]]) -> None:
    """Parse and format are inverse, and equal counters give equal bytes."""
    assert parse_usage(format_usage(usage)) == usage
    assert format_usage(usage) == format_usage(dict(reversed(usage.items())))


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    """A teammate's ref is foreign input: what is no counter is skipped."""
    for name, (recalled, folded) in parse_usage(data).items():
        assert name.isalnum()
        assert 0 <= recalled < 10**9
        assert 0 <= folded < 10**9
