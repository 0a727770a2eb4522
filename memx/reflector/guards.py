"""What voids a sentence: it asks, announces, offers, supposes, denies, or only gives the reason for such a one."""

from __future__ import annotations

import re

from memx.reflector.pattern import pattern
from memx.reflector.tokens import code_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memx.reflector.segment import Sentence
    from memx.reflector.vocabulary import Vocabulary

_RELEASE = pattern(
    r"(?:[a-z]+(?:\([^)]*\))?:\s*)?(?:#+\s*)?"
    r"(?:(?:release(?:[sd]|d as)?|releasing|version|v|发布|发版|版本|リリース|バージョン|versión"
    r"|publica\w*(?: la)?(?: versión)?|lanza\w*(?: la)?(?: versión)?)[\s:：-]*v?\d+(?:\.\d+)+"
    r"|v?\d+\.\d+(?:\.\d+)*(?:\s*$|\s*[:：(–—-]|\s+(?:released?|发布|リリース))"
    r"|(?:changelog|release notes?|what(?:['’]s| is) new|更新日志|更新说明|发布说明|変更履歴|更新履歴|リリースノート"
    r"|notas de (?:la )?(?:versión|publicación)|registro de cambios|novedades)\b)",
    re.IGNORECASE,
)
_PARTS = pattern(r"[,;，；、]\s*|\sand\s|\sy\s")
_CHANGES = 2
"""How many changes make a list of them."""
_BEGINNING = 14
"""Characters in which a plan is announced; a third of it without spaces."""
_ENDING = 9
"""Characters at the end in which Japanese announces one."""
_REFUTATION = 44
"""Characters at the end in which a supposition is taken back with nothing behind it; a third without spaces."""
_OFFER = 28
"""Characters at the end in which an offer leaves it to the other one; a third of it without spaces."""


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
    if words.spaced:
        return 0 <= at <= 1
    # Not this but that, done in such a way: a rule, however politely it is put.
    return at >= 0 and not (words.has("contrast", folded) or words.has("directive", folded))


def is_reason(folded: str, words: Vocabulary) -> bool:
    """Tell whether a sentence only gives the reason for the one before."""
    if words.language == "ja":
        return folded.rstrip(" 。").endswith(("ため", "から", "ので"))
    return 0 <= words.first("reason", folded) <= 1


def is_denied(counts: Mapping[str, int]) -> bool:
    """Tell whether a sentence says that something did not happen and that nothing is needed."""
    # What is needless is negated too: only a further negation denies the whole sentence.
    return 0 < counts.get("needless", 0) < counts.get("negated", 0)


def is_offer(folded: str, words: Vocabulary) -> bool:
    """Tell whether a sentence only offers to do something: `… if you want`, `let me know`."""
    return words.has("offered", folded) or words.has("offered_last", _ending(folded, _OFFER, words))


def is_refuted(folded: str, words: Vocabulary) -> bool:
    """Tell whether a text takes a supposition back and says nothing of what was so instead."""
    return words.has("supposed", folded) and words.has("refuted", _ending(folded, _REFUTATION, words))


def is_personal(text: str, folded: str, words: Vocabulary) -> bool:
    """Tell whether a text speaks of people, and of no identifier: thanks, names, likings, reproaches."""
    return words.has("personal", folded) and not code_tokens(text)


def leans(sentence: Sentence, words: Vocabulary) -> bool:
    """Tell whether a sentence begins with a word that means nothing without the one before: `they`, `otherwise`."""
    return _is_worded("leaning", sentence, words)


def advises(sentence: Sentence, words: Vocabulary) -> bool:
    """Tell whether a sentence says what to do by its form: `Parse it as int64.`."""
    return _is_worded("imperative", sentence, words)


def narrates(sentence: Sentence, words: Vocabulary) -> bool:
    """Tell whether a sentence is of the conversation alone: `checking the logs`, `no`, `you edited the wrong file`."""
    return _is_worded("narration", sentence, words)


def _is_worded(wording: str, sentence: Sentence, words: Vocabulary) -> bool:
    masked = sentence.masked.strip().lower()
    return any(form.search(masked) for form in words.patterns(wording, masked, masked))


def is_slip(text: str, folded: str, words: Vocabulary) -> bool:
    """Tell whether a slip of the pen was all that was amiss: its reason teaches nothing."""
    if not words.has("slip", folded):
        return False
    ruled = words.spaced and words.has("directive", folded)
    return not (ruled or words.has("hazard", folded) or code_tokens(text))


def is_release_note(sentences: Sequence[Sentence]) -> bool:
    """Tell whether a text lists what a release brings: a heading with a version, then several changes."""
    if not sentences or not _RELEASE.match(sentences[0].text.strip()):
        return False
    return len(sentences) > _CHANGES or len(_PARTS.findall(sentences[0].text)) >= _CHANGES


def is_hypothetical(before: str, clause: str, words: Vocabulary) -> bool:
    """Tell whether a deed was not done but could be: a modal or an ability in its clause, or a condition before it.

    before: the folded text up to the deed; clause: the folded clause up to the deed, in Japanese to its end.
    """
    return (
        words.has("contingent", before) or words.has("hypothetical", clause) or words.has("ability", clause)
    )


def _ending(folded: str, length: int, words: Vocabulary) -> str:
    """Return the last words of a folded text, which begin and end with a blank."""
    ending = folded.rstrip(" 。")[-(length if words.spaced else length // 3) :]
    return f" {ending} "
