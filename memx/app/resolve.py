"""`memx resolve`: a person's decision about two bullets, and git's conflict markers in front matter."""

from __future__ import annotations

import os

from memx.app.curate import unmark
from memx.document import find_conflict_marker, marker_size
from memx.errors import FrontMatterError, GitError, MemxError, StoreError, UsageError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.project import Project
    from memx.model import Problem, StoredBullet

BOTH, MERGE = "both", "merge"
_OURS, _BASE, _SPLIT, _THEIRS = "<", "|", "=", ">"


@record
class Resolved:
    """What was decided: `kept` are the bullets that stay in the default search.

    action: superseded, both or merged.
    """

    action: str
    kept: tuple[StoredBullet, ...]
    other: str = ""


def resolve(project: Project, first: str, second: str, keep: str) -> Resolved:
    """Settle two bullets: keep one (the other is superseded and stays in history), both, or merge them.

    `keep` is `both`, `merge`, `a`, `b`, or an id of the two. Raises UsageError and StoreError.
    """
    from memx.app.merging import merge_into
    from memx.app.stores import find_own

    store = project.store
    if keep == MERGE:
        # Without the lock: a merge may wait for an LLM, and takes the lock itself.
        a, b = _two(find_own(project, first), find_own(project, second))
        # The merge itself drops the marks between the two: unmarked before, `unmerge` could not bring them back.
        merged = merge_into(project, a, b.bullet, b.path)
        other = b if merged.bullet.id == a.bullet.id else a
        return Resolved("merged", (merged,), other.bullet.id)
    with store.lock():
        a, b = _two(find_own(project, first), find_own(project, second))
        if keep == BOTH:
            kept = (_pair_off(project, a.path, b), _pair_off(project, b.path, a))
            return Resolved(BOTH, kept)
        winner, loser = (a, b) if _chosen(keep, a, b) == a.bullet.id else (b, a)
        return _supersede(project, winner, loser)


def _two(a: StoredBullet, b: StoredBullet) -> tuple[StoredBullet, StoredBullet]:
    if a.path == b.path:
        raise UsageError("two different bullets are needed", hint="memx resolve A B --keep A")
    return a, b


def _chosen(keep: str, a: StoredBullet, b: StoredBullet) -> str:
    letters = {"a": a.bullet.id, "b": b.bullet.id}
    if keep.lower() in letters:
        return letters[keep.lower()]
    named = [s.bullet.id for s in (a, b) if keep and (s.bullet.id.startswith(keep) or s.path == keep)]
    if len(named) != 1:
        raise UsageError(
            f"cannot keep {keep!r}", hint=f"--keep {a.bullet.id}, {b.bullet.id}, a, b, both or merge"
        )
    return named[0]


def _supersede(project: Project, winner: StoredBullet, loser: StoredBullet) -> Resolved:
    """Link first, so that a crash leaves the pair settled with a mark too many."""
    store = project.store
    links = {*winner.bullet.supersedes, loser.bullet.id}
    back = tuple(name for name in loser.bullet.supersedes if name != winner.bullet.id)
    store.edit(winner.path, {"supersedes": tuple(sorted(links))})
    if back != loser.bullet.supersedes:
        store.edit(loser.path, {"supersedes": back})
    unmark(project, winner.bullet.id, [loser.bullet.id])
    return Resolved("superseded", (store.read(winner.path),), loser.bullet.id)


def _pair_off(project: Project, path: str, other: StoredBullet) -> StoredBullet:
    """Write into one side that the other holds too."""
    bullet = project.store.read(path).bullet
    name = other.bullet.id
    changes = {
        "compatible_with": tuple(sorted({*bullet.compatible_with, name})),
        "conflicts_with": tuple(mark for mark in bullet.conflicts_with if mark != name),
        "supersedes": tuple(link for link in bullet.supersedes if link != name),
    }
    return project.store.edit(path, changes)


