"""Reading a store: every bullet or one, and the files that cannot be served."""

from __future__ import annotations

import os

from memx.errors import ConflictMarkerError, FrontMatterError, MemxError, StoreError, UnsafePathError
from memx.model import Problem, StoredBullet
from memx.record import replace
from memx.store.bounded import read_bounded
from memx.store.codec import parse_bullet
from memx.store.naming import id_of_name
from memx.store.paths import name_problem, refuse_unsafe, resolve_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memx.store.heads import Head

LIVE_FOLDER = "bullets"
ARCHIVE_FOLDER = "archive"

_SHOWN_MATCHES = 5
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class StoreReader:
    """The bullets below `root`, which is the `.memx` folder itself or a store of its own.

    Paths are relative to `root`, with forward slashes. `created_of(path)` names the
    time of a file that has no `created` of its own.
    """

    def __init__(
        self, root: str, *, name: str = "project", created_of: Callable[[str], float | None] | None = None
    ) -> None:
        """Open the store; nothing is read yet."""
        self.root = os.path.abspath(root)
        self.name = name
        self._created_of = created_of

    def scan(self, archived: bool = False) -> tuple[list[StoredBullet], list[Problem]]:  # noqa: FBT001, FBT002
        """Return every bullet in path order, and a problem for each broken, linked or duplicate file."""
        problems: list[Problem] = []
        return list(self.stream(problems, archived=archived)), problems

    def stream(self, problems: list[Problem], *, archived: bool = False) -> Iterator[StoredBullet]:
        """Yield every bullet in path order, one in memory at a time; `problems` grows on the way."""
        seen: dict[str, str] = {}
        for path in self.paths(archived=archived, problems=problems):
            try:
                stored = self.parse(self._read_plain(path), path)
            except MemxError as error:
                problems.append(problem_of(error, path))
                continue
            first = seen.setdefault(stored.bullet.id, path)
            if first != path:
                problems.append(duplicate_problem(stored.bullet.id, path, first))
            yield stored

    def scan_heads(self, cache_path: str = "") -> tuple[list[Head], list[Problem]]:
        """Return what decay needs of every live bullet: as `scan` does, in a fifth of its time."""
        from memx.store.heads import Head  # `re` costs 4 ms that one bullet does not need

        rows, problems = self.scan_head_rows(cache_path)
        return [Head(*values[1:]) for values in rows], problems  # type: ignore[arg-type]

    def scan_head_rows(self, cache_path: str = "") -> tuple[list[tuple[object, ...]], list[Problem]]:
        """Return the same with each Head as a tuple of a number and its values, for 100,000 at a time.

        With `cache_path` what was read is remembered there, so that the next call reads only changed files.
        """
        from memx.store.halves import in_halves
        from memx.store.head_cache import PROBLEM, WORTH_REMEMBERING, read_remembered

        problems: list[Problem] = []
        paths = self.paths(problems=problems)
        if cache_path and len(paths) >= WORTH_REMEMBERING:
            rows = read_remembered(
                cache_path, self.root, paths, lambda files: in_halves(self._read_heads, files)
            )
        else:
            rows = in_halves(self._read_heads, paths)
        if any(row[0] == PROBLEM for row in rows):
            problems += [Problem(*row[1:]) for row in rows if row[0] == PROBLEM]  # type: ignore[arg-type]
            rows = [row for row in rows if row[0] != PROBLEM]
        if len({row[1] for row in rows}) < len(rows):
            problems += _duplicates(rows)
        if len(problems) > 1:
            order = {path: at for at, path in enumerate(paths)}
            problems.sort(key=lambda problem: order.get(problem.path, -1))
        return rows, problems

    def _read_heads(self, paths: list[str]) -> list[tuple[object, ...]]:
        """Return for each path HEAD (UNDATED) and the values of its Head, or PROBLEM and those of its Problem."""
        from memx.store.head_cache import PROBLEM, UNDATED
        from memx.store.heads import read_head, values_of

        rows: list[tuple[object, ...]] = []
        for path in paths:
            try:
                data = self._read_plain(path)
                row = read_head(data, path)
                if row is None:
                    row = values_of(self.parse(data, path))
                    if b"\ncreated:" not in data.partition(b"\n---")[0]:
                        row = (UNDATED, *row[1:])
                rows.append(row)
            except MemxError as error:
                found = problem_of(error, path)
                rows.append((PROBLEM, found.message, found.path, found.line, found.hint, found.kind))
        return rows

    def paths(self, *, archived: bool = False, problems: list[Problem] | None = None) -> list[str]:
        """Return the paths of all bullet files, sorted; what is no plain file with a plain name is reported."""
        found: list[str] = []
        refused: list[Problem] = []
        top = ARCHIVE_FOLDER if archived else LIVE_FOLDER
        if os.path.islink(os.path.join(self.root, top)):
            refused.append(_link_problem(top))
        else:
            _walk(os.path.join(self.root, top), top, found, refused)
        if problems is not None:
            problems += sorted(refused, key=lambda problem: problem.path)
        return sorted(found)

    def read(self, path: str) -> StoredBullet:
        """Return the bullet at a path; raise StoreError, and FrontMatterError with its line."""
        return self.parse(self.read_bytes(path), path)

    def read_bytes(self, path: str) -> bytes:
        """Return a bullet's file as it is; raise StoreError, UnsafePathError for a path that leads out."""
        full = resolve_inside(self.root, path)
        if os.path.exists(full) and not os.path.isfile(full):
            # Opening a named pipe would wait for a writer for ever.
            raise StoreError("cannot read the bullet (it is not a regular file)", path=path)
        return self._read_plain(path)

    def parse(self, data: bytes, path: str) -> StoredBullet:
        """Return the bullet in a file's bytes as this store would serve it."""
        bullet = parse_bullet(data, path=path)
        if bullet.created is None and self._created_of is not None:
            bullet = replace(bullet, created=self._created_of(path))
        return StoredBullet(bullet, path, self.name, path.startswith(ARCHIVE_FOLDER + "/"))

    def find(self, reference: str) -> StoredBullet:
        """Return the bullet with this id, unique prefix of an id, or path; live ones before archived ones.

        Raise StoreError when there is none or more than one. A file whose name ends in an id is
        taken to hold that id until it is read.
        """
        if "/" in reference or "\\" in reference or reference.endswith(".md"):
            return self.read(self.path_of(reference))
        if not reference or not reference.isprintable():
            raise StoreError("an id or a path is needed", hint="memx list")
        for archived in (False, True):
            found = self.find_by_name(reference, archived=archived) or self._find_by_content(
                reference, archived=archived
            )
            if len(found) > 1:
                names = ", ".join(f"{stored.bullet.id} ({stored.path})" for stored in found[:_SHOWN_MATCHES])
                hint = "give more of the id, or the path"
                raise StoreError(f"{reference!r} fits more than one bullet: {names}", hint=hint)
            if found:
                return found[0]
        raise StoreError(f"there is no bullet {reference!r}", hint="memx list")

    def find_by_name(self, identifier: str, *, archived: bool) -> list[StoredBullet]:
        """Return the bullets whose file names end in this id and who hold it."""
        found: list[StoredBullet] = []
        for path in self.paths(archived=archived):
            if id_of_name(path) == identifier:
                stored = self.read_or_none(path)
                if stored is not None and stored.bullet.id == identifier:
                    found.append(stored)
        return found

    def read_or_none(self, path: str) -> StoredBullet | None:
        """Return the bullet at a path, None when it cannot be served."""
        try:
            return self.read(path)
        except StoreError:
            return None

    def _parse_or_none(self, data: bytes, path: str) -> StoredBullet | None:
        try:
            return self.parse(data, path)
        except StoreError:
            return None

    def path_of(self, reference: str) -> str:
        """Return a path below the root for one that is absolute, below the root, or below where one stands.

        Raise UnsafePathError for one that leads out of the store.
        """
        if os.path.isabs(reference):
            return self._below_root(reference)
        refuse_unsafe(reference)
        if _is_bullet_path(reference):
            return reference
        inside = reference.partition("/")[2]
        if reference.startswith(os.path.basename(self.root) + "/") and _is_bullet_path(inside):
            return inside
        return self._below_root(os.path.abspath(reference))

    def _below_root(self, path: str) -> str:
        for root, full in ((self.root, path), (os.path.realpath(self.root), os.path.realpath(path))):
            inside = full[len(root) + 1 :].replace(os.sep, "/")
            if full.startswith(root + os.sep) and _is_bullet_path(inside):
                refuse_unsafe(inside)
                return inside
        shown = path.encode("ascii", "backslashreplace").decode()
        raise UnsafePathError(
            "this is not a bullet of the store", path=shown, hint="memx list names the paths"
        )

    def _read_plain(self, path: str) -> bytes:
        """Return the bytes of a file that a walk found, or that was resolved already."""
        try:
            # Unbuffered: a file object costs as much as the read itself, 100,000 times.
            descriptor = os.open(f"{self.root}/{path}", _READ_FLAGS)
            try:
                return read_bounded(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"cannot read the bullet ({error.strerror})", path=path) from error

    def _find_by_content(self, prefix: str, *, archived: bool) -> list[StoredBullet]:
        """Return the bullets whose id begins with the prefix; an exact match hides longer ids."""
        bullets, _ = self.scan(archived)
        found = [stored for stored in bullets if stored.bullet.id.startswith(prefix)]
        return [stored for stored in found if stored.bullet.id == prefix] or found


