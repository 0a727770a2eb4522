"""The text of a merge by `merge_content`: by the LLM where one is configured, otherwise by sentences."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.model import Bullet

LEDGER_MODE = "merge"


def combined_text(project: Project, a: Bullet, b: Bullet) -> str:
    """Return the LLM's text for two bullets that are one lesson, "" where sentences are to be joined.

    Nothing is asked under `keep_best`, in the mode `rules`, without an LLM, or
    when one text holds the other. An LLM that fails leaves the merge as it is
    without one. It takes as long as the LLM does: hold no lock.
    """
    config = project.config
    if config.curator.merge_strategy != "merge_content" or config.reflector.mode == "rules":
        return ""
    if a.text in b.text or b.text in a.text:
        return ""
    from memx.app.llm import Ledger, is_configured, open_caller, open_model
    from memx.errors import LlmError
    from memx.reflector.llm.combine import combine

    if not is_configured(config.llm):
        return ""
    try:
        model = open_model(project, config.llm)
    except LlmError:
        return ""
    caller = open_caller(project, config.llm, model, Ledger(project, LEDGER_MODE, model.name))
    return combine(a.text, b.text, caller, lambda text: project.sanitizer.sanitize(text).text)
