"""Unigram segmentation over a memory-mapped vocabulary, equal to the `tokenizers` library.

Loading the library and its JSON costs more than a whole search. The map (see
`vocabulary`) is a trie of characters in an open-addressed hash table, so a
query touches a few pages of it and nothing is parsed.

Formula: the segmentation of a word maximises the sum of its pieces' log
probabilities (Kudo 2018); a character that no piece covers costs the lowest
score of the vocabulary minus 10, and neighbouring unknown characters count as
one token, as in the library.
"""

from __future__ import annotations

from memx.errors import ModelUnavailableError
from memx.index.dense.text import clean_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from memx.index.dense.pieces import PieceTable

MAGIC = int.from_bytes(b"memxvm03", "little")
HEADER_WORDS = 16
WORD_BYTES = 8

CODE_POINT_BITS = 21
CHILD_BITS = 21
CHILD_MASK = (1 << CHILD_BITS) - 1
HASH_FACTOR = 0x9E3779B1

NORMALIZE_NFKC = 1
NORMALIZE_LOWERCASE = 2

WORD_MARK = "▁"
_UNKNOWN_CHARACTER = "\ufffd"
# Compatibility characters younger than the library's Unicode tables: it does not decompose them.
# The first range: `\s` of its regular expressions leaves these in the word, str.split does not.
_REPLACED_RANGES = (
    (0x1C, 0x1F),
    (0x32FF, 0x32FF),
    (0xA7F1, 0xA7F4),
    (0xAB69, 0xAB69),
    (0x10781, 0x107BA),
    (0x1CCD6, 0x1CCF9),
    (0x1E030, 0x1E06D),
    (0x1F16C, 0x1F16C),
    (0x1FBF0, 0x1FBF9),
)
REPLACED = {code: _UNKNOWN_CHARACTER for first, last in _REPLACED_RANGES for code in range(first, last + 1)}
_REPLACED_CHARACTERS = frozenset(map(chr, REPLACED))


PIECES_A_CHARACTER = 16
"""So many pieces are loaded in the time that tables spare for a character of words that were never met."""

MAX_REMEMBERED = 100_000
"""Words whose tokens are remembered: texts repeat their words, and a word takes 50 times as long as a look-up."""


def slot_of(state: int, code_point: int, mask: int) -> int:
    """Return where the search for an edge begins; `mask` is the power-of-two table size minus one."""
    key = (state << CODE_POINT_BITS | code_point) * HASH_FACTOR
    return (key >> 15 ^ key) & mask


