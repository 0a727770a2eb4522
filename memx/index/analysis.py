"""Text to terms: one scanner for bullets and for queries, without regular expressions.

Three views of a text feed the lexical layers:

exact   code tokens and words as written, lower case: `max_pool_size`,
        `--no-verify`, `c++`, `foo.bar` (and its dotted pieces `foo`, `bar`);
        CJK runs as overlapping pairs of characters
stems   words without accents, stemmed for each language; the pieces of
        camelCase, snake_case, dotted and hyphenated tokens; single CJK characters
meta    tags, tools and entities under their canonical names (memx.index.aliases)

A view is one string of terms between blanks, so that a term or a phrase is
found with `in` at the speed of C, in the index and in the scorer alike.
"""

from __future__ import annotations

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Stem = Callable[[str], tuple[str, ...]]

WORD = 0
CJK = 1
SYMBOL = 2

MAX_TERM_CHARS = 80
"""Longer tokens are base64, minified code or noise; they are cut so that they still match themselves."""

MAX_QUERY_TERMS = 48
"""A query pasted as a whole log is answered by its first distinct terms."""

MAX_REMEMBERED = 200_000
"""Words between blanks that an analyser remembers before it starts again: about 60 MB."""

_SINGLE_CONNECTORS = "./-'@"
_SHORT_WORD = 3
_SHORT_NUMBER = 4
_TRAILING = ".,;:!?)"
_PIECE_CONNECTORS = (".", "::", "->", "/")
_SYMBOLS = "!<>=&|~^%*+-:?$"
_WORD_MARKS = "_$@"
_ASCII_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" + _WORD_MARKS
_SEPARATED = {code: " " for code in range(128) if not chr(code).isalnum()}
_FIRST_CJK = "\u1100"
_CJK_RANGES = (
    (0x1100, 0x11FF),
    (0x3005, 0x3007),
    (0x3040, 0x312F),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_met_cjk: set[str] = set()
"""Characters that are known to be CJK: one look-up instead of nine comparisons."""


@record
class Term:
    """One token of a query: its exact form and what else may stand for it.

    `stems` are alternatives (one a language); `pieces` holds the alternatives
    of each sub-word of a compound token.
    """

    exact: str
    kind: int = WORD
    stems: tuple[str, ...] = ()
    pieces: tuple[tuple[str, ...], ...] = ()


def is_cjk(char: str) -> bool:
    """Return whether a character is Han, kana or Hangul, which are written without blanks between words."""
    return char >= _FIRST_CJK and (char in _met_cjk or _is_new_cjk(char))


def _is_new_cjk(char: str) -> bool:
    code = ord(char)
    if any(low <= code <= high for low, high in _CJK_RANGES):
        _met_cjk.add(char)
        return True
    return False


def clean(text: str) -> str:
    """Return NFKC text that UTF-8 can hold: full-width forms unified, lone surrogates replaced."""
    if text.isascii():
        return text
    import unicodedata

    valid = text.encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFKC", valid).replace("\u2019", "'")


def pairs_of(run: str) -> list[str]:
    """Return the overlapping pairs of a run of CJK characters; of one character itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def fold(word: str) -> str:
    """Return a word in lower case without accents: `Café` becomes `cafe`."""
    lowered = word.casefold()
    if lowered.isascii():
        return lowered
    import unicodedata

    decomposed = unicodedata.normalize("NFD", lowered)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def tokenize(text: str) -> list[tuple[str, int]]:
    """Return (token, kind) in order, case kept; the dotted pieces of a token follow it."""
    tokens: list[tuple[str, int]] = []
    for chunk in clean(text).split():
        tokens.extend(_scan(chunk))
    return tokens


def subwords(token: str) -> list[str]:
    """Return the parts of a compound token: `getUserById` is get, User, By, Id."""
    if token.isascii():
        plain = token.translate(_SEPARATED).split()
        if token.islower() or (token.isupper() and "".join(plain).isalpha()):
            return plain
    parts: list[str] = []
    start = -1
    for at, char in enumerate(token):
        if not char.isalnum():
            if start >= 0:
                parts.append(token[start:at])
            start = -1
        elif start < 0:
            start = at
        elif _is_camel_break(token, at):
            parts.append(token[start:at])
            start = at
    if start >= 0:
        parts.append(token[start:])
    return parts


def _is_camel_break(token: str, at: int) -> bool:
    if not token[at].isupper():
        return False
    if token[at - 1].islower() or token[at - 1].isdigit():
        return True
    return token[at - 1].isupper() and at + 1 < len(token) and token[at + 1].islower()


def _scan(chunk: str) -> list[tuple[str, int]]:
    core = chunk.rstrip(_TRAILING)
    if core.isascii() and core.isalnum():
        return [(core[:MAX_TERM_CHARS], WORD)]
    tokens: list[tuple[str, int]] = []
    at = 0
    while at < len(chunk):
        char = chunk[at]
        if is_cjk(char):
            end = _end_of(chunk, at, is_cjk)
            tokens.append((chunk[at:end], CJK))
        elif _is_word(char):
            end = _word_end(chunk, at)
            tokens.extend(_with_pieces(chunk[at:end]))
        elif _is_flag(chunk, at):
            end = _word_end(chunk, at + (2 if chunk.startswith("--", at) else 1))
            tokens.append((chunk[at:end][:MAX_TERM_CHARS], WORD))
        elif char in _SYMBOLS:
            end = len(chunk) - len(chunk[at:].lstrip(_SYMBOLS))
            if end - at > 1:
                tokens.append((chunk[at:end][:MAX_TERM_CHARS], SYMBOL))
        else:
            end = at + 1
        at = end
    return tokens


def _is_word(char: str) -> bool:
    return (char.isalnum() or char in _WORD_MARKS) and not is_cjk(char)


def _is_flag(chunk: str, at: int) -> bool:
    if chunk[at] != "-" or (at and _is_word(chunk[at - 1])):
        return False
    first = at + (2 if chunk.startswith("--", at) else 1)
    return first < len(chunk) and chunk[first].isalpha() and not is_cjk(chunk[first])


def _end_of(chunk: str, at: int, belongs: Callable[[str], bool]) -> int:
    while at < len(chunk) and belongs(chunk[at]):
        at += 1
    return at


def _run_end(chunk: str, at: int) -> int:
    """Return where the characters of a word end that begins here."""
    if chunk.isascii():
        return len(chunk) - len(chunk[at:].lstrip(_ASCII_WORD))
    return _end_of(chunk, at, _is_word)


def _word_end(chunk: str, at: int) -> int:
    at = _run_end(chunk, at)
    while at < len(chunk):
        width = _connector_width(chunk, at)
        if not width or at + width >= len(chunk) or not _is_word(chunk[at + width]):
            break
        at = _run_end(chunk, at + width)
    if chunk.startswith("++", at):
        return at + 2
    return at + 1 if chunk.startswith("#", at) and not _is_word(chunk[at + 1 : at + 2] or " ") else at


def _connector_width(chunk: str, at: int) -> int:
    """Return the length of the connector of words that begins here, 0 where there is none."""
    if chunk[at] in _SINGLE_CONNECTORS:
        return 2 if chunk.startswith("->", at) else 1
    return 2 if chunk.startswith("::", at) else 0


def _with_pieces(token: str) -> list[tuple[str, int]]:
    tokens = [(token[:MAX_TERM_CHARS], WORD)]
    if not any(c in token for c in _PIECE_CONNECTORS):
        return tokens
    split = token
    for connector in _PIECE_CONNECTORS:
        split = split.replace(connector, " ")
    tokens.extend((piece[:MAX_TERM_CHARS], WORD) for piece in split.split() if not piece[0].isdigit())
    return tokens


class _Memory(dict[str, str]):
    """What is known of words between blanks; `learn` tells it of others."""

    __slots__ = ("_learn",)

    def __init__(self, learn: Callable[[str], str]) -> None:
        self._learn = learn

    def __missing__(self, chunk: str) -> str:
        if len(chunk) > _SHORT_NUMBER and chunk.isdigit() and chunk.isascii():
            return f"{chunk[:MAX_TERM_CHARS]} "  # the same in both views, and most are not met again
        return self._learn(chunk)


class Analyser:
    """Turns texts into views and queries into terms; remembers every token it has met.

    `stem` returns the stems of a folded word, one a language, without repeats.
    """

    def __init__(self, stem: Stem) -> None:
        """Start with an empty memory; it grows with the vocabulary, not with the texts."""
        self._stem_of = stem
        self._stems: dict[str, tuple[str, ...]] = {}
        self._exact = _Memory(lambda chunk: self._remember(chunk)[0])
        self._stemmed = _Memory(lambda chunk: self._remember(chunk)[1])

    def views(self, text: str) -> tuple[str, str, int]:
        """Return the exact view, the stems view and the number of exact terms of a text."""
        chunks = clean(text).split()
        # Two look-ups a word: a rebuild of 100,000 bullets comes here millions of times, and waits for memory.
        exact = "".join(map(self._exact.__getitem__, chunks))
        stems = "".join(map(self._stemmed.__getitem__, chunks))
        return f" {exact or ' '}", f" {stems or ' '}", exact.count(" ")

    def _stem(self, word: str) -> tuple[str, ...]:
        stems = self._stems.get(word)
        if stems is None:
            stems = self._stems[word] = self._stem_of(word)
        return stems

    def _remember(self, chunk: str) -> tuple[str, str]:
        if len(self._exact) >= MAX_REMEMBERED:
            self._exact.clear()
            self._stemmed.clear()
            self._stems.clear()
        exact, stems = self._chunk_views(chunk)
        if stems == exact:
            stems = exact  # as of many words: one place in memory instead of two
        self._exact[chunk], self._stemmed[chunk] = exact, stems
        return exact, stems

    def terms(self, text: str) -> tuple[Term, ...]:
        """Return the distinct terms of a query in the order of their first use."""
        found: dict[str, Term] = {}
        for token, kind in tokenize(text):
            for term in self._token_terms(token, kind):
                found.setdefault(term.exact, term)
            if len(found) >= MAX_QUERY_TERMS:
                break
        return tuple(found.values())[:MAX_QUERY_TERMS]

    def _chunk_views(self, chunk: str) -> tuple[str, str]:
        """Return the terms of both views, each followed by a blank."""
        word = chunk.rstrip(_TRAILING)[:MAX_TERM_CHARS]
        if word.isascii() and word.isalnum() and word[1:] == word[1:].lower():
            # A word without any break, as most are: the same as below in a fifth of the time.
            word = word.lower()
            return f"{word} ", "".join([f"{stem} " for stem in dict.fromkeys(self._stem(word))])
        exact: list[str] = []
        stems: list[str] = []
        for token, kind in _scan(chunk):
            if kind == CJK:
                exact += pairs_of(token)
                stems += token
                continue
            exact.append(token if kind == SYMBOL else token.lower())
            if kind == WORD and token[-1] not in "+#":
                for part in subwords(token):
                    stems += self._stem(fold(part))
        return (
            "".join([f"{term} " for term in exact]),
            "".join([f"{stem} " for stem in dict.fromkeys(stems)]),
        )

    def _token_terms(self, token: str, kind: int) -> list[Term]:
        if kind == CJK:
            return [
                Term(pair, CJK, (), tuple((char,) for char in dict.fromkeys(pair)))
                for pair in pairs_of(token)
            ]
        if kind == SYMBOL:
            return [Term(token, SYMBOL)]
        if token[-1] in "+#":  # C++ and C# are not kinds of C
            return [Term(token.lower(), WORD)]
        parts = subwords(token)
        if len(parts) == 1 and parts[0] == token:
            return [Term(token.lower(), WORD, self._stem(fold(token)))]
        pieces = tuple(self._stem(fold(part)) for part in parts)
        return [Term(token.lower(), WORD, (), pieces)]


def piece_of_plural(word: str) -> str:
    """Return a word without a plural `s`: the stem when no stemmer can be loaded."""
    return word[:-1] if len(word) > _SHORT_WORD and word.endswith("s") and not word.endswith("ss") else word
