"""A lesson against the store: vectors nominate, the Curator decides; every write of a text comes through here."""

from __future__ import annotations

from memx.errors import IndexUnavailableError, MemxError, ModelUnavailableError, StoreError
from memx.record import record, replace
from memx.supersession import Supersession, superseders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memx.app.project import Project
    from memx.curator.judge import Verdict
    from memx.index.packed import PackedBullet
    from memx.index.snapshot import Snapshot
    from memx.index.vectors import Vectors
    from memx.model import Bullet, Candidate, StoredBullet

NOMINATE_COSINE = 0.4
"""Below this texts are about something else: 98 % of duplicates and 90 % of contradictions lie above it.

Lower, every bullet of a large store would be flagged against some other. What one text calls enough
and the other asks more of is a conflict however far apart the vectors are.
"""
NOMINATE_LIMIT = 10
"""The nearest so many are judged: an alarm in a hundred is too many when there are a thousand to compare with."""
_SCAN_FACTOR = 4
"""The vector file also holds the texts of other branches and earlier wordings, so more rows are read than wanted."""


@record
class Pair:
    """A stored bullet near a lesson, the verdict, and why the two are not merged although the Curator would."""

    stored: StoredBullet
    verdict: Verdict
    kept_apart: str = ""

    @property
    def is_merge(self) -> bool:
        """Whether the two may be merged without being asked."""
        return self.verdict.action == "merge" and not self.kept_apart

    @property
    def is_conflict(self) -> bool:
        """Whether a person has to look."""
        return self.verdict.action == "conflict" and not self.kept_apart


@record
class Comparison:
    """What the Curator says of a lesson: the bullet to merge it with, if any, and those it conflicts with.

    similar: the same lesson in another language or scope; it is shown and merged only on request.
    """

    merge_with: StoredBullet | None = None
    conflicts: tuple[str, ...] = ()
    reason: str = ""
    similar: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()


def compare_with_store(project: Project, bullet: Bullet, *, path: str = "") -> Comparison:
    """Judge a lesson against its neighbours; a conflict is reported whatever else was found.

    `path` is where the lesson lies already, empty when it is new.
    """
    pairs = tuple(pair for pair in judge_neighbours(project, bullet) if pair.stored.path != path)
    conflicts = [pair for pair in pairs if pair.is_conflict]
    merges = [pair for pair in pairs if pair.is_merge]
    similar = tuple(p.stored.bullet.id for p in pairs if p.verdict.action == "merge" and p.kept_apart)
    if merges and not conflicts:
        best = max(merges, key=lambda pair: (pair.verdict.similarity, pair.stored.bullet.id))
        return Comparison(best.stored, (), best.verdict.reason, similar, pairs)
    reason = conflicts[0].verdict.reason if conflicts else ""
    return Comparison(None, tuple(pair.stored.bullet.id for pair in conflicts), reason, similar, pairs)


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
    """Return the bullets near a lesson with the Curator's verdicts, nearest first."""
    from memx.curator.contradiction import asks_for_more
    from memx.curator.judge import judge

    config = project.config.curator
    decided = project.inbox.decided()
    near, is_exhaustive = neighbours(project, bullet)
    return [
        Pair(
            stored,
            judge(stored.bullet, bullet, cosine, config),
            reason_apart(stored.bullet, bullet, decided),
        )
        for stored, cosine in near
        if is_exhaustive or cosine >= NOMINATE_COSINE or asks_for_more(stored.bullet.text, bullet.text)
    ]


def reason_apart(a: Bullet, b: Bullet, decided: Mapping[str, str]) -> str:
    """Return why two bullets are not merged by themselves even if they say the same; empty when they may be.

    `decided` are the decisions of this clone.
    """
    from memx.app.merging import KEPT_APART, pair_key
    from memx.curator.tokens import detect_language

    if decided.get(pair_key(a.id, b.id)) == KEPT_APART:
        return "somebody took them apart"

    if a.id in b.supersedes or b.id in a.supersedes:
        return "one supersedes the other"
    if a.id in b.compatible_with or b.id in a.compatible_with:
        return "somebody judged that both hold"
    if a.scope != b.scope:
        return f"scopes differ: {a.scope}, {b.scope}"
    languages = detect_language(a.text), detect_language(b.text)
    if languages[0] != languages[1]:
        return f"languages differ: {languages[0]}, {languages[1]}"
    return ""


def neighbours(project: Project, bullet: Bullet) -> tuple[list[tuple[StoredBullet, float]], bool]:
    """Return the nearest live bullets with their cosine to a lesson, and whether these are all there are.

    Without a model every bullet is compared, with cosine 0: slower, and facts
    still decide.
    """
    store = project.store
    try:
        near = _near_by_vectors(project, bullet)
    except (ModelUnavailableError, IndexUnavailableError):
        bullets = store.scan()[0]
        superseded = Supersession.of(stored.bullet for stored in bullets).superseded
        return [(stored, 0.0) for stored in bullets if stored.bullet.id not in superseded], True
    found = [(store.read_or_none(path), cosine) for path, cosine in near]
    return [(stored, cosine) for stored, cosine in found if stored is not None], False


