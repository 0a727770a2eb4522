"""Where a bullet comes from, and what its score and weight are made of."""

from __future__ import annotations

import os

from memx.app.count import with_recalls
from memx.app.distil import require_repository
from memx.app.forget import weigh_bullet
from memx.errors import GitError
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


def _path_in_repository(project: Project, stored: StoredBullet) -> str:
    return os.path.relpath(os.path.join(project.store_root, stored.path), project.root).replace(os.sep, "/")


def revisions_of(project: Project, reference: str) -> tuple[StoredBullet, list[Revision]]:
    """Return a bullet and the commits that touched it, the newest first."""
    from memx.repo.provenance import read_revisions

    stored = project.store.find(reference)
    repository = require_repository(project)
    return stored, list(read_revisions(repository, _path_in_repository(project, stored)))


def blame_of(project: Project, reference: str) -> tuple[StoredBullet, list[BlameLine]]:
    """Return a bullet and who wrote each of its lines."""
    from memx.repo.provenance import read_blame

    stored = project.store.find(reference)
    return stored, read_blame(require_repository(project), _path_in_repository(project, stored))


def story_of(project: Project, reference: str) -> Story:
    """Return everything that explains one bullet."""
    from memx.reflector.describe import factors_of

    stored = project.store.find(reference)
    bullet = stored.bullet
    stored = with_recalls(project, [stored])[0]
    recalls = stored.bullet.recall_count
    decay = weigh_bullet(bullet, recalls, project.now, project.config.decay)
    return Story(stored, _commit_summary(project, bullet.source), factors_of(bullet.text), recalls, decay)


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
