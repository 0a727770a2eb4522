"""The store: a folder of bullet files, and the one path by which they are written.

redact → validate → resolve inside → lock → atomic replace → mark the index dirty
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from memx.document import FIELD_KINDS
from memx.errors import FrontMatterError, StoreError
from memx.record import replace
from memx.store.atomic import (
    drop_placeholder,
    keep_emptied_folder,
    remove_stale_temporaries,
    sync_folder,
    write_atomically,
)
from memx.store.canonical import canonical_file, home_path
from memx.store.codec import edit_bullet, format_bullet
from memx.store.dirty import mark_dirty
from memx.store.lint import lint_bytes, lint_store
from memx.store.lock import Lock
from memx.store.naming import bullet_id, bullet_path, id_of_name
from memx.store.paths import resolve_inside
from memx.store.reader import ARCHIVE_FOLDER, LIVE_FOLDER, StoreReader
from memx.store.redaction import redact_bullet, redact_changes, redact_document
from memx.store.validation import validate_bullet, validate_section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memx.model import Bullet, Problem, StoredBullet
    from memx.store.journal import Journal, Recalls
    from memx.store.redaction import Sanitizer

_LOCK_NAME = "store.lock"


class Store(StoreReader):
    """A store that can be written. `state_dir` holds its lock and the dirty mark.

    `clock` is asked when a text changes; what `journal` has counted goes along
    whenever a bullet is rewritten. Every method raises StoreError, and
    UnsafePathError for a path that leads out of the store.
    """

    def __init__(
        self,
        root: str,
        state_dir: str,
        *,
        name: str = "project",
        sanitizer: Sanitizer,
        read_only: bool = False,
        created_of: Callable[[str], float | None] | None = None,
        clock: Callable[[], float] = time.time,
        journal: Journal | None = None,
    ) -> None:
        """Open the store; nothing is read or made yet."""
        super().__init__(root, name=name, created_of=created_of)
        self.state_dir = state_dir
        self.read_only = read_only
        self._sanitizer = sanitizer
        self._clock = clock
        self._journal = journal
        self._lock = Lock(os.path.join(state_dir, _LOCK_NAME))

    def lock(self) -> Lock:
        """Return the store's lock, to hold over several writes; the writes take it again for free."""
        return self._lock

    def write(self, bullet: Bullet, *, path: str | None = None) -> StoredBullet:
        """Write a bullet and return it as it was written.

        Over the file at `path`, else the one whose name holds its id, only the fields that differ
        change; a file that does not parse is not overwritten. An empty id becomes the hash of the
        redacted text.
        """
        bullet = self.prepare(bullet)
        with self._lock:
            target = path
            if target is None:
                target = self._path_with(bullet.id) or bullet_path(bullet)
            if not os.path.lexists(resolve_inside(self.root, target)):
                return self._put(format_bullet(bullet), target)
            data = self.read_bytes(target)
            present = self.parse(data, target).bullet
            if present.id != bullet.id:
                raise StoreError(f"the file holds another bullet, {present.id}", path=target)
            return self._edit_file(target, data, present, differences(present, bullet))

    def add(self, bullet: Bullet) -> tuple[StoredBullet, bool]:
        """Write a bullet unless its id is here or archived; return the one here and whether it is new."""
        return self.add_many((bullet,))[0]

    def add_many(self, bullets: Iterable[Bullet]) -> list[tuple[StoredBullet, bool]]:
        """Add bullets under one lock, listing the store once; see `add`."""
        prepared = [self.prepare(bullet) for bullet in bullets]
        added: list[tuple[StoredBullet, bool]] = []
        with self._lock:
            by_id = self._paths_by_id()
            try:
                for bullet in prepared:
                    stored, is_new = self._add(bullet, by_id.get(bullet.id))
                    by_id[bullet.id] = stored.path
                    added.append((stored, is_new))
            finally:
                self._settle([stored.path for stored, is_new in added if is_new])
        return added

    def edit(self, reference: str, changes: Mapping[str, object]) -> StoredBullet:
        """Change some fields of a bullet, touching their lines only; `text` changes the body and `updated`.

        None removes a field. An edit keeps the id.
        """
        changes = redact_changes(changes, self._sanitizer)
        with self._lock:
            stored = self.find(reference)
            if changes.get("id", stored.bullet.id) != stored.bullet.id:
                raise StoreError("an edit keeps the id", path=stored.path)
            data = self.read_bytes(stored.path)
            return self._edit_file(stored.path, data, stored.bullet, dict(changes))

    def replace_document(self, path: str, data: bytes) -> StoredBullet:
        """Write a whole file that a person or a merge made; raise FrontMatterError when it does not parse.

        Texts are redacted in place, unknown keys and comments included; `updated` follows a changed text.
        """
        data = redact_document(data, path, self._sanitizer)
        with self._lock:
            bullet = self.parse(data, path).bullet
            present = self.read_or_none(path)
            is_changed = present is not None and present.bullet.text != bullet.text
            if present is not None and is_changed and present.bullet.updated == bullet.updated:
                data = edit_bullet(data, {"updated": self._clock()}, path=path)
            return self._put_valid(data, path)

    def remove(self, reference: str) -> StoredBullet:
        """Delete a bullet's file and return what it held; the caller tells the inbox."""
        self._refuse_read_only()
        with self._lock:
            stored = self.find(reference)
            full = resolve_inside(self.root, stored.path)
            try:
                os.unlink(full)
            except OSError as error:
                raise StoreError(f"cannot remove the bullet ({error.strerror})", path=stored.path) from error
            self._settle([stored.path])
            return stored

    def archive(self, reference: str) -> StoredBullet:
        """Move a bullet to the archive, out of the default search."""
        return self._relocate(reference, ARCHIVE_FOLDER, None)

    def restore(self, reference: str) -> StoredBullet:
        """Move a bullet from the archive back to its section."""
        return self._relocate(reference, LIVE_FOLDER, None)

    def prepare(self, bullet: Bullet) -> Bullet:
        """Return a bullet as a write would store it: redacted, validated, with an id. Nothing is written."""
        self._refuse_read_only()
        bullet = redact_bullet(bullet, self._sanitizer)
        if not bullet.id:
            bullet = replace(bullet, id=bullet_id(bullet.text))
        validate_bullet(bullet)
        return bullet

    def keep_aside(self, data: bytes, path: str) -> str:
        """Put bytes that the store holds, or is about to, at a path below the archive, unchanged; return the path.

        Never over other bytes: where the name is taken the new one gets a digest.
        """
        self._refuse_read_only()
        with self._lock:
            if os.path.lexists(resolve_inside(self.root, path)):
                if self.read_bytes(path) == data:
                    return path
                path = _with_digest(path, data)
            self._write_bytes(data, path)
            return path

    def put_back(self, data: bytes, path: str) -> StoredBullet:
        """Write the bytes that a bullet's file had before, exactly; raise FrontMatterError when they do not parse."""
        self._refuse_read_only()
        with self._lock:
            stored = self.parse(data, path)
            self._write_bytes(data, path)
            return stored

    def discard(self, path: str) -> None:
        """Delete what `keep_aside` wrote; no error when it is gone."""
        self._refuse_read_only()
        with self._lock, suppress(FileNotFoundError):
            os.unlink(resolve_inside(self.root, path))
            self._settle([path])

    def _write_bytes(self, data: bytes, path: str) -> None:
        full = resolve_inside(self.root, path)
        try:
            write_atomically(full, data)
        except OSError as error:
            raise StoreError(f"cannot write the file ({error.strerror})", path=path) from error
        self._settle([path])

    def move(self, reference: str, section: str) -> StoredBullet:
        """Give a bullet another section and move its file there; the name stays."""
        section = section.lower()
        validate_section(section)
        return self._relocate(reference, "", section)

    def format(self, path: str) -> StoredBullet:
        """Bring a file to the canonical form, fill in missing keys and move it to its section's home.

        Unknown keys, comments and the body stay; nothing is written when all is canonical already.
        """
        path = self.path_of(path)
        with self._lock:
            data = self.read_bytes(path)
            canonical, home = self._formatted(data, path)
            self._put_valid(canonical, path)
            return self._rename(path, home)

    def is_formatted(self, path: str) -> bool:
        """Say whether `format` would leave a file as it is; raise FrontMatterError when it does not parse."""
        path = self.path_of(path)
        data = self.read_bytes(path)
        return self._formatted(data, path) == (data, path)

    def _formatted(self, data: bytes, path: str) -> tuple[bytes, str]:
        """Return the canonical bytes of a file and where it belongs."""
        bullet = self.parse(data, path).bullet
        if bullet.created is None:
            bullet = replace(bullet, created=self._clock())
        canonical = redact_document(canonical_file(data, bullet, path), path, self._sanitizer)
        return canonical, home_path(path, self.parse(canonical, path).bullet, data)

    def fold(self, references: Iterable[str] | None = None, *, catch_up: bool = False) -> list[StoredBullet]:
        """Write the journal's counts into these bullets, or all that have some; return those rewritten.

        `catch_up`: see `Journal.fold`. A file that cannot be edited by lines keeps its count in the journal.
        """
        self._refuse_read_only()
        if self._journal is None:
            return []
        with self._lock:
            chosen = self.with_ids(self._journal.unfolded()) if references is None else []
            if catch_up and references is None:
                chosen = self.scan()[0]
            chosen += [self.find(reference) for reference in references or ()]
            paths = {stored.bullet.id: stored.path for stored in reversed(chosen)}
            counts = {stored.bullet.id: stored.bullet.recall_count for stored in reversed(chosen)}
            due = self._journal.fold(counts, catch_up=catch_up)
            folded = []
            for identifier, recalls in due.items():
                with suppress(FrontMatterError):
                    folded.append(self._fold_into(paths[identifier], recalls))
            self._settle([stored.path for stored in folded])
            self._journal.settle([stored.bullet.id for stored in folded])
            return folded

    def _fold_into(self, path: str, recalls: Recalls) -> StoredBullet:
        return self._replace_file(_with_recalls(self.read_bytes(path), path, recalls.count, recalls), path)

    def with_ids(self, identifiers: set[str]) -> list[StoredBullet]:
        """Return the bullets that hold these ids, live ones before archived ones; what is not here is left out."""
        if not identifiers:
            return []
        by_id = self._paths_by_id()
        named = [self.read_or_none(by_id[name]) for name in sorted(identifiers & by_id.keys())]
        found = [stored for stored in named if stored is not None and stored.bullet.id in identifiers]
        missing = identifiers - {stored.bullet.id for stored in found}
        # A file named by hand does not show its id.
        return found + [s for s in self.scan()[0] if s.bullet.id in missing] if missing else found

    def tidy(self) -> int:
        """Remove temporary files that killed writers left; return how many."""
        self._refuse_read_only()
        paths = self.paths() + self.paths(archived=True)
        folders = {os.path.dirname(path) for path in paths}
        return sum(remove_stale_temporaries(os.path.join(self.root, folder)) for folder in folders)

    def lint(self, paths: Iterable[str] | None = None) -> list[Problem]:
        """Return what is wrong in these files, or in all of them, archive included."""
        return lint_store(self, self._sanitizer, paths)

    def lint_bytes(self, data: bytes, path: str) -> list[Problem]:
        """Return what is wrong in one file's bytes, as they are in the work tree or staged."""
        return lint_bytes(data, path, self._sanitizer)

    def _edit_file(self, path: str, data: bytes, bullet: Bullet, changes: dict[str, object]) -> StoredBullet:
        """Apply redacted changes to a file; the caller holds the lock."""
        if changes.get("text", bullet.text) == bullet.text:
            changes.pop("text", None)
        elif changes.get("updated", bullet.updated) == bullet.updated:
            changes["updated"] = self._clock()
        return self._put_valid(edit_bullet(data, changes, path=path), path)

    def _add(self, bullet: Bullet, path: str | None) -> tuple[StoredBullet, bool]:
        """Return the bullet at `path` if it is the one, else write it without settling."""
        present = self.read_or_none(path) if path else None
        if present is not None and present.bullet.id == bullet.id:
            return present, False
        target = bullet_path(bullet)
        if os.path.lexists(resolve_inside(self.root, target)):
            raise StoreError("a broken file is there already", path=target, hint="memx lint")
        return self._replace_file(format_bullet(bullet), target), True

    def _put_valid(self, data: bytes, path: str) -> StoredBullet:
        """Validate a file and write it if it differs from what is there."""
        self._refuse_read_only()
        stored = self.parse(data, path)
        validate_bullet(stored.bullet)
        full = resolve_inside(self.root, path)
        if not os.path.lexists(full):
            return self._put(data, path)
        present = self.read_bytes(path)
        return stored if present == data else self._rewrite(data, path, present)

    def _rewrite(self, data: bytes, path: str, present: bytes) -> StoredBullet:
        """Put a file in the place of another, with the recalls that were counted since: one write, one diff."""
        before = self._parse_or_none(present, path)
        if self._journal is None or before is None:
            return self._put(data, path)
        old = before.bullet
        try:
            recalls = self._journal.fold({old.id: old.recall_count}).get(old.id)
        except StoreError:
            # A journal that cannot be written keeps its counts for another day.
            recalls = None
        if recalls is None:
            return self._put(data, path)
        count = self.parse(data, path).bullet.recall_count + recalls.count - old.recall_count
        try:
            data = _with_recalls(data, path, count, recalls)
        except FrontMatterError:
            # Written by hand in a shape that cannot be edited by lines: the edit matters more than the count.
            return self._put(data, path)
        stored = self._put(data, path)
        self._journal.settle([old.id])
        return stored

    def _put(self, data: bytes, path: str) -> StoredBullet:
        """Replace a file and settle it: the end of the write path, under the caller's lock."""
        stored = self._replace_file(data, path)
        self._settle([path])
        return stored

    def _replace_file(self, data: bytes, path: str) -> StoredBullet:
        """Resolve and replace atomically."""
        stored = self.parse(data, path)
        full = resolve_inside(self.root, path)
        try:
            write_atomically(full, data)
        except OSError as error:
            raise StoreError(f"cannot write the bullet ({error.strerror})", path=path) from error
        return stored

    def _settle(self, paths: Iterable[str]) -> None:
        """Make what happened in these files' folders durable and mark the index dirty."""
        folders = {os.path.dirname(path) for path in paths}
        for folder in folders:
            sync_folder(os.path.join(self.root, folder))
        if folders:
            mark_dirty(self.state_dir)

    def _relocate(self, reference: str, folder: str, section: str | None) -> StoredBullet:
        """Move a file to another folder of the store, its section changed first if one is given.

        The front matter rules, so a move that stops between the two steps leaves a valid bullet.
        """
        self._refuse_read_only()
        with self._lock:
            stored = self.find(reference)
            if section is not None and section != stored.bullet.section:
                data = edit_bullet(self.read_bytes(stored.path), {"section": section}, path=stored.path)
                self._put_valid(data, stored.path)
            folder = folder or stored.path.partition("/")[0]
            name = stored.path.rpartition("/")[2]
            return self._rename(stored.path, f"{folder}/{section or stored.bullet.section}/{name}")

    def _rename(self, path: str, target: str) -> StoredBullet:
        """Rename a file within the store; never over another one."""
        if target == path:
            return self.read(path)
        self._refuse_read_only()
        old, new = resolve_inside(self.root, path), resolve_inside(self.root, target)
        if os.path.lexists(new):
            raise StoreError("another file is there already", path=target, hint="memx dedup")
        try:
            os.makedirs(os.path.dirname(new), exist_ok=True)
            os.rename(old, new)
        except OSError as error:
            raise StoreError(f"cannot move the bullet ({error.strerror})", path=path) from error
        drop_placeholder(os.path.dirname(new))
        if path.startswith(LIVE_FOLDER + "/"):
            keep_emptied_folder(os.path.dirname(old))
        self._settle([target, path])
        return self.read(target)

    def _path_with(self, identifier: str) -> str | None:
        """Return the path of the bullet with this id, by file name."""
        for archived in (False, True):
            found = self.find_by_name(identifier, archived=archived)
            if found:
                return found[0].path
        return None

    def _paths_by_id(self) -> dict[str, str]:
        """Return the path for each id that a file name holds, live ones before archived ones."""
        paths = self.paths(archived=True) + self.paths()
        return {identifier: path for path in paths if (identifier := id_of_name(path))}

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise StoreError(f"the store {self.name} is read-only", path=self.root)


def _with_digest(path: str, data: bytes) -> str:
    """Return another name for the same id: the digest goes before the part that names it."""
    from hashlib import sha256

    head, dash, tail = path.rpartition("-")
    digest = sha256(data).hexdigest()[:8]
    return f"{head}.{digest}{dash}{tail}" if dash else f"{path}.{digest}"


def _with_recalls(data: bytes, path: str, count: int, recalls: Recalls) -> bytes:
    changes: dict[str, object] = {"recall_count": count}
    if recalls.last is not None:
        changes["last_recalled"] = recalls.last
    return edit_bullet(data, changes, path=path)


def differences(present: Bullet, wanted: Bullet) -> dict[str, object]:
    """Return the fields that an overwrite changes; an order of items is no difference."""
    changes: dict[str, object] = {}
    for key in ("text", *FIELD_KINDS):
        old, new = getattr(present, key), getattr(wanted, key)
        if old == new or (isinstance(new, tuple) and sorted(set(old)) == sorted(set(new))):
            continue
        changes[key] = new
    return changes
