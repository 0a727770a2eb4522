"""No text of the evaluation gets into training."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools", "embedding"))

import pytest
from overlap import RUN, Evaluation

KEPT_APART = (
    "Raise the pool to fifty connections, since twenty starve the workers at noon.",
    "数据库连接池太小会在高负载时导致超时。",
    "Rename a container.",
)


@pytest.fixture
def evaluation() -> Evaluation:
    """Return the filter over a few texts."""
    return Evaluation(KEPT_APART)


@pytest.mark.parametrize("text", [*KEPT_APART, "RENAME a container", "rename  a\tcontainer!"])
def test_equal_text_is_refused(evaluation: Evaluation, text: str) -> None:
    """Case, marks and white space make no other text of it."""
    assert evaluation.reason(text) == "equal"


@pytest.mark.parametrize(
    "text",
    [
        "Remember: raise the pool to fifty connections since twenty is too few",
        "我们发现数据库连接池太小会出问题",
    ],
)
def test_run_of_words_is_refused(evaluation: Evaluation, text: str) -> None:
    """Eight words, or CJK characters, in a row are too much in common."""
    assert evaluation.reason(text) == "run"


@pytest.mark.parametrize(
    "text", ["", "Raise the pool to fifty", "数据库连接池很大", "Rename a container or two"]
)
def test_other_text_may_be_trained_on(evaluation: Evaluation, text: str) -> None:
    """Fewer words in common than a run are common words."""
    assert evaluation.reason(text) == ""
    assert RUN == 8
