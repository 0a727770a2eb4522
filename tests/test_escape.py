"""Characters that act become characters that are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.escape import show_controls


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("a\u202eb", "a\\u202eb"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("日本語 ok", "日本語 ok"),
        ("tag\U000e00411", "tag\\U000e00411"),
        ("a\ufffeb\uffffc\ufdd0d\U0010ffff", "a\\ufffeb\\uffffc\\ufdd0d\\U0010ffff"),
        ("\ud83d", "\ufffd"),
    ],
)
def test_known_text_shown(text: str, shown: str) -> None:
    """Escape sequences, direction marks and hidden characters are visible; scripts stay."""
    assert show_controls(text) == shown


@given(st.text())
def test_any_text_encodes_and_is_stable(text: str) -> None:
    """The result always encodes, holds no escape character, and a second pass changes nothing."""
    shown = show_controls(text)
    shown.encode()
    assert "\x1b" not in shown
    assert show_controls(shown) == shown
