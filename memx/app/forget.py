"""Weights, the archive, and the way of counts into front matter."""

from __future__ import annotations

from memx.decay import ARCHIVE_CANDIDATE, DecayResult, archive_day, weight
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    The journal learns the new value before it forgets what was pending, so a
    crash in between counts nothing twice and loses nothing.
    """
    store = project.store
    wanted = {store.find(reference).bullet.id for reference in references}
    folded: dict[str, int] = {}
    pending: Mapping[str, int] = project.journal.pending()
    for stored in store.scan()[0]:
        bullet = stored.bullet
        if pending.get(bullet.id) and (not wanted or bullet.id in wanted):
            folded[bullet.id] = _fold_one(project, stored)
    return folded


def _fold_one(project: Project, stored: StoredBullet) -> int:
    bullet = stored.bullet
    total = project.journal.effective({bullet.id: bullet.recall_count})[bullet.id]
    project.store.edit(stored.path, {"recall_count": total}, now=project.now)
    project.journal.fold({bullet.id: total})
    return total
