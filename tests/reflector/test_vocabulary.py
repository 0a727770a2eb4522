"""Lexicons: every language has the same groups, and folding keeps positions."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.reflector import vocabulary
from memx.reflector.vocabulary import fold, languages, load_lexicon

FOLDER = os.path.join(os.path.dirname(vocabulary.__file__), "lexicon")
RULES = {
    "config_change",
    "retry_success",
    "new_tool",
    "repetitive_op",
    "error_fix",
    "correction",
    "statement",
}
FORMS = {"closing", "imperative", "leaning", "narration"}
"""Patterns that are no rule's: how advice and a paragraph that points back begin."""


@pytest.mark.parametrize("language", languages())
def test_language_has_all_rules_and_groups(language: str) -> None:
    """A language file that lacks a group would silently weaken a rule."""
    with open(os.path.join(FOLDER, f"{language}.json"), encoding="utf-8") as file:
        data = json.load(file)
    with open(os.path.join(FOLDER, "en.json"), encoding="utf-8") as file:
        english = json.load(file)
    assert set(data["rules"]) == RULES | FORMS
    assert set(data["guards"]) == set(english["guards"])
    assert set(english["cues"]) - set(data["cues"]) <= {"success", "tool_word"}
    assert set(data["templates"]) == set(english["templates"])


@pytest.mark.parametrize("language", languages())
def test_all_patterns_compile(language: str) -> None:
    """Patterns are compiled lazily; none may be broken."""
    lexicon = load_lexicon(language)
    with open(os.path.join(FOLDER, f"{language}.json"), encoding="utf-8") as file:
        words = file.read().lower()
    for rule in RULES:
        assert list(lexicon.patterns(rule, f" {words} "))


@given(st.text())
def test_folding_keeps_length(text: str) -> None:
    """A position in the folded text is one more than in the text."""
    assert len(fold(text)) == len(text) + 2


def test_unknown_language_reads_english() -> None:
    """A language without a file is read with the English words."""
    assert load_lexicon("xx").language == "en"
