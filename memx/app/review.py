"""Candidates become bullets only when a person, or `--accept`, says so."""

from __future__ import annotations

from memx.amount import amount
from memx.app.add import Added, Draft, add
from memx.errors import StoreError
from memx.store.paths import is_storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.model import Candidate

ACCEPTED, REJECTED = "accepted", "rejected"


def waiting(project: Project) -> list[Candidate]:
    """Return the candidates of the inbox, the most instructive first."""
    return sorted(project.inbox.all(), key=lambda candidate: (-candidate.score, candidate.id))


def find_candidate(project: Project, reference: str) -> Candidate:
    """Return the one candidate whose id begins with the reference; raises StoreError."""
    found = [candidate for candidate in project.inbox.all() if candidate.id.startswith(reference)]
    if len(found) != 1:
        what = "no candidate" if not found else amount(len(found), "candidate")
        hint = "memx inbox lists them" if found else _hint_of_a_bullet(project, reference)
        raise StoreError(f"{what} with the id {reference}", hint=hint)
    return found[0]


def _hint_of_a_bullet(project: Project, reference: str) -> str:
    """Say what settles a disputed bullet, which the inbox shows beside the candidates."""
    from memx.app.feedback import disputed

    names = [stored.bullet.id for stored in disputed(project) if stored.bullet.id.startswith(reference)]
    if len(names) != 1:
        return "memx inbox lists them"
    return f"it is a disputed bullet: memx review --keep {names[0]} or memx rm {names[0]}"


def accept(project: Project, candidate: Candidate, *, text: str = "") -> Added:
    """Take a candidate into the store, with another text if the reviewer changed it.

    The id stays the candidate's, so that the same source does not propose it again.
    """
    draft = draft_of(candidate, accepted=_day(project.now), text=text)
    added = add(project, draft)
    if added.action != "refused":
        project.inbox.decide(candidate.id, ACCEPTED)
    return added


def reject(project: Project, candidate: Candidate) -> None:
    """Drop a candidate for good in this clone."""
    project.inbox.decide(candidate.id, REJECTED)


def draft_of(candidate: Candidate, *, accepted: float | None, text: str = "") -> Draft:
    """Return what `add` needs to store a candidate."""
    return Draft(
        id=candidate.id,
        text=text or candidate.text,
        title=candidate.title,
        section=candidate.section,
        type=candidate.type,
        tags=candidate.tags,
        tools=candidate.tools,
        entities=candidate.entities,
        anchors=tuple(filter(is_storable, candidate.anchors)),
        score=candidate.score,
        source=candidate.source,
        created=candidate.created,
        author=candidate.author,
        lang=candidate.lang,
        accepted=accepted,
    )


def _day(now: float) -> float:
    """Return the beginning of the UTC day: acceptance is a matter of days, and diffs stay small."""
    return now - now % 86400
