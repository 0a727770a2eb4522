"""A search as a reader asks it: the project's stores, its vectors, its clock, and the count afterwards."""

from __future__ import annotations

import os

from memx.app.index import index_place, model_info, query_embedder, vector_store
from memx.app.search import SearchStore, search
from memx.app.viewer import make_viewer
from memx.errors import ModelUnavailableError, StoreError
from memx.generator.vector import VectorSearcher
from memx.index.index import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.app.search import SearchAnswer, SearchRequest


def recall(project: Project, request: SearchRequest, *, is_counted: bool = True) -> SearchAnswer:
    """Answer a question; with `is_counted` the hits count as recalled, in the journal and nowhere else.

    Raises StoreError where there is no store and UsageError for a blank query.
    """
    if not os.path.isdir(project.store_root):
        raise StoreError("no store here", hint="memx init", path=project.store_root)
    vector, problem = _vector_searcher(project)
    store = SearchStore(Index(index_place(project)), project.store_root, project.journal.pending())
    answer = search(
        request,
        [store],
        config=project.config,
        now=project.now,
        viewer=make_viewer(project),
        vector=vector,
        vector_problem=problem,
    )
    if is_counted and answer.hits:
        window = project.config.decay.recall_window_minutes
        project.journal.record([hit.id for hit in answer.hits], project.now, window)
    return answer


def _vector_searcher(project: Project) -> tuple[VectorSearcher | None, str]:
    """Return L4 and, where it is absent, why."""
    from memx.index.dense.calibration import load_table, semantic

    try:
        model = model_info(project)
        table = load_table(model.dir)
        embedder = query_embedder(project, model)
    except ModelUnavailableError as error:
        return None, str(error)
    return VectorSearcher(embedder, [vector_store(project, model)], lambda cosine: semantic(cosine, table)), ""
