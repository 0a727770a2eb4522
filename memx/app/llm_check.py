"""Asks the configured LLM one tiny thing, and so tests the whole way to it and back."""

from __future__ import annotations

import time

from memx.amount import amount
from memx.app.doctor import Check
from memx.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project

_NAME = "llm"


def check_llm(project: Project) -> Check:
    """Return whether the LLM answers as it must; one call, within the caps and in the ledger."""
    from memx.app.llm import Ledger, is_configured, open_caller, open_model
    from memx.errors import LlmError
    from memx.reflector.llm.answer import parse_judgements
    from memx.reflector.llm.prompts import tiny_prompt

    config = replace(project.config.llm, retries=0)
    if not is_configured(config):
        hint = "memx config set llm.model NAME --user"
        return Check(_NAME, False, "none is configured", hint)  # noqa: FBT003 (a field)
    try:
        model = open_model(project, config)
        caller = open_caller(project, config, model, Ledger(project, "doctor", model.name))
        started = time.monotonic()
        answer = caller.ask(tiny_prompt())
        took = time.monotonic() - started
        parse_judgements(answer.text, 1)
    except LlmError as error:
        return Check(_NAME, False, error.message, error.hint or "")  # noqa: FBT003 (a field)
    cost = f"{took:.1f} s, {amount(answer.tokens_in, 'token')} in, {answer.tokens_out} out"
    return Check(_NAME, True, f"{model.name} answers: {cost}")  # noqa: FBT003 (a field)
