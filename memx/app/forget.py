"""Weights, the archive, and the way of counts into front matter."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager

from memx.decay import ARCHIVE_CANDIDATE, DecayResult, archive_day, half_life, weight
from memx.errors import StoreError, UsageError
from memx.model import TYPES
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memx.app.project import Project
    from memx.config import DecayConfig
    from memx.model import Bullet, Problem, StoredBullet
    from memx.repo.discovery import Repository
    from memx.store.heads import Head


@record
class Weighed:
    """A bullet's head with its effective recalls, its weight, and the time at which it may be archived."""

    head: Head
    recall_count: int
    decay: DecayResult
    archive_at: float | None


def weigh_bullet(bullet: Bullet, recall_count: int, now: float, config: DecayConfig) -> DecayResult:
    """Return the weight of one bullet with these recalls."""
    return weight(
        now,
        bullet.created,
        bullet.updated,
        bullet.accepted,
        recall_count,
        bullet.type,
        bullet.half_life_days,
        bullet.pinned,
        config,
        is_disputed=bullet.disputed is not None,
    )


def weigh_store(project: Project) -> tuple[list[Weighed], list[Problem]]:
    """Weigh every bullet that is not archived, the lightest last."""
    with without_collection():
        heads, problems = project.store.scan_heads()
        config, now = project.config.decay, project.now
        counts = project.journal.counts()
        lives = {kind: half_life(kind, None, config) for kind in TYPES}
        rows = []
        for head in heads:
            recalls = counts.effective(head.id, head.recall_count)
            life = head.half_life_days or lives[head.type]
            is_disputed = head.disputed is not None
            result = weight(
                now,
                head.created,
                head.updated,
                head.accepted,
                recalls,
                head.type,
                life,
                head.pinned,
                config,
                is_disputed=is_disputed,
            )
            until = archive_day(
                head.created,
                head.updated,
                head.accepted,
                recalls,
                head.type,
                life,
                head.pinned,
                config,
                is_disputed=is_disputed,
            )
            rows.append(Weighed(head, recalls, result, until))
        rows.sort(key=_by_weight)
        return rows, problems


def _by_weight(row: Weighed) -> tuple[float, str]:
    return -row.decay.weight, row.head.id


@contextmanager
def without_collection() -> Iterator[None]:
    """Hold the cyclic collector back: it would walk 100,000 new records again and again and free none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def archive_plan(project: Project) -> list[Weighed]:
    """Return the archive candidates, the lightest first."""
    rows, _ = weigh_store(project)
    return [row for row in reversed(rows) if row.decay.state == ARCHIVE_CANDIDATE]


def archive(project: Project, references: Sequence[str], *, stage: bool = False) -> list[StoredBullet]:
    """Move bullets to the archive; with `stage` git's index learns of it."""
    repository = _repository_to_stage_in(project) if stage else None
    found = [project.store.find(reference) for reference in references]
    moved = [project.store.archive(stored.path) for stored in found]
    if repository is not None:
        _stage(project, repository, (stored.path for stored in (*found, *moved)))
    return moved


def restore(project: Project, reference: str, *, stage: bool = False) -> StoredBullet:
    """Bring a bullet back from the archive; with `stage` git's index learns of it."""
    repository = _repository_to_stage_in(project) if stage else None
    found = project.store.find(reference)
    if not found.archived:
        raise StoreError(f"{found.bullet.id} is not archived", path=found.path)
    restored = project.store.restore(found.path)
    if repository is not None:
        _stage(project, repository, (found.path, restored.path))
    return restored


def fold(project: Project, references: Sequence[str] = (), *, catch_up: bool = False) -> dict[str, int]:
    """Move pending recalls into the front matter of the bullets named, or of all; return the new counts.

    `catch_up` also writes what a fold on another branch took, for when that branch is gone.
    """
    folded = project.store.fold(references or None, catch_up=catch_up)
    return {stored.bullet.id: stored.bullet.recall_count for stored in folded}


def fold_staged(project: Project) -> tuple[dict[str, int], tuple[str, ...]]:
    """Fold the bullets that are staged, and stage the result where nothing else would come along.

    Return the new counts, and the paths whose other changes are not staged and so stay as they are in the index.
    """
    from memx.repo.history import list_staged
    from memx.repo.staging import list_unstaged

    repository = _repository_to_stage_in(project)
    live = _in_repository(project, "bullets")
    staged = [file.path for file in list_staged(repository, [live]) if file.status[0] != "D"]
    dirty = set(list_unstaged(repository, staged))
    prefix = len(live) - len("bullets")
    named = [path[prefix:] for path in staged if path.endswith(".md")]
    chosen = [path for path in named if project.store.read_or_none(path) is not None]
    if not chosen:
        return {}, ()
    folded = project.store.fold(chosen)
    clean = [stored.path for stored in folded if _in_repository(project, stored.path) not in dirty]
    _stage(project, repository, clean)
    left = tuple(stored.path for stored in folded if stored.path not in clean)
    return {stored.bullet.id: stored.bullet.recall_count for stored in folded}, left


def _repository_to_stage_in(project: Project) -> Repository:
    if project.repository is None or not project.repository.worktree:
        raise UsageError("there is no git work tree here to stage in")
    return project.repository


def _in_repository(project: Project, path: str) -> str:
    """Return a path of the store as git names it."""
    return os.path.relpath(os.path.join(project.store_root, path), project.root).replace(os.sep, "/")


def _stage(project: Project, repository: Repository, paths: Iterable[str]) -> None:
    from memx.repo.staging import stage
    from memx.store.atomic import PLACEHOLDER

    chosen = list(paths)
    placeholders = {f"{os.path.dirname(path)}/{PLACEHOLDER}" for path in chosen}
    stage(repository, [_in_repository(project, path) for path in (*chosen, *sorted(placeholders))])
