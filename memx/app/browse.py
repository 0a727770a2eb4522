"""`memx list`: what a viewer may see, filtered, in a stable order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.model import Problem, StoredBullet


def browse(
    project: Project,
    *,
    section: str = "",
    type: str = "",  # noqa: A002 (the field's name)
    tag: str = "",
    scope: str = "",
    workspace: str = "",
    archived: bool = False,
) -> tuple[list[StoredBullet], list[Problem]]:
    """Return the visible bullets, best score first within a section, and what could not be read."""
    from memx.app.count import with_recalls
    from memx.app.viewer import make_viewer
    from memx.generator.scopes import is_visible

    bullets, problems = project.store.scan()
    if archived:
        more, worse = project.store.scan(archived=True)
        bullets, problems = bullets + more, problems + worse
    scopes = {stored.bullet.scope for stored in bullets}
    viewer = make_viewer(project, scope=scope, workspace=workspace, scopes=scopes)
    found = [
        stored
        for stored in bullets
        if is_visible(stored.bullet.scope, viewer)
        and (not section or stored.bullet.section == section)
        and (not type or stored.bullet.type == type)
        and (not tag or tag in stored.bullet.tags)
    ]
    found.sort(key=lambda s: (s.archived, s.bullet.section, -s.bullet.score, s.bullet.id))
    return with_recalls(project, found), problems
