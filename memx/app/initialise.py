"""`memx init`: a store from the template, hooks and the merge driver; safe to repeat."""

from __future__ import annotations

import os

from memx.app.places import user_dir
from memx.errors import MemxError, StoreError
from memx.record import record
from memx.resources import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memx.app.project import Project

_FILES = {
    "config.yml": "config.yml",
    "README.md": "README.md",
    "gitattributes": ".gitattributes",
    "gitignore": ".gitignore",
}
_FOLDERS = ("bullets", "archive")


@record
class Initialised:
    """Where the store is, which files were new, and what became of hooks and merge driver."""

    root: str
    created: tuple[str, ...]
    notes: tuple[str, ...] = ()


def copy_template(store_root: str) -> tuple[str, ...]:
    """Copy what is missing of the template; a file that exists is never touched. Raises StoreError."""
    try:
        return _copy_missing(store_root)
    except OSError as error:
        # A file where a folder belongs, a work tree that cannot be written.
        reason = error.strerror or "unknown reason"
        raise StoreError(
            f"cannot make the store ({reason})", path=str(error.filename or store_root)
        ) from error


def _copy_missing(store_root: str) -> tuple[str, ...]:
    created = []
    for folder in ("", *_FOLDERS):
        os.makedirs(os.path.join(store_root, folder), exist_ok=True)
    for name, target in _FILES.items():
        path = os.path.join(store_root, target)
        if os.path.lexists(path):
            continue
        with open(resource(f"template/{name}"), "rb") as stream:
            content = stream.read()
        with open(path, "xb") as stream:
            stream.write(content)
        created.append(target)
    return tuple(created)


def initialise(project: Project, *, hooks: bool = True) -> Initialised:
    """Create this project's store and wire it into git; raises MemxError in a bare repository."""
    repository = project.repository
    if repository is not None and not repository.worktree:
        raise MemxError(
            "a bare repository has no work tree to keep a store in", hint="run memx init in a clone"
        )
    if os.path.islink(project.store_root):
        raise project.no_store()
    created = copy_template(project.store_root)
    notes: list[str] = []
    if repository is not None:
        notes += _register_merge_driver(project)
        if hooks:
            notes += _install_hooks(project)
    return Initialised(project.store_root, created, tuple(notes))


def _register_merge_driver(project: Project) -> list[str]:
    from memx.app.hooks import register_merge_driver

    if project.repository is None:
        return []
    try:
        return ["merge driver registered"] if register_merge_driver(project.repository) else []
    except (MemxError, OSError) as error:
        return [f"merge driver not registered: {error}"]


def _install_hooks(project: Project) -> list[str]:
    from memx.repo.hooks import install

    if project.repository is None:
        return []
    try:
        return list(install(project.repository).messages)
    except (MemxError, OSError) as error:
        return [f"hooks not installed: {error}"]


def initialise_user_store(environ: Mapping[str, str]) -> Initialised:
    """Create the user's own store as a git repository of its own."""
    from memx.repo.git import run_git

    root = os.path.join(user_dir("data", environ), "store")
    os.makedirs(root, exist_ok=True)
    if not os.path.isdir(os.path.join(root, ".git")):
        run_git(["init", "--quiet"], cwd=root)
    return Initialised(os.path.join(root, ".memx"), copy_template(os.path.join(root, ".memx")))
