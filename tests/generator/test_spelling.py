"""Edit distance against a plain definition."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memx.generator.spelling import allowed_edits, edit_distance, near_words, parts_of


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ("pytest", "pytset", 1),
        ("timeout", "timeuot", 1),
        ("redis", "reids", 1),
        ("cache", "cachee", 1),
        ("cache", "cach", 1),
        ("cache", "cafhe", 1),
        ("connection", "conection", 1),
        ("connection", "connetcoin", 2),
        ("kubernetes", "kubernets", 1),
        ("redis", "kafka", 3),
        ("", "ab", 2),
    ],
)
def test_distance_counts_slips(first: str, second: str, distance: int) -> None:
    """Insertions, deletions, substitutions and transpositions count one each, cut off above two."""
    assert edit_distance(first, second, 2) == distance == edit_distance(second, first, 2)


@pytest.mark.parametrize(
    ("word", "edits"),
    [("api", 0), ("redis", 1), ("timeout", 1), ("pipeline", 2), ("utf8x", 0), ("max_pool", 0)],
)
def test_longer_words_forgive_more(word: str, edits: int) -> None:
    """None below 4 letters, one below 8, else two; identifiers and numbers forgive nothing."""
    assert allowed_edits(word) == edits


@given(st.text("abcd", min_size=8, max_size=10), st.integers(0, 7), st.sampled_from("xyz"))
def test_a_substituted_letter_is_always_found(word: str, at: int, letter: str) -> None:
    """One slip anywhere in a long word leaves a part whole by which it is found."""
    slip = word[:at] + letter + word[at + 1 :]
    assert near_words(word, 2, f" other {slip} words ", {}) == 1


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_distance_is_symmetric_and_zero_only_for_equals(first: str, second: str) -> None:
    """It is a distance as far as the limit lets one see."""
    assert edit_distance(first, second, 2) == edit_distance(second, first, 2)
    assert (edit_distance(first, second, 2) == 0) == (first == second)


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_narrower_limit_cuts_the_same_distance_off(first: str, second: str) -> None:
    """A limit of one edit, which needs no table, says what the table says."""
    assert edit_distance(first, second, 1) == min(edit_distance(first, second, 2), 2)


@given(
    st.text("abcd", min_size=4, max_size=8), st.lists(st.text("abcde", min_size=1, max_size=9), min_size=1)
)
@example(word="abab", others=["aabb"])
@example(word="aaba", others=["abaa"])
def test_words_without_common_letters_are_passed_over_rightly(word: str, others: list[str]) -> None:
    """What is not compared letter by letter is no nearer than what is allowed."""
    for edits in (1, 2):
        found = near_words(word, edits, f" {' '.join(others)} ", {})
        kept = [o for o in others if any(part in o for part in parts_of(word, edits))]
        nearest = min([edit_distance(word, other, edits) for other in kept], default=edits + 1)
        assert found == (max(nearest, 1) if nearest <= edits else None)
