"""Which bullets of a store are one lesson: vectors nominate, the Curator decides, a person merges."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.app.project import Project
    from memx.index.index import Index
    from memx.index.packed import PackedBullet

NEIGHBOURS = 10


def plan_duplicates(project: Project) -> tuple[list[tuple[PackedBullet, ...]], str]:
    """Return groups of live bullets that say the same, the best of each first, and why none were looked for.

    Without a model no pair is nominated.
    """
    from memx.app.index import open_index
    from memx.curator.groups import complete_link, judge_pairs

    index, problem = open_index(project)
    if index.vectors is None:
        return [], problem
    live = {packed.id: packed for packed in index.snapshot(fresh=True).everything() if not packed.archived}
    texts = {name: packed.text for name, packed in live.items()}
    judged = judge_pairs(texts, _neighbours(index, live), project.config.curator)
    merges = [(pair.a, pair.b, pair.verdict.similarity) for pair in judged if pair.verdict.action == "merge"]
    groups = complete_link(merges)
    return [tuple(sorted((live[name] for name in group), key=_by_score)) for group in groups], ""


def _neighbours(index: Index, live: dict[str, PackedBullet]) -> Iterator[tuple[str, str, float]]:
    """Yield (id, id, cosine) for each bullet and those nearest to it."""
    from memx.app.curate import NOMINATE_COSINE

    vectors = index.vectors
    if vectors is None:
        return
    vectors.ensure(live.values())
    by_key: dict[bytes, list[str]] = {}
    for name, packed in live.items():
        by_key.setdefault(packed.vector_key, []).append(name)
    for key, names in by_key.items():
        row = vectors.store.get(key)
        if row is None:
            continue
        for other, cosine in vectors.store.scan(row, NEIGHBOURS, by_key.__contains__):
            if cosine >= NOMINATE_COSINE:
                yield from ((a, b, cosine) for a in names for b in by_key[other] if a != b)


def _by_score(packed: PackedBullet) -> tuple[int, str]:
    return -packed.score, packed.id
