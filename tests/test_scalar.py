"""YAML scalars of one line, read and written."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.scalar import format_scalar, read_flow_list, read_quoted, read_scalar

tricky = st.text(st.sampled_from("ab:- #\"'[],&*~|>?{}!%@`.\t0\\xuU"), max_size=14)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("a  # why", "a"),
        ("# only a comment", ""),
        ("null", ""),
        ('"a \\u00e9 \\x41 \\U0001f600"  # c', "a é A 😀"),
        ("'it''s'", "it's"),
        ('"open', None),
        ('"a" b', None),
        ('"\\q"', None),
        ('"\\ud800"', None),
        ('"\\u12"', None),
        ('"\\u_123"', None),
        ('"\\U00110000"', None),
        ("a: b", None),
        ("a:", None),
        ("- a", None),
        ("|", None),
        ("[a]", None),
        ("*a", None),
    ],
)
def test_scalar_is_read_or_given_up(written: str, value: str | None) -> None:
    """Plain and quoted scalars are strings; anything else is None."""
    assert read_scalar(written) == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("[]", ()),
        ("[a, 'b, c', \"d\"]  # flow", ("a", "b, c", "d")),
        ("[no, ~, 0123]", ("no", "~", "0123")),
        ("[a, [b]]", None),
        ("[a", None),
        ("[a, ", None),
        ("[a] b", None),
        ("['a' b]", None),
        ("[a, , b]", None),
        ("[{a: 1}]", None),
    ],
)
def test_flow_list_is_read_or_given_up(written: str, value: tuple[str, ...] | None) -> None:
    """A list of scalars in one line is a tuple; nested or open ones are None."""
    assert read_flow_list(written) == value


@given(tricky)
@settings(max_examples=400, deadline=None)
def test_whatever_is_read_yaml_reads_too(text: str) -> None:
    """A reader of ours that accepts a line agrees with YAML about its string."""
    for read in (read_scalar, read_quoted, read_flow_list):
        value = read(text) if read is not read_flow_list else read(f"[{text}]")
        line = f"a: [{text}]" if read is read_flow_list else f"a: {text}"
        if value is None or (read is read_quoted and text[:1] != '"'):
            continue
        loaded = yaml.load(line, Loader=yaml.CBaseLoader)["a"]  # noqa: S506 (it makes strings alone)
        if value == "" and isinstance(loaded, str):
            assert loaded in ("", "~", "null")
        else:
            assert loaded == (list(value) if isinstance(value, tuple) else value)


def test_control_characters_are_escaped() -> None:
    """What YAML refuses raw is written as an escape."""
    assert format_scalar("a\x01\x85\u2028\ufeff\U0001f600\u3000") == '"a\\x01\\x85\\u2028\\ufeff😀\u3000"'
