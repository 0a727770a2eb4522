"""`memx fmt`: bullets in canonical form, in their section's folder."""

from __future__ import annotations

from memx.errors import MemxError
from memx.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.project import Project


def format_bullets(
    project: Project, paths: Sequence[str] | None, *, check: bool = False
) -> tuple[list[str], list[Problem]]:
    """Return the paths that changed (or would, with `check`) and what could not be formatted."""
    store = project.store
    changed: list[str] = []
    problems: list[Problem] = []
    chosen = paths if paths is not None else [*store.paths(), *store.paths(archived=True)]
    for path in chosen:
        try:
            if not store.is_formatted(path):
                changed.append(path)
                if not check:
                    store.format(path)
        except MemxError as error:
            problems.append(Problem(error.message, error.path or path, error.line, error.hint or ""))
    return changed, problems
