"""What voids a sentence: it asks, announces, denies, or only gives the reason for such a one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memx.reflector.vocabulary import Vocabulary


_BEGINNING = 14
"""Characters in which a plan is announced; a third of it without spaces."""
_ENDING = 9
"""Characters at the end in which Japanese announces one."""


def is_question(sentence: str, folded: str, words: Vocabulary) -> bool:
    """Tell whether a sentence asks."""
    ending = sentence.rstrip("\"'”»)）」 ")
    if ending.endswith(("?", "？")):
        return True
    at = words.first("asked", folded)
    if at < 0:
        return False
    return at <= 1 if words.spaced else folded.rstrip(" 。").endswith(("か", "吗", "呢"))


def is_plan(folded: str, words: Vocabulary) -> bool:
    """Tell whether a sentence only announces what somebody means to do."""
    at = words.first("planned", folded)
    if at < 0:
        return False
    if words.spaced:
        return at < _BEGINNING
    return at < _BEGINNING // 3 or words.has("planned", folded[-_ENDING:]) or not words.has("firm", folded)


def is_marked(text: str) -> bool:
    """Tell whether a sentence is marked as work to be done; lower case is a word of Spanish."""
    return "TODO" in text or "FIXME" in text


def is_request(folded: str, words: Vocabulary) -> bool:
    """Tell whether a sentence asks for work to be done."""
    at = words.first("requested", folded)
    return 0 <= at <= 1 or (at >= 0 and not words.spaced)


def is_reason(folded: str, words: Vocabulary) -> bool:
    """Tell whether a sentence only gives the reason for the one before."""
    if words.language == "ja":
        return folded.rstrip(" 。").endswith(("ため", "から", "ので"))
    return 0 <= words.first("reason", folded) <= 1


def is_denied(counts: Mapping[str, int]) -> bool:
    """Tell whether a sentence says that something did not happen and that nothing is needed."""
    # What is needless is negated too: only a further negation denies the whole sentence.
    return 0 < counts.get("needless", 0) < counts.get("negated", 0)
