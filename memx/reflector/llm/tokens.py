"""How many tokens a text is, near enough to budget with: a character of CJK is 1/1.5, any other 1/4."""

from __future__ import annotations

import math

from memx.reflector.language import is_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector.llm.port import Prompt

CJK_CHARS_PER_TOKEN = 1.5
OTHER_CHARS_PER_TOKEN = 4.0
ANSWER_TOKENS_PER_CANDIDATE = 70
"""What a judged and rewritten candidate takes in the answer: a lesson and some JSON around it."""


def estimate_tokens(text: str) -> int:
    """Return the estimate, rounded up."""
    wide = 0 if text.isascii() else sum(map(is_cjk, text))
    return math.ceil(wide / CJK_CHARS_PER_TOKEN + (len(text) - wide) / OTHER_CHARS_PER_TOKEN)


def prompt_tokens(prompt: Prompt) -> int:
    """Return the estimate of a whole prompt."""
    return estimate_tokens(prompt.system) + estimate_tokens(prompt.text)
