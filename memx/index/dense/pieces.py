"""Words to tokens by tables of all pieces: for many texts, where loading the tables pays.

Where no piece of the vocabulary has two neighbouring characters of a word in it, every segmentation of the
word has a boundary between them. So a word is cut at such places, its parts are segmented one by one, and
parts are remembered: `--no-verify` and `{{path/to/file}}` have few parts that were never met.

`tokenizer` adds up a word's scores from its beginning, and the sums of a part begin anew, so they are rounded
differently. That decides nothing as long as the best way to each place beats the next by more than all
rounding together; a word for which it does not (pieces of equal scores) is left to `tokenizer`.

Layout, after the slots of the vocabulary map, little-endian: 16 words of 8 bytes (a count and a size in bytes
for each of four lists of pieces, the sizes of four lists of neighbours, the number of doubtful tokens, the
characters of the longest piece), four bytes a token of the lists and a doubtful token, and the lists as UTF-8.
The lists of pieces have a line a piece: those that begin a word, without its mark, in ASCII and others, and
those within a word likewise. Of the neighbours (pairs of characters; then characters after the mark) the
first list is ASCII too. Most stores are, so the other lists are loaded when first needed.
"""

from __future__ import annotations

from itertools import pairwise

from memx.index.dense.tokenizer import MAX_REMEMBERED, WORD_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TABLE_WORDS = 16
ID_BYTES = 4

MARGIN = 1e-6
LONGEST_WORD = 4096
"""Up to here rounding stays far below the margin: so many additions of numbers below 2^17 err by 2^-25."""

_NEVER = float("-inf")


