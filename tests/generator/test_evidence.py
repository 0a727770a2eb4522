"""What the best hit of a store needs, by the size of the store."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memx.generator.evidence import MOST_EVIDENCE, SOME_EVIDENCE, needed_evidence, semantic_of


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_needed_evidence_grows_with_the_store_within_its_limits(size: int, more: int) -> None:
    """The more bullets, the nearer is the nearest by chance."""
    assert SOME_EVIDENCE <= needed_evidence(size, 0.4) <= needed_evidence(size + more, 0.4) <= MOST_EVIDENCE


def test_small_store_needs_the_least_and_a_big_one_the_most() -> None:
    """Three bullets may be asked vaguely, ten thousand may not."""
    assert needed_evidence(3, 0.4) == SOME_EVIDENCE
    assert needed_evidence(10_000, 0.4) == MOST_EVIDENCE


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_semantic_is_a_rising_share(first: float, second: float) -> None:
    """Bounded, monotone, 0 for chance and 1 for the same text."""
    low, high = sorted((first, second))
    assert 0 <= semantic_of(low) <= semantic_of(high) <= 1
    assert (semantic_of(0.1), semantic_of(1.0)) == (0.0, 1.0)
