"""L2: words that are nearly the same: inflected, misspelt, accented, part of a compound (0-10)."""

from __future__ import annotations

from memx.generator.spelling import allowed_edits, edit_distance
from memx.index.analysis import WORD, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.generator.query import Query
    from memx.index.analysis import Term
    from memx.index.packed import PackedBullet

FUZZY_MAX = 10.0

STEM_CREDIT = 0.9
PIECE_CREDIT = 0.7
EDIT_CREDIT = (1.0, 0.75, 0.55)
"""Credit of a term that is found by its stem, by its pieces, with 0, 1 or 2 slips; an exact one earns 1."""


class FuzzyMatcher:
    """Scores how much of the query, by weight, a bullet holds in some form; remembers words it compared."""

    def __init__(self) -> None:
        """Start with no comparisons made."""
        self._compared: dict[str, set[str]] = {}
        self._near: dict[str, dict[str, int]] = {}

    def score(self, query: Query, bullet: PackedBullet) -> float:
        """Return 0-10: an exact word earns its full share here too."""
        total = query.weight
        if not total:
            return 0.0
        found = sum(w.weight * self._credit(w.term, bullet, spell=not w.is_stopword) for w in query.terms)
        return FUZZY_MAX * found / total

    def _credit(self, term: Term, bullet: PackedBullet, *, spell: bool) -> float:
        if f" {term.exact} " in bullet.exact:
            return 1.0
        if any(f" {stem} " in bullet.stems for stem in term.stems):
            return STEM_CREDIT
        if term.pieces:
            found = sum(any(f" {stem} " in bullet.stems for stem in piece) for piece in term.pieces)
            return PIECE_CREDIT * found / len(term.pieces)
        if not spell or term.kind != WORD:
            return 0.0
        distance = self._distance(term, bullet)
        return 0.0 if distance is None else EDIT_CREDIT[distance]

    def _distance(self, term: Term, bullet: PackedBullet) -> int | None:
        """Return the smallest allowed distance from a term to a word of the bullet."""
        word = fold(term.exact)
        limit = allowed_edits(word)
        if not limit:
            return None
        near = self._near.setdefault(word, {})
        compared = self._compared.setdefault(word, set())
        present = set(bullet.exact.split())
        present.update(bullet.stems.split())
        targets = (word, *term.stems)
        for other in present - compared:
            if abs(len(other) - len(word)) <= limit + 3 and other.isalpha():
                self._compare(other, targets, limit, near)
        compared |= present
        return min((near[other] for other in near.keys() & present), default=None)

    def _compare(self, other: str, targets: tuple[str, ...], limit: int, near: dict[str, int]) -> None:
        folded = fold(other)
        distance = min(edit_distance(folded, target, limit) for target in targets)
        if 0 <= distance <= limit:
            near[other] = max(distance, 1)
