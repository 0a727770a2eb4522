"""The repository, its stores, configuration and clock, as one command sees them."""

from __future__ import annotations

import os

from memx.app.places import home, is_writable, user_dir
from memx.config import Config, Loaded, find_config_files, load_config
from memx.errors import StoreError
from memx.lazy import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memx.app.stores import OtherStore
    from memx.redact import PrivacySanitizer
    from memx.reflector import Reflector
    from memx.repo.discovery import Head, Repository
    from memx.store.inbox import Inbox
    from memx.store.journal import Journal
    from memx.store.spool import Spool
    from memx.store.store import Store

STORE_FOLDER = ".memx"
_KEY_CHARS = 16
"""Of the name of a store's own folder among those of the user."""


class Project:
    """Everything that a use case needs to know about where it runs; each part is found when first asked for."""

    store_name = "project"
    """What the store is called in answers."""
    is_what_if = False
    """Whether the command line named the clock: a question about another day, which leaves no trace."""
    default_scope = "project"
    """The scope of a bullet that names none."""

    def __init__(self, cwd: str, environ: Mapping[str, str], now: float, *, scratch: str = "") -> None:
        """Remember the place, the environment and the clock (seconds since the epoch).

        With `scratch`, store, state and cache lie in that folder and the
        repository is only read.
        """
        self._scratch = scratch
        self.cwd = os.path.abspath(cwd)
        self.environ = environ
        self.now = now

    @cached_property
    def repository(self) -> Repository | None:
        """The git repository around the place, None outside of one."""
        from memx.repo.discovery import discover

        return discover(self.cwd, self.environ)

    @cached_property
    def head(self) -> Head | None:
        """The commit and branch that are checked out."""
        from memx.repo.discovery import read_head

        return None if self.repository is None else read_head(self.repository)

    @cached_property
    def root(self) -> str:
        """The top of the work tree, or the nearest folder above that holds a store, or the place itself."""
        if self.repository is not None and self.repository.worktree:
            return self.repository.worktree
        place = self.cwd
        while not os.path.isdir(os.path.join(place, STORE_FOLDER)):
            parent = os.path.dirname(place)
            if parent == place:
                return self.cwd
            place = parent
        return place

    @cached_property
    def name(self) -> str:
        """What `project:NAME` calls this project: its folder, for every work tree the one that holds `.git`."""
        repository = self.repository
        is_linked = repository is not None and repository.git_dir != repository.common_dir
        if repository is not None and is_linked and os.path.basename(repository.common_dir) == ".git":
            return os.path.basename(os.path.dirname(repository.common_dir))
        return os.path.basename(self.root)

    @cached_property
    def store_root(self) -> str:
        """The folder `.memx` of this project; it need not exist."""
        return os.path.join(self._scratch or self.root, STORE_FOLDER)

    @cached_property
    def state_dir(self) -> str:
        """Journal, inbox, locks and reports: the git common dir, else the user's state folder."""
        if self._scratch:
            return os.path.join(self._scratch, "state")
        if self.repository is not None:
            folder = os.path.join(self.repository.common_dir, "memx")
            if is_writable(folder):
                return folder
        return self._own_state_dir

    @cached_property
    def _own_state_dir(self) -> str:
        return os.path.join(user_dir("state", self.environ), self._key)

    @cached_property
    def cache_dir(self) -> str:
        """The derived index of this work tree: its git dir, else the user's cache folder."""
        if self._scratch:
            return os.path.join(self._scratch, "cache")
        if self.repository is not None:
            folder = os.path.join(self.repository.git_dir, "memx", "cache")
            if is_writable(folder):
                return folder
        return os.path.join(user_dir("cache", self.environ), self._key)

    @cached_property
    def _key(self) -> str:
        from memx.digest import sha256

        return sha256(os.path.realpath(self.root).encode("utf-8", "surrogateescape")).hexdigest()[:_KEY_CHARS]

    @cached_property
    def loaded_config(self) -> Loaded:
        """The merged configuration with its origins and problems."""
        from memx.app.trust import is_trusted

        common = "" if self.repository is None else self.repository.common_dir
        files = find_config_files(
            self.store_root if self.has_store else "",
            common,
            user_dir("config", self.environ),
            team_trusted=is_trusted(self),
        )
        return load_config(files, self.environ)

    @property
    def config(self) -> Config:
        """The merged configuration."""
        return self.loaded_config.config

    @cached_property
    def sanitizer(self) -> PrivacySanitizer:
        """What every text passes through before it is stored or shown to another program."""
        from memx.redact import PrivacySanitizer

        return PrivacySanitizer(
            home=home(self.environ), root=self.root, patterns=self.config.privacy.patterns
        )

    @property
    def has_store(self) -> bool:
        """Whether there is a store: a folder of its own, for a link as `.memx` could lead anywhere."""
        return os.path.isdir(self.store_root) and not os.path.islink(self.store_root)

    def no_store(self) -> StoreError:
        """Return the error of a project without a store, with the step that helps."""
        if os.path.islink(self.store_root):
            hint = "put the folder itself there, or share it: memx store add"
            return StoreError("the store must not be a link", hint=hint, path=self.store_root)
        is_bare = self.repository is not None and not self.repository.worktree
        if is_bare:
            hint = "a bare repository keeps none: run memx in a clone"
            return StoreError("no store here", hint=hint, path=self.store_root)
        back = self._way_back()
        if back:
            return StoreError("no store here, though the commit has one", hint=back, path=self.store_root)
        return StoreError("no store here", hint="memx init", path=self.store_root)

    def _way_back(self) -> str:
        """Return the command that checks out the store that HEAD has; empty when it has none."""
        from memx.errors import GitError
        from memx.repo.config_writer import read_option
        from memx.repo.discovery import run_in

        if self.repository is None or os.path.lexists(self.store_root):
            return ""
        try:
            is_committed = bool(
                run_in(self.repository, ["ls-tree", "--full-tree", "HEAD", "--", STORE_FOLDER])
            )
            is_sparse = read_option(self.repository, "core.sparseCheckout") == "true"
        except GitError:
            return ""
        if not is_committed:
            return ""
        return (
            f"git sparse-checkout add {STORE_FOLDER}" if is_sparse else f"git checkout HEAD -- {STORE_FOLDER}"
        )

    @cached_property
    def store(self) -> Store:
        """This project's store; raises StoreError where `memx init` has not run."""
        from memx.store.store import Store

        if not self.has_store:
            raise self.no_store()
        return Store(
            self.store_root,
            self.state_dir,
            sanitizer=self.sanitizer,
            created_of=self.created_of,
            clock=lambda: self.now,
            journal=self.journal,
        )

    @cached_property
    def others(self) -> tuple[OtherStore, ...]:
        """The user's own store and the shared ones; none for a scratch project."""
        from memx.app.stores import find_others

        return () if self._scratch else find_others(self)

    def layer_scope(self, scope: str) -> str:
        """Return how far a scope of this store reaches: as it is written, in the project's own."""
        return scope

    def created_of(self, path: str) -> float | None:
        """Return when a file of the store first appeared in history, None when it never did."""
        return self._first_commits.get(f"{STORE_FOLDER}/{path}")

    @cached_property
    def _first_commits(self) -> dict[str, float]:
        """When each file of the store first appeared in history: for bullets written by hand without a time."""
        from memx.errors import GitError
        from memx.repo.history import first_commit_dates

        if self.repository is None:
            return {}
        try:
            return first_commit_dates(self.repository, STORE_FOLDER)
        except GitError:
            return {}

    @cached_property
    def reflector(self) -> Reflector:
        """What distils lessons by rules."""
        from memx.reflector import Reflector

        return Reflector(self.config.reflector, self.sanitizer)

    @cached_property
    def inbox(self) -> Inbox:
        """The candidates that no person has accepted yet."""
        from memx.store.inbox import Inbox

        return Inbox(self.state_dir, redact=lambda text: self.sanitizer.sanitize(text).text)

    @cached_property
    def spool(self) -> Spool:
        """What a long run has found before it ends."""
        from memx.store.spool import Spool

        return Spool(self.state_dir, redact=lambda text: self.sanitizer.sanitize(text).text)

    @cached_property
    def journal(self) -> Journal:
        """The local count of recalls, with those that were counted elsewhere while git's folder was read-only."""
        from memx.store.journal import Journal

        beside, takes_over = "", False
        if self.repository is not None and not self._scratch:
            shared = os.path.join(self.repository.common_dir, "memx")
            takes_over = self.state_dir == shared
            if not takes_over:
                beside = shared
            elif _holds_states(user_dir("state", self.environ)):
                beside = self._own_state_dir
        is_shared = self.config.sync.usage
        return Journal(self.state_dir, is_shared=is_shared, beside=beside, takes_over=takes_over)


def _holds_states(folder: str) -> bool:
    """Return whether any store keeps its state in the user's folder: the name of its own takes a digest to know."""
    try:
        return any(len(name) == _KEY_CHARS for name in os.listdir(folder))
    except OSError:
        return False
