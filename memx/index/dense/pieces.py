"""Words to tokens by tables of all pieces: for many texts, where loading the tables pays.

Where no piece of the vocabulary has two neighbouring characters of a word in it, every segmentation of the
word has a boundary between them. So a word is cut at such places, its parts are segmented one by one, and
parts are remembered: `--no-verify` and `{{path/to/file}}` have few parts that were never met.

`tokenizer` adds up a word's scores from its beginning, and the sums of a part begin anew, so they are rounded
differently. That decides nothing as long as the best way to each place beats the next by more than all
rounding together; a word for which it does not (pieces of equal scores) is left to `tokenizer`.

Layout, after the slots of the vocabulary map, little-endian: words of 8 bytes (the number of doubtful tokens, the
characters of the longest piece, then for each script the sizes of its lists: pieces and bytes of those that
begin a word, pieces and bytes of those within one, bytes of the pairs of neighbours, bytes of the characters
that stand after the mark), four bytes a token in the order of the pieces, then a doubtful token, and the lists as
UTF-8. A piece is a line, without its mark. A script's lists are loaded once enough words have characters of it.
"""

from __future__ import annotations

from itertools import pairwise

from memx.index.dense.tokenizer import MAX_REMEMBERED, WORD_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SCRIPTS = ("\x80", "\u2e80", "")
"""The first character beyond each script: ASCII, the rest of the alphabets with most signs, the others."""
SCRIPT_WORDS = 6
TABLE_WORDS = 2 + SCRIPT_WORDS * len(SCRIPTS)
ID_BYTES = 4

PIECES_A_CHARACTER = 8
"""As in `tokenizer`, for the scripts beyond ASCII: their pieces take longer to load, and the trie less."""

MARGIN = 1e-6
LONGEST_WORD = 4096
"""Up to here rounding stays far below the margin: so many additions of numbers below 2^17 err by 2^-25."""

_NEVER = float("-inf")
_MARK = -1
"""Where a piece begins that has the mark in it."""


class DoubtfulError(Exception):
    """Two segmentations of a part differ by no more than rounding."""


def script_of(text: str) -> int:
    """Return the number of the script whose lists, with those before it, have all characters of a text."""
    if text.isascii():
        return 0
    return 1 if max(text) < SCRIPTS[1] else 2


