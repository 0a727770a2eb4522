"""A misspelt word of the query, put right by the words of the candidates, before the query is embedded.

L2 forgives a slip word by word; an embedding does not: `conection` breaks into
pieces that mean something else. A word is a slip when no bullet holds it in any
form and the model does not know it whole; it is read as the word one edit away
that most of the candidates hold.
"""

from __future__ import annotations

from memx.generator.spelling import allowed_edits, near_words
from memx.index.analysis import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memx.generator.query import Query
    from memx.index.packed import PackedBullet

_SHORTEST = 3
"""Letters that a word has which a slip may have meant."""


def correct(query: Query, bullets: Sequence[PackedBullet], is_known: Callable[[str], bool]) -> str:
    """Return the query's text with its slips corrected; `is_known` says whether the model has a word whole."""
    text = query.text
    for weighted in query.terms:
        word = weighted.term.exact
        if not (weighted.is_unknown and weighted.may_be_misspelt and allowed_edits(word)) or is_known(word):
            continue
        meant = _meant(fold(word), bullets)
        if meant:
            text = _replaced(text, word, meant)
    return text


def _meant(word: str, bullets: Sequence[PackedBullet]) -> str:
    """Return the word one edit away that most bullets hold, the first by the alphabet among equals."""
    distances: dict[str, int] = {}
    for bullet in bullets:
        near_words(word, 1, bullet.exact, distances)
    near = [other for other, distance in distances.items() if distance == 1 and len(other) >= _SHORTEST]
    if not near:
        return ""
    return min(near, key=lambda other: (-sum(f" {other} " in bullet.exact for bullet in bullets), other))


def _replaced(text: str, word: str, other: str) -> str:
    chunks = (chunk.lower() for chunk in text.split())
    return " ".join(chunk.replace(word, other) for chunk in chunks)
