"""Tokens are estimated per script, and a text that does not fit is cut at a sentence and says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.config import GeneratorConfig
from memx.generator.budget import ELLIPSIS, estimate_tokens, fit, shorten

CONFIG = GeneratorConfig()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("汉" * 300, 200),
        ("a" * 400, 100),
        ("汉" * 300 + "a" * 400, 300),
        ("汉" * 3000, 2000),
        ("a" * 8000, 2000),
        ("", 0),
        ("a", 1),
        ("カナ、", 2),
        ("한글 ok", 3),
        ("ＡＢＣ", 2),
    ],
)
def test_estimate_follows_the_designs_arithmetic(text: str, tokens: int) -> None:
    """ceil(CJK / 1.5 + others / 4), kana, Hangul, full-width forms and CJK punctuation being CJK."""
    assert estimate_tokens(text, CONFIG) == tokens


@pytest.mark.parametrize("text", ["汉" * 3000, "a" * 8000])
def test_default_budget_holds_exactly_its_characters(text: str) -> None:
    """2,000 tokens hold 3,000 Han or 8,000 Latin characters, and one more does not fit."""
    assert [f.truncated for f in fit([("", text)], CONFIG)] == [False]
    assert [f.truncated for f in fit([("", f"{text}汉")], CONFIG)] == [True]


def test_text_over_the_rest_is_cut_at_a_sentence_and_ends_the_list() -> None:
    """Whole bullets in rank order, then one shortened at a sentence end, then nothing."""
    texts = ["x" * 40, "First sentence here. Second one is much longer than what is left over.", "short"]
    fitted = fit([("", text) for text in texts], CONFIG, 20)
    assert [(f.text, f.truncated) for f in fitted] == [
        ("x" * 40, False),
        (f"First sentence here.{ELLIPSIS}", True),
    ]
    assert sum(f.tokens for f in fitted) <= 20


def test_shorten_knows_the_sentence_ends_of_cjk() -> None:
    """A full stop of Chinese or Japanese needs no blank after it."""
    assert shorten("第一句话。第二句话很长很长很长很长", 9, CONFIG) == f"第一句话。{ELLIPSIS}"


def test_shorten_does_not_cut_inside_a_version() -> None:
    """The point of 3.11 ends no sentence."""
    assert shorten("Use it. Then version 3.11 of everything", 8, CONFIG).startswith("Use it. Then"[:7])


@given(st.text(max_size=200), st.text(max_size=300), st.integers(0, 60))
def test_fit_never_exceeds_the_budget(title: str, text: str, budget: int) -> None:
    """Whatever title and text, what is returned fits, and only a shortened bullet differs."""
    fitted = fit([(title, text), (title, text)], CONFIG, budget)
    assert sum(f.tokens for f in fitted) <= budget
    assert all(f.tokens == estimate_tokens(f.title + f.text, CONFIG) for f in fitted)
    assert all(f.truncated or (f.title, f.text) == (title, text) for f in fitted)


def test_long_title_leaves_half_of_the_budget_to_its_text() -> None:
    """A title is shortened too: a store that anybody may write must not flood a prompt."""
    [found] = fit([("pool " * 10_000, "Set the ceiling of the pool to 50. " * 20)], CONFIG, 40)
    assert found.truncated
    assert found.title.startswith("pool pool")
    assert estimate_tokens(found.title, CONFIG) <= 20 < estimate_tokens(found.text, CONFIG) + 5
