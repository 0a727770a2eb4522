"""The mapped tokenizer gives the ids of the `tokenizers` library."""

from __future__ import annotations

import os
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from memx.errors import ModelUnavailableError
from memx.index.dense.embedder import QueryEmbedder
from memx.index.dense.tokenizer import UnigramTokenizer
from memx.index.dense.vocabulary import build_vocabulary_map
from memx.resources import resource

MODEL = resource("model")


def read(name: str) -> bytes:
    """Return a file of the bundled model."""
    with open(os.path.join(MODEL, name), "rb") as file:
        return file.read()


def open_library() -> Tokenizer:
    """Return the library's tokenizer, cut as model2vec cuts it."""
    tokenizer = Tokenizer.from_file(os.path.join(MODEL, "tokenizer.json"))
    tokenizer.enable_truncation(512)
    return tokenizer


LIBRARY = open_library()
MAPPED = UnigramTokenizer(memoryview(read("vocabulary.map")))


def library_ids(text: str) -> list[int]:
    """Return the known ids as model2vec sees them."""
    ids: list[int] = LIBRARY.encode(text[: MAPPED.max_characters], add_special_tokens=False).ids
    return [token for token in ids if token != MAPPED.unknown_id]


def known_to_both(text: str) -> bool:
    """Tell whether every character is in this Python's Unicode tables: newer ones differ by version."""
    return all(unicodedata.category(character) != "Cn" for character in text)


def test_shipped_map_is_built_from_shipped_tokenizer() -> None:
    """The map in the package is what the script makes of the tokenizer in the package."""
    assert build_vocabulary_map(read("tokenizer.json"), read("config.json")) == read("vocabulary.map")


def test_real_corpus_gives_library_ids(corpus: list[str]) -> None:
    """Thousands of lines of real text in several scripts have equal ids."""
    assert len(corpus) > 5000
    assert [text for text in corpus if MAPPED.encode(text) != library_ids(text)] == []


def test_every_assigned_character_gives_library_ids() -> None:
    """No single character, in any script, is normalised or split differently."""
    wrong = []
    for first in range(0, 0x30000, 64):
        characters = [
            chr(code)
            for code in range(first, first + 64)
            if not 0xD800 <= code < 0xE000 and unicodedata.category(chr(code)) != "Cn"
        ]
        wrong += [c for c in characters if MAPPED.encode(f"ab{c}cd") != library_ids(f"ab{c}cd")]
    assert wrong == []


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=80))
def test_any_text_gives_library_ids(text: str) -> None:
    """Arbitrary Unicode text has equal ids."""
    assert MAPPED.encode(text) == library_ids(text)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="abegrstΣσς_-. \t\n▁漢字かなáéñ①ﬁ\u0301\x1c\u00a0", max_size=60))
def test_text_of_hard_characters_gives_library_ids(text: str) -> None:
    """Text dense in the characters that once differed has equal ids."""
    assert MAPPED.encode(text) == library_ids(text)


def test_lone_surrogate_is_unknown() -> None:
    """A lone surrogate, which the library refuses, counts as an unknown character."""
    assert MAPPED.encode("redis \ud800 pool") == library_ids("redis \ufffd pool")


@pytest.mark.parametrize("data", [b"", b"\0" * 128, read("vocabulary.map")[:4000]])
def test_damaged_map_is_refused(data: bytes) -> None:
    """A truncated or foreign map raises an error that the user can read."""
    with pytest.raises(ModelUnavailableError):
        UnigramTokenizer(memoryview(data))


def test_other_tokenizer_kind_is_refused() -> None:
    """A tokenizer that is not this kind of unigram is not mapped, but left to the library."""
    with pytest.raises(ModelUnavailableError, match="mapped"):
        build_vocabulary_map(b'{"model": {"type": "WordPiece", "vocab": {}}}', b"{}")


def test_missing_map_is_built(tmp_path: object, embedder: QueryEmbedder) -> None:
    """A model without a map gets one in the cache and the same vectors."""
    folder, cache = os.path.join(str(tmp_path), "model"), os.path.join(str(tmp_path), "cache")
    os.mkdir(folder)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        os.symlink(os.path.join(MODEL, name), os.path.join(folder, name))
    own = QueryEmbedder(folder, cache)
    assert own.embed("redis pool") == embedder.embed("redis pool")
    [derived] = os.listdir(os.path.join(cache, "models", "derived"))
    assert os.listdir(os.path.join(cache, "models", "derived", derived)) == ["vocabulary.map"]
