"""One text out of two lessons that are the same: an LLM writes it, and nothing of either may be lost or added."""

from __future__ import annotations

from memx.errors import LlmError
from memx.reflector.language import detect_language
from memx.reflector.llm.answer import parse_judgements
from memx.reflector.llm.prompts import combine_prompt
from memx.reflector.llm.validate import find_loss

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memx.reflector.llm.caller import Caller


def combine(a: str, b: str, caller: Caller, sanitize: Callable[[str], str]) -> str:
    """Return one text that says what both say, "" when the LLM gives none that may stand for them."""
    a, b = sanitize(a), sanitize(b)
    prompt = combine_prompt((a, b), detect_language(a))
    try:
        answer = caller.ask(prompt)
    except LlmError:
        return ""
    try:
        judgements = parse_judgements(answer.text, 1)
    except LlmError:
        caller.refuse()
        return ""
    raw = judgements[1].text
    text = sanitize(raw)
    if find_loss((a, b), raw) or find_loss((a, b), text):
        caller.refuse()
        return ""
    caller.keep(prompt, answer)
    return text
