"""`memx maintain`: everything that a store needs now and then, as one change that a person reviews."""

from __future__ import annotations

import os

from memx.amount import amount
from memx.errors import GitError, MemxError, UsageError
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.conflicts import Conflict
    from memx.app.dedup import Group
    from memx.app.forget import Weighed
    from memx.app.project import Project
    from memx.app.verify import AnchorReport
    from memx.model import Problem, StoredBullet
    from memx.repo.discovery import Repository


@record
class Maintained:
    """What was done (folded counts by id, archived bullets) and what is left to a person.

    `branch` and `commit` say where the change is; empty when it is in the work tree, or when there is none.
    """

    folded: dict[str, int]
    archived: tuple[Weighed, ...]
    duplicates: tuple[Group, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    disputed: tuple[StoredBullet, ...] = ()
    drifted: tuple[AnchorReport, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    branch: str = ""
    commit: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether anything in the store is different now."""
        return bool(self.folded or self.archived)


def maintain(project: Project, *, dry_run: bool = False) -> Maintained:
    """Fold, archive, and look for what a person must decide; a second run finds nothing more to do.

    With `dry_run` nothing is written: what would be folded and archived is returned.
    """
    from memx.app.conflicts import list_conflicts
    from memx.app.dedup import plan
    from memx.app.feedback import disputed
    from memx.app.forget import archive, archive_plan, as_record, fold

    folded = _pending(project) if dry_run else fold(project)
    faded = [as_record(row) for row in archive_plan(project)]
    if not dry_run:
        archive(project, [row.head.path for row in faded])
    dedup = plan(project)
    conflicts, problems = list_conflicts(project)
    drifted, unverified = _drifted(project)
    return Maintained(
        folded,
        tuple(faded),
        dedup.groups,
        tuple(conflicts),
        tuple(disputed(project)),
        drifted,
        tuple(problems),
        tuple(filter(None, (dedup.degraded and f"duplicates by words alone: {dedup.degraded}", unverified))),
    )


def _pending(project: Project) -> dict[str, int]:
    bullets = project.store.with_ids(set(project.journal.pending()))
    counts = project.journal.pending()
    return {s.bullet.id: s.bullet.recall_count + counts[s.bullet.id] for s in bullets}


def _drifted(project: Project) -> tuple[tuple[AnchorReport, ...], str]:
    """Return the anchors whose code has moved on, and why they were not verified."""
    from memx.app.verify import verify
    from memx.repo.anchors import FRESH

    if project.repository is None:
        return (), "anchors were not verified: there is no repository"
    try:
        reports, _ = verify(project)
    except GitError as error:
        return (), f"anchors were not verified: {error}"
    return tuple(report for report in reports if report.state != FRESH), ""


def maintain_on_branch(project: Project, branch: str) -> Maintained:
    """Do the same in a work tree of its own and commit it on a branch; the caller's work tree stays untouched.

    A branch that exists goes on: what it holds and HEAD does not is kept. Raises MemxError.
    """
    import tempfile

    from memx.app.project import Project
    from memx.repo.branch_tree import add_tree, check_branch, remove_tree
    from memx.repo.git import foreign_environ

    repository = project.repository
    if repository is None or project.head is None or not project.head.commit:
        raise UsageError("a branch needs a repository with a commit")
    start = check_branch(repository, branch)
    with tempfile.TemporaryDirectory(prefix="memx-maintain-") as folder:
        tree = os.path.join(os.path.realpath(folder), "tree")
        try:
            add_tree(repository, tree, start, project.head.commit)
            there = Project(tree, foreign_environ(project.environ), project.now)
            if not there.has_store:
                raise MemxError("the store is not committed yet", hint="git add .memx && git commit")
            done = maintain(there)
            commit = _commit(repository, there, branch, done) if done.is_changed else ""
        finally:
            remove_tree(repository, tree)
    return replace(done, branch=branch if commit else "", commit=commit)


def _commit(repository: Repository, there: Project, branch: str, done: Maintained) -> str:
    """Commit what changed, let the branch name it and return it."""
    from memx.app.maintain_summary import format_summary
    from memx.repo.branch_tree import commit_tree, point_branch

    folded, archived = amount(len(done.folded), "count"), amount(len(done.archived), "bullet")
    subject = f"Maintain memory: {folded} folded, {archived} archived"
    commit = commit_tree(
        there.root, os.path.basename(there.store_root), f"{subject}\n\n{format_summary(done)}"
    )
    point_branch(repository, branch, commit)
    return commit
