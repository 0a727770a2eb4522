"""What a reader thought of a bullet: useful, or wrong until somebody has looked."""

from __future__ import annotations

from memx.app.browse import find_visible
from memx.app.stores import find_bullet
from memx.errors import StoreError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.model import StoredBullet


@record
class Feedback:
    """The bullet, and its recalls afterwards."""

    stored: StoredBullet
    recall_count: int


def useful(project: Project, reference: str, *, scope: str = "", workspace: str = "") -> Feedback:
    """Count a bullet that helped as recalled once more; raise StoreError when it cannot be seen or counted.

    The file stays as it is. The window does not apply: somebody said so.
    """
    place, stored = find_visible(project, reference, scope=scope, workspace=workspace)
    if not place.journal.record([stored.bullet.id], project.now, 0):
        raise StoreError("the journal cannot be written", path=place.state_dir)
    return _feedback(place, stored)


def wrong(
    project: Project, reference: str, because: str = "", *, scope: str = "", workspace: str = ""
) -> Feedback:
    """Mark a bullet as disputed in its file: it waits in the review, and no number of recalls makes it permanent."""
    place, stored = find_visible(project, reference, scope=scope, workspace=workspace)
    reason = " ".join(because.split()) or stored.bullet.disputed_because
    changed = place.store.edit(stored.path, {"disputed": project.now, "disputed_because": reason})
    return _feedback(place, changed)


def settle(project: Project, reference: str) -> StoredBullet:
    """Say that a disputed bullet holds."""
    place, stored = find_bullet(project, reference)
    return place.store.edit(stored.path, {"disputed": None, "disputed_because": None})


def disputed(project: Project) -> list[StoredBullet]:
    """Return the bullets that somebody called wrong, the latest first."""
    bullets, _ = project.store.scan()
    found = [(stored.bullet.disputed, stored) for stored in bullets if stored.bullet.disputed is not None]
    return [stored for _, stored in sorted(found, key=lambda pair: (-pair[0], pair[1].bullet.id))]


def _feedback(project: Project, stored: StoredBullet) -> Feedback:
    count = project.journal.effective({stored.bullet.id: stored.bullet.recall_count})
    return Feedback(stored, count[stored.bullet.id])
