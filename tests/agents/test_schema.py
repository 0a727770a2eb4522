"""What an agent sends is checked against what the command line declares."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memx.agents.schema import LONGEST, MOST, input_schema, read_arguments
from memx.agents.tools import TOOLS, Tool
from memx.entry.cli.mcp import declared
from memx.errors import UsageError

SEARCH = declared(next(tool for tool in TOOLS if tool.name == "search"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schema_is_valid_and_says_what_each_argument_is(tool: Tool) -> None:
    """Every property has a description, the required ones are those of the command."""
    schema = input_schema(declared(tool))
    Draft202012Validator.check_schema(schema)
    assert tuple(schema["properties"]) == tool.takes
    assert all(entry["description"] for entry in schema["properties"].values())
    assert set(schema["required"]) <= {"query", "bullet", "text"}
    assert "standard input" not in str(schema)


def test_given_values_arrive_and_others_are_absent() -> None:
    """Lists become tuples, names of sections are read in any case, null is not given."""
    values = read_arguments(
        SEARCH, {"query": "pool", "tag": ["redis"], "section": "Debugging", "max_results": 3.0, "path": None}
    )
    assert values == {
        "query": "pool", "tag": ("redis",), "section": "debugging", "max_results": 3, "path": None,
        "token_budget": None, "type": None, "scope": None, "workspace": None, "archived": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "query is missing"),
        ({"query": 1}, "query must be string, not 1"),
        ({"query": "x", "max_results": True}, "max_results must be integer, not True"),
        ({"query": "x", "max_results": 1.5}, "max_results must be integer"),
        ({"query": "x", "max_results": float("inf")}, "max_results must be integer"),
        ({"query": "x", "max_results": 1 << 40}, "max_results must be integer"),
        ({"query": "x", "tag": "redis"}, "tag must be a list"),
        ({"query": "x", "tag": [["redis"]]}, "tag must be string"),
        ({"query": "x", "tag": ["a"] * (MOST + 1)}, "at most 100"),
        ({"query": "x" * (LONGEST + 1)}, "at most 100000"),
        ({"query": "x", "archived": "yes"}, "archived must be boolean"),
        ({"query": "x", "section": "nonsense"}, "unknown section 'nonsense'"),
        ({"query": "x", "pin": True}, "there is no argument 'pin'"),
    ],
)
def test_bad_argument_is_named(arguments: dict[str, object], message: str) -> None:
    """The message says which argument and what it should be."""
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        read_arguments(SEARCH, arguments)


@given(st.dictionaries(st.sampled_from([p.name for p in SEARCH]) | st.text(max_size=5), JSON, max_size=5))
def test_anything_else_is_a_usage_error(arguments: dict[str, object]) -> None:
    """No JSON value raises anything but UsageError."""
    with contextlib.suppress(UsageError):
        assert set(read_arguments(SEARCH, arguments)) == {parameter.name for parameter in SEARCH}
