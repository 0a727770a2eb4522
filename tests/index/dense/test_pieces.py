"""Words cut by tables of pieces have the tokens that the trie gives."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.index.dense import pieces, tokenizer
from memx.index.dense.tokenizer import WORD_MARK, UnigramTokenizer
from memx.index.dense.vocabulary import build_vocabulary_map
from memx.resources import resource

SPLIT = {"type": "Split", "pattern": {"Regex": "\\s+"}, "behavior": "Removed", "invert": False}
METASPACE = {"type": "Metaspace", "replacement": WORD_MARK, "prepend_scheme": "always", "split": True}


def shipped_map() -> memoryview:
    """Return the bundled model's vocabulary map."""
    with open(os.path.join(resource("model"), "vocabulary.map"), "rb") as file:
        return memoryview(file.read())


SHIPPED = shipped_map()


def make_map(vocabulary: dict[str, float]) -> memoryview:
    """Return the map of a vocabulary of {piece: score}, after the unknown token."""
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["[UNK]", 0.0], *vocabulary.items()]}
    splitter = {"type": "Sequence", "pretokenizers": [SPLIT, METASPACE]}
    whole = {"model": model, "pre_tokenizer": splitter, "normalizer": None}
    return memoryview(build_vocabulary_map(json.dumps(whole).encode(), b"{}"))


@pytest.fixture
def open_both(monkeypatch: pytest.MonkeyPatch) -> type[UnigramTokenizer]:
    """Let every batch be cut by tables."""
    monkeypatch.setattr(tokenizer, "PIECES_A_CHARACTER", 1_000_000)
    monkeypatch.setattr(pieces, "PIECES_A_CHARACTER", 1_000_000)
    return UnigramTokenizer


def test_real_texts_are_cut_as_by_the_trie(
    corpus: list[str], open_both: type[UnigramTokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of lines in several scripts have equal ids, also when parts are forgotten on the way."""
    by_trie = open_both(SHIPPED)
    expected = [by_trie.encode(text) for text in corpus]
    assert open_both(SHIPPED).encode_many(corpus) == expected
    monkeypatch.setattr(tokenizer, "MAX_REMEMBERED", 50)
    monkeypatch.setattr(pieces, "MAX_REMEMBERED", 50)
    assert open_both(SHIPPED).encode_many(corpus[:500]) == expected[:500]


WORDS = st.text(alphabet="abcdeginorst-_./`{}=#0123▁é—漢字かな的の", max_size=30)


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=5))
def test_any_words_are_cut_as_by_the_trie(words: list[str]) -> None:
    """Words of any characters, in any order of scripts, have equal ids."""
    by_trie, by_tables = UnigramTokenizer(SHIPPED), UnigramTokenizer(SHIPPED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer, "PIECES_A_CHARACTER", 1_000_000)
        patch.setattr(pieces, "PIECES_A_CHARACTER", 1_000_000)
        assert by_tables.encode_many(words) == [by_trie.encode(word) for word in words]


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.text("ab▁c漢", min_size=1, max_size=4), st.sampled_from([-1.0, -2.0, -2.5, -3.0]), min_size=1
    ),
    st.lists(st.text("abc漢d", max_size=12), max_size=6),
)
def test_any_vocabulary_is_cut_as_by_the_trie(vocabulary: dict[str, float], words: list[str]) -> None:
    """Pieces of equal scores, which tie all the time, and vocabularies without the mark give equal ids."""
    data = make_map(vocabulary)
    by_trie, by_tables = UnigramTokenizer(data), UnigramTokenizer(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer, "PIECES_A_CHARACTER", 1_000_000)
        patch.setattr(pieces, "PIECES_A_CHARACTER", 1_000_000)
        assert by_tables.encode_many(words) == [by_trie.encode(word) for word in words]


def test_equal_segmentations_are_doubtful() -> None:
    """A part that two segmentations cut equally well is left to the exact way."""
    data = make_map({"▁": -1.0, "a": -1.0, "aa": -1.5})
    table = UnigramTokenizer(data)
    with pytest.raises(pieces.DoubtfulError):
        open_table(table).segment("aaa", is_leading=False)
    assert open_table(table).tokens_of(["aaa"]) == {"aaa": None}
    long = "x" * (pieces.LONGEST_WORD + 1)
    assert open_table(table).tokens_of([long]) == {long: None}


def open_table(tokenizer_: UnigramTokenizer) -> pieces.PieceTable:
    """Return the piece table of a tokenizer's map, whole."""
    unknown = (tokenizer_.unknown_id, tokenizer_.unknown_score)
    table = pieces.PieceTable(tokenizer_._table, tokenizer_._scores, unknown)
    table.load(len(pieces.SCRIPTS) - 1)
    return table


def test_words_are_cut_where_no_piece_can_be() -> None:
    """The parts of a word that was met are not segmented again in another word."""
    table = open_table(UnigramTokenizer(SHIPPED))
    table.tokens_of(["--no-verify"])
    met = set(table._parts)
    table.tokens_of(["--verify-no"])
    assert met >= {"verify"}
    assert set(table._parts) - met <= {"no"}


def test_few_words_of_a_script_do_not_load_it() -> None:
    """The lists of Chinese are left alone for a word or two among much English, which the trie cuts."""
    table = UnigramTokenizer(SHIPPED)
    unknown = (table.unknown_id, table.unknown_score)
    own = pieces.PieceTable(table._table, table._scores, unknown)
    found = own.tokens_of(["the", "pool", "数据库"])
    assert [word for word, ids in found.items() if ids is None] == ["数据库"]
    assert own.tokens_of(["数据库", "漢" * 3000])["数据库"] is not None