def problem_of(error: MemxError, path: str) -> Problem:
    """Return an error about a file as a problem."""
    kind = "unreadable"
    if isinstance(error, ConflictMarkerError):
        kind = "conflict-marker"
    elif isinstance(error, FrontMatterError):
        kind = "front-matter"
    elif isinstance(error, UnsafePathError):
        kind = "unsafe-path"
    return Problem(error.message, error.path or path, error.line, hint=error.hint or "", kind=kind)


def duplicate_problem(identifier: str, path: str, first: str) -> Problem:
    """Return the problem of two files with one id."""
    message = f"the id {identifier} is also that of {first}"
    hint = "memx dedup merges the two, or gives another lesson its own id"
    return Problem(message, path, hint=hint, kind="duplicate-id")


def _link_problem(path: str) -> Problem:
    return Problem(
        "a symbolic link is not followed", path, hint="put the file itself there", kind="unsafe-path"
    )


def _hidden_problem(path: str) -> Problem:
    message = "a hidden folder is not read: bullets in it are not served"
    return Problem(message, path, hint="rename or remove it", kind="unreadable")


def _duplicates(rows: list[tuple[object, ...]]) -> Iterator[Problem]:
    """Yield a problem for each row whose id an earlier one has."""
    seen: dict[str, str] = {}
    for _, name, path, *_ in rows:
        identifier, place = str(name), str(path)
        first = seen.setdefault(identifier, place)
        if first != place:
            yield duplicate_problem(identifier, place, first)


