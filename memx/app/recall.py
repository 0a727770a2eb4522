"""A search as a reader asks it: all visible stores, their vectors, the clock, and the count afterwards."""

from __future__ import annotations

import os

from memx.app.index import open_index, vectors_folder
from memx.app.marks import is_current, is_still_marked, read_marks
from memx.app.places import is_writable
from memx.app.search import SearchRequest, SearchStore, search
from memx.app.stores import find_bullet, find_stores
from memx.app.viewer import make_viewer
from memx.errors import MemxError, StoreError
from memx.model import Problem
from memx.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.project import Project
    from memx.app.search import SearchAnswer
    from memx.app.why_not import WhyNot
    from memx.model import Hit
    from memx.store.journal import Counts


def recall(project: Project, request: SearchRequest, *, is_counted: bool = True) -> SearchAnswer:
    """Answer a question from all visible stores; with `is_counted` the hits count as recalled.

    Each store's own journal counts its hits. Raises StoreError where there is
    no store at all and UsageError for a blank query.
    """
    if request.rev:
        from memx.app.revision import search_revision

        return search_revision(project, request)
    places = find_stores(project)
    opened, vector_problem, failures = open_stores(project, places, fresh=request.fresh)
    scopes = {scope for store in opened if store.snapshot is not None for scope in store.snapshot.scopes}
    marks = read_marks(project)
    path = path_in_repository(project, request.path) if request.path else ""
    answer = search(
        replace(request, path=path, fresh=False),  # the snapshots are fresh already: no file is checked twice
        opened,
        config=project.config,
        now=project.now,
        viewer=make_viewer(project, scopes=scopes),
        vector_problem=vector_problem,
        drifted=frozenset(marks),
    )
    hits = tuple(recheck(project, hit, marks) if hit.drifted else hit for hit in answer.hits)
    if is_counted:
        failures += count_hits(project, hits, "shown" if answer.is_weak else "recall")
    return replace(answer, hits=hits, problems=(*answer.problems, *failures))


def explain_absence(project: Project, reference: str, query: str) -> WhyNot:
    """Say why a query did not return a bullet, archived ones included; raises StoreError for an unknown one."""
    from memx.app.why_not import why_not

    places = find_stores(project)
    opened, _, _ = open_stores(project, places, fresh=True)
    scopes = {scope for store in opened if store.snapshot is not None for scope in store.snapshot.scopes}
    place, stored = find_bullet(project, reference)
    return why_not(
        stored.bullet.id,
        SearchRequest(query),
        opened,
        config=project.config,
        now=project.now,
        viewer=make_viewer(project, scopes=scopes),
        store=place.store_name,
    )


def open_stores(
    project: Project, places: Sequence[Project], *, fresh: bool
) -> tuple[list[SearchStore], str, list[Problem]]:
    """Open every store's index; a shared store that cannot be read is reported and hides no other."""
    opened: list[SearchStore] = []
    failures: list[Problem] = []
    vector_problem = ""
    for place in places:
        try:
            index, problem = open_index(place)
            snapshot = index.snapshot(fresh=fresh)
            opened.append(SearchStore(index, place.store_root, _counts(place, failures), snapshot))
        except (MemxError, OSError) as error:
            if place is project:
                raise
            failures.append(
                Problem(f"the store {place.store_name} cannot be read: {error}", place.store_root)
            )
        else:
            vector_problem = vector_problem or problem
    return opened, vector_problem, failures


def _counts(place: Project, failures: list[Problem]) -> Counts | None:
    """Return what a store's journal knows; None when it cannot be read, which hides no bullet."""
    try:
        return place.journal.counts()
    except StoreError as error:
        failures.append(Problem(error.message, error.path or place.state_dir, hint=error.hint or ""))
        return None


def recheck(project: Project, hit: Hit, marks: dict[str, tuple[str, int]]) -> Hit:
    """Drop the mark of a bullet that was rewritten since, or that is another store's."""
    is_ours = hit.store == project.store_name
    return hit if is_ours and is_still_marked(project, marks[hit.id]) else replace(hit, drifted=False)


def count_hits(project: Project, hits: Sequence[Hit], kind: str = "recall") -> list[Problem]:
    """Note in each store's own journal that its hits were recalled, or `shown` without being asked for.

    Return what could not be noted. Under a clock that the command line names nothing happened: a recall
    tomorrow would outlive today's.
    """
    failures: list[Problem] = []
    if project.is_what_if:
        return failures
    window = project.config.decay.recall_window_minutes
    for place in find_stores(project):
        ids = [hit.id for hit in hits if hit.store == place.store_name]
        if ids and not place.journal.record(ids, project.now, window, kind):
            hint = "make the folder writable for memx, or pass --no-recall"
            failures.append(Problem("the recall could not be counted", place.state_dir, hint=hint))
    return failures


def refresh_later(project: Project, answer: SearchAnswer) -> None:
    """Have files checked and code verified behind the reader's back, after the answer is out.

    Files: when the last full check is older than two seconds. Code: once a commit, so that the next search
    can mark what drifted. Vectors: when a bullet of a complete index has none.
    """
    if project.repository is None or not project.repository.worktree:
        return
    has_gaps = answer.has_gaps and not answer.check_due and is_writable(vectors_folder(project))
    is_due = (answer.check_due or has_gaps) and is_writable(project.cache_dir)
    if is_due or needs_marks(project):
        from memx.app.hooks import spawn_background

        spawn_background(project.repository, project.environ, "embed" if has_gaps else "refresh")


def path_in_repository(project: Project, path: str) -> str:
    """Return a file as anchors name it: from the top of the repository, with forward slashes.

    A path that is not below the place where the command runs is taken from the top as it is.
    """
    below = os.path.relpath(os.path.join(project.cwd, path), project.root).replace(os.sep, "/")
    if os.path.lexists(os.path.join(project.cwd, path)) and not below.startswith("../"):
        return below
    return os.path.normpath(path).replace(os.sep, "/") if not os.path.isabs(path) else below


def path_note(project: Project, path: str) -> str:
    """Return a sentence about a path that no file has, or that lies outside the repository; empty for any other."""
    inside = path_in_repository(project, path)
    if os.path.isabs(inside) or inside.startswith("../") or inside == "..":
        said = f"{path} is outside the repository, so no bullet is anchored there"
    elif not os.path.lexists(os.path.join(project.root, inside)):
        said = f"there is no file {path}"
    else:
        return ""
    return project.sanitizer.sanitize(said).text


def needs_marks(project: Project) -> bool:
    """Say whether the code was never verified at the commit that is checked out, and could be now."""
    head = project.head
    return (
        head is not None and bool(head.commit) and not is_current(project) and is_writable(project.cache_dir)
    )
