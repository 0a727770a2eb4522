"""What a process loads is what it costs: heavy modules stay out of the paths that must be instant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = {
    "tantivy",
    "numpy",
    "model2vec",
    "tokenizers",
    "typer",
    "click",
    "rich",
    "git",
    "yaml",
    "frontmatter",
}
SLOW_STANDARD = {
    "dataclasses",
    "typing",
    "logging",
    "subprocess",
    "pathlib",
    "asyncio",
    "inspect",
    "argparse",
    "collections",  # by `array`, for one
}
SEARCH_MAY_LOAD = {"tantivy"}

PROBE = """
import sys
before = set(sys.modules)
{code}
names = sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})
import json
sys.stderr.write("\\nLOADED " + json.dumps(names))
"""


def loaded(code: str, folder: Path) -> set[str]:
    """Return the top-level modules that a fresh interpreter loads for some code."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROBE.format(code=code)],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert b"LOADED" in done.stderr, done.stderr.decode()
    names: list[str] = json.loads(done.stderr.rpartition(b"LOADED ")[2])
    return set(names)


def command(*arguments: str) -> str:
    """Return the code that runs one command line."""
    return f"from memx.entry.cli.main import main\nmain({list(arguments)!r})"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a repository with a store of one bullet and an index."""
    subprocess.run(["git", "init", "--quiet", "."], cwd=tmp_path, check=True)
    for arguments in (["init"], ["add", "Set MAX_POOL_SIZE to 50"], ["search", "pool"]):
        subprocess.run(
            [sys.executable, "-m", "memx", *arguments], cwd=tmp_path, check=True, capture_output=True
        )
    return tmp_path


def test_version_loads_nothing_heavy(tmp_path: Path) -> None:
    """`memx --version` needs the parser's data and nothing else."""
    assert not loaded(command("--version"), tmp_path) & (HEAVY | SLOW_STANDARD | {"json", "re"})


def test_noop_hook_loads_nothing_heavy(tmp_path: Path) -> None:
    """A hook in a repository without a store ends before it loads anything."""
    subprocess.run(["git", "init", "--quiet", "."], cwd=tmp_path, check=True)
    code = "from memx.entry.hook import main\nmain(['post-checkout', 'a', 'a', '0'])"
    assert not loaded(code, tmp_path) & (HEAVY | SLOW_STANDARD)


def test_search_loads_tantivy_and_no_other_library(folder: Path) -> None:
    """A search opens the index and scans vectors; everything else of weight stays out."""
    names = loaded(command("search", "pool", "--no-recall"), folder)
    assert names & HEAVY == SEARCH_MAY_LOAD
    assert not names & SLOW_STANDARD


@pytest.mark.parametrize("query", [[], ["pool"]], ids=["weighed", "asked"])
def test_context_loads_what_a_search_loads(folder: Path, query: list[str]) -> None:
    """A block for a prompt is printed at the start of every session, so it is as instant as a search."""
    names = loaded(command("context", *query), folder)
    assert names & HEAVY == SEARCH_MAY_LOAD
    assert not names & SLOW_STANDARD


@pytest.mark.parametrize("arguments", [["config", "get", "generator.max_results"], ["inbox"], ["list"]])
def test_reading_commands_load_no_library(folder: Path, arguments: list[str]) -> None:
    """Commands that only read files need no library at all."""
    assert not loaded(command(*arguments), folder) & HEAVY


@pytest.mark.parametrize("arguments", [["distill", "--mode", "rules"], ["distill"], ["stats"], ["doctor"]])
def test_rules_load_no_llm(folder: Path, arguments: list[str]) -> None:
    """An LLM's library (half a second) is loaded by what asks an LLM alone, even where one is configured."""
    (folder / ".git" / "memx").mkdir(exist_ok=True)
    model = "llm:\n  model: some-model\n" if arguments != ["distill"] else ""
    (folder / ".git" / "memx" / "config.yml").write_text(model)
    assert not loaded(command(*arguments), folder) & {"llm", "openai", "pydantic"}
