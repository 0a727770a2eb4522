"""Which failure of a session a text speaks of, and how a retry is told where nobody spoke of it."""

from __future__ import annotations

import math
import re

from memx.reflector.calls import steps_of
from memx.reflector.episode import content_words
from memx.reflector.pattern import pattern
from memx.reflector.tokens import code_tokens
from memx.reflector.variant import open_failures, shown
from memx.reflector.vocabulary import load_lexicon, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.reflector.calls import Call
    from memx.reflector.variant import Variant

_WORD = pattern(r"[\w.:/=@+-]+", re.ASCII)
_ERROR_CHARS = 120
_FAILED_CHARS = 90
_SHARED_WORDS = 2


def retry_text(variant: Variant, language: str) -> str:
    """Return both commands and the error as one lesson, '' where a command is too long to be shown."""
    templates = load_lexicon(language).templates
    worked, failed = shown(variant.worked.command), shown(variant.failed.command, _FAILED_CHARS)
    if not variant.steps:
        worked = worked or shown(_only_in(variant.worked.command, variant.failed.command))
        failed = failed or shown(_only_in(variant.failed.command, variant.worked.command), _FAILED_CHARS)
    steps = shown(" && ".join(variant.steps))
    error = variant.failed.error[:_ERROR_CHARS].rstrip(".。")
    if not worked or (variant.steps and not (steps and failed)):
        return ""
    if not failed:
        return f"`{worked}`."
    form = templates[("prepared" if steps else "retry") + ("" if error else "_short")]
    return form.format(worked=worked, failed=failed, steps=steps, error=error)


def _only_in(command: str, other: str) -> str:
    """Return the steps of a long command that the other one does not have."""
    known = set(steps_of(other))
    return " && ".join(step for step in steps_of(command) if step not in known)


def is_spoken_of(variant: Variant, text: str, said_at: Sequence[int], calls: Sequence[Call]) -> bool:
    """Tell whether a text belongs to a retry: said meanwhile, in its words, or right behind with no other names.

    said_at: where among the events the text's sentences stand.
    """
    if any(variant.failed.at < at < variant.worked.at for at in said_at):
        return True
    spoken = set(_WORD.findall(text))
    if any(len(word) > 2 and word in spoken for word in variant.added):  # noqa: PLR2004
        return True
    names = content_words(f"{variant.failed.command} {variant.failed.error} {' '.join(variant.steps)}")
    if len(names & content_words(text)) >= _SHARED_WORDS:
        return True
    next_failure = min((c.at for c in calls if c.failed and c.at > variant.worked.at), default=math.inf)
    behind = any(variant.worked.at < at < next_failure for at in said_at)
    return behind and not _names_others(text, variant)


def _names_others(text: str, variant: Variant) -> bool:
    """Tell whether a text names things, but none that the commands or their outputs hold."""
    tokens = [token.strip("`") for token in code_tokens(text)]
    ran = (variant.failed, variant.worked)
    seen = "\n".join(f"{call.command}\n{call.result}" for call in ran)
    return bool(tokens) and not any(token in seen for token in tokens)


def symptom_of(text: str, at: int, calls: Sequence[Call], language: str) -> str:
    """Return the error of the failure that a text said at event `at` speaks of, '' where that is not clear.

    The one whose telling words it shares, else the nearest that nothing had resolved yet, else the only one.
    """
    before = [call for call in calls if call.at < at]
    failures = [call for call in before if call.failed and call.error]
    words = _telling(text, language)
    shared = [len(words & content_words(call.error)) for call in failures]
    if any(shared):
        return failures[max(range(len(failures)), key=lambda i: (shared[i], i))].error
    unresolved = [call for call in open_failures(before) if call.error]
    if unresolved:
        return unresolved[-1].error
    distinct = {" ".join(call.command.split()) for call in failures}
    return failures[-1].error if len(distinct) == 1 else ""


def _telling(text: str, language: str) -> set[str]:
    """Return the words of a text but those that any lesson has: error, failed, tests."""
    words = vocabulary(language)
    return {word for word in content_words(text) if not words.tally(f" {word} ")}
