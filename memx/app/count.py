"""Bullets with the recalls that they really have: the file's value, this clone's journal and the team's counters."""

from __future__ import annotations

from memx.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.project import Project
    from memx.model import StoredBullet


def with_recalls(project: Project, bullets: Sequence[StoredBullet]) -> list[StoredBullet]:
    """Return the bullets as read, with the effective `recall_count` in the place of the file's."""
    counts = project.journal.counts()
    found = []
    for stored in bullets:
        bullet = stored.bullet
        count = counts.effective(bullet.id, bullet.recall_count)
        is_same = count == bullet.recall_count
        found.append(stored if is_same else replace(stored, bullet=replace(bullet, recall_count=count)))
    return found
