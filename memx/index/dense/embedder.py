"""One text to one vector without numpy, model2vec or tokenizers: the query's way.

The vector is the weighted mean of the rows of the text's tokens, as
model2vec's mean pooling computes it, scaled so that its largest component is
±127 and rounded. Sums are exact in double precision (an int8 times a float32
has 32 significant bits), so `bulk` gives the same bytes whatever its order of
addition. A text of which the model knows nothing but that words begin (only
emoji, an unknown script) is a zero vector: model2vec would give all such texts
one and the same direction.
"""

from __future__ import annotations

import os
import sys

from memx.errors import ModelUnavailableError
from memx.index.dense.model import (
    CONFIG_FILE,
    MAP_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    derived_folder,
    write_derived,
)
from memx.index.dense.tensors import read_tensors
from memx.index.dense.tokenizer import UnigramTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

PEAK = 127
FEW_TOKENS = 32
"""Up to here rows are summed up in plain Python sooner than anything is loaded for it."""
ONE_BY_ONE = 64
"""Up to here texts are pooled in plain Python, where `exact` cannot, sooner than numpy is loaded."""
_WIDTHS = {"I8": 1, "F32": 4}


def quantize(vector: Sequence[float]) -> bytes | None:
    """Return the vector as int8, its largest component ±127; None for a zero vector."""
    peak = max(map(abs, vector), default=0.0)
    if not 0.0 < peak < float("inf"):
        return None
    scale = PEAK / peak
    return bytes([round(value * scale) & 0xFF for value in vector])


class TokenRows:
    """The int8 rows of a model's tokens, where they lie."""

    def __init__(self, rows: memoryview, dimension: int) -> None:
        """Take a mapped matrix, `dimension` components a row."""
        self._rows = rows
        self.dimension = dimension

    def __call__(self, tokens: Sequence[int]) -> bytes:
        """Return the rows of some tokens, one behind the other."""
        rows, size = self._rows, self.dimension
        return b"".join([rows[token * size : token * size + size] for token in tokens])


