"""Trailers that only fill their place: `none`, `TODO`, a question, what is yet undecided."""

from __future__ import annotations

from memx.reflector.guards import is_question
from memx.reflector.pattern import pattern
from memx.reflector.vocabulary import fold, languages, load_lexicon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector.vocabulary import Vocabulary

_CLAUSE = pattern(r"[.;!?](?:\s|$)|[。；！？，、]|,\s|\s[-–—]\s|[:：]\s")
_MARKS = ("TODO", "FIXME", "TBD", "XXX", "WIP", "N/A")
_OPENINGS = "[(<{*_- `\"'"
_ENDINGS = "。！.! 　"
_ONE_WORD = 24
"""Characters of one word that is no lesson; a longer one is a path or a command."""


def says_nothing(text: str, words: Vocabulary) -> bool:
    """Tell whether a text in the place of a lesson holds none, because there is none or none yet."""
    folded = fold(text.strip(_ENDINGS))
    content = folded.split()
    if not content or text.lstrip(_OPENINGS).startswith(_MARKS):
        return True
    # So short a text does not tell its language.
    if any(load_lexicon(language).is_only("placeholder", folded) for language in languages()):
        return True
    if is_question(text, folded, words):
        return True
    if len(content) == 1 and content[0].isascii() and len(content[0]) <= _ONE_WORD:
        return True
    clauses = [fold(clause) for clause in _CLAUSE.split(text) if fold(clause).strip()]
    if words.has("undecided", clauses[0]):
        return True
    return words.spaced and any(words.first("undecided", clause) == 0 for clause in clauses)
