"""`memx fmt`: bullets in canonical form, in their section's folder."""

from __future__ import annotations

from memx.errors import MemxError
from memx.model import Problem
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.curate import Settled
    from memx.app.project import Project


@record
class Formatted:
    """The paths that changed (or would), what could not be formatted, and what the Curator said of new files."""

    changed: tuple[str, ...]
    problems: tuple[Problem, ...]
    settled: tuple[Settled, ...] = ()


def format_bullets(project: Project, paths: Sequence[str] | None, *, check: bool = False) -> Formatted:
    """Format bullets; a file that a person wrote by hand goes through the Curator when it gets its id."""
    store = project.store
    changed: list[str] = []
    problems: list[Problem] = []
    new: list[str] = []
    chosen = paths if paths is not None else [*store.paths(), *store.paths(archived=True)]
    for path in chosen:
        try:
            if not store.is_formatted(path):
                changed.append(path)
                if not check:
                    is_new = not path.startswith("archive/") and not _has_id(store.read_bytes(path), path)
                    formatted = store.format(path)
                    new += [formatted.path] if is_new else []
        except MemxError as error:
            problems.append(Problem(error.message, error.path or path, error.line, error.hint or ""))
    settled = _settle(project, new, problems)
    return Formatted(tuple(changed), tuple(problems), settled)


def _has_id(data: bytes, path: str) -> bool:
    from memx.document import decode_text
    from memx.store.codec import read_fields

    return bool(read_fields(decode_text(data, path), path)[0].get("id"))


def _settle(project: Project, paths: Sequence[str], problems: list[Problem]) -> tuple[Settled, ...]:
    from memx.app.curate import settle_text

    settled = []
    for path in paths:
        stored = project.store.read_or_none(path)
        if stored is None:
            continue  # merged into another new file just now
        try:
            done = settle_text(project, stored)
        except MemxError as error:
            problems.append(Problem(error.message, error.path or path, error.line, error.hint or ""))
            continue
        if done.is_merged or done.comparison.conflicts:
            settled.append(done)
    return tuple(settled)
