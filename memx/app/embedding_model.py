"""The embedding model of the hub that a user asks for by name: known before it is fetched, fetched on demand only."""

from __future__ import annotations

from memx.app.places import user_dir
from memx.errors import ModelUnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project


def _is_hub_name(name: str) -> bool:
    """Tell `owner/name` or `name` from the path of a folder."""
    return name.count("/") <= 1 and not name.startswith(("/", ".", "~")) and not {"\\", ":"} & set(name)


def missing_model(project: Project) -> str:
    """Return the name in `embedding.model` when no folder and no earlier download has it, else nothing.

    A path is never taken for a name. The configuration is read as trusted: call this once it is.
    """
    from memx.config import find_config_files, load_config
    from memx.index.dense.model import model_folder

    common = "" if project.repository is None else project.repository.common_dir
    places = project.store_root, common, user_dir("config", project.environ)
    name = load_config(find_config_files(*places, team_trusted=True), project.environ).config.embedding.model
    if not _is_hub_name(name):
        return ""
    try:
        model_folder(name, trusted=True, cache_dir=user_dir("cache", project.environ))
    except ModelUnavailableError:
        return name
    return ""


def download(project: Project, name: str) -> str:
    """Fetch a model into the user's cache and return its folder; raises ModelUnavailableError."""
    from memx.index.dense.bulk import download_model

    return download_model(name, user_dir("cache", project.environ))
