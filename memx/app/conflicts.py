"""The pairs of bullets that contradict each other, with what speaks for either side."""

from __future__ import annotations

from memx.record import record
from memx.supersession import Supersession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memx.app.project import Project
    from memx.app.survey import Report
    from memx.curator.conflicts import Advice
    from memx.curator.judge import Verdict
    from memx.model import Bullet, Problem, StoredBullet

SURVEY_LIMIT = 1000
"""Up to this many bullets the whole store is compared without being asked: a few seconds."""

CIRCULAR = "each supersedes the other: two decisions met, and a person must choose"


@record
class Conflict:
    """Two bullets, how similar they are, why they conflict and what to do.

    is_marked: one names the other in `conflicts_with`; otherwise the two were found by comparing the store.
    """

    a: StoredBullet
    b: StoredBullet
    similarity: float
    reason: str
    recommendation: str
    advice: Advice
    is_contradiction: bool = False
    is_marked: bool = True
    proof: int = 0
    """How many facts speak for a contradiction."""


@record
class Found:
    """The conflicts that are shown, strongest first, and how many pairs of the survey are not.

    alike: on one subject, without a fact that proves a contradiction; duplicates: perhaps the same lesson.
    """

    conflicts: tuple[Conflict, ...]
    problems: tuple[Problem, ...] = ()
    is_surveyed: bool = False
    alike: int = 0
    duplicates: int = 0


def list_conflicts(project: Project) -> tuple[list[Conflict], list[Problem]]:
    """Return the marked pairs of the store, each once, and what could not be read."""
    found = find_conflicts(project, everywhere=False)
    return list(found.conflicts), list(found.problems)


def find_conflicts(
    project: Project, *, everywhere: bool | None = None, possible: bool = False, report: Report | None = None
) -> Found:
    """Return the marked pairs, those in which the Curator finds a proven contradiction, and what could not be read.

    everywhere: compare the whole store; None: when it is small enough.
    possible: also show what is alike without a proof, and what may be the same lesson.
    """
    from memx.app.count import with_recalls

    bullets, problems = project.store.scan()
    is_surveyed = len(bullets) <= SURVEY_LIMIT if everywhere is None else everywhere
    by_id = {stored.bullet.id: stored for stored in with_recalls(project, bullets)}
    links = Supersession.of(stored.bullet for stored in by_id.values())
    live = {name: stored for name, stored in by_id.items() if name not in links.superseded}
    circular = {(a, b) for a, b in links.pairs() if a in live and b in live}
    found = _marked(project, live, circular)
    marked = set(found)
    hidden = {"alike": 0, "duplicates": 0}
    if is_surveyed:
        for pair, verdict in _surveyed(project, live, report):
            if pair in circular:
                continue
            if possible or pair in marked or (verdict.contradiction and _proof(live, pair)):
                found.setdefault(pair, verdict)
            else:
                hidden["alike" if verdict.contradiction else "duplicates"] += 1
    anchors = _anchor_states(project, (live[name] for pair in found for name in pair))
    conflicts = [
        _conflict(
            live[a], live[b], verdict, anchors, is_marked=(a, b) in marked, is_circular=(a, b) in circular
        )
        for (a, b), verdict in found.items()
    ]
    conflicts.sort(key=_strength)
    return Found(tuple(conflicts), tuple(problems), is_surveyed, **hidden)


def _strength(conflict: Conflict) -> tuple[object, ...]:
    ids = conflict.a.bullet.id, conflict.b.bullet.id
    return not conflict.is_marked, not conflict.is_contradiction, -conflict.proof, *ids


def _proof(live: Mapping[str, StoredBullet], pair: tuple[str, str]) -> int:
    from memx.curator.conflicts import proof

    return proof(*(live[name].bullet.text for name in pair))


def conflict_of(project: Project, a: StoredBullet, b: StoredBullet) -> Conflict:
    """Return what there is to say of two bullets, whether they conflict or not."""
    from memx.app.count import with_recalls
    from memx.app.curate import compare_texts

    a, b = with_recalls(project, [a, b])
    verdict = compare_texts(project, [(a.bullet.text, b.bullet.text)])[0]
    is_marked = a.bullet.id in b.bullet.conflicts_with or b.bullet.id in a.bullet.conflicts_with
    return _conflict(a, b, verdict, _anchor_states(project, (a, b)), is_marked=is_marked)


def _marked(
    project: Project, live: Mapping[str, StoredBullet], circular: set[tuple[str, str]]
) -> dict[tuple[str, str], Verdict]:
    from memx.app.curate import compare_texts

    pairs = sorted(
        {
            (min(name, other), max(name, other))
            for name, stored in live.items()
            for other in stored.bullet.conflicts_with
            if other in live and other != name and not _is_settled(stored.bullet, live[other].bullet)
        }
        | circular
    )
    texts = [(live[a].bullet.text, live[b].bullet.text) for a, b in pairs]
    return dict(zip(pairs, compare_texts(project, texts), strict=True)) if pairs else {}


def _surveyed(
    project: Project, live: Mapping[str, StoredBullet], report: Report | None
) -> Iterable[tuple[tuple[str, str], Verdict]]:
    from memx.app.survey import Survey, silent

    survey = Survey(project, {name: stored.bullet for name, stored in live.items()}, report or silent)
    for pair in survey.pairs():
        if pair.verdict.action == "conflict" and not _is_settled(live[pair.a].bullet, live[pair.b].bullet):
            yield (pair.a, pair.b), pair.verdict


def _is_settled(a: Bullet, b: Bullet) -> bool:
    """Say whether a person has decided: one takes the other's place, or both hold."""
    return a.id in (*b.supersedes, *b.compatible_with) or b.id in (*a.supersedes, *a.compatible_with)


def _anchor_states(project: Project, bullets: Iterable[StoredBullet]) -> dict[str, tuple[int, int]]:
    """Return id → (fresh, drifted) anchors; nothing where git cannot be asked."""
    from memx.app.verify import verify
    from memx.errors import MemxError
    from memx.repo.anchors import FRESH

    paths = sorted({stored.path for stored in bullets if stored.bullet.anchors})
    states: dict[str, tuple[int, int]] = {}
    if not paths:
        return states
    try:
        reports, _ = verify(project, paths)
    except MemxError:
        return states
    for one in reports:
        fresh, drifted = states.get(one.stored.bullet.id, (0, 0))
        is_fresh = one.state == FRESH
        states[one.stored.bullet.id] = (fresh + is_fresh, drifted + (not is_fresh))
    return states


def _conflict(
    a: StoredBullet,
    b: StoredBullet,
    verdict: Verdict,
    anchors: Mapping[str, tuple[int, int]],
    *,
    is_marked: bool,
    is_circular: bool = False,
) -> Conflict:
    from memx.curator.conflicts import Side, advise, proof

    sides = [Side(stored.bullet, *anchors.get(stored.bullet.id, (0, 0))) for stored in (a, b)]
    advice = advise(*sides)
    return Conflict(
        a,
        b,
        verdict.similarity,
        CIRCULAR if is_circular else verdict.reason,
        advice.text,
        advice,
        verdict.contradiction,
        is_marked,
        proof(a.bullet.text, b.bullet.text),
    )
