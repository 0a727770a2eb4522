"""The history miner's comparison of what it found."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.app.distil import History, Options
from memx.app.mining import BATCH_COMMITS, FIRST_COMMITS, distinct, mine, without_references
from memx.app.project import Project
from memx.model import Candidate

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo

NOW = 1_796_000_000

LESSON = "The pool was exhausted because a worker never returned its connection, so close it in finally."


def candidate(text: str, score: int) -> Candidate:
    """Return a candidate with a text and a score."""
    return Candidate(
        id=f"{abs(hash(text)):010x}"[:10],
        text=text,
        rule="error_fix",
        confidence=0.8,
        score=score,
        section="debugging",
        type="error_solution",
    )


@pytest.mark.parametrize(
    "reference",
    [" (#123)", " Refs #9.", " See PR 4540.", " (4540)", " PROJ-77", " 1a2b3c4d5e", " [backport #8]"],
)
def test_reference_to_a_ticket_does_not_make_another_lesson(reference: str) -> None:
    """A ticket's number or a hash is no part of a lesson's wording."""
    assert [c.score for c in distinct([candidate(LESSON, 90), candidate(LESSON + reference, 80)])] == [90]


def test_other_value_makes_another_lesson() -> None:
    """Two changes of one setting to different values are both proposed."""
    texts = [
        f"MAX_POOL_SIZE was changed from 10 to {n}, because the workers waited for a connection every night."
        for n in (50, 80)
    ]
    assert len(distinct([candidate(text, 60) for text in texts])) == 2


def test_other_identifier_makes_another_lesson() -> None:
    """The same words about another name are another lesson."""
    texts = [
        f"{key} must be the same on every replica, or logins fail at night." for key in ("KEY_1", "KEY_2")
    ]
    assert len(distinct([candidate(text, 60) for text in texts])) == 2


def test_message_with_a_paragraph_more_is_proposed_once() -> None:
    """Of two lessons one of which holds the other the better one stays."""
    longer = LESSON + " The watchdog hid it."
    assert [c.text for c in distinct([candidate(longer, 90), candidate(LESSON, 70)])] == [longer]


def test_short_lessons_are_never_taken_for_the_same() -> None:
    """Few words say too little to compare by."""
    assert len(distinct([candidate("Use pnpm here.", 60), candidate("Use pnpm here now.", 50)])) == 2


def test_wording_keeps_values() -> None:
    """Numbers that are no reference stay in the wording."""
    assert without_references("Raise it to 50 (#12)") == "raise it to 50"


def test_inbox_holds_no_more_than_the_top_after_interrupted_runs(git_repo: GitRepo) -> None:
    """What the first part of a history put into the inbox gives way to what the rest has that is better."""
    parts = []
    for number in range(3 * BATCH_COMMITS):
        message = f"Gotcha: KEY_{number} must be the same on every replica, or logins fail at night."
        if number < BATCH_COMMITS:  # git log shows the newest commits first: these come last
            message += " The cause is `SESSION_SECRET_ROTATION`, so set `ROTATE_DAYS=90` before the deploy."
        parts.append(
            f"commit refs/heads/main\ncommitter A <a@x> {NOW + number} +0000\ndata {len(message)}\n{message}\n"
        )
    git_repo.git("fast-import", "--quiet", stdin="".join(parts).encode())
    project = Project(str(git_repo.path), dict(os.environ), float(NOW))
    history = History(("HEAD",), top=10)

    def interrupt(_commits: int) -> None:
        raise KeyboardInterrupt

    first = mine(project, history, Options(), interrupt)
    assert (first.is_interrupted, first.sources, len(project.inbox.ids())) == (True, FIRST_COMMITS, 10)
    first_ids = set(project.inbox.ids())
    second = mine(project, history, Options(), interrupt)
    assert (second.is_interrupted, len(project.inbox.ids())) == (True, 10)
    last = mine(project, history, Options(), lambda _commits: None)
    assert not last.is_interrupted
    assert len(project.inbox.ids()) == 10
    assert first_ids.isdisjoint(project.inbox.ids())
    assert not project.spool.proposed()


def test_files_of_a_commit_anchor_what_its_message_taught(git_repo: GitRepo) -> None:
    """A lesson gets the files of its commit as anchors, and the value that a configuration file changed."""
    git_repo.commit("start", {"app/worker.py": "x = 1\n", "deploy.yml": "pool_size: 10\n"})
    git_repo.commit(f"Gotcha: {LESSON}", {"app/worker.py": "x = 2\n"})
    git_repo.commit(
        "Raise pool_size, because requests waited for a connection", {"deploy.yml": "pool_size: 50\n"}
    )
    project = Project(str(git_repo.path), dict(os.environ), float(NOW))
    found = mine(project, History(("HEAD",)), Options(is_dry=True), lambda _commits: None).candidates
    anchors = {candidate.rule: candidate.anchors for candidate in found}
    assert anchors["trailer"] == ("app/worker.py",)
    assert any("10" in candidate.text and "50" in candidate.text for candidate in found)
    assert len(found) == 2
