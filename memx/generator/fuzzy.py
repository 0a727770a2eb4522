"""L2: words that are nearly the same: inflected, misspelt, accented, part of a compound (0-10)."""

from __future__ import annotations

from memx.generator.density import dilution
from memx.generator.spelling import allowed_edits, near_words, needles_of
from memx.index.analysis import CJK, WORD, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memx.generator.query import Query, WeightedTerm
    from memx.index.analysis import Term
    from memx.index.packed import PackedBullet

    _Target = tuple[str, int, tuple[str, ...], dict[str, int]]
    _Asked = tuple[str, tuple[str, ...], float, WeightedTerm | None, int]

FUZZY_MAX = 10.0

ENOUGH = 2 / 3
"""Share of the query's weight that earns the whole layer when it is there in some form."""

STEM_CREDIT = 0.95
RELATED_CREDIT = 0.8
PIECE_CREDIT = 0.7
CHARACTER_CREDIT = 0.05
EDIT_CREDIT = (0.95, 0.85, 0.7)
"""Credit of a term that is found by its stem, by a synonym or translation, by its pieces, by its single CJK
characters, or with 0, 1 or 2 slips; an exact one earns 1. Each is multiplied by its density."""

LEAST_COSINE, SAME_COSINE = 0.3, 0.7
"""From where on the nearest word of a bullet is a little related to a word, and from where on as good as a synonym."""

_STEM_PREFIX = 3
"""A stem begins as its word does; a synonym does not, and is not tried in other spellings."""


class FuzzyMatcher:
    """Scores how much of the query, by weight, a bullet holds in some form; remembers words it compared."""

    def __init__(self) -> None:
        """Start with no comparisons made."""
        self._targets: dict[str, tuple[_Target, ...]] = {}
        self._near: dict[str, dict[str, int]] = {}
        self._prepared: Sequence[PackedBullet] = ()
        self._ids: frozenset[int] = frozenset()
        self._query: Query | None = None
        self._asked: tuple[_Asked, ...] = ()
        self._cosines: Mapping[int, Sequence[float]] = {}

    def prepare(
        self, bullets: Sequence[PackedBullet], cosines: Mapping[int, Sequence[float]] | None = None
    ) -> None:
        """Say which bullets are scored next: what resembles a word is then sought in all of them at once.

        `cosines` is {id(bullet): how near it comes to each of `telling_words`}, where that is known.
        """
        self._prepared = bullets
        self._cosines = cosines or {}
        self._ids = frozenset(map(id, bullets))
        self._near = {}

    def score(self, query: Query, bullet: PackedBullet) -> float:
        """Return 0-10: an exact word earns its full share here too."""
        if query.terms and query.exact in bullet.exact:
            return FUZZY_MAX
        total = query.weight
        if not total:
            return 0.0
        if query is not self._query:
            self._query, self._asked = query, _asked(query)
        exact, stems, thin = bullet.exact, bullet.stems, dilution(bullet.length)
        cosines = self._cosines.get(id(bullet), ())
        found = 0.0
        for needle, needles, weight, resembling, place in self._asked:
            count = many = exact.count(needle)
            for stem in needles:
                number = stems.count(stem)
                if number > many:  # noqa: PLR1730 (a call of max costs more than the search)
                    many = number
            if many:
                found += weight * ((1.0 if count else STEM_CREDIT) * (many / (many + thin)))
                continue
            share = 0.0 if resembling is None else self._resemblance(resembling, bullet)
            if cosines and place >= 0 and cosines[place] > LEAST_COSINE:
                share = max(share, related_credit(cosines[place]))
            if share:
                found += weight * (share * (1 / (1 + thin)))
        # Divided first: a full match is the bound itself, not one rounding above.
        return FUZZY_MAX * min(1.0, found / (ENOUGH * total))

    def _resemblance(self, weighted: WeightedTerm, bullet: PackedBullet) -> float:
        """Return the credit of a term that is there neither as it is nor by its stem."""
        term = weighted.term
        if term.kind == CJK:
            return CHARACTER_CREDIT * _characters(term, bullet)
        if term.pieces:
            found = sum(any(f" {stem} " in bullet.stems for stem in piece) for piece in term.pieces)
            return PIECE_CREDIT * found / len(term.pieces)
        distance = self._distance(term, bullet)
        return 0.0 if distance is None else EDIT_CREDIT[distance]

    def _distance(self, term: Term, bullet: PackedBullet) -> int | None:
        """Return the smallest allowed distance from a term, or its stem, to a word of the bullet."""
        if id(bullet) not in self._ids:
            return min(self._distances(term, bullet.stems).values(), default=None)
        near = self._near.get(term.exact)
        if near is None:
            near = self._near[term.exact] = self._distances(term, "".join([b.stems for b in self._prepared]))
        best, view = None, bullet.stems
        for word, distance in near.items():
            if word in view and (best is None or distance < best):
                best = distance
        return best

    def _distances(self, term: Term, view: str) -> dict[str, int]:
        """Return the words of a view that are near a term or its stems, between blanks, with their distances."""
        targets = self._targets.get(term.exact)
        if targets is None:
            targets = self._targets[term.exact] = _targets(term)
        near: dict[str, int] = {}
        for target, edits, needles, known in targets:
            if near_words(target, edits, view, known, needles) is None:
                continue
            for word, distance in known.items():
                if distance <= edits:
                    needle = f" {word} "
                    if needle in view:
                        near[needle] = min(max(distance, 1), near.get(needle, edits))
        return near


def _asked(query: Query) -> tuple[_Asked, ...]:
    """Return what to look for in the views of each bullet, a row a term."""
    asked, place = [], 0
    for w in query.terms:
        stems = tuple([f" {stem} " for stem in w.term.stems])
        resembling = w if _may_resemble(w) else None
        asked.append((f" {w.term.exact} ", stems, w.weight, resembling, -1 if w.is_stopword else place))
        place += not w.is_stopword
    return tuple(asked)


def telling_words(query: Query) -> list[str]:
    """Return the words of a query that say something, in order."""
    return [w.term.exact for w in query.terms if not w.is_stopword]


def related_credit(cosine: float) -> float:
    """Return the credit in 0-RELATED_CREDIT of a word to which the bullet comes so near."""
    share = (cosine - LEAST_COSINE) / (SAME_COSINE - LEAST_COSINE)
    return RELATED_CREDIT * min(1.0, max(0.0, share))


def _may_resemble(weighted: WeightedTerm) -> bool:
    """Return whether a term may be there in part or with slips."""
    term = weighted.term
    return term.kind == CJK or bool(term.pieces) or (weighted.may_be_misspelt and term.kind == WORD)


def _targets(term: Term) -> tuple[_Target, ...]:
    """Return the words whose slips count for a term: itself and its stems."""
    word = fold(term.exact)
    return tuple(
        (target, edits, needles_of(target, edits), {})
        for target in dict.fromkeys((word, *term.stems))
        if (edits := allowed_edits(target)) and word.startswith(target[:_STEM_PREFIX])
    )


def _characters(term: Term, bullet: PackedBullet) -> float:
    """Return the share of a pair's characters that the bullet has; kana alone mean nothing."""
    if len(term.exact) == 1:
        return (f" {term.exact} " in bullet.stems) / CHARACTER_CREDIT
    found = sum(char > "\u30ff" and f" {char} " in bullet.stems for char in term.exact)
    return found / len(term.exact)
