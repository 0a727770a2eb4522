"""A new lesson against the store: vectors nominate, the Curator decides."""

from __future__ import annotations

from memx.errors import IndexUnavailableError, MemxError, ModelUnavailableError
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.project import Project
    from memx.curator.judge import Verdict
    from memx.model import Bullet, Candidate, StoredBullet

NOMINATE_COSINE = 0.35
"""Below this the Curator need not look: the calibration keeps 99 % of duplicates above 0.4."""
NOMINATE_LIMIT = 30
SUPERSEDING_FIELDS = ("tags", "tools", "entities", "anchors")


@record
class Comparison:
    """What the Curator says of a new lesson: the bullet to merge it with, if any, and those it conflicts with."""

    merge_with: StoredBullet | None = None
    conflicts: tuple[str, ...] = ()
    reason: str = ""


@record
class Pair:
    """A stored bullet near a new lesson, and the verdict."""

    stored: StoredBullet
    verdict: Verdict


def compare_with_store(project: Project, bullet: Bullet) -> Comparison:
    """Judge a new lesson against its neighbours; a conflict is reported whatever else was found."""
    pairs = judge_neighbours(project, bullet)
    conflicts = tuple(pair.stored.bullet.id for pair in pairs if pair.verdict.action == "conflict")
    merges = [pair for pair in pairs if pair.verdict.action == "merge"]
    if merges and not conflicts:
        best = max(merges, key=lambda pair: (pair.verdict.similarity, pair.stored.bullet.id))
        return Comparison(best.stored, (), best.verdict.reason)
    reasons = [pair.verdict.reason for pair in pairs if pair.stored.bullet.id in conflicts]
    return Comparison(None, conflicts, reasons[0] if reasons else "")


def matches_elsewhere(project: Project, bullet: Bullet) -> tuple[str, ...]:
    """Return the bullets of other stores that say the same or the contrary, as `STORE:ID`; nothing merges there.

    Another store that cannot be read says nothing.
    """
    from memx.app.stores import stores_beside

    found = []
    for place in stores_beside(project):
        try:
            pairs = judge_neighbours(place, bullet)
        except (MemxError, OSError):
            continue
        found += [
            f"{place.store_name}:{pair.stored.bullet.id}"
            for pair in pairs
            if pair.verdict.action in ("merge", "conflict")
        ]
    return tuple(found)


def judge_neighbours(project: Project, bullet: Bullet) -> list[Pair]:
    """Return the bullets near a new lesson with the Curator's verdicts, nearest first."""
    from memx.curator.judge import judge

    config = project.config.curator
    return [
        Pair(stored, judge(stored.bullet, bullet, cosine, config))
        for stored, cosine in neighbours(project, bullet)
    ]


def neighbours(project: Project, bullet: Bullet) -> list[tuple[StoredBullet, float]]:
    """Return live bullets with their cosine to the new one, nearest first.

    Without a model every bullet is compared, with cosine 0: slower, and facts
    still decide.
    """
    store = project.store
    try:
        near = _near_by_vectors(project, bullet)
    except (ModelUnavailableError, IndexUnavailableError):
        return [(stored, 0.0) for stored in store.scan()[0]]
    return [(store.read(path), cosine) for path, cosine in near]


def _near_by_vectors(project: Project, bullet: Bullet) -> list[tuple[str, float]]:
    from memx.app.index import open_index
    from memx.index.dense.text import embedding_text

    index, problem = open_index(project)
    vectors = index.vectors
    if vectors is None:
        raise ModelUnavailableError(problem)
    live = {
        packed.vector_key: packed for packed in index.snapshot(fresh=True).everything() if not packed.archived
    }
    vectors.ensure(live.values())
    query = vectors.embedder.embed(embedding_text(bullet))
    hits = vectors.store.scan(query, NOMINATE_LIMIT, live.__contains__)
    return [(live[key].path, cosine) for key, cosine in hits if cosine >= NOMINATE_COSINE]


def merge_into(project: Project, target: StoredBullet, incoming: Bullet) -> StoredBullet:
    """Merge a lesson into a stored bullet; what came in is kept whole in the archive first.

    A crash after the first write leaves both texts in the store.
    """
    from memx.store.codec import format_bullet
    from memx.store.naming import bullet_path

    store = project.store
    kept = target.bullet
    if incoming.id != kept.id:
        archived = "archive/" + bullet_path(incoming).partition("/")[2]
        store.replace_document(archived, format_bullet(incoming))
    changes: dict[str, object] = {
        name: tuple(sorted({*getattr(kept, name), *getattr(incoming, name)}))
        for name in SUPERSEDING_FIELDS
        if set(getattr(incoming, name)) - set(getattr(kept, name))
    }
    changes["merged_from"] = tuple(sorted({*kept.merged_from, incoming.id}))
    if incoming.score > kept.score:
        changes |= {"text": incoming.text, "score": incoming.score}
    return store.edit(target.path, changes)


@record
class Merged:
    """The id and path of the bullet that took a candidate in."""

    id: str
    path: str


def merge_candidate(project: Project, candidate: Candidate, reference: str) -> Merged:
    """Merge a candidate into the bullet that a reviewer named."""
    from memx.app.add import complete
    from memx.app.review import ACCEPTED, draft_of

    target = project.store.find(reference)
    bullet = complete(project, draft_of(candidate, accepted=project.now))
    merged = merge_into(project, target, replace(bullet, id=candidate.id))
    project.inbox.decide(candidate.id, ACCEPTED)
    return Merged(merged.bullet.id, merged.path)


def compare_texts(project: Project, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
    """Judge pairs of texts, each with the exact cosine of its vectors (0 without a model)."""
    from memx.curator.judge import judge_texts

    config = project.config.curator
    cosines = _cosines(project, pairs)
    return [judge_texts(a, b, cosine, config) for (a, b), cosine in zip(pairs, cosines, strict=True)]


def _cosines(project: Project, pairs: Sequence[tuple[str, str]]) -> list[float]:
    from memx.app.index import open_vectors
    from memx.index.dense.scan import cosine

    try:
        vectors = open_vectors(project)
    except ModelUnavailableError:
        return [0.0] * len(pairs)
    rows = vectors.embed([text for pair in pairs for text in pair])
    sides = zip(rows[::2], rows[1::2], strict=True)
    return [cosine(a, b) if a is not None and b is not None else 0.0 for a, b in sides]
