"""Which model is used, and what is said about one that is missing, changed or not trusted."""

from __future__ import annotations

import os
import shutil

import pytest

from memx.config import EmbeddingConfig
from memx.errors import ModelUnavailableError
from memx.index.dense import model as model_module
from memx.index.dense.model import download_folder, load_model_info, verify_model
from memx.index.dense.text import embedding_key, embedding_text
from memx.model import Bullet
from memx.resources import resource

FILES = ("model.safetensors", "tokenizer.json", "config.json")


@pytest.fixture
def own_model(tmp_path: object) -> str:
    """Return a copy of the bundled model under another name."""
    folder = os.path.join(str(tmp_path), "own-model")
    os.mkdir(folder)
    for name in FILES:
        shutil.copyfile(os.path.join(resource("model"), name), os.path.join(folder, name))
    return folder


def test_bundled_model_is_whole() -> None:
    """The shipped files have the shipped hashes."""
    info = load_model_info(EmbeddingConfig())
    assert (info.dir, info.id, info.dimension) == (resource("model"), "memx-multi-256-int8-r2", 256)
    assert {file.name for file in info.files} >= {*FILES, "vocabulary.map", "calibration.txt"}
    assert verify_model(info) == []
    assert info.fingerprint == f"{info.id}@{info.revision}/256/{info.tokenizer_hash}"


def test_own_folder_needs_trust(own_model: str) -> None:
    """A value that a committed config may have set is not followed before the user approved it."""
    with pytest.raises(ModelUnavailableError, match="trusted"):
        load_model_info(EmbeddingConfig(model=own_model))


def test_own_folder_is_measured_once(
    own_model: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second opening compares size and time only; the bundled model's fingerprint differs by name."""
    config, cache = EmbeddingConfig(model=own_model), os.path.join(str(tmp_path), "cache")
    first = load_model_info(config, trusted=True, cache_dir=cache)
    assert first.id == "own-model"
    assert first.revision == load_model_info(EmbeddingConfig()).revision
    monkeypatch.delattr(model_module, "_sha256_of")
    assert load_model_info(config, trusted=True, cache_dir=cache) == first


def test_changed_own_model_has_another_fingerprint(own_model: str, tmp_path: object) -> None:
    """A retrained model in the same folder never mixes with its former vectors."""
    config, cache = EmbeddingConfig(model=own_model), os.path.join(str(tmp_path), "cache")
    first = load_model_info(config, trusted=True, cache_dir=cache)
    path = os.path.join(own_model, "model.safetensors")
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x42")
    os.utime(path, ns=(1, 1))
    assert load_model_info(config, trusted=True, cache_dir=cache).fingerprint != first.fingerprint


def test_cache_that_cannot_be_written_is_no_error(own_model: str, tmp_path: object) -> None:
    """Without a cache the model is measured each time."""
    blocked = os.path.join(str(tmp_path), "file")
    with open(blocked, "wb"):
        pass
    assert load_model_info(EmbeddingConfig(model=own_model), trusted=True, cache_dir=blocked).dimension == 256


def test_hub_name_is_looked_up_in_the_cache_only(own_model: str, tmp_path: object) -> None:
    """A name that was not downloaded is an error with a hint, a downloaded one is used (faults 49)."""
    config, cache = EmbeddingConfig(model="someone/some-model"), str(tmp_path)
    with pytest.raises(ModelUnavailableError, match="downloaded"):
        load_model_info(config, trusted=True, cache_dir=cache)
    target = download_folder("someone/some-model", cache)
    os.makedirs(os.path.dirname(target))
    shutil.move(own_model, target)
    assert load_model_info(config, trusted=True, cache_dir=cache).id == "someone--some-model"


def test_folder_without_model_is_refused(tmp_path: object) -> None:
    """A folder that lacks a file is an error that names it."""
    with pytest.raises(ModelUnavailableError, match=r"config\.json"):
        load_model_info(EmbeddingConfig(model=str(tmp_path)), trusted=True)


@pytest.mark.parametrize("damage", ["missing", "truncated", "manifest"])
def test_damaged_bundled_model_is_said(own_model: str, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package whose model is not whole raises instead of giving wrong vectors."""
    for name in ("manifest.txt", "vocabulary.map", "calibration.txt"):
        shutil.copyfile(os.path.join(resource("model"), name), os.path.join(own_model, name))
    monkeypatch.setattr(model_module, "resource", lambda _: own_model)
    assert load_model_info(EmbeddingConfig()).dimension == 256
    path = os.path.join(own_model, "tokenizer.json" if damage != "manifest" else "manifest.txt")
    if damage == "missing":
        os.unlink(path)
    else:
        with open(path, "r+b") as file:
            file.truncate(10)
    with pytest.raises(ModelUnavailableError):
        load_model_info(EmbeddingConfig())


def test_doctor_finds_a_changed_byte(own_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte that changed without changing the size is found by the full check only."""
    for name in ("manifest.txt", "vocabulary.map", "calibration.txt"):
        shutil.copyfile(os.path.join(resource("model"), name), os.path.join(own_model, name))
    monkeypatch.setattr(model_module, "resource", lambda _: own_model)
    with open(os.path.join(own_model, "vocabulary.map"), "r+b") as file:
        file.seek(1000)
        file.write(b"\x42")
    [problem] = verify_model(load_model_info(EmbeddingConfig()))
    assert "vocabulary.map" in problem


def test_embedding_text_is_title_and_body() -> None:
    """A bullet is embedded with its title, and keyed by the whole of it."""
    plain, titled = Bullet("a", "body"), Bullet("a", "body", title="Title")
    assert embedding_text(plain) == "body"
    assert embedding_text(titled) == "Title\nbody"
    assert len(embedding_key("body")) == 16
    assert embedding_key("body") != embedding_key("Title\nbody")
    assert len(embedding_key("\ud800")) == 16
