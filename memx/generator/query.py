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

HIRAGANA_WEIGHT = 0.3
"""A pair of hiragana is mostly grammar."""

RARE_COUNT = 2
"""A word that more bullets than this hold is spelt as it is meant."""


@record
class WeightedTerm:
    """A term and how much it counts: its inverse document frequency, less for words that say nothing."""

    term: Term
    weight: float
    is_stopword: bool
    may_be_misspelt: bool


@record
class Query:
    """What the layers score against.

    `exact` is the query's own exact view (its terms in order between blanks);
    `names` are canonical names that the query may mention; `path` is the file
    that anchors are compared with, empty when none was given.
    """

    text: str
    exact: str
    terms: tuple[WeightedTerm, ...]
    names: tuple[str, ...] = ()
    path: str = ""

    @property
    def weight(self) -> float:
        """The sum of all weights."""
        return sum(weighted.weight for weighted in self.terms)


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
    return Query(text, exact, weighted, _names(text, weighted, count), path)


def _weigh(term: Term, count: Callable[[str, str], int], size: int) -> WeightedTerm:
    frequency = max([count("exact", term.exact), *(count("stems", stem) for stem in term.stems)])
    is_stopword = term.exact in STOPWORDS
    weight = inverse_frequency(frequency, size)
    if is_stopword:
        weight *= STOPWORD_WEIGHT
    elif term.kind == CJK and all("\u3040" <= char <= "\u309f" for char in term.exact):
        weight *= HIRAGANA_WEIGHT
    may_be_misspelt = term.kind == WORD and not is_stopword and frequency <= RARE_COUNT
    return WeightedTerm(term, weight, is_stopword, may_be_misspelt)


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
