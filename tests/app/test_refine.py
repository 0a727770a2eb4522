"""The mode of a run and the scores that come out of it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from memx.app import llm
from memx.app.project import Project
from memx.app.refine import LlmRun
from memx.model import Candidate
from memx.reflector.llm.port import Answer, Prompt

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo

TEXT = "Set MAX_POOL_SIZE to 50, because 10 is not enough under load."


class Scoring:
    """A model that copies a note and gives it one score."""

    name = "scoring"

    def __init__(self, score: int) -> None:
        """Take the score."""
        self._score = score

    def ask(self, prompt: Prompt, timeout_s: float) -> Answer:  # noqa: ARG002 (the port's signature)
        """Return the one judgement."""
        return Answer(json.dumps({"answers": [{"n": 1, "score": self._score, "text": TEXT}]}), 10, 10)


def candidate(score: int, rule: str = "statement") -> Candidate:
    """Return a candidate with a score of the rules."""
    return Candidate("k3v9q2m7xa", TEXT, rule, 0.5, score, "tools", "trick", lang="en")


@pytest.fixture
def project(git_repo: GitRepo) -> Project:
    """A project in an empty repository, with a model named in the environment's highest layer."""
    return Project(str(git_repo.path), {**os.environ, "MEMX_LLM_MODEL": "scoring"}, 1_800_000_000.0)


@pytest.mark.parametrize(
    ("rule", "model", "stored"),
    [(40, 80, 60), (40, 20, 30), (40, 19, None), (24, 36, 30), (24, 35, None), (24, 100, 62), (100, 0, 50)],
)
def test_mean_is_what_min_score_is_held_against(
    project: Project, monkeypatch: pytest.MonkeyPatch, rule: int, model: int, stored: int | None
) -> None:
    """Rule 40 and LLM 80 store 60; a mean of 30 is kept, 29 and 29.5 are dropped; the LLM may lift a weak candidate."""
    monkeypatch.setattr(llm, "open_model", lambda *_: Scoring(model))
    kept, rejected = LlmRun(project, "hybrid").refine([candidate(rule)])
    assert [c.score for c in kept] == ([] if stored is None else [stored])
    assert [r.reason for r in rejected] == (["score 29 is below 30"] if stored is None else [])


def test_weak_candidate_without_an_answer_is_dropped(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the rules let through for the LLM alone does not pass without it; a person's own words do."""
    monkeypatch.setattr(llm, "open_model", lambda *_: Scoring(999))
    run = LlmRun(project, "hybrid")
    kept, rejected = run.refine([candidate(24)])
    assert (kept, len(rejected)) == ([], 1)
    assert run.refine([candidate(24, rule="trailer")])[0] == [candidate(24, rule="trailer")]


@pytest.mark.parametrize(("mode", "least"), [("rules", 30), ("hybrid", 24), ("llm", 24)])
def test_rules_let_more_through_where_an_llm_follows(project: Project, mode: str, least: int) -> None:
    """Four fifths of min_score with an LLM behind, min_score itself without."""
    assert LlmRun(project, mode).reflector_config.min_score == least


def test_rules_without_a_model_are_rules(git_repo: GitRepo) -> None:
    """Whatever mode is wanted, without a model it is `rules`, and the default says so once."""
    project = Project(str(git_repo.path), {**os.environ, "OPENAI_API_KEY": "x"}, 1_800_000_000.0)
    assert LlmRun(project).notes()
    run = LlmRun(project)
    assert (run.mode, run.notes(), run.use().calls) == ("rules", (), 0)
    assert LlmRun(project, "llm").notes()
