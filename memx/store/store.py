"""The store: a folder of bullet files, and the one path by which they are written.

redact → validate → resolve inside → lock → atomic replace → mark the index dirty
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager

from memx.document import FIELD_KINDS, Document, decode_text
from memx.errors import ConflictMarkerError, FrontMatterError, MemxError, SecretFoundError, StoreError
from memx.model import SECTIONS, Bullet, Problem, StoredBullet
from memx.record import replace
from memx.store.atomic import TEMPORARY_PREFIX, remove_stale_temporaries, sync_folder, write_atomically
from memx.store.codec import edit_bullet, format_bullet, parse_bullet, read_fields
from memx.store.dirty import mark_dirty
from memx.store.lock import Lock
from memx.store.naming import bullet_id, bullet_path, id_of_name
from memx.store.paths import refuse_unsafe, resolve_inside
from memx.store.validation import (
    find_oddities,
    find_secrets,
    redact_bullet,
    redact_changes,
    redact_value,
    validate_bullet,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memx.store.validation import Sanitizer

LIVE_FOLDER = "bullets"
ARCHIVE_FOLDER = "archive"

_LOCK_NAME = "store.lock"


class Store:
    """The bullets below `root`, which is the `.memx` folder itself or a store of its own.

    Paths are relative to `root`, with forward slashes. `state_dir` holds the lock
    and the dirty mark. `created_of(path)` names the time of a file that has no
    `created` of its own; `clock` is asked when a text changes.
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
    ) -> None:
        """Open the store; nothing is read or made yet."""
        self.root = os.path.abspath(root)
        self.state_dir = state_dir
        self.name = name
        self.read_only = read_only
        self._sanitizer = sanitizer
        self._created_of = created_of
        self._clock = clock
        self._lock = Lock(os.path.join(state_dir, _LOCK_NAME))

    # Reading

    def scan(self, archived: bool = False) -> tuple[list[StoredBullet], list[Problem]]:  # noqa: FBT001, FBT002
        """Return every bullet in path order, and a problem for each file that is broken, linked or a duplicate."""
        bullets: list[StoredBullet] = []
        problems: list[Problem] = []
        seen: dict[str, str] = {}
        for path in self.paths(archived=archived, problems=problems):
            try:
                stored = self.read(path)
            except MemxError as error:
                problems.append(problem_of(error, path))
                continue
            bullets.append(stored)
            first = seen.setdefault(stored.bullet.id, path)
            if first != path:
                problems.append(_duplicate(stored.bullet.id, path, first))
        return bullets, problems

    def paths(self, *, archived: bool = False, problems: list[Problem] | None = None) -> list[str]:
        """Return the paths of all bullet files, sorted; symbolic links are reported and not followed."""
        found: list[str] = []
        folders = [ARCHIVE_FOLDER if archived else LIVE_FOLDER]
        while folders:
            folder = folders.pop()
            for entry in _entries(os.path.join(self.root, folder)):
                path = f"{folder}/{entry.name}"
                if entry.name[0] == "." or entry.name.startswith(TEMPORARY_PREFIX):
                    continue
                if entry.is_symlink():
                    if problems is not None:
                        message = "a symbolic link is not followed"
                        problems.append(
                            Problem(message, path, hint="put the file itself there", kind="unsafe-path")
                        )
                elif entry.is_dir():
                    folders.append(path)
                elif entry.name.endswith(".md"):
                    found.append(path)
        return sorted(found)

    def read(self, path: str) -> StoredBullet:
        """Return the bullet at a path; raise StoreError, and FrontMatterError with its line."""
        return self._stored(self.read_bytes(path), path)

    def read_bytes(self, path: str) -> bytes:
        """Return a bullet's file as it is; raise StoreError."""
        full = resolve_inside(self.root, path)
        try:
            with open(full, "rb") as file:
                return file.read()
        except OSError as error:
            raise StoreError(f"cannot read the bullet ({error.strerror})", path=path) from error

    def find(self, reference: str) -> StoredBullet:
        """Return the bullet with this id, unique prefix of an id, or path; live ones before archived ones.

        Raise StoreError when there is none or more than one. A file whose name ends in an id is
        believed to hold that id until it is read.
        """
        if "/" in reference or "\\" in reference or reference.endswith(".md"):
            return self.read(self._path_of(reference))
        if not reference or not reference.isprintable():
            raise StoreError("an id or a path is needed", hint="memx list")
        for archived in (False, True):
            found = self._find_by_name(reference, archived=archived) or self._find_by_content(
                reference, archived=archived
            )
            if len(found) > 1:
                names = ", ".join(f"{stored.bullet.id} ({stored.path})" for stored in found[:5])
                raise StoreError(
                    f"{reference!r} fits more than one bullet: {names}",
                    hint="give more of the id, or the path",
                )
            if found:
                return found[0]
        raise StoreError(f"there is no bullet {reference!r}", hint="memx list")

    # Writing

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the store's lock over several writes; the writes themselves take it again for free."""
        with self._lock:
            yield

    def write(self, bullet: Bullet, *, path: str | None = None) -> StoredBullet:
        """Write a bullet as a canonical file, over the one with its id if there is one, and return it.

        An empty id becomes the hash of the redacted text. Raise StoreError, UnsafePathError.
        """
        return self._write(bullet, path)[0]

    def add(self, bullet: Bullet) -> tuple[StoredBullet, bool]:
        """Write a bullet unless its id is here already, live or archived; return the one here and whether it is new."""
        bullet = self._prepare(bullet)
        with self._lock:
            present = self._present(bullet)
            if present is not None:
                return present, False
            return self._put(format_bullet(bullet), bullet_path(bullet)), True

    def edit(self, reference: str, changes: Mapping[str, object]) -> StoredBullet:
        """Change some fields of a bullet, touching their lines only; `text` changes the body and `updated`.

        None removes a field. Raise StoreError when the result would not be valid.
        """
        changes = redact_changes(changes, self._sanitizer)
        with self._lock:
            stored = self.find(reference)
            data = self.read_bytes(stored.path)
            if changes.get("text", stored.bullet.text) != stored.bullet.text:
                changes = {"updated": self._clock(), **changes}
            return self._put_edited(edit_bullet(data, changes, path=stored.path), stored.path, data)

    def replace_document(self, path: str, data: bytes) -> StoredBullet:
        """Write a whole file that a person or a merge made; raise FrontMatterError when it does not parse.

        Texts are redacted in place, unknown keys and comments included; `updated` follows a changed text.
        """
        data = self._redact_document(data, path)
        with self._lock:
            try:
                old = self.read_bytes(path)
            except StoreError:
                old = b""
            if (
                old
                and _text_of(old, path) != _text_of(data, path)
                and _updated_of(old, path) == _updated_of(data, path)
            ):
                data = edit_bullet(data, {"updated": self._clock()}, path=path)
            return self._put_edited(data, path, old)

    def remove(self, reference: str) -> StoredBullet:
        """Delete a bullet's file and return what it held; the caller notes in the inbox that it was removed."""
        self._refuse_read_only()
        with self._lock:
            stored = self.find(reference)
            self._unlink(stored.path)
            return stored

    def archive(self, reference: str) -> StoredBullet:
        """Move a bullet to the archive, out of the default search."""
        return self._relocate(reference, ARCHIVE_FOLDER, None)

    def restore(self, reference: str) -> StoredBullet:
        """Move a bullet from the archive back to its section."""
        return self._relocate(reference, LIVE_FOLDER, None)

    def move(self, reference: str, section: str) -> StoredBullet:
        """Give a bullet another section and move its file there; the name stays."""
        if section not in SECTIONS:
            raise StoreError(f"there is no section {section!r}", hint="sections: " + ", ".join(SECTIONS))
        return self._relocate(reference, "", section)

    def format(self, path: str) -> StoredBullet:
        """Bring a file to the canonical form, fill in missing keys and move it to its section's home.

        Unknown keys, comments and the body stay; nothing is written when all is canonical already.
        """
        with self._lock:
            data = self.read_bytes(path)
            bullet = self._stored(data, path).bullet
            fields, _ = read_fields(decode_text(data, path), path)
            redacted = self._redact_document(_canonical(data, bullet, fields, self._clock(), path), path)
            home = _home(path, bullet, fields)
            if home == path:
                return self._put_edited(redacted, path, data)
            if os.path.lexists(resolve_inside(self.root, home)):
                raise StoreError("another file is there already", path=home, hint="memx dedup")
            stored = self._put_edited(redacted, home, b"")
            self._unlink(path)
            return stored

    def tidy(self) -> int:
        """Remove temporary files that killed writers left; return how many."""
        self._refuse_read_only()
        folders = {
            os.path.dirname(path) for archived in (False, True) for path in self.paths(archived=archived)
        }
        return sum(remove_stale_temporaries(os.path.join(self.root, folder)) for folder in folders)

    # Checking

    def lint(self, paths: Iterable[str] | None = None) -> list[Problem]:
        """Return what is wrong in these files, or in all of them, archive included, in path order."""
        chosen = None if paths is None else {self._path_of(path) for path in paths}
        problems: list[Problem] = []
        seen: dict[str, str] = {}
        for archived in (False, True):
            links: list[Problem] = []
            for path in self.paths(archived=archived, problems=links):
                is_chosen = chosen is None or path in chosen
                try:
                    data = self.read_bytes(path)
                    if is_chosen:
                        problems += self.lint_bytes(data, path)
                    identifier = self._stored(data, path).bullet.id
                except MemxError as error:
                    if is_chosen and not isinstance(error, FrontMatterError):
                        problems.append(problem_of(error, path))
                    continue
                first = seen.setdefault(identifier, path)
                if first != path and (is_chosen or chosen is None or first in chosen):
                    problems.append(_duplicate(identifier, path, first))
            problems += [link for link in links if chosen is None or link.path in chosen]
        return problems

    def lint_bytes(self, data: bytes, path: str) -> list[Problem]:
        """Return what is wrong in one file's bytes, as they are in the work tree or staged."""
        problems: list[Problem] = []
        text = data.decode(errors="replace")
        try:
            bullet = parse_bullet(data, path=path)
            fields, _ = read_fields(text, path)
            problems += find_oddities(fields, bullet, text, path)
        except FrontMatterError as error:
            problems.append(problem_of(error, path))
        return problems + find_secrets(text, path, self._sanitizer)

    # The parts of the write path

    def _prepare(self, bullet: Bullet) -> Bullet:
        """Redact and validate."""
        self._refuse_read_only()
        bullet = redact_bullet(bullet, self._sanitizer)
        if not bullet.id:
            bullet = replace(bullet, id=bullet_id(bullet.text))
        validate_bullet(bullet)
        return bullet

    def _write(self, bullet: Bullet, path: str | None) -> tuple[StoredBullet, bool]:
        bullet = self._prepare(bullet)
        with self._lock:
            present = self._present(bullet) if path is None else None
            target = path or (present.path if present else bullet_path(bullet))
            return self._put(format_bullet(bullet), target), present is None

    def _present(self, bullet: Bullet) -> StoredBullet | None:
        """Return the bullet with this id whose file name says so."""
        for archived in (False, True):
            found = self._find_by_name(bullet.id, archived=archived)
            if found:
                return found[0]
        return None

    def _put_edited(self, data: bytes, path: str, old: bytes) -> StoredBullet:
        """Validate an edited file and write it if it differs."""
        stored = self._stored(data, path)
        validate_bullet(stored.bullet)
        return stored if data == old else self._put(data, path)

    def _put(self, data: bytes, path: str) -> StoredBullet:
        """Resolve, replace atomically, mark dirty; the caller holds the lock and has redacted and validated."""
        self._refuse_read_only()
        stored = self._stored(data, path)
        full = resolve_inside(self.root, path)
        try:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            write_atomically(full, data)
        except OSError as error:
            raise StoreError(f"cannot write the bullet ({error.strerror})", path=path) from error
        mark_dirty(self.state_dir)
        return stored

    def _unlink(self, path: str) -> None:
        full = resolve_inside(self.root, path)
        try:
            os.unlink(full)
            sync_folder(os.path.dirname(full))
        except OSError as error:
            raise StoreError(f"cannot remove the bullet ({error.strerror})", path=path) from error
        mark_dirty(self.state_dir)

    def _relocate(self, reference: str, folder: str, section: str | None) -> StoredBullet:
        """Move a file to another folder of the store, its section changed if one is given."""
        self._refuse_read_only()
        with self._lock:
            stored = self.find(reference)
            data = self.read_bytes(stored.path)
            if section is not None and section != stored.bullet.section:
                data = edit_bullet(data, {"section": section}, path=stored.path)
            folder = folder or stored.path.partition("/")[0]
            home = section or stored.bullet.section
            target = f"{folder}/{home}/{stored.path.rpartition('/')[2]}"
            if target == stored.path:
                return self._put_edited(data, target, self.read_bytes(target))
            if os.path.lexists(resolve_inside(self.root, target)):
                raise StoreError("another file is there already", path=target, hint="memx dedup")
            moved = self._put(self._redact_document(data, target), target)
            self._unlink(stored.path)
            return moved

    def _redact_document(self, data: bytes, path: str) -> bytes:
        """Return a file with its texts redacted; raise SecretFoundError where that would break it."""
        text = decode_text(data, path)
        if self._sanitizer.sanitize(text).text == text:
            return data
        bullet = parse_bullet(data, path=path)
        clean = redact_bullet(bullet, self._sanitizer)
        changed = {
            key: value for key in FIELD_KINDS if (value := getattr(clean, key)) != getattr(bullet, key)
        }
        if clean.text != bullet.text:
            changed["text"] = clean.text
        data = edit_bullet(data, changed, path=path)
        rest = redact_value(decode_text(data, path), self._sanitizer)
        redacted: bytes = rest.encode()
        try:
            if parse_bullet(redacted, path=path) == parse_bullet(data, path=path):
                return redacted
        except FrontMatterError:
            pass
        line = next((problem.line for problem in find_secrets(text, path, self._sanitizer)), None)
        raise SecretFoundError("a secret cannot be redacted where it stands", path=path, line=line)

    def _stored(self, data: bytes, path: str) -> StoredBullet:
        bullet = parse_bullet(data, path=path)
        if bullet.created is None and self._created_of is not None:
            bullet = replace(bullet, created=self._created_of(path))
        return StoredBullet(bullet, path, self.name, path.startswith(ARCHIVE_FOLDER + "/"))

    def _find_by_name(self, reference: str, *, archived: bool) -> list[StoredBullet]:
        """Return the bullets whose file names end in this id and who hold it."""
        found: list[StoredBullet] = []
        for path in self.paths(archived=archived):
            if id_of_name(path) == reference:
                stored = self._read_or_none(path)
                if stored is not None and stored.bullet.id == reference:
                    found.append(stored)
        return found

    def _find_by_content(self, prefix: str, *, archived: bool) -> list[StoredBullet]:
        """Return the bullets whose id begins with the prefix; an exact match hides longer ids."""
        bullets, _ = self.scan(archived)
        found = [stored for stored in bullets if stored.bullet.id.startswith(prefix)]
        return [stored for stored in found if stored.bullet.id == prefix] or found

    def _read_or_none(self, path: str) -> StoredBullet | None:
        try:
            return self.read(path)
        except StoreError:
            return None

    def _path_of(self, reference: str) -> str:
        """Return a reference as a path below the root: absolute, relative to the root, or to where one stands."""
        inside = (
            os.path.relpath(reference, self.root).replace(os.sep, "/")
            if os.path.isabs(reference)
            else reference
        )
        name = os.path.basename(self.root) + "/"
        if not os.path.isabs(reference) and reference.startswith(name):
            inside = reference[len(name) :]
        refuse_unsafe(inside)
        if not inside.startswith((LIVE_FOLDER + "/", ARCHIVE_FOLDER + "/")):
            nearby = os.path.relpath(os.path.abspath(reference), self.root).replace(os.sep, "/")
            inside = nearby if nearby.startswith((LIVE_FOLDER + "/", ARCHIVE_FOLDER + "/")) else inside
        return inside

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise StoreError(f"the store {self.name} is read-only", path=self.root)


