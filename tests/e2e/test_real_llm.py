"""A real model of 135 million parameters behind the real client library: what a script cannot show.

The model answers nonsense in perfectly valid JSON, for its server compiles the
schema to a grammar: just what the checks on an answer are for. `.ci/run`
installs the server and names the model's file in MEMX_TEST_GGUF.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.llm_server import configure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.conftest import Program

pytestmark = [pytest.mark.external, pytest.mark.timeout(600)]

GGUF = os.environ.get("MEMX_TEST_GGUF", "")
MODEL = "smollm2"
SERVE = """\
import sys, time
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx, params.n_parallel, params.n_predict = 4096, 1, 400
# One thread: several wait for one another in a loop, and crawl where the cores are shared.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.hostnames, params.port = ["127.0.0.1"], 0
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
time.sleep(3600)
"""
LESSON = """\
Fix Redis timeouts

Redis timed out because the pool ceiling was 10: set MAX_POOL_SIZE to 50.
"""
SECOND = """\
Fix the export

The export failed with exit code 137 because mem_limit was 512 MB: raised it to 2 GB.
"""


class Server:
    """The model's server in a process of its own, which can be killed."""

    def __init__(self, log: Path) -> None:
        """Start it and wait until it listens."""
        command = [sys.executable, "-c", SERVE, GGUF]
        with log.open("wb") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(b"listening "):
                self.url = line.split()[1].decode() + "/v1"
                return
        raise AssertionError(log.read_text(errors="replace")[-2000:])

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """The real model, or a skip where it is not installed."""
    if not os.path.isfile(GGUF):
        pytest.skip("MEMX_TEST_GGUF names no model")
    pytest.importorskip("xllamacpp")
    started = Server(tmp_path / "server.log")
    yield started
    started.kill()


@pytest.fixture
def taught(memx: Program, server: Server, tmp_path: Path) -> Program:
    """A repository with two lessons in its history, and the real model to refine them."""
    memx.ok("init", "--no-hooks")
    for message in (LESSON, SECOND):
        memx.commit(message)
    memx.environ |= configure(tmp_path / "llm", server.url, model=MODEL)
    settings = {
        "model": MODEL,
        "retries": "0",
        "batch_size": "1",
        "concurrency": "1",
        "timeout_seconds": "150",
    }
    for key, value in settings.items():
        memx.ok("config", "set", f"llm.{key}", value)
    return memx


def distil(program: Program, *arguments: str) -> tuple[dict[str, dict[str, Any]], dict[str, Any], str]:
    """Distil the history; return the candidates by id, what the LLM did, and what was said."""
    words = [sys.executable, "-m", "memx", "distill", "--history", "--json", *arguments]
    done = subprocess.run(
        words, cwd=program.folder, env=program.environ, capture_output=True, check=True, timeout=500
    )
    document = json.loads(done.stdout)
    return {c["id"]: c for c in document["candidates"]}, document["llm"], done.stderr.decode()


def by_rules(program: Program) -> dict[str, dict[str, Any]]:
    """Return what the rules alone find."""
    return distil(program, "--mode", "rules", "--dry-run", "--again")[0]


def test_real_model_judges_and_no_fact_is_lost(taught: Program) -> None:
    """Whatever the model writes, scores are means, and every number and name of the rules' text is there still."""
    rules = by_rules(taught)
    taught.ok("config", "set", "reflector.min_score", "0")
    found, use, said = distil(taught, "--again")
    assert set(found) >= set(rules)
    assert use["calls"] == len(found)
    assert use["tokens_in"] > 100 * use["calls"]
    assert use["tokens_out"] > 0
    for identifier, rule in rules.items():
        text = found[identifier]["text"]
        assert text == rule["text"] or all(word in text for word in rule["entities"])
    # Every call is answered. An answer may still be refused: a model of this size can run into its limit of tokens.
    assert use["failed"] == 0, said
    assert taught.json("stats", "--llm")["llm"][0]["model"] == MODEL


def test_real_server_killed_in_mid_run_loses_nothing(taught: Program, server: Server) -> None:
    """The server dies while it generates: the run ends soon, with what the rules said."""
    rules = by_rules(taught)
    words = [sys.executable, "-m", "memx", "distill", "--history", "--json"]
    with subprocess.Popen(
        words, cwd=taught.folder, env=taught.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        time.sleep(1.5)
        server.kill()
        started = time.monotonic()
        out, said = run.communicate(timeout=120)
    assert time.monotonic() - started < 60
    found = {c["id"]: c["text"] for c in json.loads(out)["candidates"]}
    assert found == {key: c["text"] for key, c in rules.items()}
    assert b"kept the rules' word" in said


def test_real_model_is_cut_off_by_deadline_and_budget(taught: Program) -> None:
    """A deadline shorter than the model needs, and a budget smaller than a prompt, both leave the rules' word."""
    rules = by_rules(taught)
    taught.ok("config", "set", "llm.timeout_seconds", "0.2")
    found, use, said = distil(taught, "--again")
    assert {key: c["score"] for key, c in found.items()} == {key: c["score"] for key, c in rules.items()}
    assert use["failed"] == use["calls"] == len(rules)
    assert "did not answer within 0.2 seconds" in said
    (taught.folder / ".git" / "memx" / "inbox.jsonl").unlink()
    taught.ok("config", "set", "llm.max_tokens_per_run", "50")
    found, use, said = distil(taught, "--again")
    assert set(found) == set(rules)
    assert use["calls"] == 0
    assert "llm.max_tokens_per_run is reached" in said
