"""`memx store`: stores of other repositories, cloned once for all projects of this user."""

from __future__ import annotations

import os
import re

from memx.app.project import STORE_FOLDER
from memx.app.stores import (
    USER,
    WRITABLE_MARK,
    OtherStore,
    is_store,
    named_store,
    shared_stores_folder,
)
from memx.errors import GitError, MemxError, StoreError, UsageError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.project import Project

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}\Z")
_TAKEN = ("project", USER)


@record
class StoreInfo:
    """A visible store: its name, folder, origin, commit, number of live bullets, and whether it can be written."""

    name: str
    root: str
    url: str = ""
    commit: str = ""
    bullets: int = 0
    read_only: bool = False


@record
class Synced:
    """What a sync brought: the commits before and after, and the error when it failed."""

    name: str
    before: str
    after: str
    error: str = ""


def list_stores(project: Project) -> list[StoreInfo]:
    """Return all stores that a search here would look at."""
    own = [StoreInfo(project.store_name, project.store_root, "", "", _count(project))]
    found = own if project.has_store else []
    return found + [info_of(other) for other in project.others]


def info_of(other: OtherStore) -> StoreInfo:
    """Return what is known of a store beside the project's."""
    from memx.repo.store_clone import CloneState, describe_clone

    state = CloneState("", "")
    if other.repository is not None:
        state = describe_clone(other.root, other.environ)
    return StoreInfo(
        other.store_name, other.store_root, state.url, state.commit, _count(other), other.is_read_only
    )


def _count(place: Project) -> int:
    return len(place.store.paths()) if place.has_store else 0


def add_store(
    project: Project, address: str, *, name: str | None = None, writable: bool = False
) -> StoreInfo:
    """Clone a shared store, named by its address when `name` is None.

    Raises UsageError for an unsafe address or name, StoreError when there is no store.
    """
    from memx.repo.store_clone import check_address, clone_store

    url = check_address(address, project.cwd)
    name = check_name(name_of(url) if name is None else name)
    folder = os.path.join(shared_stores_folder(project.environ), name)
    if os.path.lexists(folder):
        raise StoreError(
            f"there is a store {name} already", hint=f"memx store remove {name}, or --name OTHER"
        )
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    try:
        clone_store(url, folder, project.environ, content=STORE_FOLDER)
        if not is_store(folder):
            raise StoreError(f"there is no folder {STORE_FOLDER} in that repository", path=url)
    except MemxError:
        _remove(folder)
        raise
    other = OtherStore(project, name, folder)
    if writable:
        os.makedirs(other.state_dir, exist_ok=True)
        with open(os.path.join(other.state_dir, WRITABLE_MARK), "w", encoding="ascii"):
            pass
    project.__dict__.pop("others", None)
    return info_of(OtherStore(project, name, folder))


def name_of(url: str) -> str:
    """Return the name that a store gets from its address."""
    last = re.split(r"[/:\\]", url.rstrip("/\\"))[-1].removesuffix(".git").lower()
    return re.sub(r"[^a-z0-9._-]+", "-", last).strip("-._")[:40]


def check_name(name: str) -> str:
    """Return a name that is safe as a folder; raises UsageError."""
    if not _NAME.match(name) or name in _TAKEN:
        hint = "lower-case letters, digits, dots and dashes; not project or user"
        raise UsageError(f"not a name for a store: {name[:60]!r}", hint=f"{hint}; --name NAME")
    return name


def sync_stores(project: Project, names: Sequence[str] = ()) -> list[Synced]:
    """Bring these stores (all that have a remote) up to date; one that fails does not stop the others."""
    chosen = [_other(project, name) for name in names] if names else list(project.others)
    done = []
    for other in chosen:
        synced = _sync(other, is_named=bool(names))
        if synced is not None:
            done.append(synced)
    return done


def _sync(other: OtherStore, *, is_named: bool) -> Synced | None:
    from memx.repo.store_clone import describe_clone, update_clone

    if not is_named and (other.repository is None or not describe_clone(other.root, other.environ).url):
        return None
    try:
        state = update_clone(other.root, other.environ, pushes=not other.is_read_only)
    except (GitError, UsageError) as error:
        return Synced(other.store_name, "", "", str(error))
    if state.previous != state.commit:
        from memx.app.index import open_index

        open_index(other)[0].refresh()
    return Synced(other.store_name, state.previous, state.commit)


def _other(project: Project, name: str) -> OtherStore:
    place = named_store(project, name)
    if not isinstance(place, OtherStore):
        raise UsageError("the project's own store is synced by git itself", hint="git pull")
    return place


def remove_store(project: Project, name: str, *, force: bool = False) -> str:
    """Remove the clone of a shared store and return its folder; raises StoreError when work would be lost."""
    from memx.repo.store_clone import has_own_work

    folder = os.path.join(shared_stores_folder(project.environ), check_name(name))
    if not os.path.isdir(folder) or os.path.islink(folder):
        raise StoreError(f"there is no shared store {name!r}", hint="memx store list")
    pushes = not OtherStore(project, name, folder).is_read_only
    if not force and has_own_work(folder, project.environ, pushes=pushes):
        raise StoreError(
            f"the store {name} holds changes that are nowhere else", hint="commit and push, or --force"
        )
    _remove(folder)
    return folder


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
