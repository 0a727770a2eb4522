"""A model of the user's own: fetched by name only when asked, and words alone where a model is missing or damaged."""

from __future__ import annotations

import json
import math
import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from memx.resources import resource
from tests.support.hub_server import HubServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

NAME = "someone/small-model"
LESSON = "Back up the ledger before the nightly migration, since it drops the old rows."
QUESTION = "save the account book ahead of moving the data"


@pytest.fixture
def model_files(tmp_path: Path) -> Path:
    """Return a folder with what a model on the hub has."""
    folder = tmp_path / "hub"
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copy(os.path.join(resource("model"), name), folder)
    return folder


def name_model(store: Program, model: str) -> None:
    """Let the committed configuration name an embedding model."""
    team = store.folder / ".memx" / "config.yml"
    team.write_text(team.read_text() + f"embedding:\n  model: {model}\n")


def search(store: Program) -> tuple[dict[str, object], str]:
    """Return the answer to the question and what was said beside it."""
    done = store.run("search", QUESTION, "--json")
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout), done.stderr.decode()


def test_hub_model_is_fetched_on_demand_only(store: Program, model_files: Path, tmp_path: Path) -> None:
    """Search, hook, add and bare trust ask the hub nothing; `trust --download` fetches, and then the model is used."""
    with HubServer(NAME, model_files) as hub:
        store.environ |= {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "hf"),
            "HF_HUB_DISABLE_XET": "1",
            "NO_PROXY": "127.0.0.1",
        }
        store.ok("add", LESSON)
        name_model(store, NAME)
        assert search(store)[0]["degraded"] == []
        said = store.run("trust", "--yes").stderr.decode()
        assert "memx trust --download" in said
        for words in (["add", "Rotate the keys weekly."], ["hooks", "run", "post-commit"], ["doctor"]):
            store.run(*words)
        answer, said = search(store)
        assert answer["degraded"] != []
        assert said.count(NAME) == 1
        assert hub.asked == []
        store.ok("trust", "--yes", "--download")
        assert any("model.safetensors" in path for path in hub.asked)
        count = len(hub.asked)
        assert search(store)[0]["degraded"] == []
        assert "someone--small-model" in store.run("doctor").stdout.decode()
        assert len(hub.asked) == count


def test_failed_download_is_one_error(store: Program, tmp_path: Path) -> None:
    """A hub that does not answer leaves no half model and one error that names the model."""
    name_model(store, NAME)
    store.environ |= {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "hf")}
    done = store.run("trust", "--yes", "--download")
    assert done.returncode == 1
    assert NAME in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert search(store)[0]["degraded"] != []


@pytest.mark.parametrize("damage", ["no model", "cut", "garbage"])
def test_damaged_model_means_words_alone(store: Program, model_files: Path, damage: str) -> None:
    """A missing, cut or garbled model is said once a search, and words still find."""
    store.ok("add", LESSON)
    weights = model_files / "model.safetensors"
    if damage == "no model":
        weights.unlink()
    else:
        data = weights.read_bytes()
        weights.write_bytes(data[: len(data) // 2] if damage == "cut" else b"garbage" * 100)
    name_model(store, str(model_files))
    store.ok("trust", "--yes")
    done = store.run("search", "ledger migration", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["hits"][0]["text"] == LESSON
    assert answer["degraded"] != []
    assert done.stderr.decode().count("degraded: l4") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("search", "ledger"),
        ("add", "Rotate the keys weekly, since tokens leak."),
        ("compare", "ledger", "book"),
        ("conflicts",),
        ("dedup", "--dry-run"),
        ("reindex",),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("is_damaged", [False, True], ids=["missing", "damaged"])
def test_command_without_its_model_says_so(
    store: Program,
    tmp_path: Path,
    words: tuple[str, ...],
    is_damaged: bool,  # noqa: FBT001 (a case)
) -> None:
    """Whatever compares or searches names a model that cannot be used, in the document and beside it."""
    store.ok("add", LESSON)
    model = tmp_path / "model"
    if is_damaged:
        shutil.copytree(resource("model"), model)
        (model / "model.safetensors").write_bytes(b"garbage")
    store.ok("config", "set", "embedding.model", str(model))
    done = store.run(*words, "--json")
    assert done.returncode == 0, done.stderr.decode()
    assert [line[:3] for line in json.loads(done.stdout)["degraded"]] == ["l4:"]
    assert done.stderr.decode().count("degraded: l4, search by meaning, is missing") == 1


@pytest.mark.parametrize("question", ["🚀🔥", "ᚠᚢᚦᚨᚱᚲ", "\udcff\udcfe", "𓀀𓀁 ledger \udcff", "word " * 20_000])
def test_hard_question_gets_finite_scores(store: Program, question: str) -> None:
    """Emoji, an unknown script, bytes that are no UTF-8 and a long question: finite scores, none for no meaning."""
    store.ok("add", "🚀🔥🚀🔥 ᚠᚢᚦ")
    store.ok("add", LESSON)
    done = store.run("search", question, "--json")
    assert done.returncode == 0, done.stderr.decode()
    hits = json.loads(done.stdout)["hits"]
    assert all(math.isfinite(hit["score"]) and math.isfinite(hit["semantic"]) for hit in hits)
    if "ledger" in question:
        assert hits[0]["text"] == LESSON
    if not question.isascii() and "ledger" not in question:
        assert all(hit["semantic"] == 0 for hit in hits)


def test_other_model_says_that_its_vectors_are_being_made(store: Program, model_files: Path) -> None:
    """The first search after a change of model is degraded and says so; the vectors come behind its back."""
    store.ok("add", LESSON)
    assert search(store)[0]["degraded"] == []
    store.ok("config", "set", "embedding.model", str(model_files))
    answer, said = search(store)
    assert [line.partition(":")[0] for line in answer["degraded"]] == ["vectors"]
    assert said.count("memx reindex") == 1
    until = time.monotonic() + 60
    while answer["degraded"] and time.monotonic() < until:
        time.sleep(0.5)
        answer, said = search(store)
    assert (answer["degraded"], said) == ([], "")
    assert answer["hits"][0]["text"] == LESSON
