"""Which bullets have drifted from their code, as the last verification found: what recall reads.

One small file beside the index, named by the commit that was checked. Recall
runs no git: it takes the marks of the commit that is checked out, and drops
the mark of a bullet whose file has changed since.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.app.project import Project
    from memx.model import StoredBullet

_FILE = "drifted"
_HEADER = "memx-drifted 1"


def marks_path(project: Project) -> str:
    """Return where the marks of this work tree lie."""
    return os.path.join(project.cache_dir, _FILE)


def write_marks(project: Project, drifted: Iterable[StoredBullet]) -> None:
    """Remember the drifted bullets of the commit that is checked out; a cache that cannot be written is no error."""
    lines = [f"{_HEADER} {_commit(project)}"]
    for stored in drifted:
        try:
            changed = os.lstat(os.path.join(project.store_root, stored.path)).st_mtime_ns
        except OSError:
            continue
        lines.append(f"{stored.bullet.id} {changed} {stored.path}")
    path = marks_path(project)
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as stream:
            stream.write("\n".join(dict.fromkeys(lines)) + "\n")
        os.replace(temporary, path)
    except OSError:
        return


def read_marks(project: Project) -> dict[str, tuple[str, int]]:
    """Return id → (path, time of the file's last change) of the drifted bullets; empty for another commit."""
    lines = _read(project)
    if not lines or lines[0] != f"{_HEADER} {_commit(project)}":
        return {}
    found = {}
    for line in lines[1:]:
        identifier, _, rest = line.partition(" ")
        changed, _, path = rest.partition(" ")
        if changed.isdecimal() and path.isprintable():  # whatever else a damaged file holds marks nothing
            found[identifier] = (path, int(changed))
    return found


def is_current(project: Project) -> bool:
    """Say whether the marks are those of the commit that is checked out."""
    return _read(project)[:1] == [f"{_HEADER} {_commit(project)}"]


def is_still_marked(project: Project, mark: tuple[str, int]) -> bool:
    """Say whether a marked bullet's file is as it was when it was verified."""
    path, changed = mark
    try:
        return os.lstat(os.path.join(project.store_root, path)).st_mtime_ns == changed
    except OSError:
        return False


def _commit(project: Project) -> str:
    return project.head.commit if project.head is not None else ""


def _read(project: Project) -> list[str]:
    try:
        with open(marks_path(project), encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()
    except (OSError, ValueError):
        return []
