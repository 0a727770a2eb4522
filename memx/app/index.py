"""The index of a project: where it lies, with which vectors, and how it follows the files."""

from __future__ import annotations

import os

from memx.app.places import user_dir
from memx.errors import IndexUnavailableError, ModelUnavailableError
from memx.index.index import Index, IndexPlace
from memx.index.vectors import Vectors
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from memx.app.project import Project
    from memx.model import Problem


@record
class Refreshed:
    """How many bullets the index holds, how many texts were embedded, and what is wrong with some files."""

    bullets: int
    embedded: int
    problems: tuple[Problem, ...] = ()


def index_place(project: Project) -> IndexPlace:
    """Return where the project's store and its index lie."""
    repository = project.repository
    git_files = (
        ()
        if repository is None
        else (os.path.join(repository.git_dir, "index"), os.path.join(repository.git_dir, "HEAD"))
    )
    return IndexPlace(project.store_root, project.cache_dir, project.store_name, git_files)


def open_vectors(project: Project) -> Vectors:
    """Return the configured model with its vectors, shared by all work trees; raises ModelUnavailableError.

    A value that is not `bundled` got here from the user's own files or from a
    trusted one, so it is trusted.
    """
    cache = user_dir("cache", project.environ)
    return Vectors.open(project.config.embedding, vectors_folder(project), cache, trusted=True)


def vectors_folder(project: Project) -> str:
    """Return where the vectors of all models and work trees lie; it need not exist."""
    return os.path.join(project.state_dir, "vectors")


def missing_layers(project: Project) -> tuple[str, ...]:
    """Return `l4: reason` when the configured model cannot be used, else nothing: what `degraded` says everywhere."""
    try:
        open_vectors(project).embedder  # noqa: B018 (opening it reads the model's heads)
    except ModelUnavailableError as error:
        return (f"l4: {error}",)
    return ()


def open_index(project: Project) -> tuple[Index, str]:
    """Return the index, and why it has no dense side where that is so."""
    try:
        vectors, problem = open_vectors(project), ""
    except ModelUnavailableError as error:
        vectors, problem = None, str(error)
    parse = getattr(project, "parse_bullet", None)
    index = Index(
        index_place(project), vectors, parse=parse, created_of=project.created_of, spread=on_all_cores
    )
    return index, problem


def on_all_cores(function: Callable[..., Any], batches: Sequence[Any], *more: Any) -> Iterable[Any]:
    """Map a function on batches with a process a core; on one core without any."""
    cores = os.cpu_count() or 1
    if cores == 1:
        return (function(batch, *more) for batch in batches)
    from memx.app.cores import map_on_cores

    return map_on_cores(function, batches, *more, cores=cores)


def refresh_index(project: Project, *, rebuild: bool = False, is_thorough: bool = False) -> Refreshed:
    """Bring words, vectors and marks up to the files; texts that were embedded once are not embedded again.

    is_thorough: look every vector up, for files may have been damaged, and raise IndexUnavailableError when
    vectors cannot be written.
    """
    from memx.app.verify import refresh_marks

    index, _ = open_index(project)
    vectors = index.vectors
    outcome = index.rebuild() if rebuild else None
    if outcome is None or is_thorough:
        outcome = index.refresh(is_thorough=is_thorough) or outcome
    problems = () if outcome is None else outcome.problems
    refresh_marks(project)
    if is_thorough and vectors is not None and vectors.obstacle() and index.unembedded():
        raise IndexUnavailableError("vectors cannot be written", path=vectors.obstacle())
    return Refreshed(index.snapshot().size, 0 if vectors is None else vectors.added, problems)
