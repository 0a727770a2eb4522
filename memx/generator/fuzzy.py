"""L2: words that are nearly the same: inflected, misspelt, accented, part of a compound (0-10)."""

from __future__ import annotations

from memx.generator.density import density
from memx.generator.spelling import allowed_edits, near_words, parts_of
from memx.index.analysis import CJK, WORD, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.generator.query import Query
    from memx.index.analysis import Term
    from memx.index.packed import PackedBullet

    _Target = tuple[str, int, tuple[str, ...], dict[str, int]]

FUZZY_MAX = 10.0

STEM_CREDIT = 0.95
PIECE_CREDIT = 0.7
CHARACTER_CREDIT = 0.05
EDIT_CREDIT = (0.95, 0.85, 0.7)
"""Credit of a term that is found by its stem, by its pieces, by its single CJK characters, or with 0, 1 or 2
slips; an exact one earns 1. Each is multiplied by its density."""

_STEM_PREFIX = 3
"""A stem begins as its word does; a synonym does not, and is not tried in other spellings."""


class FuzzyMatcher:
    """Scores how much of the query, by weight, a bullet holds in some form; remembers words it compared."""

    def __init__(self) -> None:
        """Start with no comparisons made."""
        self._targets: dict[str, tuple[_Target, ...]] = {}

    def score(self, query: Query, bullet: PackedBullet) -> float:
        """Return 0-10: an exact word earns its full share here too."""
        if query.terms and query.exact in bullet.exact:
            return FUZZY_MAX
        total = query.weight
        if not total:
            return 0.0
        found = sum(w.weight * self._credit(w.term, bullet, spell=w.may_be_misspelt) for w in query.terms)
        # Divided first: a full match is the bound itself, not one rounding above.
        return FUZZY_MAX * min(1.0, found / total)

    def _credit(self, term: Term, bullet: PackedBullet, *, spell: bool) -> float:
        count = bullet.exact.count(f" {term.exact} ")
        stems = max([bullet.stems.count(f" {stem} ") for stem in term.stems], default=0)
        if count or stems:
            share = 1.0 if count else STEM_CREDIT
            return share * density(max(count, stems), bullet.length)
        return self._resemblance(term, bullet, spell=spell) * density(1, bullet.length)

    def _resemblance(self, term: Term, bullet: PackedBullet, *, spell: bool) -> float:
        """Return the credit of a term that is there neither as it is nor by its stem."""
        if term.kind == CJK:
            return CHARACTER_CREDIT * _characters(term, bullet)
        if term.pieces:
            found = sum(any(f" {stem} " in bullet.stems for stem in piece) for piece in term.pieces)
            return PIECE_CREDIT * found / len(term.pieces)
        if not spell or term.kind != WORD:
            return 0.0
        distance = self._distance(term, bullet)
        return 0.0 if distance is None else EDIT_CREDIT[distance]

    def _distance(self, term: Term, bullet: PackedBullet) -> int | None:
        """Return the smallest allowed distance from a term, or its stem, to a word of the bullet."""
        targets = self._targets.get(term.exact)
        if targets is None:
            targets = self._targets[term.exact] = _targets(term)
        best: int | None = None
        for target, edits, parts, known in targets:
            distance = near_words(target, edits, bullet.stems, known, parts)
            if distance is not None and (best is None or distance < best):
                best = distance
        return best


def _targets(term: Term) -> tuple[_Target, ...]:
    """Return the words whose slips count for a term: itself and its stems."""
    word = fold(term.exact)
    return tuple(
        (target, edits, parts_of(target, edits), {})
        for target in dict.fromkeys((word, *term.stems))
        if (edits := allowed_edits(target)) and word.startswith(target[:_STEM_PREFIX])
    )


def _characters(term: Term, bullet: PackedBullet) -> float:
    """Return the share of a pair's characters that the bullet has; kana alone mean nothing."""
    if len(term.exact) == 1:
        return (f" {term.exact} " in bullet.stems) / CHARACTER_CREDIT
    found = sum(char > "\u30ff" and f" {char} " in bullet.stems for char in term.exact)
    return found / len(term.exact)
