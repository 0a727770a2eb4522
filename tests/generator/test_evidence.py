"""What the best hit of a store needs, by the size of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from memx.generator.evidence import (
    HELD_COSINE,
    MOST_EVIDENCE,
    SOME_EVIDENCE,
    held_words,
    needed_evidence,
    semantic_of,
)
from memx.generator.fuzzy import telling_words

if TYPE_CHECKING:
    from tests.generator.conftest import Corpus


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_needed_evidence_grows_with_the_store_within_its_limits(size: int, more: int) -> None:
    """The more bullets, the nearer is the nearest by chance."""
    assert SOME_EVIDENCE <= needed_evidence(size, 0.4) <= needed_evidence(size + more, 0.4) <= MOST_EVIDENCE


def test_small_store_needs_the_least_and_a_big_one_the_most() -> None:
    """Three bullets may be asked vaguely, ten thousand may not."""
    assert needed_evidence(3, 0.4) == SOME_EVIDENCE
    assert needed_evidence(10_000, 0.4) == MOST_EVIDENCE


@given(st.integers(0, 10**7), st.integers(0, 10))
def test_needed_evidence_falls_with_the_words_that_are_held(size: int, words: int) -> None:
    """What shares no word with the query must be nearer, what shares several need not be so near."""
    needed = [needed_evidence(size, 0.4, count) for count in range(words + 2)]
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] >= SOME_EVIDENCE
    assert needed[0] <= 2 * needed[1] <= 2 * MOST_EVIDENCE


def test_held_words_are_counted_in_every_form(corpus: type[Corpus]) -> None:
    """The word itself, an inflection, a synonym and a translation count; what says nothing and a slip do not."""
    found = corpus("Delete the pools before a データベース restarts", "nothing of it")
    query = found.generator().query("remove the pool of the database before its restrat")
    words = telling_words(query)
    cosines = [{"remove": HELD_COSINE, "database": 0.9}.get(word, 0.5) for word in words]
    assert held_words(query, found.packed[0], cosines) == 3
    assert [held_words(query, bullet) for bullet in found.packed] == [1, 0]


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_semantic_is_a_rising_share(first: float, second: float) -> None:
    """Bounded, monotone, 0 for chance and 1 for the same text."""
    low, high = sorted((first, second))
    assert 0 <= semantic_of(low) <= semantic_of(high) <= 1
    assert (semantic_of(0.1), semantic_of(1.0)) == (0.0, 1.0)