def _walk(folder: str, path: str, found: list[str], refused: list[Problem]) -> None:
    """Collect the bullet files below a folder; hidden files are not bullets, temporary ones among them."""
    try:
        with os.scandir(folder) as entries:
            children = list(entries)
    except OSError:
        return
    for entry in children:
        name = entry.name
        if name[0] == "." and (name[-3:] != ".md" or not entry.is_file(follow_symlinks=False)):
            if entry.is_dir(follow_symlinks=False):
                refused.append(_hidden_problem(f"{path}/{name}"))
            continue
        if entry.is_symlink():
            refused.append(_link_problem(f"{path}/{name}"))
        elif entry.is_dir():
            _walk(entry.path, f"{path}/{name}", found, refused)
        elif name[-3:].lower() == ".md":
            _admit(entry, f"{path}/{name}", found, refused)


def _admit(entry: os.DirEntry[str], path: str, found: list[str], refused: list[Problem]) -> None:
    if not entry.is_file():
        refused.append(Problem("this is not a regular file", path, hint="remove it", kind="unreadable"))
        return
    problem = name_problem(path)
    if problem is None:
        found.append(path)
    else:
        refused.append(problem)


def _is_bullet_path(path: str) -> bool:
    return path.startswith((LIVE_FOLDER + "/", ARCHIVE_FOLDER + "/"))
