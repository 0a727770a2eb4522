"""One text and many texts give the same vectors, for any text."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import ModelUnavailableError
from memx.index.dense import bulk, tokenizer
from memx.index.dense import embedder as embedding
from memx.index.dense.embedder import QueryEmbedder, quantize
from memx.index.dense.exact import ExactPool
from memx.index.dense.scan import cosine
from memx.resources import resource
from tests.index.dense.conftest import TEXTS

EDGE_TEXTS = {
    "empty": "",
    "white-space": " \n\t ",
    "emoji": "🚀🔥👩‍💻",
    "unknown-script": "ᚠᚢᚦᚨᚱᚲ ꦲꦏ",
    "lone-surrogates": "\ud800\udfff \udc00",
    "control": "\x00\x01\x1c\x7f",
}


def test_both_ways_give_the_same_bytes(corpus: list[str], embedder: QueryEmbedder, model_dir: str) -> None:
    """Real texts embedded alone, together and by model2vec are equal, byte for byte."""
    sample = corpus[:40] + corpus[40::7]
    assert len(sample) > embedding.ONE_BY_ONE
    alone = [embedder.embed(text) for text in sample]
    assert bulk.embed_many(model_dir, sample) == alone
    assert QueryEmbedder(model_dir).embed_many(sample) == alone


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=("Cn",)), max_size=60), max_size=4))
def test_any_texts_give_the_same_bytes(texts: list[str]) -> None:
    """Arbitrary texts, surrogates included, are equal in all ways."""
    folder = resource("model")
    embedder = QueryEmbedder(folder)
    alone = [embedder.embed(text) for text in texts]
    assert bulk.embed_many(folder, texts) == alone
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "FEW_TOKENS", -1)
        patch.setattr(tokenizer, "PIECES_A_CHARACTER", 1_000_000)
        assert QueryEmbedder(folder).embed_many(texts) == alone
        patch.setattr(ExactPool, "open", no_pool)
        patch.setattr(embedding, "ONE_BY_ONE", 0)
        assert QueryEmbedder(folder).embed_many(texts) == alone


def no_pool(*_: object) -> None:
    """Stand for a machine on which sums cannot be made exactly."""


def test_tokens_come_with_the_vectors(corpus: list[str], embedder: QueryEmbedder) -> None:
    """Texts are embedded together with the ids of their known tokens, without the bare word mark."""
    sample = [*TEXTS, "", *corpus[:90]]
    found = embedder.embed_tokens_many(sample)
    assert [vector for vector, _ in found] == [embedder.embed(text) for text in sample]
    with open(os.path.join(resource("model"), "vocabulary.map"), "rb") as file:
        mapped = tokenizer.UnigramTokenizer(memoryview(file.read()))
    marker = mapped.marker_id()
    assert [list(ids) for _, ids in found] == [
        [token for token in mapped.encode(text) if token != marker] for text in sample
    ]


def test_forgotten_words_are_segmented_anew(model_dir: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of words is bounded, and what is in it changes no vector."""
    texts = ["redis pool size", "pool of redis", "size of the pool"]
    expected = [QueryEmbedder(model_dir).embed(text) for text in texts]
    monkeypatch.setattr(tokenizer, "MAX_REMEMBERED", 2)
    embedder = QueryEmbedder(model_dir)
    assert [embedder.embed(text) for text in texts * 2] == expected * 2


def test_vectors_are_those_of_model2vec(embedder: QueryEmbedder, model_dir: str) -> None:
    """Rounding to int8 is the only difference to stock model2vec."""
    expected = bulk.open_model(model_dir).encode(list(TEXTS))
    for text, vector in zip(TEXTS, expected, strict=True):
        row = embedder.embed(text)
        if row is None:
            assert not vector.any()
            continue
        ours = np.frombuffer(row, dtype=np.int8).astype(float)
        assert float(ours @ vector / np.linalg.norm(ours)) > 0.9995


