"""`memx promote`: a workspace's bullets to the project, once its branch has been merged."""

from __future__ import annotations

from memx.app.stores import find_own
from memx.app.viewer import living_workspaces
from memx.errors import UsageError
from memx.generator.scopes import WORKSPACE_PREFIX, workspace_name
from memx.model import SCOPE_PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memx.app.project import Project
    from memx.model import StoredBullet


def find_promotable(
    project: Project, references: Sequence[str] = (), *, workspace: str = ""
) -> list[StoredBullet]:
    """Return the bullets that may become the project's, sorted by workspace and id.

    Named ones; else those of the named workspace; else those whose branch has
    been merged into the one that is checked out, or is gone. Raises UsageError
    for a named bullet that is in no workspace.
    """
    if references:
        found = [find_own(project, reference) for reference in references]
        for stored in found:
            if not stored.bullet.scope.startswith(WORKSPACE_PREFIX):
                raise UsageError(f"{stored.bullet.id} is in no workspace but {stored.bullet.scope}")
        return found
    bullets = [s for s in project.store.scan()[0] if s.bullet.scope.startswith(WORKSPACE_PREFIX)]
    if workspace:
        try:
            ready: Iterable[str] = {workspace_name(workspace)}
        except ValueError as error:
            raise UsageError(str(error)) from error
    else:
        ready = settled_workspaces(project, {_name(stored) for stored in bullets})
    chosen = [stored for stored in bullets if _name(stored) in ready]
    return sorted(chosen, key=lambda stored: (stored.bullet.scope, stored.bullet.id))


def _name(stored: StoredBullet) -> str:
    return stored.bullet.scope.removeprefix(WORKSPACE_PREFIX)


def settled_workspaces(project: Project, names: set[str]) -> set[str]:
    """Return which of these workspaces are over: merged into HEAD, or without a branch.

    The branch that is checked out is never over; without git none is.
    """
    living = living_workspaces(project)
    if living is None or project.repository is None or project.head is None:
        return set()
    from memx.repo.discovery import run_in

    merged: set[str] = set()
    if project.head.commit and names & living:
        refs = ["for-each-ref", "--format=%(refname:lstrip=2)", "--merged=HEAD", "refs/heads", "refs/remotes"]
        for name in run_in(project.repository, refs).decode("utf-8", "replace").splitlines():
            merged |= {name, name.partition("/")[2]}
    return {name for name in names if name != project.head.branch and (name not in living or name in merged)}


def promote(project: Project, bullets: Sequence[StoredBullet]) -> list[StoredBullet]:
    """Give these bullets the scope of the project; one line of each file changes."""
    store = project.store
    with store.lock():
        return [store.edit(stored.path, {"scope": SCOPE_PROJECT}) for stored in bullets]