class PieceTable:
    """The pieces of a vocabulary in dicts: those that begin a word, without its mark, and those within one."""

    def __init__(self, data: memoryview, scores: Sequence[float], unknown: tuple[int, float]) -> None:
        """Load the lists of ASCII from a map's table; `unknown` is the id and the score of what no piece covers."""
        words = data[: TABLE_WORDS * WORD_BYTES].cast("Q").tolist()
        counts, piece_sizes, pair_sizes = words[0:8:2], words[1:8:2], words[8:12]
        begin = TABLE_WORDS * WORD_BYTES
        ids = data[begin : begin + ID_BYTES * (sum(counts) + words[12])].cast("I")
        self._lists: list[tuple[memoryview, memoryview]] = []
        at, begin = 0, begin + len(ids) * ID_BYTES
        for count, size in zip(counts, piece_sizes, strict=True):
            self._lists.append((ids[at : at + count], data[begin : begin + size]))
            at, begin = at + count, begin + size
        self._neighbours: list[memoryview] = []
        for size in pair_sizes:
            self._neighbours.append(data[begin : begin + size])
            begin += size
        self._doubtful = frozenset(ids[at:])
        self._longest = words[13]
        self._scores, (self._unknown, self._unknown_score) = scores, unknown
        self._leading: dict[str, int] = {}
        self._inner: dict[str, int] = {}
        self._pairs: set[tuple[str, str]] = set()
        self._after_mark: set[str] = set()
        self._met_leading: dict[str, list[int] | None] = {}
        self._met_inner: dict[str, list[int] | None] = {}
        self._is_whole = False
        self._load(0)

    def _load(self, script: int) -> None:
        """Take the lists of ASCII (0) or the others (1)."""
        for pieces, (ids, text) in (
            (self._leading, self._lists[script]),
            (self._inner, self._lists[2 + script]),
        ):
            lines = str(text, "utf-8", "surrogatepass").split("\n") if len(ids) else ()
            pieces.update(zip(lines, ids, strict=True))
        pairs = str(self._neighbours[script], "utf-8", "surrogatepass")
        self._pairs.update(zip(pairs[::2], pairs[1::2], strict=True))
        self._after_mark.update(str(self._neighbours[2 + script], "utf-8", "surrogatepass"))

    def load_others(self) -> None:
        """Take the lists that are not in ASCII, too."""
        if not self._is_whole:
            self._load(1)
            self._is_whole = True

    def tokens_of(self, word: str) -> list[int] | None:
        """Return the tokens of a word, given without its mark; None where rounding could decide."""
        if not word.isascii():
            self.load_others()
        token = self._leading.get(word)
        if token is not None and token not in self._doubtful:
            return [token]
        return self._by_parts(word) if 0 < len(word) <= LONGEST_WORD else None

    def _by_parts(self, word: str) -> list[int] | None:
        """Return the tokens of a word, cut where no piece can be, or None."""
        if len(self._met_inner) + len(self._met_leading) > MAX_REMEMBERED:
            self._met_inner.clear()
            self._met_leading.clear()
        ids: list[int] = []
        is_leading = word[0] in self._after_mark
        if not is_leading:
            ids.append(self._leading.get("", self._unknown))
        begin = 0
        for run in bytes(map(self._pairs.__contains__, pairwise(word))).split(b"\0"):
            end = begin + len(run) + 1
            part = word[begin:end]
            met = self._met_leading if is_leading else self._met_inner
            found = met.get(part, ())
            if found == ():
                found = met[part] = self._tokens_of_part(part, is_leading=is_leading)
            if found is None:
                return None
            ids += found
            is_leading, begin = False, end
        return self._fused(ids) if self._unknown in ids else ids

    def _fused(self, ids: list[int]) -> list[int]:
        """Return the tokens with neighbouring unknown ones made one."""
        unknown = self._unknown
        return [token for at, token in enumerate(ids) if token != unknown or not at or ids[at - 1] != unknown]

    def _tokens_of_part(self, part: str, *, is_leading: bool) -> list[int] | None:
        token = (self._leading if is_leading else self._inner).get(part)
        if token is not None and token not in self._doubtful:
            return [token]
        return self.segment(part, is_leading=is_leading)

    def segment(self, part: str, *, is_leading: bool) -> list[int] | None:
        """Return the best segmentation of a part; None when another is as good but for rounding.

        The part of a word that begins with the mark is given without it: the mark alone is then the first token,
        or that piece which begins the word.
        """
        end, longest, scores, unknown_score = len(part), self._longest, self._scores, self._unknown_score
        best, second = [_NEVER] * (end + 1), [_NEVER] * (end + 1)
        came_from, token_at = [0] * (end + 1), [0] * (end + 1)
        best[0] = self._begin(part, best, came_from, token_at) if is_leading else 0.0
        piece = self._inner.get
        for start in range(end):
            base = best[start]
            if base - second[start] < MARGIN:
                return None
            for stop in range(start + 1, min(start + longest, end) + 1):
                token = piece(part[start:stop])
                if token is not None:
                    score = base + scores[token]
                elif stop == start + 1:
                    score, token = base + unknown_score, self._unknown
                else:
                    continue
                if score > best[stop]:
                    second[stop] = best[stop]
                    best[stop], came_from[stop], token_at[stop] = score, start, token
                elif score > second[stop]:
                    second[stop] = score
        return (
            None
            if best[end] - second[end] < MARGIN
            else self._way_back(came_from, token_at, is_leading=is_leading)
        )

    def _begin(self, part: str, best: list[float], came_from: list[int], token_at: list[int]) -> float:
        """Note the pieces that begin with the mark; return the score of the mark alone."""
        for stop in range(1, min(self._longest, len(part)) + 1):
            token = self._leading.get(part[:stop])
            if token is not None:
                best[stop], came_from[stop], token_at[stop] = self._scores[token], -1, token
        mark = self._leading.get("")
        return self._unknown_score if mark is None else self._scores[mark]

    def _way_back(self, came_from: list[int], token_at: list[int], *, is_leading: bool) -> list[int]:
        ids: list[int] = []
        at = len(came_from) - 1
        while at > 0:
            ids.append(token_at[at])
            at = came_from[at]
        if is_leading and at == 0:
            ids.append(self._leading.get("", self._unknown))
        ids.reverse()
        return ids