class QueryEmbedder:
    """Embeds single texts; opening it maps two files and reads almost nothing."""

    def __init__(self, model_dir: str, cache_dir: str = "") -> None:
        """Open a model folder; raises ModelUnavailableError when it is missing or damaged.

        A model that the fast way does not know (another tokenizer or number
        format) is embedded by model2vec, slower but the same.
        """
        self._model_dir = model_dir
        self._embed: Callable[[str], bytes | None]
        path = os.path.join(model_dir, MODEL_FILE)
        data = _map_file(path)
        tensors = read_tensors(data, path)
        if "embeddings" not in tensors:
            raise ModelUnavailableError("embedding model has no tensor `embeddings`", path=path)
        rows = tensors["embeddings"]
        self.dimension: int = rows.shape[1]
        tokenizer = _open_tokenizer(model_dir, cache_dir)
        is_fast = rows.dtype in _WIDTHS and "mapping" not in tensors and sys.byteorder == "little"
        if tokenizer is None or not is_fast:
            self._embed = self._embed_in_bulk
            return
        if tokenizer.token_count != rows.shape[0]:
            raise ModelUnavailableError("embedding model and its vocabulary differ in size", path=path)
        self._row_format: Literal["b", "f"] = "b" if rows.dtype == "I8" else "f"
        self._row_bytes = self.dimension * _WIDTHS[rows.dtype]
        self._rows = data[rows.begin : rows.end]
        weights = tensors.get("weights")
        self._weights = None
        if weights is not None:
            self._weights = data[weights.begin : weights.end].cast("f" if weights.dtype == "F32" else "d")
        self._tokenizer = tokenizer
        self._marker = tokenizer.marker_id()
        self._embed = self._embed_mapped

    def embed(self, text: str) -> bytes | None:
        """Return the int8 vector of a text, or None when the model knows nothing of it."""
        return self._embed(text)

    def embed_many(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return the same for many texts, in their order."""
        return [vector for vector, _ in self.embed_tokens_many(texts)]

    def embed_tokens_many(self, texts: Sequence[str]) -> list[tuple[bytes | None, Sequence[int]]]:
        """Return each text's vector and the ids of its known tokens in their order, the bare word mark left out.

        No tokens are known of a text that model2vec embeds.
        """
        if self._embed != self._embed_mapped:
            from memx.index.dense.bulk import embed_many

            return [(vector, ()) for vector in embed_many(self._model_dir, texts)]
        encoded = self._tokenizer.encode_many(texts)
        vectors = self._pooled_together(encoded)
        marker = self._marker
        spoken = ([token for token in tokens if token != marker] for tokens in encoded)
        return list(zip(vectors, spoken, strict=True))

    def knows(self, word: str) -> bool:
        """Return whether a word is one token; a model that is embedded in bulk is not asked."""
        if self._embed != self._embed_mapped:
            return False
        return len([token for token in self._tokenizer.encode(word) if token != self._marker]) == 1

    @property
    def token_rows(self) -> TokenRows | None:
        """The rows of the model's tokens where they can be compared one by one: int8 ones, with a mapped tokenizer."""
        if self._embed != self._embed_mapped or self._row_format != "b":
            return None
        return TokenRows(self._rows, self.dimension)

    @property
    def token_weights(self) -> memoryview[float] | None:
        """What each token weighs in a text's vector; None: all the same, or not known."""
        return self._weights if self._embed == self._embed_mapped else None

    def tokens_of(self, word: str) -> list[int]:
        """Return the distinct tokens of a word, in order, without the bare word mark."""
        return [token for token in dict.fromkeys(self._tokenizer.encode(word)) if token != self._marker]

    def _embed_mapped(self, text: str) -> bytes | None:
        return self._pooled(self._tokenizer.encode(text))

    def _pooled(self, tokens: Sequence[int]) -> bytes | None:
        total = [0.0] * self.dimension
        if self._marker in tokens and tokens.count(self._marker) == len(tokens):
            return None
        for token in tokens:
            start = token * self._row_bytes
            row = self._rows[start : start + self._row_bytes].cast(self._row_format)
            weight = 1.0 if self._weights is None else self._weights[token]
            total = [value + weight * component for value, component in zip(total, row, strict=True)]
        return quantize(total)

    def _pooled_together(self, encoded: Sequence[Sequence[int]]) -> list[bytes | None]:
        if sum(map(len, encoded)) > FEW_TOKENS and self._row_format == "b":
            from memx.index.dense.exact import ExactPool

            exact = ExactPool.open(self._rows, self.dimension, self._weights)
            vectors = None if exact is None else exact(encoded, self._marker)
            if vectors is not None:
                return vectors
        if len(encoded) <= ONE_BY_ONE:
            return [self._pooled(tokens) for tokens in encoded]
        from memx.index.dense.pooling import Pool

        pool = Pool.of_buffers(self._rows.cast(self._row_format), self.dimension, self._weights)
        return [pool(tokens, self._marker) for tokens in encoded]

    def _embed_in_bulk(self, text: str) -> bytes | None:
        from memx.index.dense.bulk import embed_many

        return embed_many(self._model_dir, [text])[0]


def _map_file(path: str) -> memoryview:
    from mmap import ACCESS_READ, mmap

    try:
        with open(path, "rb") as file:
            return memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
    except (OSError, ValueError) as error:
        raise ModelUnavailableError("embedding model cannot be read", path=path) from error


def _open_tokenizer(model_dir: str, cache_dir: str) -> UnigramTokenizer | None:
    """Return the mapped tokenizer, building its map at first use; None when it cannot be mapped."""
    if sys.byteorder != "little":
        return None
    folder = derived_folder(model_dir, cache_dir)
    tokenizer_path = os.path.join(model_dir, TOKENIZER_FILE)
    try:
        tokenizer = UnigramTokenizer(_map_file(os.path.join(folder, MAP_FILE)))
        if tokenizer.tokenizer_bytes == os.stat(tokenizer_path).st_size:
            return tokenizer
    except (ModelUnavailableError, OSError):
        pass
    try:
        return UnigramTokenizer(memoryview(_build_map(model_dir, folder)))
    except ModelUnavailableError:
        return None


def _build_map(model_dir: str, folder: str) -> bytes:
    from memx.index.dense.vocabulary import build_vocabulary_map

    contents = []
    for name in (TOKENIZER_FILE, CONFIG_FILE):
        path = os.path.join(model_dir, name)
        try:
            with open(path, "rb") as file:
                contents.append(file.read())
        except OSError as error:
            raise ModelUnavailableError("embedding model cannot be read", path=path) from error
    data = build_vocabulary_map(*contents)
    if folder != model_dir:
        write_derived(folder, {MAP_FILE: data})
    return data
