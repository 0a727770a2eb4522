"""Who looks, from where: the project's name, the current workspace, and the workspaces that still exist."""

from __future__ import annotations

from memx.errors import GitError, UsageError
from memx.generator.scopes import PROJECT, WORKSPACE, WORKSPACE_PREFIX, Viewer, viewer_of, workspace_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.app.project import Project


def make_viewer(
    project: Project, *, scope: str = "", workspace: str = "", scopes: Iterable[str] = ()
) -> Viewer:
    """Return the viewer of a call; `scopes` are those that occur in the stores.

    The current workspace is what was asked for, else the branch unless it is
    the default one. Git is asked for branches only where a workspace occurs.
    Raises UsageError for a scope of another form and a workspace that no branch could be.
    """
    has_workspaces = any(found.startswith(WORKSPACE_PREFIX) for found in scopes)
    try:
        current = workspace_name(workspace) if workspace else ""
    except ValueError as error:
        raise UsageError(str(error)) from error
    current = current or (_branch_workspace(project) if has_workspaces else "")
    living = living_workspaces(project) if has_workspaces else None
    level = WORKSPACE if current else PROJECT
    viewer = Viewer(level, project.name, current, living)
    if not scope:
        return viewer
    try:
        return viewer_of(scope, viewer)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _branch_workspace(project: Project) -> str:
    from memx.repo.discovery import default_branch

    if project.repository is None or project.head is None:
        return ""
    branch = project.head.branch
    return "" if branch == default_branch(project.repository) else branch


def living_workspaces(project: Project) -> frozenset[str] | None:
    """Return the workspaces that still have a branch, here or on a remote; None when git cannot say."""
    from memx.repo.discovery import run_in

    if project.repository is None:
        return None
    try:
        listed = run_in(
            project.repository, ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads", "refs/remotes"]
        )
    except GitError:
        return None
    names = listed.decode("utf-8", "replace").split("\n")
    # A teammate's branch lives on a remote: `origin/feat-auth` keeps the workspace `feat-auth`.
    return frozenset(names) | {name.partition("/")[2] for name in names}
