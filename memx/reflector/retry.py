"""Which failure of a session a text speaks of, and how a retry is told where nobody spoke of it."""

from __future__ import annotations

import math

from memx.reflector.episode import content_words
from memx.reflector.tokens import code_tokens
from memx.reflector.variant import find_variants, is_same, shown
from memx.reflector.vocabulary import load_lexicon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.reflector.calls import Call
    from memx.reflector.variant import Variant

_ERROR_CHARS = 120
_FAILED_CHARS = 90
_SHARED_WORDS = 2


def retry_text(variant: Variant, language: str) -> str:
    """Return both commands and the error as one lesson, '' where a command is too long to be shown."""
    templates = load_lexicon(language).templates
    worked, failed = shown(variant.worked.command), shown(variant.failed.command, _FAILED_CHARS)
    steps = shown(" && ".join(variant.steps))
    error = variant.failed.error[:_ERROR_CHARS].rstrip(".。")
    if not worked or (variant.steps and not (steps and failed)):
        return ""
    if not failed:
        return f"`{worked}`."
    form = templates[("prepared" if steps else "retry") + ("" if error else "_short")]
    return form.format(worked=worked, failed=failed, steps=steps, error=error)


def is_spoken_of(variant: Variant, text: str, said_at: Sequence[int], calls: Sequence[Call]) -> bool:
    """Tell whether a text belongs to a retry: said meanwhile, in its words, or right behind with no other names.

    said_at: where among the events the text's sentences stand.
    """
    if any(variant.failed.at < at < variant.worked.at for at in said_at):
        return True
    if any(len(word) > 2 and word in text for word in variant.added):  # noqa: PLR2004
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


def symptom_of(text: str, at: int, calls: Sequence[Call]) -> str:
    """Return the error of the failure that a text said at event `at` speaks of, '' where that is not clear.

    The one whose words it shares, else the nearest that nothing had resolved yet, else the only one.
    """
    failures = [call for call in calls if call.failed and call.error and call.at < at]
    words = content_words(text)
    shared = [len(words & content_words(call.error)) for call in failures]
    if any(shared):
        best = max(range(len(failures)), key=lambda i: (shared[i], i))
        return failures[best].error
    open_ones = [call for call in failures if not _is_resolved(call, at, calls)]
    if open_ones:
        return open_ones[-1].error
    distinct = {" ".join(call.command.split()) for call in failures}
    return failures[-1].error if len(distinct) == 1 else ""


def _is_resolved(failed: Call, at: int, calls: Sequence[Call]) -> bool:
    """Tell whether the same command, or a variant of it, had worked before event `at`."""
    after = [call for call in calls if failed.at < call.at < at]
    if any(call.succeeded and is_same(call.command, failed.command) for call in after):
        return True
    return any(variant.failed is failed for variant in find_variants([failed, *after]))
