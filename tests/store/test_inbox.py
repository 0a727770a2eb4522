"""Candidates that wait, and ids that were decided."""

from __future__ import annotations

import multiprocessing

import pytest

from memx.errors import StoreError
from memx.model import Candidate, Span
from memx.record import replace
from memx.store.inbox import Inbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

CANDIDATE = Candidate(
    id="a123456789",
    text='Über "x"\n\ud83d',
    rule="StatementRule",
    confidence=0.55,
    score=60,
    section="tools",
    type="trick",
    tags=("a", "b"),
    created=1.5,
    evidence=(Span(0, 4, "Über", "cause"),),
)


def candidates(*ids: str) -> list[Candidate]:
    """Return candidates with these ids."""
    return [replace(CANDIDATE, id=identifier) for identifier in ids]


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    """Return an empty inbox."""
    return Inbox(str(tmp_path))


def test_added_candidates_come_back_whole(inbox: Inbox) -> None:
    """Every field survives the file."""
    assert inbox.add([CANDIDATE]) == [CANDIDATE]
    assert inbox.all() == [CANDIDATE]
    assert inbox.find("a12") == CANDIDATE


def test_known_and_decided_ids_are_not_added(inbox: Inbox) -> None:
    """What waits, was accepted, rejected or removed is not proposed again, unless it is asked for."""
    first, second, third = candidates("a1", "b1", "c1")
    assert inbox.add([first, first, second]) == [first, second]
    inbox.decide("a1", "rejected")
    inbox.decide("c1", "removed")
    assert inbox.add([first, second, third]) == []
    assert inbox.ids() == ["b1"]
    assert inbox.add([first], again=True) == [first]
    assert inbox.is_decided("a1")
    assert inbox.decided() == {"a1": "rejected", "c1": "removed"}


def test_removed_candidate_is_not_decided(inbox: Inbox) -> None:
    """Taking a candidate out says nothing about it."""
    inbox.add(candidates("a1", "b1"))
    assert inbox.remove("a1") is True
    assert inbox.remove("a1") is False
    assert inbox.ids() == ["b1"]
    assert not inbox.is_decided("a1")


def test_changed_candidate_replaces_its_line(inbox: Inbox) -> None:
    """A person may edit a candidate before deciding."""
    inbox.add(candidates("a1", "b1"))
    inbox.replace(replace(CANDIDATE, id="a1", text="better"))
    assert [item.text for item in inbox.all()] == ["better", CANDIDATE.text]
    with pytest.raises(StoreError):
        inbox.replace(replace(CANDIDATE, id="zz"))


def test_torn_and_foreign_lines_are_skipped(inbox: Inbox, tmp_path: Path) -> None:
    """A crash in the middle of a line costs that line alone."""
    inbox.add(candidates("a1"))
    with open(tmp_path / "inbox.jsonl", "ab") as file:
        file.write(b'nonsense\n{"id":"x1"}\n{"id":"x2","text":[}\n{"id":"torn","te')
    with open(tmp_path / "decided", "ab") as file:
        file.write(b"q1 perhaps\nq2")
    inbox.add(candidates("b1"))
    inbox.decide("c1", "accepted")
    assert [item.id for item in inbox.all()] == ["a1", "b1"]
    assert inbox.decided() == {"c1": "accepted"}


@pytest.mark.parametrize("reference", ["", "z", "a"])
def test_reference_without_one_match_is_an_error(inbox: Inbox, reference: str) -> None:
    """None and several are both refused."""
    inbox.add(candidates("a1", "a2"))
    with pytest.raises(StoreError):
        inbox.find(reference)


def test_unknown_decision_is_refused(inbox: Inbox) -> None:
    """There are three decisions."""
    with pytest.raises(StoreError, match="decision"):
        inbox.decide("a1", "perhaps")


def test_texts_are_redacted_but_the_id(tmp_path: Path) -> None:
    """What the caller gives as redaction reaches every text."""
    inbox = Inbox(str(tmp_path), redact=lambda text: text.replace("a", "*"))
    inbox.add(candidates("a1"))
    (found,) = inbox.all()
    assert (found.id, found.tags, found.type) == ("a1", ("*", "b"), "trick")


def _add(folder: str, worker: int) -> int:
    inbox = Inbox(folder)
    added = 0
    for number in range(20):
        added += len(inbox.add(candidates(f"s{number}", f"w{worker}x{number}")))
        if number % 5 == 0:
            inbox.decide(f"w{worker}x{number}", "accepted")
    return added


def test_many_processes_add_each_candidate_once(tmp_path: Path) -> None:
    """Eight processes that distil the same commits propose each lesson once."""
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        added = pool.starmap(_add, [(str(tmp_path), worker) for worker in range(8)])
    assert sum(added) == 20 + 8 * 20
    assert len(set(Inbox(str(tmp_path)).ids())) == len(Inbox(str(tmp_path)).ids()) == 20 + 8 * 16
