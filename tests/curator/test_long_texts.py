"""Lessons of several sentences share words by chance; that makes them neither duplicates nor contradictions."""

from __future__ import annotations

import itertools

import pytest

from memx.config import CuratorConfig
from memx.curator.judge import judge_texts

LESSONS = (
    (
        "A refused commit ends with an exit code of its own: a crashing interpreter ends with 1, and a "
        "broken hook must not block anybody. The script pins the interpreter by its absolute path because "
        "graphical clients run hooks without the shell's path. It keeps still while a rebase is under way, "
        "since it fires for every replayed commit."
    ),
    (
        "A killed import had marked its rows as read while they were still in memory, so the next run "
        "passed over them for good: rows now go to a spool file before they count as done. Workers of a "
        "killed run waited for ever because each held the pipe that would have told the others, so each "
        "watches its parent."
    ),
    (
        "An upload that is read twice needs its own copy, because the web server hands the stream over only "
        "once. The copy goes to a temporary file before the checksum is computed, and the file is removed "
        "even when the request is cancelled. Reading it into memory first was tried and took the worker "
        "down with it."
    ),
    (
        "Keep the nightly report in one transaction, since readers must never see half of it. The job takes "
        "the lock before it reads the first table and writes the totals last, because a total that is older "
        "than its rows was what sent two invoices to one customer. A run that is killed leaves nothing "
        "behind."
    ),
)
PARAPHRASE = (
    "A killed import had marked its rows as read while they were still in memory, so the next run "
    "skipped them for good: rows now go to a spool file before they count as done. The workers of a "
    "killed run waited for ever because each held the pipe that would have told the others, so each of "
    "them now watches its parent."
)


@pytest.mark.parametrize("cosine", [0.4, 0.6, 0.8])
def test_long_lessons_on_other_subjects_are_independent(cosine: float) -> None:
    """However near their vectors are, several sentences on another subject are another lesson."""
    for a, b in itertools.combinations(LESSONS, 2):
        assert judge_texts(a, b, cosine, CuratorConfig()).action == "independent", (a, b)


def test_redacted_secrets_are_no_shared_subject() -> None:
    """Two lessons that each once held a key have nothing in common because of that."""
    a = "The deploy key is <redacted:aws-key> and the password is <redacted:password> for prod"
    b = "Restart the indexer nightly: <redacted:password> opens its console"
    assert judge_texts(a, b, 0.5, CuratorConfig()).action == "independent"


def test_long_lesson_in_other_words_is_still_found() -> None:
    """What is the same from end to end is merged or at least flagged."""
    assert judge_texts(LESSONS[1], PARAPHRASE, 0.9, CuratorConfig()).action in ("merge", "conflict")
