"""The documentation says what the program does now."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest

from memx import errors

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCS = os.path.join(ROOT, "docs")

pytestmark = pytest.mark.skipif(
    not os.path.isdir(DOCS), reason="the wheel is tested without its documentation"
)


def read(*parts: str) -> str:
    """Return the text of a file of the project."""
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as stream:
        return stream.read()


def test_generated_reference_is_current() -> None:
    """The pages of commands and keys are those that the code would write today."""
    done = subprocess.run(
        [sys.executable, os.path.join(DOCS, "generate_reference.py"), "--check"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_exception_tree_is_documented_as_it_is() -> None:
    """The tree in the reference is the one in the code."""
    names = re.findall(r"\w+Error\b", errors.__doc__ or "")
    page = read("docs", "reference", "errors.md")
    assert re.findall(r"\w+Error\b", page) == names
    assert set(names) == {name for name in vars(errors) if name.endswith("Error")}


def test_every_page_is_in_the_navigation() -> None:
    """A page that the navigation does not name is a page that nobody finds."""
    navigation = read("mkdocs.yml")
    for folder, _, names in os.walk(DOCS):
        for name in names:
            if name.endswith(".md"):
                path = os.path.relpath(os.path.join(folder, name), DOCS).replace(os.sep, "/")
                assert path in navigation, path


def test_links_of_the_readme_lead_somewhere() -> None:
    """Every relative link of the README is a file."""
    for target in re.findall(r"\]\(([^)#]+)\)", read("README.md")):
        if "://" not in target:
            assert os.path.exists(os.path.join(ROOT, target)), target


def test_servers_are_registered_by_valid_configuration() -> None:
    """What people copy into their agents' files parses and starts `memx mcp`."""
    page = re.sub(r"^    ", "", read("docs", "how-to", "use-from-an-agent.md"), flags=re.MULTILINE)
    blocks = re.findall(r"```(json|toml)\n(.*?)```", page, flags=re.DOTALL)
    assert [kind for kind, _ in blocks] == ["json", "toml", "json"]
    for kind, text in blocks:
        servers = json.loads(text)["mcpServers"] if kind == "json" else tomllib.loads(text)["mcp_servers"]
        assert (servers["memx"]["command"], servers["memx"]["args"][0]) == ("memx", "mcp")


def test_stub_pages_are_none() -> None:
    """No page consists of its heading alone."""
    for folder, _, names in os.walk(DOCS):
        for name in names:
            if name.endswith(".md"):
                assert len(read(os.path.relpath(os.path.join(folder, name), ROOT)).splitlines()) > 3, name
