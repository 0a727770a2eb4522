"""Cleaning is total, bounded, and removes what no person and no tool said."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.transcripts import clean

any_text = st.text(st.characters(exclude_categories=()), max_size=300)


@given(any_text)
def test_any_text_becomes_printable(text: str) -> None:
    """The outcome can be encoded and holds neither escapes nor NULs."""
    for cleaned in (
        clean.prose(text, 100),
        clean.user_text(text, 100),
        clean.result(text, 100),
        clean.label(text),
    ):
        cleaned.encode()
        assert "\0" not in cleaned
        assert "\x1b" not in cleaned


@given(any_text, st.integers(20, 200))
def test_texts_stay_within_their_limit(text: str, limit: int) -> None:
    """Head, mark and tail together are no longer than the limit."""
    assert len(clean.cut(text, limit)) <= limit


@given(st.one_of(st.floats(), st.integers(), any_text, st.none(), st.lists(st.none())))
def test_any_moment_is_a_number_or_nothing(value: object) -> None:
    """No value of a time field can do harm later."""
    moment = clean.moment(value)
    assert moment is None or math.isfinite(moment)


def test_milliseconds_and_seconds_mean_the_same() -> None:
    """Tools write both."""
    assert clean.moment(1_777_630_000_000) == clean.moment(1_777_630_000) == 1_777_630_000.0


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>secret</system-reminder>keep",
        "keep<system-reminder>secret",
        "<ide_opened_file>secret</ide_opened_file>\nkeep",
        "keep\n<environment_details>\nsecret\n</environment_details>",
        "keep\n--- Content from referenced files ---\nsecret\n--- End of content ---",
        "keep\n# task_progress\n- [ ] secret",
        "# Context from my IDE setup:\n\n## Open tabs:\nsecret\n\n## My request for Codex:\nkeep",
        "\x1b[31mkeep\x1b[0m\x1b]0;secret\x07",
        "<task>\nkeep\n</task>",
    ],
)
def test_what_a_tool_added_is_cut_out(text: str) -> None:
    """Only the person's own words are left."""
    assert clean.user_text(text, 1000).strip() == "keep"


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/clear</command-name>",
        "Caveat: The messages below were generated",
        "[Request interrupted by user for tool use]",
        "# AGENTS.md instructions for /x",
        "<turn_aborted>",
    ],
)
def test_turns_that_no_person_wrote_are_empty(text: str) -> None:
    """Commands and notices of the tool are not said by the user."""
    assert clean.user_text(text, 1000) == ""


def test_base64_is_dropped() -> None:
    """A pasted image leaves a mark only."""
    assert clean.prose("see " + "QUJD" * 1000 + " end", 8000) == "see [base64] end"
    assert clean.prose("see data:image/png;base64,QUJD= end", 8000) == "see [base64] end"


def test_results_keep_head_and_tail_in_whole_lines() -> None:
    """The first error and the last line survive, no line is cut in the middle."""
    text = "\n".join(f"line {number}" for number in range(2000))
    shown = clean.result(text, 400)
    assert shown.startswith("line 0\n")
    assert shown.endswith("line 1999")
    assert all(line == "[…]" or line in text.split("\n") for line in shown.split("\n"))


@pytest.mark.parametrize(
    "piece", ["<system-reminder>", "A", "\x1b[", "<think", "--- Content from referenced files ---", "\n"]
)
def test_hostile_repetition_costs_little_time(piece: str) -> None:
    """No expression goes through the text once for each try."""
    begun = time.perf_counter()
    clean.user_text(piece * (400_000 // len(piece)), 8000)
    assert time.perf_counter() - begun < 2.0
