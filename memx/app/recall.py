"""A search as a reader asks it: the project's stores, its vectors, its clock, and the count afterwards."""

from __future__ import annotations

import os

from memx.app.index import open_index
from memx.app.search import SearchStore, search
from memx.app.viewer import make_viewer
from memx.errors import StoreError

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
    index, problem = open_index(project)
    snapshot = index.snapshot(fresh=request.fresh)
    answer = search(
        request,
        [SearchStore(index, project.store_root, project.journal.counts(), snapshot)],
        config=project.config,
        now=project.now,
        viewer=make_viewer(project, scopes=snapshot.scopes),
        vector_problem=problem,
    )
    if is_counted and answer.hits:
        window = project.config.decay.recall_window_minutes
        project.journal.record([hit.id for hit in answer.hits], project.now, window)
    return answer
