"""Approval of what arrives by `git clone`: a digest per work tree, kept on this machine only."""

from __future__ import annotations

import os

from memx.app.places import user_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project


def config_digest(project: Project) -> str:
    """Return the digest of the committed configuration, empty when there is none."""
    try:
        with open(os.path.join(project.store_root, "config.yml"), "rb") as stream:
            data = stream.read(1 << 20)
    except OSError:
        return ""
    from memx.digest import sha256

    return sha256(data).hexdigest()


def _record_path(project: Project) -> str:
    return os.path.join(user_dir("state", project.environ), "trust")


def _read_records(project: Project) -> list[str]:
    try:
        with open(_record_path(project), encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read().splitlines()
    except OSError:
        return []


def is_trusted(project: Project) -> bool:
    """Say whether the committed configuration was approved here as it is now; any change revokes that."""
    records = _read_records(project)
    return bool(records) and f"{config_digest(project)} {os.path.realpath(project.root)}" in records


def trust(project: Project) -> str:
    """Approve the committed configuration as it is now; return its digest."""
    digest = config_digest(project)
    path = _record_path(project)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    place = os.path.realpath(project.root)
    kept = [line for line in _read_records(project) if line.partition(" ")[2] != place]
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write("\n".join([*kept, f"{digest} {place}"]) + "\n")
    os.replace(temporary, path)
    return digest
