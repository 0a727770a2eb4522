"""Texts to vectors with model2vec, for models that `embedder` cannot read: the only module that imports it.

It is given an existing folder only: for anything else it would ask the hub.
Its tokens alone are used; the mean of their rows is that of `pooling`.
"""

from __future__ import annotations

import os

from memx.errors import ModelUnavailableError
from memx.index.dense.model import CONFIG_FILE, MODEL_FILE, TOKENIZER_FILE, download_folder
from memx.index.dense.text import clean_text
from memx.index.dense.tokenizer import WORD_MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model2vec import StaticModel

BATCH_TEXTS = 1024

_open_models: dict[str, tuple[tuple[int, int], StaticModel]] = {}


def embed_many(model_dir: str, texts: Sequence[str]) -> list[bytes | None]:
    """Return the same vectors as QueryEmbedder, in the texts' order; None for a zero vector."""
    model = open_model(model_dir)
    vectors: list[bytes | None] = []
    for start in range(0, len(texts), BATCH_TEXTS):
        vectors.extend(_embed_batch(model, texts[start : start + BATCH_TEXTS]))
    return vectors


def open_model(model_dir: str) -> StaticModel:
    """Return the model of a local folder, loaded once a process; raises ModelUnavailableError."""
    paths = [os.path.join(model_dir, name) for name in (MODEL_FILE, TOKENIZER_FILE, CONFIG_FILE)]
    missing = [path for path in paths if not os.path.isfile(path)]
    if missing:
        raise ModelUnavailableError("embedding model is missing", path=missing[0])
    status = os.stat(paths[0])
    stamp = (status.st_mtime_ns, status.st_size)
    known = _open_models.get(model_dir)
    if known is None or known[0] != stamp:
        from model2vec import StaticModel

        try:
            model = StaticModel.from_pretrained(model_dir, force_download=False)
        except Exception as error:  # the library raises what its parsers raise
            raise ModelUnavailableError(f"embedding model is damaged ({error})", path=model_dir) from error
        known = _open_models[model_dir] = (stamp, model)
    return known[1]


def download_model(name: str, cache_dir: str) -> str:
    """Fetch a model from the hub into the cache and return its folder: the one place that uses the network.

    Only called when the user asked for it by name. Raises ModelUnavailableError.
    """
    from model2vec import StaticModel

    folder = download_folder(name, cache_dir)
    aside = f"{folder}.{os.getpid()}.tmp"
    try:
        StaticModel.from_pretrained(name).save_pretrained(aside)
        os.replace(aside, folder)
    except Exception as error:  # network, hub and format errors of three libraries
        raise ModelUnavailableError(f"embedding model {name!r} cannot be downloaded ({error})") from error
    return folder


def _embed_batch(model: StaticModel, texts: Sequence[str]) -> Iterator[bytes | None]:
    from memx.index.dense.pooling import Pool

    characters = model.max_length * model.median_token_length if model.max_length else None
    tokens = model.tokenize([clean_text(text)[:characters] for text in texts])
    marker = model.tokenizer.token_to_id(WORD_MARK)
    pool = Pool(model.embedding, model.weights, model.token_mapping)
    for ids in tokens:
        yield pool(ids, -1 if marker is None else marker)
