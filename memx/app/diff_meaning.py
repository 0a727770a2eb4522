"""Bullets of a branch that say what others say already, or the contrary: vectors nominate, the Curator decides."""

from __future__ import annotations

from memx.app.diff_report import Finding
from memx.errors import IndexUnavailableError, ModelUnavailableError
from memx.record import record
from memx.supersession import Supersession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memx.app.project import Project
    from memx.curator.judge import Verdict
    from memx.index.vectors import Vectors
    from memx.model import StoredBullet

NEIGHBOURS = 8
MIN_COSINE = 0.35
"""Below this the Curator need not look: hardly a duplicate lies there."""


@record
class _Embedded:
    """What an index needs to know of a bullet to have its vector."""

    vector_key: bytes
    title: str
    text: str


@record
class _Pair:
    """Two bullets by the caller's key with the cosine of their vectors; the first is of the branch."""

    a: str
    b: str
    cosine: float


def find_pairs(
    project: Project,
    rewritten: Mapping[str, StoredBullet],
    live: Mapping[str, StoredBullet],
    other_side: Mapping[str, StoredBullet],
) -> tuple[list[Finding], tuple[str, ...]]:
    """Return findings about rewritten bullets against all live ones and those of the other side.

    The keys name files (a path) or bullets (an id): whatever is one for the caller.
    Without a model nothing can be nominated: the second value says so.
    """
    if not rewritten:
        return [], ()
    from memx.app.index import open_vectors

    everything = {**other_side, **live, **rewritten}
    try:
        pairs = list(_nominate(open_vectors(project), rewritten, everything))
    except (ModelUnavailableError, IndexUnavailableError) as error:
        return [], (f"duplicates and contradictions: {error}",)
    return list(_judge(project, pairs, everything, live)), ()


def _nominate(
    vectors: Vectors, rewritten: Mapping[str, StoredBullet], everything: Mapping[str, StoredBullet]
) -> Iterator[_Pair]:
    """Yield each pair once, near ones first for each bullet of the branch."""
    from memx.index.dense.text import embedding_key, embedding_text

    keys: dict[bytes, list[str]] = {}
    embedded = {}
    for identifier, stored in everything.items():
        key = embedding_key(embedding_text(stored.bullet))
        keys.setdefault(key, []).append(identifier)
        embedded[identifier] = _Embedded(key, stored.bullet.title, stored.bullet.text)
    if not vectors.ensure(embedded.values()):  # type: ignore[arg-type]  # three of a packed bullet's fields are read
        raise IndexUnavailableError("vectors cannot be kept here")
    seen: set[frozenset[str]] = set()
    for identifier in rewritten:
        own = embedded[identifier].vector_key
        hits = vectors.store.scan(vectors.store.get(own), NEIGHBOURS, keys.__contains__)
        near = {own: 1.0, **{key: cosine for key, cosine in hits if cosine >= MIN_COSINE}}
        for key, cosine in near.items():
            for other in keys[key]:
                pair = frozenset((identifier, other))
                if other != identifier and pair not in seen:
                    seen.add(pair)
                    yield _Pair(identifier, other, cosine)


def _judge(
    project: Project,
    pairs: list[_Pair],
    everything: Mapping[str, StoredBullet],
    live: Mapping[str, StoredBullet],
) -> Iterator[Finding]:
    from memx.curator.judge import judge

    config = project.config.curator
    links = Supersession.of(stored.bullet for stored in everything.values())
    for pair in pairs:
        a, b = everything[pair.a], everything[pair.b]
        if links.settles(a.bullet.id, b.bullet.id):
            continue
        verdict = judge(a.bullet, b.bullet, pair.cosine, config)
        if a.bullet.id == b.bullet.id and not verdict.contradiction:
            continue  # reported as files with one id
        if verdict.contradiction or verdict.action != "independent":
            yield _finding(a, b, verdict, is_here=pair.b in live)


def _finding(a: StoredBullet, b: StoredBullet, verdict: Verdict, *, is_here: bool) -> Finding:
    side = "" if is_here else "other side"
    name = f"{b.bullet.id} ({' '.join(b.bullet.text.split())[:80]})"
    where = " on the other side" if side else ""
    if verdict.contradiction:
        reason = verdict.reason.removeprefix("contradiction: ")
        kind, message = "contradiction", f"contradicts {name}{where}: {reason}"
    elif verdict.action == "merge":
        kind, message = "duplicate", f"says the same as {name}{where}"
    else:
        kind, message = "similar", f"is nearly the same as {name}{where}: {verdict.reason}"
    level = "note" if kind == "similar" else "warning"
    return Finding(kind, level, message, a.path, None, a.bullet.id, b.bullet.id, side)
