"""Edit distance with transpositions, cut off early: whether a word is a slip of another."""

from __future__ import annotations

from memx.index.analysis import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ONE_EDIT_CHARS = 4
TWO_EDITS_CHARS = 8

_FIRST_WIDE = "\u1100"
"""From here on scripts have no accents that a query leaves out."""


def allowed_edits(word: str) -> int:
    """Return how many edits a word of this length forgives: 0 below 4 letters, 1 below 8, else 2."""
    if len(word) < ONE_EDIT_CHARS or not word.isalpha():
        return 0
    return 1 if len(word) < TWO_EDITS_CHARS else 2


def parts_of(word: str, edits: int) -> tuple[str, ...]:
    """Cut a word into edits + 1 parts: a word within that many edits keeps at least one of them whole.

    (A transposition across a cut breaks two; such a slip is found only if a third part is left.)
    """
    count = edits + 1
    cuts = [len(word) * i // count for i in range(count + 1)]
    return tuple(word[a:b] for a, b in zip(cuts, cuts[1:], strict=False))  # noqa: RUF007 (itertools costs an import)


def needles_of(word: str, edits: int) -> tuple[str, ...]:
    """Return what to look for in a view of words between blanks to meet each word that may be a slip of this one.

    The parts of the word; where one edit is allowed, less is met in vain: the first part is then left at
    the begin of the other word or the second one at its end, if it is not the letters beside the cut that
    changed places.
    """
    parts = parts_of(word, edits)
    if edits != 1:
        return parts
    first, second = parts
    swapped = f"{first[:-1]}{second[:1]}{first[-1:]}{second[1:]}"
    ends = (f" {first}", f"{second} ")
    return (*ends, f" {swapped} ") if first in swapped or second in swapped else ends


def near_words(
    word: str, edits: int, view: str, known: dict[str, int], needles: tuple[str, ...] = ()
) -> int | None:
    """Return the smallest distance (1 to `edits`) from a word to a term of a view; None: none is that near.

    The view begins and ends with a blank. `known` remembers the distances of terms already compared with
    this word, `needles` are those of the word where the caller has them.
    """
    best = edits + 1
    letters, least, most = frozenset(word), len(word) - edits, len(word) + edits
    find, find_back = view.find, view.rfind
    for needle in needles or needles_of(word, edits):
        at = find(needle)
        while at >= 0:
            # The needle may begin with the blank before the word, and end with the one after it.
            end = find(" ", at + 1)
            other = view[find_back(" ", 0, at + 1) + 1 : end]
            distance = known.get(other)
            if distance is None:
                # An edit takes one letter away and brings one in at most: few words pass this.
                may_be_near = (
                    least <= len(other) <= most and len(letters.symmetric_difference(other)) <= 2 * edits
                )
                distance = known[other] = edit_distance(word, other, edits) if may_be_near else edits + 1
            if distance < best:  # noqa: PLR1730 (a call of min costs more than the look-up)
                best = distance
            at = find(needle, end)
    return max(best, 1) if best <= edits else None


def accented_words(text: str) -> list[str]:
    """Return the words of a text that have letters beyond ASCII, of scripts with accents."""
    if text.isascii():
        return []
    return [word for word in text.split() if not word.isascii() and word[0] < _FIRST_WIDE]


def is_folded_in(plain: str, words: Sequence[str]) -> bool:
    """Return whether one of some words is a term but for its accents; `plain` is the term without them."""
    letters = frozenset(plain) if plain.isascii() else None
    for word in words:
        if letters is not None:
            # A letter without its accents is one letter, so the tables of Unicode need not be loaded for a dash.
            lowered = word.casefold()
            own = lowered.encode("ascii", "ignore").decode()
            if len(lowered) < len(plain) or not letters.issuperset(own):
                continue
        if fold(word) == plain:
            return True
    return False


def edit_distance(first: str, second: str, limit: int) -> int:
    """Return the optimal string alignment distance, or limit + 1 when it is larger than the limit."""
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    start = 0
    shortest = min(len(first), len(second))
    while start < shortest and first[start] == second[start]:
        start += 1
    end = 0
    while end < shortest - start and first[-1 - end] == second[-1 - end]:
        end += 1
    first, second = first[start : len(first) - end], second[start : len(second) - end]
    if not first or not second:
        return min(len(first) + len(second), limit + 1)
    if limit == 1:  # what is left begins and ends with letters that differ
        is_one = len(first) == len(second) == 1 or (len(first) == 2 and first == second[::-1])  # noqa: PLR2004
        return 1 if is_one else 2
    return min(_table_distance(first, second, limit), limit + 1)


def _table_distance(first: str, second: str, limit: int) -> int:
    before: list[int] = []
    last = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        row = [i]
        for j, b in enumerate(second, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and min(last) > limit:
            return limit + 1
        before, last = last, row
    return last[-1]
