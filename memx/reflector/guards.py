"""What voids a sentence: it asks, announces, denies, or only gives the reason for such a one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memx.reflector.vocabulary import Vocabulary


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
    return at < 14 if words.spaced else not words.has("firm", folded)  # noqa: PLR2004


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
    return bool(counts.get("needless")) and bool(counts.get("negated"))
