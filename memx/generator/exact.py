"""L1: whole words, phrases and code tokens exactly as written (0-15)."""

from __future__ import annotations

from memx.generator.density import dilution
from memx.generator.spelling import accented_words, is_folded_in
from memx.index.analysis import WORD, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.generator.query import Query
    from memx.index.packed import PackedBullet

    _Asked = tuple[str, float, tuple[str, ...], str, str]

EXACT_MAX = 15.0

WORDS_SHARE, PHRASE_SHARE = 0.6, 0.1
"""Shares of the layer that words earn, and adjacent ones by standing side by side in the bullet too. The rest is for
the whole query as it stands: many texts hold a few of a question's words, whatever they are about."""

FOLDED_CREDIT = 0.9
"""Credit of a word that differs in nothing but its accents: `cafe` means `café`."""


class ExactMatcher:
    """Scores how much of the query, by weight, a bullet holds word for word."""

    def __init__(self) -> None:
        """Start with no query."""
        self._query: Query | None = None
        self._asked: tuple[_Asked, ...] = ()
        self._pairs: tuple[tuple[str, float], ...] = ()

    def score(self, query: Query, bullet: PackedBullet) -> float:
        """Return 0-15: 15 when the bullet holds the whole query as one phrase."""
        if not query.terms:
            return 0.0
        exact = bullet.exact
        if query.exact in exact:
            return EXACT_MAX
        if query is not self._query:
            self._query, self._asked, self._pairs = query, _asked(query), _pairs(query)
        thin = dilution(bullet.length)
        view, is_plain = bullet.stems, exact.isascii()
        accented: list[str] | None = None
        found = 0.0
        for needle, weight, stems, plain, other in self._asked:
            count = exact.count(needle)
            if count:
                found += weight * (count / (count + thin))
            elif (other or not is_plain) and _any(stems, view):
                if accented is None:
                    accented = accented_words(exact)
                if (other and other in exact) or is_folded_in(plain, accented):
                    found += weight * (FOLDED_CREDIT * (1 / (1 + thin)))
        total = query.weight
        words = min(1.0, found / total) if total else 0.0
        return EXACT_MAX * (WORDS_SHARE * words + PHRASE_SHARE * self._adjacent(exact))

    def _adjacent(self, exact: str) -> float:
        """Return the share, by weight, of neighbouring query terms that are neighbours in the bullet."""
        total = found = 0.0
        for needle, weight in self._pairs:
            total += weight
            if needle in exact:
                found += weight
        return found / total if total else 0.0


def _any(needles: tuple[str, ...], view: str) -> bool:
    for needle in needles:  # noqa: SIM110 (a generator would cost more than the search)
        if needle in view:
            return True
    return False


def _asked(query: Query) -> tuple[_Asked, ...]:
    """Return what to look for in each bullet, a row a term: the term, its weight, its stems, the term without accents.

    The last is the term without accents between blanks, empty where it has none; what cannot differ in accents
    has no stems.
    """
    asked = []
    for w in query.terms:
        exact = w.term.exact
        plain = fold(exact)
        stems = tuple([f" {stem} " for stem in w.term.stems]) if w.term.kind == WORD else ()
        asked.append((f" {exact} ", w.weight, stems, plain, "" if plain == exact else f" {plain} "))
    return tuple(asked)


def _pairs(query: Query) -> tuple[tuple[str, float], ...]:
    """Return neighbouring terms as they stand in a text, and what they weigh together."""
    return tuple(
        (f" {first.term.exact} {second.term.exact} ", first.weight + second.weight)
        for first, second in zip(query.terms, query.terms[1:], strict=False)
    )
