"""`memx diff`: what a branch changes in memory, and what a reviewer should look at.

Bullets are matched by id, so a move is a move; where files share an id, each is
compared and judged by itself, so that none hides behind another. Only what
differs is read from git; the live bullets of the head are read once, for
comparison by meaning.
"""

from __future__ import annotations

import os

from memx.app.diff_report import Change, DiffReport, Finding
from memx.app.project import STORE_FOLDER
from memx.errors import StoreError
from memx.model import SCOPE_GLOBAL, StoredBullet
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memx.app.project import Project
    from memx.model import Problem
    from memx.repo.compare import Sides
    from memx.repo.discovery import Repository

COUNTED_FIELDS = frozenset({"recall_count", "last_recalled"})
_FOLDERS = ("bullets", "archive")
_NO_FILES = frozenset({"120000", "160000"})
"""Git's modes of a symbolic link and of a submodule."""


@record
class Version:
    """A bullet's file on one side: where it lies in the repository, its bytes, and what they say."""

    stored: StoredBullet
    data: bytes


@record
class Differences:
    """The files that differ: path below the store → version before and after, and what is wrong in the new ones.

    `origins`: path after → path before, of the files that are the same bullet.
    """

    before: dict[str, Version]
    after: dict[str, Version]
    origins: dict[str, str]
    problems: tuple[Problem, ...]

    def previous(self, path: str) -> Version | None:
        """Return what a file of the new side was before, None for a new bullet."""
        return self.before.get(self.origins.get(path, ""))

    def rewritten(self) -> dict[str, StoredBullet]:
        """Return path → live bullet whose words are new to the store."""
        return {
            path: version.stored
            for path, version in self.after.items()
            if not version.stored.archived and _is_rewritten(self.previous(path), version)
        }


def diff(project: Project, revisions: str = "") -> DiffReport:
    """Return everything that a range changes in memory; raises GitError for an unknown revision.

    An empty range: from where the branch left the default branch, up to the work tree.
    """
    from memx.app.diff_anchors import find_touched
    from memx.app.diff_meaning import find_pairs
    from memx.app.distil import require_repository
    from memx.repo.compare import find_sides

    repository = require_repository(project)
    sides = find_sides(repository, revisions)
    found = read_differences(project, repository, sides.base, sides.head)
    changes = sorted(_changes(found), key=lambda change: (change.kind, change.id))
    live = read_live(project, repository, sides)
    rewritten = found.rewritten()
    touched, drifted = find_touched(project, repository, sides, live, frozenset(rewritten))
    meanings, degraded = find_pairs(project, rewritten, live, _other_side(project, repository, sides, live))
    problems = [*found.problems, *_repeated(found, live)]
    findings = [*_problem_findings(found, problems), *_injections(found), *meanings, *drifted]
    placed = (_place(finding, found) for finding in findings)
    return DiffReport(
        sides.label,
        sides.base,
        sides.head,
        tuple(_redacted(project, change) for change in changes),
        tuple(sort_findings(replace(f, message=project.sanitizer.sanitize(f.message).text) for f in placed)),
        tuple(touched),
        degraded,
    )


def _place(finding: Finding, found: Differences) -> Finding:
    """Point a finding about a bullet's text at the line where that begins."""
    version = found.after.get(finding.path)
    return finding if finding.line or version is None else replace(finding, line=line_of_text(version.data))


def _redacted(project: Project, change: Change) -> Change:
    """Return a change without the secrets that it may hold: a report is read by more people than the branch."""
    return replace(change, old=_redact(project, change.old), new=_redact(project, change.new))


