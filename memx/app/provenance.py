"""Where a bullet comes from, and what its score and weight are made of."""

from __future__ import annotations

import os

from memx.app.count import with_recalls
from memx.app.distil import require_repository
from memx.app.forget import weigh_bullet
from memx.errors import GitError, MemxError, StoreError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.decay import DecayResult
    from memx.model import StoredBullet
    from memx.repo.provenance import BlameLine, Revision


@record
class Story:
    """A bullet with the summary of its commit, the factors of its score, its recalls and its weight."""

    stored: StoredBullet
    commit: str
    factors: tuple[tuple[str, float], ...]
    recall_count: int
    decay: DecayResult


def revisions_of(project: Project, reference: str) -> tuple[StoredBullet, list[Revision]]:
    """Return a bullet and the commits that touched it, the newest first; none when it is not committed yet."""
    from memx.repo.provenance import read_revisions

    stored, path, _ = _find(project, reference)
    return stored, list(read_revisions(require_repository(project), path)) if path else []


def blame_of(project: Project, reference: str) -> tuple[StoredBullet, list[BlameLine]]:
    """Return a bullet and who wrote each of its lines, as they are committed."""
    from memx.repo.provenance import read_blame

    stored, path, revision = _find(project, reference)
    if not path:
        raise MemxError("not committed yet", path=stored.path, hint="git add .memx && git commit")
    return stored, read_blame(require_repository(project), path, revision=revision)


def _find(project: Project, reference: str) -> tuple[StoredBullet, str, str]:
    """Return a bullet, its path in git, and the last revision that has it there; a removed one from history."""
    try:
        stored = project.store.find(reference)
    except StoreError as error:
        removed = _find_removed(project, reference)
        if removed is None:
            hint = "memx list; of a bullet that was removed, the whole id"
            raise StoreError(error.message, path=error.path, hint=hint) from error
        return removed
    return stored, _committed_path(project, stored), "HEAD"


def _find_removed(project: Project, reference: str) -> tuple[StoredBullet, str, str] | None:
    """Return the bullet of this id, or at this path, that a commit has removed last, None when there is none."""
    from memx.model import StoredBullet
    from memx.repo.baseline import path_events
    from memx.repo.compare import read_objects
    from memx.store.codec import parse_bullet
    from memx.store.naming import id_of_name

    repository = project.repository
    if repository is None or not reference:
        return None
    store = os.path.relpath(project.store_root, project.root).replace(os.sep, "/")
    for event in path_events(repository, [f"{store}/bullets", f"{store}/archive"], "--diff-filter=D"):
        inside = event.path.removeprefix(f"{store}/")
        if reference not in (id_of_name(inside), inside, event.path):
            continue
        data = read_objects(repository, [event.old_blob]).get(event.old_blob, b"")
        stored = StoredBullet(parse_bullet(data, path=inside), inside, project.store_name)
        return stored, event.path, f"{event.commit}^"
    return None


def _committed_path(project: Project, stored: StoredBullet) -> str:
    """Return where HEAD has a bullet's file, in the terms of git; empty when it has not.

    A file that was moved since then keeps its name, for that is frozen at birth.
    """
    from memx.repo.discovery import read_head
    from memx.repo.history import list_tree

    repository = require_repository(project)
    if not read_head(repository).commit:
        return ""
    store = os.path.relpath(project.store_root, project.root).replace(os.sep, "/")
    path, name = f"{store}/{stored.path}", stored.path.rpartition("/")[2]
    known = [entry.path for entry in list_tree(repository, "HEAD", store)]
    named = [known_path for known_path in known if known_path.rpartition("/")[2] == name]
    return path if path in named else next(iter(named), "")


def story_of(project: Project, reference: str, *, scope: str = "", workspace: str = "") -> Story:
    """Return everything that explains one bullet; raises StoreError for one that this viewer does not see."""
    from memx.app.browse import find_visible
    from memx.reflector.describe import factors_of

    place, stored = find_visible(project, reference, scope=scope, workspace=workspace)
    bullet = stored.bullet
    stored = with_recalls(place, [stored])[0]
    recalls = stored.bullet.recall_count
    decay = weigh_bullet(bullet, recalls, project.now, project.config.decay)
    return Story(stored, _commit_summary(place, bullet.source), factors_of(bullet.text), recalls, decay)


def _commit_summary(project: Project, source: str) -> str:
    """Return author, date and subject of the commit that taught the lesson; empty when it is gone."""
    from memx.repo.history import read_commits
    from memx.timestamp import format_time

    kind, _, sha = source.partition(" ")
    if kind != "commit" or project.repository is None:
        return ""
    try:
        for commit in read_commits(project.repository, sha, no_walk=True):
            subject = commit.message.split("\n", 1)[0]
            return f"{format_time(commit.authored)[:10]} {commit.author}: {subject}"
    except GitError:
        return "no longer in this repository"
    return ""