def problem_of(error: MemxError, path: str) -> Problem:
    """Return an error about a file as a problem."""
    kind = "unreadable"
    if isinstance(error, ConflictMarkerError):
        kind = "conflict-marker"
    elif isinstance(error, FrontMatterError):
        kind = "front-matter"
    return Problem(error.message, error.path or path, error.line, hint=error.hint or "", kind=kind)


def _duplicate(identifier: str, path: str, first: str) -> Problem:
    message = f"the id {identifier} is also that of {first}"
    return Problem(message, path, hint="memx dedup merges the two", kind="duplicate-id")


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _text_of(data: bytes, path: str) -> str:
    try:
        return parse_bullet(data, path=path).text
    except FrontMatterError:
        return ""


def _updated_of(data: bytes, path: str) -> float | None:
    try:
        return parse_bullet(data, path=path).updated
    except FrontMatterError:
        return None


def _home(path: str, bullet: Bullet, fields: Mapping[str, object]) -> str:
    """Return the path at which a file belongs; a name of its own is kept, an unknown section stays where it is."""
    folder, _, rest = path.partition("/")
    section = fields.get("section")
    if isinstance(section, str) and section.strip().lower() not in SECTIONS:
        return path
    if not fields.get("id") and not id_of_name(path):
        return folder + bullet_path(bullet)[len(LIVE_FOLDER) :]
    return f"{folder}/{bullet.section}/{rest.rpartition('/')[2]}"


def _canonical(data: bytes, bullet: Bullet, fields: Mapping[str, object], now: float, path: str) -> bytes:
    """Return a file with required keys filled in and known fields in canonical form and order."""
    created = bullet.created if bullet.created is not None else now
    complete = replace(bullet, created=created, updated=created if bullet.updated is None else bullet.updated)
    changes: dict[str, object] = {}
    required = ("id", "section", "type", "score", "scope", "recall_count", "created", "updated")
    for key in FIELD_KINDS:
        is_unknown_word = key in ("section", "type") and str(
            fields.get(key, getattr(bullet, key))
        ).lower() != getattr(bullet, key)
        if (key in fields or key in required) and not is_unknown_word:
            changes[key] = getattr(complete, key)
    edited = Document.parse(edit_bullet(data, changes, path=path), path).in_canonical_order().to_bytes()
    return data if edited == data else edited