@pytest.mark.parametrize("text", EDGE_TEXTS.values(), ids=EDGE_TEXTS.keys())
def test_edge_text_gives_zero_vector(text: str, embedder: QueryEmbedder, model_dir: str) -> None:
    """A text that the model cannot read is None both ways, never a row of NaN (faults 48)."""
    assert embedder.embed(text) is None
    assert bulk.embed_many(model_dir, [text]) == [None]


def test_huge_text_is_embedded_in_time(embedder: QueryEmbedder) -> None:
    """Of a megabyte only the part that the model reads costs anything."""
    row = embedder.embed("connection pool " * 65536)
    assert row is not None
    assert cosine(row, embedder.embed("connection pool") or b"") > 0.99


def test_meaning_crosses_languages(embedder: QueryEmbedder) -> None:
    """The same lesson in another language is nearer than another lesson in the same one."""
    english, spanish, chinese, other = (
        embedder.embed(text) or b""
        for text in (
            "the database connection times out",
            "la conexión a la base de datos agota el tiempo de espera",
            "数据库连接超时",
            "rename a branch and push it",
        )
    )
    assert cosine(english, spanish) > cosine(english, other) + 0.2
    assert cosine(english, chinese) > cosine(english, other) + 0.2


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [float("inf"), 1.0], [float("nan"), float("nan")]])
def test_vector_without_direction_is_none(vector: list[float]) -> None:
    """Zero and not-finite sums are not quantised."""
    assert quantize(vector) is None


def test_quantize_keeps_sign_and_peak() -> None:
    """The largest component becomes ±127."""
    assert quantize([0.5, -2.0, 0.0]) == bytes([32, 256 - 127, 0])


def test_other_number_format_goes_through_model2vec(tmp_path: object, embedder: QueryEmbedder) -> None:
    """A float32 model is mapped too, a float16 one is read by model2vec; both are close to the int8 one."""
    model = bulk.open_model(resource("model"))
    weights = np.asarray(model.weights)[:, None]
    for number in ("float32", "float16"):
        folder = os.path.join(str(tmp_path), number)
        rows = (model.embedding * weights).astype(number)
        type(model)(rows, model.tokenizer, config=dict(model.config)).save_pretrained(folder)
        own = QueryEmbedder(folder, str(tmp_path))
        for text in TEXTS[:4]:
            row = own.embed(text)
            assert row is not None
            assert bulk.embed_many(folder, [text]) == [row]
            assert cosine(row, embedder.embed(text) or b"") > 0.999


@pytest.mark.parametrize("content", [b"", b"\xff" * 100, b"\x02\0\0\0\0\0\0\0{}"])
def test_damaged_model_is_refused(tmp_path: object, content: bytes) -> None:
    """A damaged file is an error with a path, for both ways."""
    folder = str(tmp_path)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
    with pytest.raises(ModelUnavailableError):
        QueryEmbedder(folder, folder)
    with pytest.raises(ModelUnavailableError):
        bulk.embed_many(folder, ["text"])


def test_missing_model_never_asks_the_hub(tmp_path: object) -> None:
    """A folder that is not there is an error at once, not a download (faults 49)."""
    missing = os.path.join(str(tmp_path), "minishlab", "potion-base-8M")
    with pytest.raises(ModelUnavailableError):
        bulk.embed_many(missing, ["text"])
    with pytest.raises(ModelUnavailableError):
        QueryEmbedder(missing)


def test_query_path_imports_no_heavy_library() -> None:
    """Embedding a query and scanning load none of numpy, model2vec, tokenizers, json or re."""
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from memx.config import EmbeddingConfig\n"
        "from memx.index.dense.model import load_model_info\n"
        "from memx.index.dense.embedder import QueryEmbedder\n"
        "from memx.index.dense.calibration import load_table\n"
        "from memx.index.dense.scan import nearest_rows\n"
        "info = load_model_info(EmbeddingConfig())\n"
        "row = QueryEmbedder(info.dir).embed('数据库 redis')\n"
        "nearest_rows(row, memoryview(row), 1, 1)\n"
        "load_table(info.dir)\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('memx')))\n"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=os.getcwd())
    allowed = {"__future__", "mmap", "unicodedata", "simsimd"}
    assert set(run.stdout.split()) <= allowed
