"""Answers are read whatever shape they come in, and nothing malformed gets through."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import LlmError
from memx.reflector.llm.answer import parse_judgements, parse_lessons

ONE = '{"n": 1, "score": 70, "text": "one"}'
TWO = '{"n": 2, "score": 20, "text": "two"}'


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (f'{{"answers": [{ONE}, {TWO}]}}', {1, 2}),
        (f'Here you are:\n```json\n{{"answers": [{ONE}, {TWO}]}}\n```', {1, 2}),
        (f"[{ONE}, {TWO}]", {1, 2}),
        (f'{{"answers": [{ONE}, {{"n": 2, "sco', {1}),
        (f'{{"answers": [{ONE}, {TWO}', {1, 2}),
        (f'{{"answers": [{ONE}, 7, null, {{"n": 2, "score": 101, "text": "x"}}]}}', {1}),
        (f'{{"answers": [{ONE}, {{"n": 3, "score": 10, "text": "x"}}]}}', {1}),
        (f'{{"answers": [{ONE}, {{"n": true, "score": 10, "text": "x"}}, {TWO}, {TWO}]}}', {1}),
    ],
)
def test_judgements_are_those_that_are_whole(text: str, numbers: set[int]) -> None:
    """Of broken, fenced, doubled and foreign answers the whole ones are taken."""
    assert set(parse_judgements(text, 2)) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "{}",
        '{"answers": []}',
        '{"answers": 7}',
        "[" * 100_000,
        '{"answers": [{"n": 1',
    ],
)
def test_answer_without_a_judgement_is_an_error(text: str) -> None:
    """A refusal, an empty answer and endless nesting are one expected failure."""
    with pytest.raises(LlmError):
        parse_judgements(text, 2)


def test_lessons_need_a_turn_that_was_sent() -> None:
    """A lesson that names no turn of the chunk has no evidence and is left out."""
    lessons = [
        {"text": "kept", "score": 50, "turns": [3, 99]},
        {"text": "invented", "score": 90, "turns": [99]},
        {"text": "none", "score": 90, "turns": []},
    ]
    found = parse_lessons(json.dumps({"lessons": lessons}), {1, 2, 3})
    assert [(lesson.text, lesson.turns) for lesson in found] == [("kept", (3,))]
    assert parse_lessons('{"lessons": []}', {1}) == []
    with pytest.raises(LlmError):
        parse_lessons('{"lessons": [{"text": "cut', {1})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 150) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["answers", "n", "score", "text", "lessons", "turns"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=200)
@given(JSON, st.integers(0, 60))
def test_any_json_gives_valid_judgements_or_an_error(value: object, cut: int) -> None:
    """Whatever JSON comes, whole or cut off, what is returned is within bounds."""
    text = json.dumps(value)
    for shown in (text, text[:cut]):
        try:
            found = parse_judgements(shown, 3)
        except LlmError:
            continue
        assert all(1 <= j.number <= 3 and 0 <= j.score <= 100 and j.text for j in found.values())
