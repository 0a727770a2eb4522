"""The index of a project: where it lies, and how it follows the files."""

from __future__ import annotations

import os

from memx.errors import ModelUnavailableError
from memx.index.dense.text import embedding_text
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.index.dense.embedder import QueryEmbedder
    from memx.index.dense.model import ModelInfo
    from memx.index.dense.vectors import VectorStore
    from memx.index.index import IndexPlace
    from memx.index.packed import PackedBullet
    from memx.model import Problem

BULK_ABOVE = 40
"""More texts than this are worth loading numpy and model2vec for."""


@record
class Refreshed:
    """How many bullets the index holds, how many texts were embedded, and what is wrong with some files."""

    bullets: int
    embedded: int
    problems: tuple[Problem, ...] = ()


def index_place(project: Project) -> IndexPlace:
    """Return where the project's store and its index lie."""
    from memx.index.index import IndexPlace

    repository = project.repository
    git_files = (
        ()
        if repository is None
        else (os.path.join(repository.git_dir, "index"), os.path.join(repository.git_dir, "HEAD"))
    )
    return IndexPlace(project.store_root, project.cache_dir, "project", git_files)


def model_info(project: Project) -> ModelInfo:
    """Return the configured model; raises ModelUnavailableError.

    A value that is not `bundled` got here from the user's own files or a
    trusted one, so it is trusted.
    """
    from memx.app.places import user_dir
    from memx.index.dense.model import load_model_info

    cache = user_dir("cache", project.environ)
    return load_model_info(project.config.embedding, trusted=True, cache_dir=cache)


def vector_store(project: Project, model: ModelInfo) -> VectorStore:
    """Return the vectors of this model, shared by all work trees of the repository."""
    from memx.index.dense.vectors import VectorStore

    return VectorStore(os.path.join(project.state_dir, "vectors"), model.fingerprint)


def refresh_index(project: Project, *, rebuild: bool = False) -> Refreshed:
    """Bring lexical index and vectors up to the files; texts that were embedded once are not embedded again."""
    from memx.index.index import Index

    index = Index(index_place(project))
    outcome = index.rebuild() if rebuild else index.refresh()
    bullets = index.snapshot(fresh=True).everything()
    try:
        embedded = embed_missing(project, bullets)
    except ModelUnavailableError:
        embedded = 0
    return Refreshed(len(bullets), embedded, () if outcome is None else outcome.problems)


def embed_missing(project: Project, bullets: list[PackedBullet]) -> int:
    """Embed the bullets whose vectors are not kept yet; return how many. Raises ModelUnavailableError."""
    model = model_info(project)
    vectors = vector_store(project, model)
    texts = {bullet.vector_key: embedding_text(bullet) for bullet in bullets}
    present = vectors.has(texts)
    missing = {key: text for key, text in texts.items() if key not in present}
    if not missing:
        return 0
    if len(missing) > BULK_ABOVE:
        from memx.index.dense.bulk import embed_many

        rows = embed_many(model.dir, list(missing.values()))
    else:
        embedder = query_embedder(project, model)
        rows = [embedder.embed(text) for text in missing.values()]
    vectors.add(zip(missing, rows, strict=True))
    return len(missing)


def query_embedder(project: Project, model: ModelInfo) -> QueryEmbedder:
    """Return what turns one text into a vector without numpy."""
    from memx.app.places import user_dir
    from memx.index.dense.embedder import QueryEmbedder

    return QueryEmbedder(model.dir, user_dir("cache", project.environ))
