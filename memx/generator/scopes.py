"""Who sees which bullet: the one place where scopes are compared.

Upper scopes are visible to lower ones, never the reverse: a workspace sees its
project and the global bullets, a project sees the global ones. Sibling projects
and sibling workspaces do not see each other. A workspace that is gone (its
branch was deleted) counts as the project's. This is visibility, not secrecy.
"""

from __future__ import annotations

from memx.model import SCOPE_GLOBAL, SCOPE_PROJECT, is_branch_name, is_scope_name
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.config import GeneratorConfig

GLOBAL = "global"
PROJECT = "project"
WORKSPACE = "workspace"
PROJECT_PREFIX = "project:"
WORKSPACE_PREFIX = "workspace:"


@record
class Viewer:
    """Who looks: at level `global`, `project` or `workspace`.

    `project` is the project's name (for `project:NAME`), `workspace` the
    current workspace, empty when there is none. `living_workspaces`: names that
    still exist (branches, path map); None when unknown, and then none is gone.
    """

    level: str = PROJECT
    project: str = ""
    workspace: str = ""
    living_workspaces: frozenset[str] | None = None
    is_sibling: bool = False
    """Whether `project` is another one than the store's own, which alone bullets of scope `project` belong to."""


def workspace_name(text: str) -> str:
    """Return the name of a workspace, written as such or as the scope `workspace:NAME`; raises ValueError."""
    name = text.removeprefix(WORKSPACE_PREFIX)
    if not is_branch_name(name):
        raise ValueError(f"{name!r} is no name of a workspace, for no branch can be called so")
    return name


def viewer_of(scope: str, viewer: Viewer) -> Viewer:
    """Return the viewer that `--scope SCOPE` asks for; raises ValueError for anything but the three forms."""
    if scope == SCOPE_GLOBAL:
        return Viewer(GLOBAL, "", "", viewer.living_workspaces)
    if scope == SCOPE_PROJECT:
        return Viewer(PROJECT, viewer.project, "", viewer.living_workspaces)
    kind, _, name = scope.partition(":")
    if kind == PROJECT and is_scope_name(name):
        return Viewer(PROJECT, name, "", viewer.living_workspaces, is_sibling=name != viewer.project)
    if kind == WORKSPACE and name:
        return Viewer(WORKSPACE, viewer.project, workspace_name(scope), viewer.living_workspaces)
    raise ValueError(f"scope {scope!r} is neither global, project, project:NAME nor workspace:NAME")


def scope_of(viewer: Viewer) -> str:
    """Return the viewer's own scope as a bullet would write it."""
    if viewer.level == GLOBAL:
        return SCOPE_GLOBAL
    if viewer.level == WORKSPACE and viewer.workspace:
        return f"{WORKSPACE_PREFIX}{viewer.workspace}"
    return f"{PROJECT_PREFIX}{viewer.project}" if viewer.project else SCOPE_PROJECT


def is_visible(scope: str, viewer: Viewer) -> bool:
    """Return whether a bullet of this scope is shown to this viewer."""
    if scope == SCOPE_GLOBAL:
        return True
    if viewer.level == GLOBAL:
        return False
    if scope.startswith(WORKSPACE_PREFIX):
        return _is_own_workspace(scope, viewer) or _is_gone(scope, viewer)
    return _is_own_project(scope, viewer)


def is_current(scope: str, viewer: Viewer) -> bool:
    """Return whether a bullet is of the current scope, which is this project and the current workspace."""
    return scope != SCOPE_GLOBAL and is_visible(scope, viewer)


def scope_boost(scope: str, viewer: Viewer, config: GeneratorConfig) -> float:
    """Return `scope_boost` for bullets of the current scope, 1.0 for global ones."""
    return config.scope_boost if is_current(scope, viewer) else 1.0


def covers(wide: str, narrow: str, project: str) -> bool:
    """Return whether whoever sees the scope `narrow` sees `wide` too, in the project of this name."""
    own = (SCOPE_PROJECT, f"{PROJECT_PREFIX}{project}")
    if wide in (narrow, SCOPE_GLOBAL):
        return True
    return wide in own and (narrow in own or narrow.startswith(WORKSPACE_PREFIX))


def _is_own_project(scope: str, viewer: Viewer) -> bool:
    if scope == SCOPE_PROJECT:
        return not viewer.is_sibling
    return scope == f"{PROJECT_PREFIX}{viewer.project}"


def _is_own_workspace(scope: str, viewer: Viewer) -> bool:
    return bool(viewer.workspace) and scope == f"{WORKSPACE_PREFIX}{viewer.workspace}"


def _is_gone(scope: str, viewer: Viewer) -> bool:
    living = viewer.living_workspaces
    return not viewer.is_sibling and living is not None and scope[len(WORKSPACE_PREFIX) :] not in living
