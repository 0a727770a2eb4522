"""Weights, the archive, and the way of counts into front matter."""

from __future__ import annotations

from memx.decay import ARCHIVE_CANDIDATE, DecayResult, archive_day, weight
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.project import Project
    from memx.config import DecayConfig
    from memx.model import Bullet, Problem, StoredBullet


@record
class Weighed:
    """A bullet with its effective recalls, its weight, and the time at which it may be archived."""

    stored: StoredBullet
    recall_count: int
    decay: DecayResult
    archive_at: float | None


def weigh_bullet(bullet: Bullet, recall_count: int, now: float, config: DecayConfig) -> DecayResult:
    """Return the weight of one bullet with these recalls."""
    return weight(
        now,
        bullet.created,
        bullet.updated,
        bullet.accepted,
        recall_count,
        bullet.type,
        bullet.half_life_days,
        bullet.pinned,
        config,
    )


def weigh_store(project: Project) -> tuple[list[Weighed], list[Problem]]:
    """Weigh every bullet that is not archived, the lightest last."""
    bullets, problems = project.store.scan()
    config = project.config.decay
    counts = project.journal.effective({s.bullet.id: s.bullet.recall_count for s in bullets})
    rows = []
    for stored in bullets:
        bullet = stored.bullet
        recalls = counts[bullet.id]
        until = archive_day(
            bullet.created,
            bullet.updated,
            bullet.accepted,
            recalls,
            bullet.type,
            bullet.half_life_days,
            bullet.pinned,
            config,
        )
        rows.append(Weighed(stored, recalls, weigh_bullet(bullet, recalls, project.now, config), until))
    rows.sort(key=lambda row: (-row.decay.weight, row.stored.bullet.id))
    return rows, problems


def archive_plan(project: Project) -> list[Weighed]:
    """Return the archive candidates, the lightest first."""
    rows, _ = weigh_store(project)
    return [row for row in reversed(rows) if row.decay.state == ARCHIVE_CANDIDATE]


def archive(project: Project, references: Sequence[str]) -> list[StoredBullet]:
    """Move bullets to the archive."""
    return [project.store.archive(reference) for reference in references]


def fold(project: Project, references: Sequence[str] = ()) -> dict[str, int]:
    """Move pending recalls into the front matter of the bullets named, or of all; return the new counts.

    The journal knows the new value before a file is written, so a crash in
    between counts nothing twice and loses nothing: the next fold writes it.
    """
    store = project.store
    chosen = [store.find(reference) for reference in references] if references else store.scan()[0]
    paths = {stored.bullet.id: stored.path for stored in chosen}
    behind = project.journal.fold({stored.bullet.id: stored.bullet.recall_count for stored in chosen})
    for identifier, recalls in behind.items():
        changes: dict[str, object] = {"recall_count": recalls.count}
        if recalls.last is not None:
            changes["last_recalled"] = recalls.last
        store.edit(paths[identifier], changes)
    return {identifier: recalls.count for identifier, recalls in behind.items()}
