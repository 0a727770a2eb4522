"""What is wrong with the configuration is named by every reader, and stops none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.mcp_process import McpProcess

if TYPE_CHECKING:
    from tests.e2e.conftest import Program

LESSON = "Redis timeouts under load come from the pool ceiling"
WAYS = {
    "flow": ('generator: {max_results: "x", bogus: 3}\n', ["whole number", "unknown key"]),
    "value for a section": ("generator: 3\n", ["is a section"]),
    "not YAML": ("generator: [1\n", ["not YAML"]),
    "weights": ("generator:\n  keyword_weight: 0\n  semantic_weight: 0\n", ["must not both be 0"]),
}
READERS = (
    "search redis",
    "context",
    "context redis",
    "list",
    "show ID",
    "why ID",
    "decay",
    "stats",
    "log ID",
)


@pytest.mark.parametrize("way", WAYS)
def test_reader_names_a_bad_configuration_once_and_goes_on(store: Program, way: str) -> None:
    """On standard error, and in `problems` of the document beside what was asked for."""
    text, words = WAYS[way]
    identifier = store.json("add", LESSON)["id"]
    path = store.folder / ".memx" / "config.yml"
    path.write_text(text)
    readers = READERS if way == "flow" else READERS[:2]
    for reader in readers:
        arguments = reader.replace("ID", identifier).split()
        plain, document = store.run(*arguments), store.run(*arguments, "--json")
        problems = json.loads(document.stdout)["problems"]
        assert (plain.returncode, document.returncode) == (0, 0)
        assert [
            (problem["path"], word in problem["message"])
            for problem, word in zip(problems, words, strict=True)
        ] == [(str(path), True) for _ in words], reader
        said = plain.stderr.decode()
        assert [said.count(word) for word in words] == [1] * len(words), (reader, said)
    assert LESSON in store.ok("search", "redis")


def test_command_about_the_configuration_names_it_once(store: Program) -> None:
    """`config`, `doctor` and `lint` name it as their own finding."""
    (store.folder / ".memx" / "config.yml").write_text("generator:\n  bogus: 3\n")
    for command in ("config", "doctor", "lint"):
        done = store.run(command)
        assert (done.stdout + done.stderr).count(b"unknown key generator.bogus") == 1, command


def test_hooks_are_quiet_about_it(store: Program) -> None:
    """A commit has other worries."""
    store.ok("hooks", "install")
    (store.folder / ".memx" / "config.yml").write_text("generator:\n  bogus: 3\n")
    assert "unknown key" not in store.commit("Change it", note_txt="x")


def test_untrusted_key_is_not_named_by_each_search(store: Program) -> None:
    """`memx config` and `memx doctor` say that it waits."""
    store.ok("add", LESSON)
    (store.folder / ".memx" / "config.yml").write_text("embedding:\n  model: some/model\n")
    done = store.run("search", "redis", "--json")
    assert (done.stderr, json.loads(done.stdout)["problems"]) == (b"", [])
    assert b"ignored until it is trusted" in store.run("config").stderr


def test_agent_is_told_too(store: Program) -> None:
    """What stands outside the fence of a search's answer."""
    (store.folder / ".memx" / "config.yml").write_text("generator:\n  bogus: 3\n")
    with McpProcess(store.folder, store.environ) as server:
        answer = server.ok("search", query="redis")
    assert "unknown key generator.bogus" in str(answer)
