"""Anchors as a person types them: from where the command runs, and without the blob that makes lines exact."""

from __future__ import annotations

import os

from memx.record import replace
from memx.repo.anchors import BLOB_DIGITS, ORPHANED, check_anchor, format_anchor, parse_anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.app.project import Project


def complete_anchors(project: Project, anchors: Iterable[str]) -> tuple[str, ...]:
    """Return anchors with paths from the top of the repository; lines get the blob that they are lines of."""
    from memx.app.recall import path_in_repository

    found = []
    for text in anchors:
        anchor = parse_anchor(text.strip())
        if not anchor.path or os.path.isabs(anchor.path):
            found.append(text)
            continue
        anchor = replace(anchor, path=path_in_repository(project, anchor.path))
        if anchor.first and not anchor.blob:
            anchor = replace(anchor, blob=_blob(project, anchor.path))
        found.append(format_anchor(anchor))
    return tuple(found)


def missing_anchors(project: Project, anchors: Iterable[str]) -> list[str]:
    """Return a sentence for each anchor whose file, symbol or lines are not there, as after a slip of the hand."""
    from memx.app.verify import absent_submodules, read_inside

    unseen = tuple(f"{path}/" for path in absent_submodules(project.root))
    found = []
    for text in anchors:
        anchor = parse_anchor(text)
        data = read_inside(project.root, anchor.path)
        if data is None and anchor.path.startswith(unseen):
            continue
        if data is None:
            found.append(f"anchor {text}: there is no file {anchor.path}")
        elif anchor.last < anchor.first:
            found.append(f"anchor {text}: line {anchor.last} is before line {anchor.first}")
        elif check_anchor(anchor, None, data).state == ORPHANED:
            what = anchor.symbol or f"line {anchor.last}"
            found.append(f"anchor {text}: {anchor.path} has no {what}")
    return [project.sanitizer.sanitize(sentence).text for sentence in found]


def _blob(project: Project, path: str) -> str:
    """Return the short name of a file's content in git, empty for a file that is not there."""
    from memx.app.verify import read_inside
    from memx.repo.baseline import blob_hash

    data = read_inside(project.root, path)
    if data is None or project.head is None:
        return ""
    return blob_hash(data, project.head.commit)[:BLOB_DIGITS]
