"""A query made ready for the layers: its terms with their weights, and the names it mentions."""

from __future__ import annotations

from math import log

from memx.generator.stopwords import STOPWORDS
from memx.index.aliases import canonical, synonyms
from memx.index.analysis import CJK, SYMBOL, WORD
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memx.index.analysis import Analyser, Term

STOPWORD_WEIGHT = 0.1
"""Share of its weight that a word keeps which says nothing of its own."""

CJK_WEIGHT = 0.5
"""A word of n characters makes n - 1 pairs, so one pair is less than a word."""

WITHIN_WORDS = 0.65
"""Share of the weight of a query's CJK pairs that a bullet in other words can hold: the rest straddle two words."""

HIRAGANA_WEIGHT = 0.15
"""A pair of hiragana is mostly grammar."""

RARE_COUNT = 2
"""A word that more bullets than this hold is spelt as it is meant."""


@record
class WeightedTerm:
    """A term and how much it counts: its inverse document frequency, less for words that say nothing.

    `is_unknown`: no bullet holds it in any form.
    """

    term: Term
    weight: float
    is_stopword: bool
    may_be_misspelt: bool
    is_unknown: bool


@record
class Query:
    """What the layers score against.

    `exact` is the query's own exact view (its terms in order between blanks);
    `names` are canonical names that the query may mention, `telling` is the
    number of its words that say something, `weight` what its terms weigh
    together; `path` is the file that anchors are compared with, empty when none
    was given.
    """

    text: str
    exact: str
    terms: tuple[WeightedTerm, ...]
    names: tuple[str, ...] = ()
    telling: int = 0
    weight: float = 0.0
    path: str = ""


def inverse_frequency(count: int, size: int) -> float:
    """Return BM25's idf, ln(1 + (N - n + 0.5) / (n + 0.5)): positive and falling in n."""
    return log(1 + (max(size - count, 0) + 0.5) / (count + 0.5))


def make_query(
    text: str, analyser: Analyser, count: Callable[[str, str], int], size: int, *, path: str = ""
) -> Query:
    """Analyse a query; `count(view, term)` and `size` are those of the index."""
    terms = tuple(_with_synonyms(term, analyser) for term in analyser.terms(text))
    exact, _, _ = analyser.views(text)
    weighted = tuple(_weigh(term, count, size) for term in terms)
    names = _names(text, weighted, count)
    return Query(text, exact, weighted, names, _telling(weighted), _attainable(weighted), path)


def _attainable(terms: tuple[WeightedTerm, ...]) -> float:
    """Return the sum of all weights, that of CJK pairs by the share which lies within words."""
    return sum(t.weight * (WITHIN_WORDS if t.term.kind == CJK else 1.0) for t in terms)


def _weigh(term: Term, count: Callable[[str, str], int], size: int) -> WeightedTerm:
    frequency = max([count("exact", term.exact), *(count("stems", stem) for stem in term.stems)])
    is_stopword = term.exact in STOPWORDS
    weight = inverse_frequency(frequency, size)
    if is_stopword:
        weight *= STOPWORD_WEIGHT
    elif term.kind == CJK:
        weight *= HIRAGANA_WEIGHT if all(map(_is_hiragana, term.exact)) else CJK_WEIGHT
    may_be_misspelt = term.kind == WORD and not is_stopword and frequency <= RARE_COUNT
    return WeightedTerm(term, weight, is_stopword, may_be_misspelt, frequency == 0)


def _is_hiragana(char: str) -> bool:
    return "\u3040" <= char <= "\u309f"


def _telling(terms: tuple[WeightedTerm, ...]) -> int:
    """Return how many words say something; a CJK word has two pairs or so, pairs with hiragana not counted."""
    told = [t.term for t in terms if not t.is_stopword]
    pairs = sum(term.kind == CJK and not any(map(_is_hiragana, term.exact)) for term in told)
    return sum(term.kind != CJK for term in told) + (pairs + 1) // 2


def _with_synonyms(term: Term, analyser: Analyser) -> Term:
    others = synonyms(term.exact) if term.kind == WORD else ()
    if not others:
        return term
    stems = [stem for name in others for other in analyser.terms(name)[:1] for stem in other.stems]
    return replace(term, stems=tuple(dict.fromkeys((*term.stems, *stems))))


def _names(text: str, terms: tuple[WeightedTerm, ...], count: Callable[[str, str], int]) -> tuple[str, ...]:
    """Return the names of the index's metadata that the query mentions, one or two words each."""
    words = [t.term.exact for t in terms if t.term.kind in (WORD, SYMBOL) and not t.is_stopword]
    pairs = [f"{a}-{b}" for a, b in zip(words, words[1:], strict=False)]  # noqa: RUF007 (as in spelling)
    runs = [run for run in text.split() if not run.isascii()]
    names = dict.fromkeys(canonical(word) for word in (*words, *pairs, *runs))
    return tuple(name for name in names if name and count("meta", name))
