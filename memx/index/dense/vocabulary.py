"""Build the vocabulary map that `tokenizer` reads from a model's tokenizer.json.

Layout, little-endian 8-byte words: 16 words of header (magic, tokens, slots,
root state, unknown id, most tokens, most characters, size of tokenizer.json,
first 8 bytes of its SHA-256, normalisation bits, unknown score as a double,
size of the piece table), then a double a token (its log probability), the
slots of the hash table, and the table that `pieces` reads and describes.

A slot is 0 or `state << 42 | code point << 21 | child + 1`. States below the
number of tokens are the ends of those tokens, so no table from state to token
is needed.
"""

from __future__ import annotations

import sys

from memx.errors import ModelUnavailableError
from memx.index.dense.pieces import ID_BYTES, SCRIPTS, DoubtfulError, PieceTable, script_of
from memx.index.dense.tokenizer import (
    CHILD_BITS,
    CHILD_MASK,
    CODE_POINT_BITS,
    HEADER_WORDS,
    MAGIC,
    NORMALIZE_LOWERCASE,
    NORMALIZE_NFKC,
    REPLACED,
    WORD_BYTES,
    WORD_MARK,
    slot_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

UNKNOWN_PENALTY = 10.0
DEFAULT_MAX_TOKENS = 512
"""What model2vec reads of a text when its config does not say."""

_NORMALIZERS = {"NFKC": NORMALIZE_NFKC, "Lowercase": NORMALIZE_LOWERCASE}
_SPLIT_AT_WHITE_SPACE = {
    "type": "Split",
    "pattern": {"Regex": "\\s+"},
    "behavior": "Removed",
    "invert": False,
}
_METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def build_vocabulary_map(tokenizer_json: bytes, config_json: bytes) -> bytes:
    """Return the map of a unigram tokenizer; raises ModelUnavailableError for any other kind."""
    import json
    from hashlib import sha256

    try:
        tokenizer, config = json.loads(tokenizer_json), json.loads(config_json)
        normalization = _normalization(tokenizer)
        pieces = [(str(piece), float(score)) for piece, score in tokenizer["model"]["vocab"]]
        unknown_id = int(tokenizer["model"]["unk_id"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailableError(f"tokenizer cannot be mapped: {error}") from error
    _check_characters(pieces)
    states, edges = _trie([piece for piece, _ in pieces])
    slots = _hash_table(edges, states)
    max_tokens = config.get("max_length", DEFAULT_MAX_TOKENS) or 0
    header = [0] * HEADER_WORDS
    scores = [score for _, score in pieces]
    unknown_score = min(scores) - UNKNOWN_PENALTY
    table = _piece_table([piece for piece, _ in pieces], scores, (unknown_id, unknown_score))
    header[:10] = [
        MAGIC,
        len(pieces),
        len(slots),
        len(pieces),
        unknown_id,
        max_tokens,
        max_tokens * _median_length([piece for piece, _ in pieces]),
        len(tokenizer_json),
        int.from_bytes(sha256(tokenizer_json).digest()[:8], "little"),
        normalization,
    ]
    header[11] = len(table)
    return _pack(header, unknown_score, scores, slots) + table


def _normalization(tokenizer: Mapping[str, Any]) -> int:
    """Return the normalisation bits, having checked that nothing else is asked for."""
    if tokenizer["model"]["type"] != "Unigram" or tokenizer["model"].get("byte_fallback"):
        raise ValueError("not a plain unigram model")
    if tokenizer.get("added_tokens") or tokenizer.get("post_processor"):
        raise ValueError("added tokens are not mapped")
    splitter = tokenizer["pre_tokenizer"]
    if splitter["type"] != "Sequence" or splitter["pretokenizers"] != [_SPLIT_AT_WHITE_SPACE, _METASPACE]:
        raise ValueError("unknown pre-tokenizer")
    normalizer = tokenizer["normalizer"]
    if normalizer is None:
        return 0
    steps = normalizer["normalizers"] if normalizer["type"] == "Sequence" else [normalizer]
    names = [step["type"] for step in steps]
    if names != sorted(set(names), reverse=True) or not _NORMALIZERS.keys() >= set(names):
        raise ValueError(f"unknown normalizer {names}")
    return sum(_NORMALIZERS[name] for name in names)


def _check_characters(pieces: Sequence[tuple[str, float]]) -> None:
    """Refuse a vocabulary that knows a character which the tokenizer treats as unknown."""
    known = set().union(*(piece for piece, _ in pieces))
    if any(chr(code) in known or text in known for code, text in REPLACED.items()):
        raise ModelUnavailableError("tokenizer cannot be mapped: its vocabulary has control characters")


def _median_length(pieces: Sequence[str]) -> int:
    lengths = sorted(map(len, pieces))
    middle = len(lengths) // 2
    return lengths[middle] if len(lengths) % 2 else int((lengths[middle - 1] + lengths[middle]) / 2)


def _trie(pieces: Sequence[str]) -> tuple[int, dict[tuple[int, str], int]]:
    """Return the number of states and the edges (state, character) -> state; the root is len(pieces)."""
    state_of = {piece: token for token, piece in enumerate(pieces)}
    root = len(pieces)
    state_of[""] = root
    count = root + 1
    edges: dict[tuple[int, str], int] = {}
    for piece in pieces:
        state = root
        for end in range(1, len(piece) + 1):
            child = state_of.get(piece[:end])
            if child is None:
                child = state_of[piece[:end]] = count
                count += 1
            edges[state, piece[end - 1]] = child
            state = child
    if count >= CHILD_MASK:
        raise ModelUnavailableError("vocabulary is too large to be mapped")
    return count, edges


def _hash_table(edges: Mapping[tuple[int, str], int], states: int) -> list[int]:
    size = 1 << (states * 3 // 2).bit_length()
    slots = [0] * size
    for (state, character), child in edges.items():
        slot = slot_of(state, ord(character), size - 1)
        while slots[slot]:
            slot = (slot + 1) & (size - 1)
        slots[slot] = (state << CODE_POINT_BITS | ord(character)) << CHILD_BITS | (child + 1)
    return slots


def _piece_table(pieces: Sequence[str], scores: Sequence[float], unknown: tuple[int, float]) -> bytes:
    """Return the table of pieces, having found those that are not their own best segmentation beyond doubt."""
    scripts = [_Script() for _ in SCRIPTS]
    for token, piece in enumerate(pieces):
        is_leading = piece[:1] == WORD_MARK
        rest = piece[1:] if is_leading else piece
        if WORD_MARK in rest or rest.split() != [rest] * bool(rest):
            continue  # no word has white space or a second mark
        script = scripts[script_of(rest)]
        (script.leading if is_leading else script.inner)[rest] = token
        if is_leading and rest:
            scripts[script_of(rest[0])].after_mark.add(rest[0])
        for at in range(len(rest) - 1):
            pair = rest[at : at + 2]
            scripts[script_of(pair)].pairs.add(pair)
    table = PieceTable(memoryview(_pack_table(scripts, ())), scores, unknown)
    table.load(len(SCRIPTS) - 1)
    doubtful = [
        token
        for script in scripts
        for pieces_of, is_leading in ((script.leading, True), (script.inner, False))
        for piece, token in pieces_of.items()
        if not _is_itself(table, piece, token, is_leading=is_leading)
    ]
    return _pack_table(scripts, doubtful)


class _Script:
    """The lists of one script: {piece: token}, pairs of neighbours, characters after the mark."""

    def __init__(self) -> None:
        self.leading: dict[str, int] = {}
        self.inner: dict[str, int] = {}
        self.pairs: set[str] = set()
        self.after_mark: set[str] = set()


def _is_itself(table: PieceTable, piece: str, token: int, *, is_leading: bool) -> bool:
    try:
        return table.segment(piece, is_leading=is_leading) == [token]
    except DoubtfulError:
        return False


def _pack_table(scripts: Sequence[_Script], doubtful: Sequence[int]) -> bytes:
    every = [piece for script in scripts for some in (script.leading, script.inner) for piece in some]
    numbers, texts = [len(doubtful), max(map(len, every), default=0)], []
    ids: list[int] = []
    for script in scripts:
        lines = ["\n".join(some).encode("utf-8", "surrogatepass") for some in (script.leading, script.inner)]
        pairs = [
            "".join(sorted(some)).encode("utf-8", "surrogatepass")
            for some in (script.pairs, script.after_mark)
        ]
        numbers += [len(script.leading), len(lines[0]), len(script.inner), len(lines[1]), *map(len, pairs)]
        ids += [*script.leading.values(), *script.inner.values()]
        texts += [*lines, *pairs]
    head = b"".join(number.to_bytes(WORD_BYTES, "little") for number in numbers)
    tokens = b"".join(token.to_bytes(ID_BYTES, "little") for token in [*ids, *doubtful])
    return b"".join((head, tokens, *texts))


def _pack(
    header: Sequence[int], unknown_score: float, scores: Sequence[float], slots: Sequence[int]
) -> bytes:
    from array import array

    words = array("Q", header)
    words[10:11] = array("Q", array("d", [unknown_score]).tobytes())
    parts = (words, array("d", scores), array("Q", slots))
    if sys.byteorder == "big":
        for part in parts:
            part.byteswap()
    return b"".join(part.tobytes() for part in parts)
