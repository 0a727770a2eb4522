"""Weights, the archive, and the way of counts into front matter."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from operator import itemgetter

from memx.app.stores import find_own
from memx.decay import ARCHIVE_CANDIDATE, SECONDS_PER_DAY, DecayResult, weigh_all, weight
from memx.errors import GitError, StoreError, UsageError
from memx.record import record
from memx.store.heads import Head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from memx.app.project import Project
    from memx.config import DecayConfig
    from memx.model import Bullet, Problem, StoredBullet
    from memx.repo.discovery import Repository

    WeighedRow = tuple[float, str, tuple[Any, ...], int, float, float, str, float | None]

HEADS_FILE = "heads"


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


def weigh_rows(project: Project) -> tuple[list[WeighedRow], list[Problem]]:
    """Weigh every bullet that is not archived, the lightest last: 100,000 of them in plain tuples.

    A tuple is (-weight, id, values of the Head from 1 on, recalls, age in days, base, state, archive day).
    """
    with without_collection():
        heads, problems = project.store.scan_head_rows(os.path.join(project.cache_dir, HEADS_FILE))
        counts = project.journal.counts()
        told = counts.ids
        recalls: list[int] = [
            counts.effective(head[1], head[5]) if head[1] in told else head[5]  # type: ignore[misc, arg-type]
            for head in heads
        ]
        weighed = weigh_all(heads, recalls, project.now, project.config.decay)
        rows = [
            (-final, head[1], head, count, age, base, state, until)
            for head, count, (age, base, final, state, until) in zip(heads, recalls, weighed, strict=True)
        ]
        rows.sort(key=itemgetter(0, 1))
        return rows, problems  # type: ignore[return-value]


def visible_rows(
    project: Project, *, scope: str = "", workspace: str = ""
) -> tuple[list[WeighedRow], list[Problem]]:
    """Return the same of the bullets that a viewer sees."""
    from memx.app.viewer import make_viewer
    from memx.generator.scopes import is_visible

    rows, problems = weigh_rows(project)
    scopes = {row[2][12] for row in rows}
    viewer = make_viewer(project, scope=scope, workspace=workspace, scopes=scopes)
    hidden = {found for found in scopes if not is_visible(found, viewer)}
    return [row for row in rows if row[2][12] not in hidden] if hidden else rows, problems


def as_record(row: WeighedRow) -> Weighed:
    """Return a weighed bullet with names for its values."""
    negative, _, head, recalls, age, base, state, until = row
    return Weighed(Head(*head[1:]), recalls, DecayResult(age, base, -negative, state), until)


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


def archive_plan(project: Project, references: Sequence[str] = ()) -> list[WeighedRow]:
    """Return the archive candidates, the lightest first; or the bullets named, in their order."""
    named = [find_own(project, reference) for reference in references]
    for stored in named:
        if stored.archived:
            raise StoreError(f"{stored.bullet.id} is archived already", path=stored.path)
    rows, _ = weigh_rows(project)
    if named:
        by_path = {row[2][2]: row for row in rows}
        return [by_path[stored.path] for stored in named if stored.path in by_path]
    return [row for row in reversed(rows) if row[6] == ARCHIVE_CANDIDATE]


def archive(project: Project, references: Sequence[str], *, stage: bool = False) -> list[StoredBullet]:
    """Move bullets to the archive; with `stage` git's index learns of it."""
    repository = _repository_to_stage_in(project) if stage else None
    found = [find_own(project, reference) for reference in references]
    moved = [project.store.archive(stored.path) for stored in found]
    if repository is not None:
        _stage(project, repository, (stored.path for stored in (*found, *moved)))
    return moved


def restore(project: Project, reference: str, *, stage: bool = False) -> StoredBullet:
    """Bring a bullet back from the archive; with `stage` git's index learns of it.

    Where it would be an archive candidate again at once, its file says that it was accepted today.
    """
    repository = _repository_to_stage_in(project) if stage else None
    found = find_own(project, reference)
    if not found.archived:
        raise StoreError(f"{found.bullet.id} is not archived", path=found.path)
    restored = project.store.restore(found.path)
    if _weigh(project, restored.bullet).state == ARCHIVE_CANDIDATE:
        # The beginning of the UTC day, as an accepted candidate says.
        restored = project.store.edit(
            restored.path, {"accepted": project.now - project.now % SECONDS_PER_DAY}
        )
    _keep_archive_folder(project, found.path)
    if repository is not None:
        _stage(project, repository, (found.path, restored.path))
    return restored


def _weigh(project: Project, bullet: Bullet) -> DecayResult:
    counts = project.journal.effective({bullet.id: bullet.recall_count})
    return weigh_bullet(bullet, counts[bullet.id], project.now, project.config.decay)


def _keep_archive_folder(project: Project, path: str) -> None:
    """Keep the folder of the archive that a restored bullet was committed in, as the store keeps its sections."""
    from memx.repo.history import file_exists_at
    from memx.store.atomic import keep_emptied_folder

    repository = project.repository
    if repository is None or not repository.worktree:
        return
    try:
        is_committed = file_exists_at(repository, "HEAD", _in_repository(project, path))
    except GitError:
        return
    if is_committed:
        keep_emptied_folder(os.path.dirname(os.path.join(project.store_root, path)))


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