def _near_by_vectors(project: Project, bullet: Bullet) -> list[tuple[str, float]]:
    """Return (path, cosine); the index is brought up to the files, so that what was added a moment ago counts.

    Superseded bullets are history: nothing is merged into them.
    """
    from memx.app.index import open_index
    from memx.index.dense.text import embedding_text

    index, problem = open_index(project)
    vectors = index.vectors
    if vectors is None:
        raise ModelUnavailableError(problem)
    query = vectors.embedder.embed(embedding_text(bullet))
    snapshot = index.snapshot(fresh=True)
    if snapshot.check_due:
        # Another process writes the index: some bullets may have no vector yet.
        live = [packed for packed in snapshot.everything() if _is_current(packed, snapshot)]
        vectors.ensure(live)
        return _nearest(vectors, query, live, NOMINATE_LIMIT)
    wanted = NOMINATE_LIMIT
    while True:
        keys = dict(vectors.store.scan(query, wanted))
        live = [packed for packed in snapshot.with_keys(list(keys)) if _is_current(packed, snapshot)]
        found = sorted(((p.path, keys[p.vector_key]) for p in live), key=lambda near: (-near[1], near[0]))
        if len(found) >= NOMINATE_LIMIT or len(keys) < wanted:
            return found[:NOMINATE_LIMIT]
        wanted *= _SCAN_FACTOR


def superseders_of(project: Project, identifier: str) -> list[str]:
    """Return the bullets of the store that have taken this one's place."""
    from memx.app.index import open_index

    try:
        naming = _naming(open_index(project)[0].snapshot(fresh=True))
    except IndexUnavailableError:
        links = {s.bullet.id: s.bullet.supersedes for s in project.store.scan()[0]}
        naming = Supersession(links).naming
    return superseders(identifier, naming)


def _is_current(packed: PackedBullet, snapshot: Snapshot) -> bool:
    return not packed.archived and not superseders(packed.id, _naming(snapshot))


def _naming(snapshot: Snapshot) -> Callable[[str], list[str]]:
    """Return what finds the live bullets that say they supersede an id."""

    def naming(identifier: str) -> list[str]:
        facet = f"supersedes:{identifier}"
        if not snapshot.count("facet", facet):
            return []
        return [other.id for other in snapshot.with_facet(facet) if not other.archived]

    return naming


def _nearest(
    vectors: Vectors, query: bytes | None, live: Sequence[PackedBullet], limit: int
) -> list[tuple[str, float]]:
    paths: dict[bytes, list[str]] = {}
    for packed in live:
        paths.setdefault(packed.vector_key, []).append(packed.path)
    hits = vectors.store.scan(query, limit, paths.__contains__)
    return [(path, cosine) for key, cosine in hits for path in paths[key]]


@record
class Settled:
    """What became of a text that stands in the store already.

    The bullet that holds it now, and the id of the one that was merged into it, empty when none was.
    """

    stored: StoredBullet
    comparison: Comparison
    absorbed: str = ""

    @property
    def is_merged(self) -> bool:
        """Whether two bullets became one."""
        return bool(self.absorbed)


def settle_text(project: Project, stored: StoredBullet) -> Settled:
    """Take a bullet whose text a person wrote or changed through the Curator.

    It is merged into a bullet that says the same, marked when it conflicts, and
    loses the marks of conflicts that are no more.
    """
    from memx.app.merging import merge_into

    comparison = compare_with_store(project, stored.bullet, path=stored.path)
    gone = _ended_conflicts(project, stored, comparison)
    if gone:
        unmark(project, stored.bullet.id, gone)
        stored = project.store.read(stored.path)
    if comparison.merge_with is not None:
        merged = merge_into(project, comparison.merge_with, stored.bullet, stored.path)
        both = (stored.bullet.id, comparison.merge_with.bullet.id)
        return Settled(merged, comparison, next((name for name in both if name != merged.bullet.id), both[0]))
    if comparison.conflicts:
        mark(project, stored.bullet.id, comparison.conflicts)
        stored = project.store.read(stored.path)
    return Settled(stored, comparison)


def _ended_conflicts(project: Project, stored: StoredBullet, comparison: Comparison) -> list[str]:
    marked = set(stored.bullet.conflicts_with)
    if not marked:
        return []
    others = [other for other in project.store.with_ids(marked) if not other.archived]
    verdicts = compare_texts(project, [(stored.bullet.text, other.bullet.text) for other in others])
    return [
        other.bullet.id
        for other, verdict in zip(others, verdicts, strict=True)
        if verdict.action != "conflict" and other.bullet.id not in comparison.conflicts
    ]


def mark(project: Project, identifier: str, others: Sequence[str]) -> None:
    """Mark a conflict on both sides; a side that cannot be edited is marked by the other alone."""
    _edit_marks(project, identifier, others, lambda marks, more: marks | more)


def unmark(project: Project, identifier: str, others: Sequence[str]) -> None:
    """Remove the marks of conflicts on both sides."""
    _edit_marks(project, identifier, others, lambda marks, fewer: marks - fewer)


def _edit_marks(
    project: Project,
    identifier: str,
    others: Sequence[str],
    change: Callable[[set[str], set[str]], set[str]],
) -> None:
    store = project.store
    for stored in store.with_ids({identifier, *others}):
        bullet = stored.bullet
        concerned = set(others) if bullet.id == identifier else {identifier}
        marks = change(set(bullet.conflicts_with), concerned) - {bullet.id}
        if marks != set(bullet.conflicts_with):
            try:
                store.edit(stored.path, {"conflicts_with": tuple(sorted(marks))})
            except StoreError:
                continue


@record
class Merged:
    """The id and path of the bullet that took a candidate in."""

    id: str
    path: str


def merge_candidate(project: Project, candidate: Candidate, reference: str) -> Merged:
    """Merge a candidate into the bullet that a reviewer named."""
    from memx.app.add import complete
    from memx.app.merging import merge_into
    from memx.app.review import ACCEPTED, draft_of
    from memx.app.stores import find_own

    target = find_own(project, reference)
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
        rows = open_vectors(project).embed([text for pair in pairs for text in pair])
    except ModelUnavailableError:
        return [0.0] * len(pairs)
    sides = zip(rows[::2], rows[1::2], strict=True)
    return [cosine(a, b) if a is not None and b is not None else 0.0 for a, b in sides]
