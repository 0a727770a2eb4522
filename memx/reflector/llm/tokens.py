"""How many tokens a text is, near enough to budget with: a character of CJK is 1/1.5, any other 1/4."""

from __future__ import annotations

import math

from memx.reflector.language import is_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector.llm.port import Prompt

CJK_CHARS_PER_TOKEN = 1.5
OTHER_CHARS_PER_TOKEN = 4.0
LONGEST_ANSWER = 1500
"""A whole session gives a handful of lessons, however long it is."""


def estimate_tokens(text: str) -> int:
    """Return the estimate, rounded up."""
    wide = 0 if text.isascii() else sum(map(is_cjk, text))
    return math.ceil(wide / CJK_CHARS_PER_TOKEN + (len(text) - wide) / OTHER_CHARS_PER_TOKEN)


def prompt_tokens(prompt: Prompt) -> int:
    """Return the estimate of a whole prompt."""
    return estimate_tokens(prompt.system) + estimate_tokens(prompt.text)


def expected_answer(prompt: Prompt) -> int:
    """Return the estimate of an answer's tokens: about as many words as were sent, and some JSON around them."""
    return min(estimate_tokens(prompt.text) + 20, LONGEST_ANSWER)