@record
class Mended:
    """Files whose conflict markers are gone, and those in which a person must choose."""

    paths: tuple[str, ...]
    left: tuple[Problem, ...]


def conflicted_paths(project: Project) -> list[str]:
    """Return the bullet files with git's conflict markers in them."""
    problems = [*project.store.scan()[1], *project.store.scan(archived=True)[1]]
    return sorted({problem.path for problem in problems if problem.kind == "conflict-marker"})


def mend(project: Project, references: Sequence[str] = ()) -> Mended:
    """Merge what git left between markers by the rules of the merge driver: sets as sets, counters by deltas.

    A file is written only when nothing is left to choose.
    """
    from memx.model import Problem

    store = project.store
    paths = [store.path_of(reference) for reference in references] or conflicted_paths(project)
    mended: list[str] = []
    left: list[Problem] = []
    for path in paths:
        try:
            if _mend_file(project, path):
                mended.append(path)
            else:
                hint = f"choose in an editor, then memx fmt {path}"
                line = _marker_line(project, path)
                left.append(Problem("both sides wrote the text", path, line, hint, "conflict-marker"))
        except MemxError as error:
            left.append(Problem(error.message, error.path or path, error.line, error.hint or ""))
    return Mended(tuple(mended), tuple(left))


def _marker_line(project: Project, path: str) -> int:
    text = project.store.read_bytes(path).decode("utf-8", "replace")
    return find_conflict_marker(text) or 1


def _mend_file(project: Project, path: str) -> bool:
    from memx.merge import merge_bullets

    store = project.store
    with store.lock():
        text = store.read_bytes(path).decode("utf-8", "surrogateescape")
        sides = split_sides(text)
        if sides is None:
            if line := find_conflict_marker(text):
                hint = "take the line out in an editor, with the side that it belongs to"
                raise StoreError(
                    "a conflict marker stands here without the others", path=path, line=line, hint=hint
                )
            raise StoreError("there are no conflict markers here", path=path)
        base, ours, theirs = sides
        staged = _staged_base(project, path)
        outcome = merge_bullets(staged if staged is not None else base, ours, theirs)
        if not outcome.clean:
            return False
        try:
            store.parse(outcome.data, path)
        except FrontMatterError:
            return False
        store.replace_document(path, outcome.data)
        return True


def split_sides(text: str) -> tuple[bytes, bytes, bytes] | None:
    """Return (base, ours, theirs) of a file with git's markers, None when it has none or they do not pair up.

    Without the base between `|||||||` and `=======` the base is what both sides share. Markers of another length
    than the first one's are lines of a side: a conflict within.
    """
    sides: dict[str, list[str]] = {_BASE: [], _OURS: [], _THEIRS: []}
    place, count, length = "", 0, 0
    for line in text.splitlines(keepends=True):
        size = marker_size(line, line[0])
        mark = line[0] if size and size == (length or size) else ""
        if mark == _OURS and not place:
            place, count, length = _OURS, count + 1, size
        elif mark == _BASE and place == _OURS:
            place = _BASE
        elif mark == _SPLIT and place in (_OURS, _BASE):
            place = _THEIRS
        elif mark == _THEIRS and place == _THEIRS:
            place = ""
        elif place:
            sides[place].append(line)
        else:
            for lines in sides.values():
                lines.append(line)
    if place or not count:
        return None
    base, ours, theirs = (
        "".join(sides[side]).encode("utf-8", "surrogateescape") for side in (_BASE, _OURS, _THEIRS)
    )
    return base, ours, theirs


def _staged_base(project: Project, path: str) -> bytes | None:
    """Return the common ancestor that git keeps in its index while a merge is open, None when there is none."""
    from memx.repo.history import show_file

    repository = project.repository
    if repository is None or not repository.worktree:
        return None
    full = os.path.join(project.store_root, path)
    name = os.path.relpath(full, repository.worktree).replace(os.sep, "/")
    try:
        return show_file(repository, ":1", name)
    except GitError:
        return None
