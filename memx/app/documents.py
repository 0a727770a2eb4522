"""The JSON documents of bullets, candidates and problems: the contract that other programs build on."""

from __future__ import annotations

from memx.timestamp import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.curator.judge import Verdict
    from memx.model import Candidate, Problem, Rejection, StoredBullet

_TIMES = ("created", "updated", "accepted", "last_recalled", "disputed")


def bullet_document(stored: StoredBullet) -> dict[str, object]:
    """Return every field of a bullet with its path, store and whether it is archived."""
    bullet = stored.bullet
    fields = {name: getattr(bullet, name) for name in type(bullet).__slots__}  # type: ignore[attr-defined]
    for name in _TIMES:
        fields[name] = None if fields[name] is None else format_time(fields[name])
    return {**fields, "path": stored.path, "store": stored.store, "archived": stored.archived}


def candidate_document(candidate: Candidate, *, accepted: bool = False) -> dict[str, object]:
    """Return every field of a candidate; spans become objects."""
    fields = {name: getattr(candidate, name) for name in type(candidate).__slots__}  # type: ignore[attr-defined]
    created = candidate.created
    fields["created"] = None if created is None else format_time(created)
    fields["evidence"] = [
        {"start": span.start, "end": span.end, "text": span.text, "label": span.label}
        for span in candidate.evidence
    ]
    return {**fields, "accepted": accepted}


def rejection_document(rejection: Rejection) -> dict[str, object]:
    """Return why something that a rule saw was dropped."""
    return {"rule": rejection.rule, "reason": rejection.reason, "source": rejection.source}


def verdict_document(verdict: Verdict) -> dict[str, object]:
    """Return what the Curator says of a pair."""
    return {
        "similarity": verdict.similarity,
        "cosine": verdict.cosine,
        "action": verdict.action,
        "contradiction": verdict.contradiction,
        "veto": list(verdict.veto),
        "reason": verdict.reason,
    }


def problem_documents(problems: Iterable[Problem]) -> list[dict[str, object]]:
    """Return problems with their places."""
    return [{"message": p.message, "path": p.path, "line": p.line, "hint": p.hint or None} for p in problems]
