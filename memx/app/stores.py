"""Every store that a command can see, in one place: this project's, the user's own, and the shared ones.

A shared store is a clone below the user's data folder. Its files are somebody
else's: they are read as data, its configuration is never read, and nothing is
written into it unless it was added as writable.
"""

from __future__ import annotations

import os

from memx.app.places import user_dir
from memx.app.project import STORE_FOLDER, Project
from memx.errors import MemxError, StoreError
from memx.lazy import cached_property
from memx.model import SCOPE_GLOBAL, SCOPE_PROJECT
from memx.record import replace
from memx.repo.discovery import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memx.config import Loaded
    from memx.model import Bullet, StoredBullet
    from memx.store.store import Store

USER = "user"
WRITABLE_MARK = "writable"
"""A file in the state folder of a shared store that may be written."""


class OtherStore(Project):
    """A store beside the project's, with its own journal and cache and the project's configuration."""

    def __init__(self, owner: Project, name: str, folder: str) -> None:
        """Take a folder that holds a git repository with a store; git is not asked."""
        from memx.repo.git import foreign_environ

        super().__init__(folder, foreign_environ(owner.environ), owner.now)
        self.store_name = name
        self.default_scope = SCOPE_GLOBAL if name == USER else SCOPE_PROJECT
        self.owner = owner

    @cached_property
    def repository(self) -> Repository | None:
        """The repository of the store itself: never one that happens to lie around it."""
        git_dir = os.path.join(self.cwd, ".git")
        return Repository(self.cwd, git_dir, git_dir) if os.path.isdir(git_dir) else None

    @cached_property
    def root(self) -> str:
        """The folder of the clone."""
        return self.cwd

    @cached_property
    def cache_dir(self) -> str:
        """An index of its own: as a layer, a store's scopes read differently."""
        return os.path.join(super().cache_dir, "layer")

    @cached_property
    def loaded_config(self) -> Loaded:
        """The configuration of the project that looks."""
        return self.owner.loaded_config

    @cached_property
    def is_read_only(self) -> bool:
        """Whether memx may write here: the user's own store, and what was added as writable."""
        return self.store_name != USER and not os.path.isfile(os.path.join(self.state_dir, WRITABLE_MARK))

    @cached_property
    def store(self) -> Store:
        """The store under its name."""
        from memx.store.store import Store

        if not self.has_store:
            raise StoreError(
                f"there is no store {self.store_name}", hint="memx store list", path=self.store_root
            )
        return Store(
            self.store_root,
            self.state_dir,
            name=self.store_name,
            sanitizer=self.sanitizer,
            read_only=self.is_read_only,
            created_of=self.created_of,
            clock=lambda: self.now,
            journal=self.journal,
        )

    def layer_scope(self, scope: str) -> str:
        """Return how far a scope of another store reaches, seen from the project.

        Its `project` is what the store shares with everybody; its workspaces are branches of another
        repository and nobody's here.
        """
        if scope == SCOPE_PROJECT:
            return SCOPE_GLOBAL
        if scope.startswith("workspace:"):
            return f"project:{self.store_name}/{scope}"
        return scope

    def parse_bullet(self, data: bytes, *, path: str) -> Bullet:
        """Read a file of this store as a layer."""
        from memx.store.codec import parse_bullet

        bullet = parse_bullet(data, path=path)
        return replace(bullet, scope=self.layer_scope(bullet.scope))


def user_store_folder(environ: Mapping[str, str]) -> str:
    """Return where the user's own store lies."""
    return os.path.join(user_dir("data", environ), "store")


def shared_stores_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the shared stores."""
    return os.path.join(user_dir("data", environ), "stores")


def find_others(project: Project) -> tuple[OtherStore, ...]:
    """Return the user's store, then the shared ones by name; without the one that the project itself is."""
    places = [(USER, user_store_folder(project.environ))]
    shared = shared_stores_folder(project.environ)
    try:
        names = sorted(os.listdir(shared))
    except OSError:
        names = []
    places += [(name, os.path.join(shared, name)) for name in names if not name.startswith(".")]
    own = os.path.realpath(project.store_root) if names or os.path.isdir(places[0][1]) else ""
    return tuple(
        OtherStore(project, name, folder)
        for name, folder in places
        if is_store(folder) and os.path.realpath(os.path.join(folder, STORE_FOLDER)) != own
    )


def is_store(folder: str) -> bool:
    """Say whether a folder holds a store; a link as `.memx` could lead anywhere and is none."""
    root = os.path.join(folder, STORE_FOLDER)
    return os.path.isdir(root) and not os.path.islink(root)


def find_stores(project: Project) -> tuple[Project, ...]:
    """Return every store that the project sees, its own first; raises StoreError where there is none."""
    own = (project,) if project.has_store else ()
    found = (*own, *project.others)
    if not found:
        raise project.no_store()
    return found


def stores_beside(project: Project) -> tuple[Project, ...]:
    """Return the stores that are visible beside one of them."""
    owner = project.owner if isinstance(project, OtherStore) else project
    return tuple(place for place in find_stores(owner) if place.store_name != project.store_name)


def named_store(project: Project, name: str) -> Project:
    """Return the store of a name (empty: the project's own); raises StoreError for an unknown one."""
    if name in ("", project.store_name):
        return project
    for other in project.others:
        if other.store_name == name:
            return other
    hint = "memx init --user" if name == USER else "memx store list"
    raise StoreError(f"there is no store {name!r}", hint=hint)


def find_bullet(project: Project, reference: str, *, store: str = "") -> tuple[Project, StoredBullet]:
    """Return a bullet and its store: `STORE:ID` or, for a bare reference, the first store that has it.

    Raises StoreError, the project's own words when no store has it.
    """
    prefix, colon, rest = reference.partition(":")
    names = {place.store_name for place in find_stores(project)}
    if colon and not store and prefix in names:
        store, reference = prefix, rest
    if store:
        place = named_store(project, store)
        return place, place.store.find(reference)
    first: MemxError | None = None
    for place in find_stores(project):
        try:
            return place, place.store.find(reference)
        except MemxError as error:
            first = first or error
    raise first or StoreError(f"there is no bullet {reference!r}", hint="memx list")


def find_own(project: Project, reference: str) -> StoredBullet:
    """Return a bullet of this project's own store, for whoever changes it; raises StoreError.

    Of one that only another store has the error says whose it is, for reading finds it in any.
    """
    try:
        return project.store.find(reference)
    except StoreError as error:
        try:
            place, stored = find_bullet(project, reference)
        except MemxError:
            raise error from None
        if place is project:
            return stored
        is_shared = isinstance(place, OtherStore) and place.is_read_only
        what = "which is read-only" if is_shared else "not in this project's"
        hint = "change it where it is kept, then: memx store sync" if is_shared else f"memx -C {place.cwd}"
        raise StoreError(
            f"bullet {stored.bullet.id!r} is in the store {place.store_name}, {what}", hint=hint
        ) from error
