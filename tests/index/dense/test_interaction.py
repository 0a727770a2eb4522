"""Words against the tokens of texts, one by one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.index.dense.interaction import LEAST_COSINE, word_cosines
from memx.index.dense.scan import cosine, pairs_above
from memx.index.dense.tokens import MOST_TOKENS, NO_TOKENS, TOKENS_BYTES, pack_tokens, unpack_tokens

if TYPE_CHECKING:
    from memx.index.dense.embedder import QueryEmbedder

TEXTS = ("The database closes a connection", "Ejecuta las pruebas", "请先移除文件", "")


def cosines_of(
    embedder: QueryEmbedder, words: list[str], texts: tuple[str, ...] = TEXTS
) -> list[list[float]]:
    """Return how near the texts come to the words."""
    rows = embedder.token_rows
    assert rows is not None
    cells = [pack_tokens(tokens, embedder.token_weights) for _, tokens in embedder.embed_tokens_many(texts)]
    return word_cosines([embedder.tokens_of(word) for word in words], list(map(unpack_tokens, cells)), rows)


def test_translations_come_near_and_other_words_do_not(embedder: QueryEmbedder) -> None:
    """Each word finds its own text; a text of nothing is near to nothing."""
    words = ["データベース", "run", "delete"]
    found = cosines_of(embedder, words)
    for place in range(3):
        column = [row[place] for row in found]
        assert column.index(max(column)) == place
        assert max(column) > 0.5
    assert found[3] == [0.0, 0.0, 0.0]


def test_word_of_the_text_itself_has_a_cosine_of_one(embedder: QueryEmbedder) -> None:
    """The same tokens are the same word."""
    assert cosines_of(embedder, ["database"])[0] == [1.0]


def test_cosines_do_not_depend_on_the_other_texts(embedder: QueryEmbedder) -> None:
    """A score is that of the query and the bullet alone."""
    words = ["connection", "remove", "test", "containers"]
    together = cosines_of(embedder, words)
    assert together == [cosines_of(embedder, words, (text,))[0] for text in TEXTS]


@pytest.mark.parametrize(("words", "texts"), [([], TEXTS), (["redis"], ()), ([""], TEXTS)])
def test_nothing_asked_or_nothing_there_is_nothing_near(
    embedder: QueryEmbedder, words: list[str], texts: tuple[str, ...]
) -> None:
    """No words, no texts, and a word without tokens."""
    assert cosines_of(embedder, words, texts) == [[0.0] * len(words) for _ in texts]


@pytest.mark.parametrize("without", [False, True])
def test_pairs_are_those_that_single_cosines_give(
    embedder: QueryEmbedder, monkeypatch: pytest.MonkeyPatch, *, without: bool
) -> None:
    """One product of two matrices finds the same pairs, with simsimd and without it."""
    rows = embedder.token_rows
    assert rows is not None
    first, second = list(range(100, 140)), list(range(120, 400))
    expected = [
        (i, j, round(value, 4))
        for i, a in enumerate(first)
        for j, b in enumerate(second)
        if (value := cosine(rows([a]), rows([b]))) >= LEAST_COSINE
    ]
    if without:
        monkeypatch.setitem(sys.modules, "simsimd", None)
    found = list(pairs_above(rows(first), rows(second), rows.dimension, LEAST_COSINE))
    assert [(i, j) for i, j, _ in found] == [(i, j) for i, j, _ in expected]
    assert [value for *_, value in found] == pytest.approx([value for *_, value in expected], abs=2e-4)


@given(st.lists(st.integers(0, 0xFFFE - 1), max_size=MOST_TOKENS))
def test_packed_tokens_are_read_again(tokens: list[int]) -> None:
    """Any tokens that fit come back, each once."""
    cell = pack_tokens(tokens, None)
    assert len(cell) == TOKENS_BYTES
    assert unpack_tokens(cell) - {0} == {token + 1 for token in tokens}


def test_heaviest_tokens_of_a_long_text_are_kept() -> None:
    """What weighs little says little."""
    weights = [1.0 + token % 7 for token in range(100)]
    kept = {number - 1 for number in unpack_tokens(pack_tokens(range(100), weights))} - {-1}
    assert len(kept) == MOST_TOKENS
    assert min(weights[token] for token in kept) >= max(weights[token] for token in set(range(100)) - kept)


def test_tokens_of_a_vocabulary_too_large_are_left_out() -> None:
    """Two bytes a token do not name them."""
    assert pack_tokens([1, 70_000], None) == NO_TOKENS
