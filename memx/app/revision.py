"""The use case of searching a store as it was at a revision, without touching the work tree.

The revision's own date is now, unless `--now` names another one; only the counts
in its files count, and nothing is recalled.
"""

from __future__ import annotations

import os

from memx.app.index import open_vectors
from memx.app.search import SearchStore, search
from memx.app.viewer import make_viewer
from memx.errors import FrontMatterError, ModelUnavailableError, StoreError
from memx.index.fixed import FixedIndex
from memx.index.freshness import FOLDERS, SUFFIX
from memx.model import Problem, StoredBullet
from memx.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.app.search import SearchAnswer, SearchRequest
    from memx.repo.discovery import Repository

REGULAR_MODES = ("100644", "100755")


def search_revision(project: Project, request: SearchRequest) -> SearchAnswer:
    """Answer a question from the project's store at `request.rev`.

    Raises GitError for an unknown revision and StoreError for one without a store.
    """
    from memx.app.distil import require_repository

    repository = require_repository(project)
    commit, date = resolve(repository, request.rev)
    if not has_store(project, repository, commit):
        raise StoreError(f"there was no store at {request.rev}")
    bullets, problems = read_store(project, repository, commit)
    try:
        vectors, problem = open_vectors(project), ""
    except ModelUnavailableError as error:
        vectors, problem = None, str(error)
    index = FixedIndex(bullets, vectors, problems=problems)
    return search(
        replace(request, rev=""),
        [SearchStore(index, project.store_root)],
        config=project.config,
        now=project.now if project.is_what_if else date,
        viewer=make_viewer(project, scopes=index.snapshot().scopes),
        vector_problem=problem,
    )


def resolve(repository: Repository, revision: str) -> tuple[str, float]:
    """Return the commit of a revision and its date; raises GitError when there is none."""
    from memx.repo.discovery import run_in
    from memx.repo.history import resolve_commit

    commit = resolve_commit(repository, revision)
    return commit, float(run_in(repository, ["show", "-s", "--format=%ct", commit, "--"]))


def has_store(project: Project, repository: Repository, commit: str) -> bool:
    """Say whether a commit has anything where the store lies."""
    from memx.repo.history import file_exists_at

    return file_exists_at(repository, commit, _top(project, repository))


def _top(project: Project, repository: Repository) -> str:
    return os.path.relpath(project.store_root, repository.worktree or project.root).replace(os.sep, "/")


def read_store(
    project: Project, repository: Repository, commit: str
) -> tuple[list[StoredBullet], tuple[Problem, ...]]:
    """Return the bullets of a commit, and a problem for each file that does not parse."""
    from memx.repo.history import list_tree, read_blobs
    from memx.store.codec import parse_bullet

    top = _top(project, repository)
    folders = tuple(f"{top}/{folder}/" for folder in FOLDERS)
    entries = [
        entry
        for entry in list_tree(repository, commit, top)
        if entry.path.startswith(folders) and entry.path.endswith(SUFFIX) and entry.mode in REGULAR_MODES
    ]
    bullets: list[StoredBullet] = []
    problems: list[Problem] = []
    blobs = read_blobs(repository, [entry.blob for entry in entries])
    for entry, (_, data) in zip(entries, blobs, strict=True):
        path = entry.path[len(top) + 1 :]
        if data is None:
            continue
        try:
            bullet = parse_bullet(data, path=path)
        except FrontMatterError as error:
            problems.append(Problem(error.message, path, error.line, error.hint or "", "front-matter"))
            continue
        bullets.append(StoredBullet(bullet, path, project.store_name, path.startswith("archive/")))
    return bullets, tuple(problems)