class UnigramTokenizer:
    """Text to token ids; unknown tokens are left out, as the model's mean leaves them out."""

    def __init__(self, data: memoryview) -> None:
        """Open a vocabulary map; raises ModelUnavailableError when it is not one."""
        if len(data) < HEADER_WORDS * WORD_BYTES:
            raise ModelUnavailableError("vocabulary map is truncated")
        words = data[: HEADER_WORDS * WORD_BYTES].cast("Q")
        if words[0] != MAGIC:
            raise ModelUnavailableError("vocabulary map has an unknown format")
        self.token_count, slots, self.root = words[1], words[2], words[3]
        self.unknown_id, self.max_tokens, self.max_characters = words[4], words[5], words[6]
        self.tokenizer_bytes, self.tokenizer_hash = words[7], words[8]
        self.normalization = words[9]
        self.unknown_score: float = data[10 * WORD_BYTES : 11 * WORD_BYTES].cast("d")[0]
        scores_end = HEADER_WORDS + self.token_count
        slots_end = (scores_end + slots) * WORD_BYTES
        if len(data) != slots_end + words[11]:
            raise ModelUnavailableError("vocabulary map is truncated")
        self._scores = data[HEADER_WORDS * WORD_BYTES : scores_end * WORD_BYTES].cast("d")
        self._slots = data[scores_end * WORD_BYTES : slots_end].cast("Q")
        self._mask = slots - 1
        self._table = data[slots_end:]
        self._met: dict[str, Sequence[int]] = {}
        self._pieces: PieceTable | None = None

    def encode(self, text: str) -> list[int]:
        """Return the ids of the known tokens of the part of the text that the model reads."""
        words, met = self._words(text), self._met
        if len(met) > MAX_REMEMBERED:
            met.clear()
        for word in words:
            if word not in met:
                met[word] = self._segment(WORD_MARK + word)
        return self._known(words)

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the same for many texts; from some number of new words on by the tables of `pieces`."""
        texts_words = [self._words(text) for text in texts]
        words, met = set().union(*texts_words), self._met
        if len(met) + len(words) > MAX_REMEMBERED:
            met.clear()
        words.difference_update(met)
        for word, tokens in self._by_tables(words).items():
            met[word] = self._segment(WORD_MARK + word) if tokens is None else tokens
        return [self._known(some) for some in texts_words]

    def _by_tables(self, words: Collection[str]) -> Mapping[str, Sequence[int] | None]:
        """Return the tokens of words, None where the trie has to tell; few words are not worth loading tables."""
        if self._pieces is None:
            if sum(map(len, words)) * PIECES_A_CHARACTER <= self.token_count or not len(self._table):
                return dict.fromkeys(words)
            from memx.index.dense.pieces import PieceTable

            self._pieces = PieceTable(self._table, self._scores, (self.unknown_id, self.unknown_score))
        return self._pieces.tokens_of(words)

    def marker_id(self) -> int:
        """Return the id of the bare word mark, or -1; a text of nothing else says nothing."""
        found = self._segment(WORD_MARK)[0]
        return -1 if found == self.unknown_id else found

    def _known(self, words: Sequence[str]) -> list[int]:
        """Return the known tokens of words that were met, as many as the model reads."""
        met, unknown = self._met, self.unknown_id
        ids = [token for word in words for token in met[word]]
        if self.max_tokens:
            del ids[self.max_tokens :]
        return [token for token in ids if token != unknown] if unknown in ids else ids

    def _words(self, text: str) -> list[str]:
        """Return the words of the part of the text that the model reads, normalised.

        They end at white space and before each U+2581, which marks the beginning of every word and is left
        out here: of a bare one nothing is left.
        """
        text = clean_text(text)
        if self.max_characters:
            text = text[: self.max_characters]
        text = self._normalize(text)
        if text.isascii() or WORD_MARK not in text:
            return text.split()
        words = []
        for word in text.split():
            head, *rest = word.split(WORD_MARK)
            if head:
                words.append(head)
            words += rest
        return words

    def _normalize(self, text: str) -> str:
        if not _REPLACED_CHARACTERS.isdisjoint(text):
            text = text.translate(REPLACED)
        if self.normalization & NORMALIZE_NFKC and not text.isascii():
            from unicodedata import normalize

            text = normalize("NFKC", text)
        if self.normalization & NORMALIZE_LOWERCASE:
            # The library lowers character by character: no final sigma.
            text = (text if text.isascii() else text.replace("Σ", "σ")).lower()
        return text

    def _segment(self, word: str) -> Sequence[int]:
        """Return the best segmentation of one word (Viterbi), unknown runs fused into one id.

        From every place the trie is walked along the rest of the word, in one loop without calls: for many texts
        this is nearly all of the work.
        """
        end = len(word)
        codes = [ord(character) for character in word]
        best: list[float] = [0.0] * (end + 1)
        came_from: list[int] = [-1] * (end + 1)
        token_at: list[int] = [0] * (end + 1)
        unknown, unknown_score, scores = self.unknown_id, self.unknown_score, self._scores
        root, tokens, slots, mask = self.root, self.token_count, self._slots, self._mask
        for start in range(end):
            base, state = best[start], root
            is_covered = False
            for at in range(start, end):
                edge = state << CODE_POINT_BITS | codes[at]
                key = edge * HASH_FACTOR
                slot = (key >> 15 ^ key) & mask
                entry = slots[slot]
                while entry and entry >> CHILD_BITS != edge:
                    slot = (slot + 1) & mask
                    entry = slots[slot]
                if not entry:
                    break
                state = (entry & CHILD_MASK) - 1
                if state < tokens:
                    score, stop = base + scores[state], at + 1
                    if came_from[stop] < 0 or score > best[stop]:
                        best[stop], came_from[stop], token_at[stop] = score, start, state
                    is_covered = is_covered or at == start
            if not is_covered:
                score, stop = base + unknown_score, start + 1
                if came_from[stop] < 0 or score > best[stop]:
                    best[stop], came_from[stop], token_at[stop] = score, start, unknown
        return self._way_back(came_from, token_at)

    def _way_back(self, came_from: list[int], token_at: list[int]) -> list[int]:
        """Return the tokens from the beginning of a word to its end, by where each place was best reached from."""
        ids: list[int] = []
        at = len(came_from) - 1
        while at > 0:
            token = token_at[at]
            if token != self.unknown_id or not ids or ids[-1] != token:
                ids.append(token)
            at = came_from[at]
        ids.reverse()
        return ids