def _redact(project: Project, stored: StoredBullet | None) -> StoredBullet | None:
    if stored is None:
        return None
    text, title = (project.sanitizer.sanitize(t).text for t in (stored.bullet.text, stored.bullet.title))
    return replace(stored, bullet=replace(stored.bullet, text=text, title=title))


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return each finding once, the gravest first."""
    order = {"error": 0, "warning": 1, "note": 2}
    unique = dict.fromkeys(findings)
    return sorted(unique, key=lambda f: (order[f.level], f.kind, f.path, f.line or 0, f.id, f.other))


def read_differences(project: Project, repository: Repository, base: str, head: str) -> Differences:
    """Return the bullets whose files differ between two sides; an empty head is the work tree."""
    from memx.repo.compare import list_changes, list_untracked, read_objects

    folders = tuple(f"{STORE_FOLDER}/{name}" for name in _FOLDERS)
    everything = list_changes(repository, base, head, [STORE_FOLDER], renames=False)
    links = {e.path for e in everything if e.status != "D" and e.mode in _NO_FILES}
    events = [
        e for e in everything if e.path not in links and e.path.startswith(folders) and e.path.endswith(".md")
    ]
    blobs = read_objects(
        repository, [b for e in events for b in ((e.old_blob, e.blob) if head else (e.old_blob,))]
    )
    old = {e.path: blobs[e.old_blob] for e in events if e.old_blob in blobs}
    if head:
        new = {e.path: blobs[e.blob] for e in events if e.status != "D" and e.blob in blobs}
    else:
        paths = [e.path for e in events if e.status != "D"]
        untracked = list_untracked(repository, folders)
        links |= {path for path in untracked if os.path.islink(os.path.join(repository.worktree, path))}
        paths += [path for path in untracked if path.endswith(".md")]
        new = dict(_read_files(repository.worktree, paths))
    same = {path for path, data in new.items() if old.get(path) == data}
    before, _ = _parse(project, {path: data for path, data in old.items() if path not in same})
    after, problems = _parse(project, {path: data for path, data in new.items() if path not in same})
    problems += [_link_problem(path) for path in sorted(links)]
    return Differences(before, after, _origins(before, after), tuple(problems))


def _link_problem(path: str) -> Problem:
    from memx.model import Problem

    message = "this is a link or a submodule, not a file: it could lead anywhere"
    hint = "put the file itself there"
    return Problem(message, path.partition("/")[2] or path, hint=hint, kind="unsafe-path")


def _origins(before: Mapping[str, Version], after: Mapping[str, Version]) -> dict[str, str]:
    """Pair new files with old ones of the same id, each used once: the same path first, then live ones."""
    found: dict[str, str] = {}
    free: dict[str, list[str]] = {}
    for path, version in before.items():
        here = after.get(path)
        if here is not None and here.stored.bullet.id == version.stored.bullet.id:
            found[path] = path
        else:
            free.setdefault(version.stored.bullet.id, []).append(path)
    for path in sorted(after.keys() - found.keys(), key=lambda p: (after[p].stored.archived, p)):
        candidates = free.get(after[path].stored.bullet.id)
        if candidates:
            found[path] = candidates.pop(0)
    return found


def _read_files(top: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    from memx.store.bounded import read_bounded

    for path in paths:
        full = os.path.join(top, path)
        if os.path.islink(full):
            continue
        try:
            with open(full, "rb") as stream:
                yield path, read_bounded(stream.fileno())
        except OSError:
            continue


def _parse(project: Project, files: Mapping[str, bytes]) -> tuple[dict[str, Version], list[Problem]]:
    """Return path below the store → version, live ones first, and what lint says of the files."""
    from memx.store.codec import parse_bullet
    from memx.store.lint import lint_bytes

    found: dict[str, Version] = {}
    problems: list[Problem] = []
    for path in sorted(files, key=lambda p: (p.startswith(f"{STORE_FOLDER}/archive/"), p)):
        inside = path.partition("/")[2]
        problems += lint_bytes(files[path], inside, project.sanitizer)
        try:
            bullet = parse_bullet(files[path], path=inside)
        except StoreError:
            continue
        stored = StoredBullet(bullet, inside, "project", inside.startswith("archive/"))
        found[inside] = Version(stored, files[path])
    return found, problems


def _repeated(found: Differences, live: Mapping[str, StoredBullet]) -> Iterator[Problem]:
    """Yield a problem for each changed file whose id another file of the new side has, changed or not."""
    from memx.store.reader import duplicate_problem

    holders: dict[str, list[str]] = {}
    for path, stored in {**live, **{p: v.stored for p, v in found.after.items()}}.items():
        holders.setdefault(stored.bullet.id, []).append(path)
    for path, version in found.after.items():
        first = next((p for p in holders[version.stored.bullet.id] if p != path), "")
        if first:
            yield duplicate_problem(version.stored.bullet.id, path, first)


def _changes(found: Differences) -> Iterator[Change]:
    for path, new in found.after.items():
        old = found.previous(path)
        if old is None:
            yield Change("added", new.stored.bullet.id, None, new.stored)
        else:
            yield _change(old.stored, new.stored)
    for path in found.before.keys() - set(found.origins.values()):
        gone = found.before[path].stored
        yield Change("removed", gone.bullet.id, gone, None)


def _change(old: StoredBullet, new: StoredBullet) -> Change:
    """Name what happened to a bullet that both sides have: the most telling thing first."""
    names = tuple(type(old.bullet).__slots__)  # type: ignore[attr-defined]
    fields = tuple(name for name in names if getattr(old.bullet, name) != getattr(new.bullet, name))
    if old.archived != new.archived:
        kind = "archived" if new.archived else "restored"
    elif "scope" in fields and _reach(new.bullet.scope) > _reach(old.bullet.scope):
        kind = "promoted"
    elif fields and not set(fields) - COUNTED_FIELDS:
        kind = "counted"
    elif not fields or fields == ("section",):
        kind = "moved" if old.path != new.path or fields else "changed"
    else:
        kind = "changed"
    return Change(kind, new.bullet.id, old, new, fields)


def _reach(scope: str) -> int:
    """Return how far a scope reaches: a workspace, a project, everybody."""
    if scope == SCOPE_GLOBAL:
        return 2
    return 0 if scope.startswith("workspace:") else 1


def _is_rewritten(old: Version | None, new: Version) -> bool:
    """Say whether words are new to the store: added, changed, or back from the archive."""
    return old is None or old.stored.archived or _words(old) != _words(new)


def _words(version: Version) -> tuple[str, str]:
    return version.stored.bullet.title, version.stored.bullet.text


def read_live(project: Project, repository: Repository, sides: Sides) -> dict[str, StoredBullet]:
    """Return path → live bullet of the head; files that cannot be read are reported elsewhere."""
    if not sides.head:
        if not project.has_store:
            return {}
        return {stored.path: stored for stored in project.store.scan()[0]}
    from memx.repo.compare import read_objects
    from memx.repo.history import list_tree

    folder = f"{STORE_FOLDER}/{_FOLDERS[0]}"
    tree = list_tree(repository, sides.head, folder)
    entries = [e for e in tree if e.path.endswith(".md") and e.mode not in _NO_FILES]
    blobs = read_objects(repository, (entry.blob for entry in entries))
    files = {entry.path: blobs[entry.blob] for entry in entries if entry.blob in blobs}
    return _live_of(files)


def _live_of(files: Mapping[str, bytes]) -> dict[str, StoredBullet]:
    from memx.store.codec import parse_bullet

    found = {}
    for path, data in files.items():
        inside = path.partition("/")[2]
        try:
            bullet = parse_bullet(data, path=inside)
        except StoreError:
            continue
        found[inside] = StoredBullet(bullet, inside)
    return found


def _other_side(
    project: Project, repository: Repository, sides: Sides, live: Mapping[str, StoredBullet]
) -> dict[str, StoredBullet]:
    """Return what the other side has added or rewritten since the two went apart, under names of its own.

    A bullet that is here as well is left to the merge.
    """
    if not sides.other:
        return {}
    here = {stored.bullet.id for stored in live.values()}
    theirs = find_rewritten(project, repository, sides.base, sides.other)
    return {f"other:{stored.path}": stored for name, stored in theirs.items() if name not in here}


def find_rewritten(project: Project, repository: Repository, base: str, head: str) -> dict[str, StoredBullet]:
    """Return id → live bullet of a commit whose text is not what it was at the base."""
    found = read_differences(project, repository, base, head)
    return {stored.bullet.id: stored for stored in found.rewritten().values()}


def _problem_findings(found: Differences, problems: Iterable[Problem]) -> Iterator[Finding]:
    ids = {path: version.stored.bullet.id for path, version in found.after.items()}
    for problem in problems:
        kind = problem.kind or "form"
        level = "error" if kind in ("secret", "conflict-marker", "front-matter", "unsafe-path") else "warning"
        if kind in ("section", "type"):
            kind, level = "form", "note"
        yield Finding(kind, level, problem.message, problem.path, problem.line, ids.get(problem.path, ""))


def _injections(found: Differences) -> Iterator[Finding]:
    """Yield a finding for each file whose new words give orders, in the archive too: one command restores those."""
    from memx.app.orders import ORDERS, gives_orders

    for path, version in found.after.items():
        old, bullet = found.previous(path), version.stored.bullet
        is_back = old is not None and old.stored.archived and not version.stored.archived
        if old is not None and not is_back and _words(old) == _words(version):
            continue
        if gives_orders(bullet):
            yield Finding("injection", "warning", ORDERS, path, line_of_text(version.data), bullet.id)


def line_of_text(data: bytes) -> int:
    """Return the line at which a bullet's text begins, 1 without front matter."""
    lines = data.split(b"\n")
    if lines[0].strip() != b"---":
        return 1
    end = next((number for number, line in enumerate(lines[1:], 2) if line.strip() == b"---"), 0)
    return end + 1
