"""`memx verify`: whether the code that bullets are anchored at still says what it said when they were learnt.

A bullet's code is compared with the commit that taught it, else with the one
that brought the bullet's present text and anchors into the store. A bullet
that is not committed yet is compared by time.
"""

from __future__ import annotations

import os

from memx.errors import MemxError, UnsafePathError
from memx.record import record, replace
from memx.repo.anchors import (
    BLOB_DIGITS,
    DRIFTED,
    FRESH,
    ORPHANED,
    AnchorState,
    check_anchor,
    code_words,
    format_anchor,
    parse_anchor,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memx.app.project import Project
    from memx.model import Bullet, Problem, StoredBullet
    from memx.repo.anchors import Anchor
    from memx.repo.baseline import PathEvent
    from memx.repo.discovery import Repository


@record
class AnchorReport:
    """One anchor of one bullet: its state, why, and what the anchor would say today if it moved."""

    stored: StoredBullet
    anchor: str
    state: str
    reason: str = ""
    now: str = ""


@record
class _Check:
    """An anchor on its way: the revisions to compare with, in order, and what the work tree holds."""

    stored: StoredBullet
    text: str
    anchor: Anchor
    revisions: tuple[str, ...]
    path: str
    after: bytes | None
    is_untouched: bool = False
    """The bullet is not committed and the file is older than it: nothing can have drifted."""
    is_out_of_sight: bool = False
    """The file is in a submodule that is not checked out here."""


def verify(project: Project, references: Sequence[str] = ()) -> tuple[list[AnchorReport], list[Problem]]:
    """Return the state of every anchor of these bullets (all live ones), and what could not be read.

    A run over the whole store is remembered, so that recall can mark drifted bullets.
    """
    problems: list[Problem] = []
    if references:
        from memx.app.stores import find_own

        bullets = [find_own(project, reference) for reference in references]
    else:
        bullets, problems = project.store.scan()
    reports = _verify_bullets(project, [stored for stored in bullets if stored.bullet.anchors])
    if not references:
        from memx.app.marks import write_marks

        write_marks(project, [report.stored for report in reports if report.state != FRESH])
    return reports, problems


def _verify_bullets(project: Project, bullets: Sequence[StoredBullet]) -> list[AnchorReport]:
    repository = project.repository
    if repository is None or not repository.worktree:
        checks = _checks(project, bullets, {}, {})
        return [_report(check, check_anchor(check.anchor, None, check.after)) for check in checks]
    revisions = baselines(project, repository, bullets)
    checks = _checks(project, bullets, revisions, {})
    lost = (check for check in checks if check.after is None and not check.is_out_of_sight)
    gone = {check.anchor.path for check in lost if not _unsafe(check.anchor.path)}
    if gone:
        from memx.repo.baseline import follow_renames

        checks = _checks(project, bullets, revisions, follow_renames(repository, gone))
    befores = _contents_before(repository, checks)
    return [_judge(check, befores) for check in checks]


def _checks(
    project: Project,
    bullets: Iterable[StoredBullet],
    revisions: Mapping[str, tuple[str, ...]],
    renamed: Mapping[str, str],
) -> list[_Check]:
    """Pair each anchor with the present content of its file; each file is read once."""
    contents: dict[str, bytes | None] = {}
    unseen = tuple(f"{path}/" for path in absent_submodules(project.root))
    checks = []
    for stored in bullets:
        for text in stored.bullet.anchors:
            anchor = parse_anchor(text)
            path = renamed.get(anchor.path, anchor.path)
            if path not in contents:
                contents[path] = read_inside(project.root, path)
            known = revisions.get(stored.path, ())
            untouched = not known and _is_older(project, path, stored)
            hidden = contents[path] is None and path.startswith(unseen)
            checks.append(_Check(stored, text, anchor, known, path, contents[path], untouched, hidden))
    return checks


def absent_submodules(root: str) -> list[str]:
    """Return the paths of the submodules that a work tree names and has not checked out."""
    try:
        with open(os.path.join(root, ".gitmodules"), encoding="utf-8", errors="surrogateescape") as stream:
            pairs = [line.partition("=") for line in stream]
    except OSError:
        return []
    paths = [value.strip().strip('"') for key, _, value in pairs if key.strip() == "path"]
    return [path for path in paths if not os.path.lexists(os.path.join(root, path, ".git"))]


def _unsafe(path: str) -> bool:
    from memx.store.paths import refuse_unsafe

    try:
        refuse_unsafe(path, "anchor")
    except UnsafePathError:
        return True
    return False


def read_inside(root: str, path: str) -> bytes | None:
    """Return a file of the work tree, b"" for a folder, None when it is not there or lies outside."""
    if _unsafe(path):
        return None
    full = os.path.realpath(os.path.join(root, path))
    top = os.path.realpath(root)
    if full != top and not full.startswith(top.rstrip(os.sep) + os.sep):
        return None
    if os.path.isdir(full):
        return b""
    try:
        with open(full, "rb") as stream:
            return stream.read()
    except OSError:
        return None


def _is_older(project: Project, path: str, stored: StoredBullet) -> bool:
    """Say whether a file was last written before the bullet was."""
    try:
        code = os.stat(os.path.join(project.root, path)).st_mtime_ns
        return code <= os.stat(os.path.join(project.store_root, stored.path)).st_mtime_ns
    except OSError:
        return False


def baselines(
    project: Project, repository: Repository, bullets: Sequence[StoredBullet]
) -> dict[str, tuple[str, ...]]:
    """Return bullet path → the commits against which it was written, the best first; empty: by time.

    The commit that taught a lesson counts as long as nobody has rewritten it.
    """
    from memx.repo.baseline import lives, path_events

    top = os.path.relpath(project.store_root, project.root).replace(os.sep, "/")
    events = path_events(repository, [top])
    chains = lives(events, [f"{top}/{stored.path}" for stored in bullets])
    versions = _versions(repository, chains)
    found: dict[str, tuple[str, ...]] = {}
    by_time: list[tuple[str, float]] | None = None
    for stored in bullets:
        chain = chains[f"{top}/{stored.path}"]
        kind, _, source = stored.bullet.source.partition(" ")
        taught = (source,) if kind == "commit" and source else ()
        if chain:
            rewritten = _rewritten_by(chain, versions)
            found[stored.path] = (rewritten,) if rewritten else (*taught, chain[-1].commit)
        elif taught:
            found[stored.path] = taught
        elif not _is_older_than_bullet(project, stored):
            by_time = _commits_by_time(repository) if by_time is None else by_time
            found[stored.path] = _at_time(stored.bullet, by_time)
    return found


def _is_older_than_bullet(project: Project, stored: StoredBullet) -> bool:
    paths = {parse_anchor(anchor).path for anchor in stored.bullet.anchors}
    return all(_is_older(project, path, stored) for path in paths)


def _commits_by_time(repository: Repository) -> list[tuple[str, float]]:
    from memx.repo.baseline import commits_by_time

    return commits_by_time(repository)


def _at_time(bullet: Bullet, commits: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    moment = max(filter(None, (bullet.created, bullet.updated)), default=0.0)
    return next(((sha,) for sha, seconds in commits if seconds <= moment), ())


def _versions(repository: Repository, chains: Mapping[str, Sequence[PathEvent]]) -> dict[str, Bullet | None]:
    """Return blob → bullet for the files with more than one version; one file of git for all of them."""
    from memx.errors import StoreError
    from memx.repo.history import read_blobs
    from memx.store.codec import parse_bullet

    blobs = {
        blob: event.path
        for chain in chains.values()
        if len(chain) > 1
        for event in chain
        if event.status != "A" and event.blob != event.old_blob
        for blob in (event.blob, event.old_blob)
    }
    found: dict[str, Bullet | None] = {}
    for blob, data in read_blobs(repository, list(blobs)):
        try:
            found[blob] = None if data is None else parse_bullet(data, path=blobs[blob])
        except StoreError:
            found[blob] = None
    return found


def _rewritten_by(chain: Sequence[PathEvent], versions: Mapping[str, Bullet | None]) -> str:
    """Return the last commit that changed text or anchors, empty when none did; counts and tags do not matter."""
    for event in chain:
        if event.status == "A" or event.blob == event.old_blob:
            continue
        new, old = versions.get(event.blob), versions.get(event.old_blob)
        if new is None or old is None or (new.text, new.anchors) != (old.text, old.anchors):
            return event.commit
    return ""


def _contents_before(repository: Repository, checks: Sequence[_Check]) -> dict[str, bytes | None]:
    """Return name (`REV:path` or blob) → content, read only where the work tree differs."""
    from memx.repo.baseline import blob_hash, resolve_objects
    from memx.repo.history import read_blobs

    asked = [name for check in checks for name in _names_before(check)]
    blobs = resolve_objects(repository, asked)
    wanted: dict[str, str] = {}
    same: dict[str, bytes | None] = {}
    for check in checks:
        if check.after is None:
            continue
        name = next((name for name in _names_before(check) if name in blobs), "")
        if name and blob_hash(check.after, blobs[name]) == blobs[name]:
            same[name] = check.after
        elif name:
            wanted[name] = blobs[name]
    read = dict(read_blobs(repository, list(dict.fromkeys(wanted.values()))))
    return same | {name: read.get(blob) for name, blob in wanted.items()}


def _names_before(check: _Check) -> list[str]:
    """Return the names under which git may know the file as it was."""
    named = [check.anchor.blob] if check.anchor.blob else []
    return [*named, *(f"{revision}:{check.anchor.path}" for revision in check.revisions)]


def _judge(check: _Check, befores: Mapping[str, bytes | None]) -> AnchorReport:
    bullet = check.stored.bullet
    before = next((befores[name] for name in _names_before(check) if befores.get(name) is not None), None)
    if check.is_untouched and check.after is not None and not check.anchor.blob:
        before = check.after
    words = code_words((bullet.text, *(f"`{name}`" for name in bullet.entities)))
    state = check_anchor(check.anchor, before, check.after, words)
    return _report(check, state)


def _report(check: _Check, state: AnchorState) -> AnchorReport:
    now, reason = state.now, state.reason
    if now and check.anchor.blob and check.after is not None:
        # The new numbers are those of the present content, not of the blob that was named before.
        from memx.repo.baseline import blob_hash

        full = blob_hash(check.after, check.revisions[0] if check.revisions else "")
        now = format_anchor(replace(parse_anchor(now), blob=full[:BLOB_DIGITS]))
    if check.path != check.anchor.path:
        moved = parse_anchor(now) if now else check.anchor
        now = format_anchor(replace(moved, path=check.path))
        reason = "; ".join(filter(None, (f"renamed to {check.path}", reason)))
    if check.is_out_of_sight:
        return AnchorReport(check.stored, check.text, FRESH, "its submodule is not checked out")
    if _unsafe(check.anchor.path):
        reason = "the path leads out of the repository"
    return AnchorReport(check.stored, check.text, state.state, reason, now)


def update_anchors(project: Project, reports: Sequence[AnchorReport]) -> list[str]:
    """Write the present names of anchors that moved into their bullets; returns the ids."""
    changed: dict[str, dict[str, str]] = {}
    for report in reports:
        if report.now and report.state == FRESH:
            changed.setdefault(report.stored.path, {})[report.anchor] = report.now
    ids = []
    for path, names in changed.items():
        stored = project.store.read(path)
        anchors = tuple(sorted({names.get(anchor, anchor) for anchor in stored.bullet.anchors}))
        ids.append(project.store.edit(path, {"anchors": anchors}).bullet.id)
    return ids


def count_states(reports: Iterable[AnchorReport]) -> dict[str, int]:
    """Return how many anchors are in each state."""
    counts = dict.fromkeys((FRESH, DRIFTED, ORPHANED), 0)
    for report in reports:
        counts[report.state] += 1
    return counts


def refresh_marks(project: Project) -> None:
    """Bring the remembered marks up to HEAD; what cannot be verified is remembered as unmarked, not tried again."""
    from memx.app.marks import is_current, write_marks

    if is_current(project) or not project.has_store:
        return
    try:
        verify(project)
    except MemxError:
        write_marks(project, ())
