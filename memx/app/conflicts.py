"""The pairs of bullets that are marked as conflicting, with what speaks for either side."""

from __future__ import annotations

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.model import Bullet, Problem, StoredBullet


@record
class Conflict:
    """Two bullets, how similar they are, why they conflict and what to do."""

    a: StoredBullet
    b: StoredBullet
    similarity: float
    reason: str
    recommendation: str


def list_conflicts(project: Project) -> tuple[list[Conflict], list[Problem]]:
    """Return the marked pairs of the store, each once, and what could not be read."""
    from memx.app.count import with_recalls
    from memx.app.curate import compare_texts

    bullets, problems = project.store.scan()
    bullets = with_recalls(project, bullets)
    by_id = {stored.bullet.id: stored for stored in bullets}
    pairs = sorted(
        {
            tuple(sorted((stored.bullet.id, other)))
            for stored in bullets
            for other in stored.bullet.conflicts_with
            if other in by_id and other != stored.bullet.id
        }
    )
    found = [(by_id[a], by_id[b]) for a, b in pairs if not _is_settled(by_id[a].bullet, by_id[b].bullet)]
    verdicts = compare_texts(project, [(a.bullet.text, b.bullet.text) for a, b in found])
    conflicts = [
        Conflict(a, b, verdict.similarity, verdict.reason, _recommend(a.bullet, b.bullet))
        for (a, b), verdict in zip(found, verdicts, strict=True)
    ]
    return conflicts, problems


def _is_settled(a: Bullet, b: Bullet) -> bool:
    return a.id in b.supersedes or b.id in a.supersedes


def _recommend(a: Bullet, b: Bullet) -> str:
    """Name the newer and the better proven side; a person decides."""
    newer = max((a, b), key=lambda bullet: bullet.updated or bullet.accepted or bullet.created or 0.0)
    proven = max((a, b), key=lambda bullet: (bullet.recall_count, bullet.score))
    advice = f"{newer.id} is newer, {proven.id} is better proven"
    if newer is proven:
        advice = f"{newer.id} is newer and better proven"
    return f"{advice}; confirm which practice is right and delete the outdated one"