class PieceTable:
    """The pieces of a vocabulary in dicts: those that begin a word, without its mark, and those within one."""

    def __init__(self, data: memoryview, scores: Sequence[float], unknown: tuple[int, float]) -> None:
        """Open a map's table; `scores` has one a token, `unknown` is the id and the score of what no piece covers."""
        words = data[: TABLE_WORDS * WORD_BYTES].cast("Q").tolist()
        doubtful, self._longest = words[:2]
        self._sizes = [words[at : at + SCRIPT_WORDS] for at in range(2, TABLE_WORDS, SCRIPT_WORDS)]
        tokens = sum(sizes[0] + sizes[2] for sizes in self._sizes)
        ids_end = (TABLE_WORDS * WORD_BYTES) + (tokens + doubtful) * ID_BYTES
        self._ids = data[TABLE_WORDS * WORD_BYTES : ids_end].cast("I")
        self._text = data[ids_end:]
        self._doubtful = frozenset(self._ids[tokens:])
        self._scores, (self._unknown, self._unknown_score) = scores, unknown
        self._leading: dict[str, int] = {}
        self._inner: dict[str, int] = {}
        self._pairs: set[tuple[str, str]] = set()
        self._after_mark: set[str] = set()
        self._beginnings = _Parts(self._segment_beginning)
        self._parts = _Parts(self._segment_inner)
        self._loaded = 0

    def load(self, script: int) -> None:
        """Take the lists of all scripts up to this one."""
        while self._loaded <= script:
            at = sum(sizes[0] + sizes[2] for sizes in self._sizes[: self._loaded])
            begin = sum(sum(sizes) - sizes[0] - sizes[2] for sizes in self._sizes[: self._loaded])
            leading, leading_bytes, inner, inner_bytes, *sizes = self._sizes[self._loaded]
            for pieces, count, size in (
                (self._leading, leading, leading_bytes),
                (self._inner, inner, inner_bytes),
            ):
                text = str(self._text[begin : begin + size], "utf-8", "surrogatepass")
                pieces.update(zip(text.split("\n") if count else (), self._ids[at : at + count], strict=True))
                at, begin = at + count, begin + size
            middle, end = begin + sizes[0], begin + sum(sizes)
            pairs = str(self._text[begin:middle], "utf-8", "surrogatepass")
            self._pairs.update(zip(pairs[::2], pairs[1::2], strict=True))
            self._after_mark.update(str(self._text[middle:end], "utf-8", "surrogatepass"))
            self._loaded += 1

    def tokens_of(self, words: Iterable[str]) -> dict[str, Sequence[int] | None]:
        """Return the tokens of each word, given without its mark; None where rounding could decide."""
        readable, others = self._by_script(words)
        found: dict[str, Sequence[int] | None] = dict.fromkeys(others)
        leading, doubtful = self._leading, self._doubtful
        for word in readable:
            token = leading.get(word)
            if token is not None and token not in doubtful:
                found[word] = (token,)
        others = [word for word in readable if word not in found]
        is_inside = bytes(map(self._pairs.__contains__, pairwise("\n".join(others))))
        begin = 0
        for word in others:
            end = begin + len(word)
            found[word] = self._by_parts(word, is_inside[begin : end - 1])
            begin = end + 1
        return found

    def _by_script(self, words: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the words of loaded scripts, having loaded those that pay, and the other words."""
        groups: list[list[str]] = [[] for _ in SCRIPTS]
        for word in words:
            groups[script_of(word)].append(word)
        self.load(0)
        for script, some in enumerate(groups):
            pieces = self._sizes[script][0] + self._sizes[script][2]
            if sum(map(len, some)) * PIECES_A_CHARACTER > pieces:
                self.load(script)
        readable, others = groups[: self._loaded], groups[self._loaded :]
        return [word for some in readable for word in some], [word for some in others for word in some]

    def _by_parts(self, word: str, is_inside: bytes) -> Sequence[int] | None:
        """Return the tokens of a word; `is_inside` has a byte for each two neighbours, 0 where no piece has both."""
        if not 0 < len(word) <= LONGEST_WORD:
            return None
        runs = is_inside.split(b"\0")
        parts = self._parts
        begin = 0
        try:
            if word[0] in self._after_mark:
                begin = len(runs[0]) + 1
                ids = [*self._beginnings[word[:begin]]]
                del runs[0]
            else:
                ids = [self._leading.get("", self._unknown)]
            for run in runs:
                end = begin + len(run) + 1
                ids += parts[word[begin:end]]
                begin = end
        except DoubtfulError:
            return None
        return self._fused(ids) if self._unknown in ids else ids

    def _fused(self, ids: list[int]) -> list[int]:
        """Return the tokens with neighbouring unknown ones made one."""
        unknown = self._unknown
        return [token for at, token in enumerate(ids) if token != unknown or not at or ids[at - 1] != unknown]

    def _segment_beginning(self, part: str) -> Sequence[int]:
        token = self._leading.get(part)
        if token is not None and token not in self._doubtful:
            return (token,)
        return self.segment(part, is_leading=True)

    def _segment_inner(self, part: str) -> Sequence[int]:
        token = self._inner.get(part)
        if token is not None and token not in self._doubtful:
            return (token,)
        return self.segment(part, is_leading=False)

    def segment(self, part: str, *, is_leading: bool) -> list[int]:
        """Return the best segmentation of a part; raises DoubtfulError when another is as good but for rounding.

        The part of a word that begins with the mark is given without it: the mark alone is then the first token,
        or that piece which begins the word.
        """
        end, longest, scores, unknown_score = len(part), self._longest, self._scores, self._unknown_score
        best, second, came_from = [_NEVER] * (end + 1), [_NEVER] * (end + 1), [0] * (end + 1)
        best[0] = self._begin(part, best, came_from) if is_leading else 0.0
        piece = self._inner.get
        start = 0
        while start < end:
            base = best[start]
            if base - second[start] < MARGIN:
                raise DoubtfulError
            reach = end if end - start <= longest else start + longest
            stop = start + 1
            token = piece(part[start])
            score = base + (unknown_score if token is None else scores[token])
            while True:
                if score > best[stop]:
                    second[stop] = best[stop]
                    best[stop], came_from[stop] = score, start
                elif score > second[stop]:
                    second[stop] = score
                token = None
                while token is None and stop < reach:
                    stop += 1
                    token = piece(part[start:stop])
                if token is None:
                    break
                score = base + scores[token]
            start += 1
        if best[end] - second[end] < MARGIN:
            raise DoubtfulError
        return self._way_back(part, came_from, is_leading=is_leading)

    def _begin(self, part: str, best: list[float], came_from: list[int]) -> float:
        """Note the pieces that begin with the mark; return the score of the mark alone."""
        for stop in range(1, min(self._longest, len(part)) + 1):
            token = self._leading.get(part[:stop])
            if token is not None:
                best[stop], came_from[stop] = self._scores[token], _MARK
        mark = self._leading.get("")
        return self._unknown_score if mark is None else self._scores[mark]

    def _way_back(self, part: str, came_from: list[int], *, is_leading: bool) -> list[int]:
        """Return the tokens of a part from its beginning to its end, by where each place was best reached from."""
        ids: list[int] = []
        stop = len(part)
        while stop > 0:
            start = came_from[stop]
            if start == _MARK:
                ids.append(self._leading[part[:stop]])
            else:
                ids.append(self._inner.get(part[start:stop], self._unknown))
            stop = start
        if is_leading and stop == 0:
            ids.append(self._leading.get("", self._unknown))
        ids.reverse()
        return ids


class _Parts(dict[str, "Sequence[int]"]):
    """Parts and their tokens, each segmented when it is first asked for."""

    __slots__ = ("_segment",)

    def __init__(self, segment: Callable[[str], Sequence[int]]) -> None:
        super().__init__()
        self._segment = segment

    def __missing__(self, part: str) -> Sequence[int]:
        if len(self) > MAX_REMEMBERED:
            self.clear()
        found = self[part] = self._segment(part)
        return found
