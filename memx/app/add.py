"""One lesson into the store: classified, compared with what is there, and written, merged or flagged."""

from __future__ import annotations

from memx.errors import StoreError
from memx.model import Bullet
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.curate import Pair
    from memx.app.project import Project
    from memx.model import StoredBullet
    from memx.store.store import Store

WRITTEN, MERGED, FLAGGED, UNCHANGED, REFUSED = "written", "merged", "flagged", "unchanged", "refused"


@record
class Draft:
    """What a person or a candidate says about a lesson; what is empty is filled in from the text."""

    text: str
    title: str = ""
    section: str = ""
    type: str = ""
    scope: str = ""
    tags: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    score: int | None = None
    pinned: bool = False
    source: str = ""
    created: float | None = None
    accepted: float | None = None
    author: str = ""
    lang: str = ""
    id: str = ""


@record
class Added:
    """What became of it: the id and path that hold the lesson now, and the bullets it may conflict with."""

    action: str
    id: str
    path: str
    conflicts: tuple[str, ...] = ()
    reason: str = ""
    elsewhere: tuple[str, ...] = ()
    """Bullets of other stores that say the same or the contrary, as `STORE:ID`."""
    similar: tuple[str, ...] = ()
    """Bullets that say the same in another language or scope: merged only on request."""
    pairs: tuple[Pair, ...] = ()
    """Every bullet that was compared, with the verdict."""
    hint: str = ""
    """Why the bullet that holds the lesson is not found, and the command that brings it back."""
    warning: str = ""
    """What readers should be wary of in the text."""


def add(project: Project, draft: Draft) -> Added:
    """Store a lesson; raises StoreError for an empty or overlong one and where there is no store.

    It is compared with all visible stores and written to one.
    """
    from memx.app.orders import ORDERS, gives_orders
    from memx.store.validation import validate_bullet

    bullet = complete(project, draft)
    validate_bullet(bullet)
    added = _add(project, bullet)
    if added.action in (WRITTEN, FLAGGED):
        added = replace(added, hint=_unseen_hint(project, bullet.scope))
    return replace(added, warning=ORDERS) if gives_orders(bullet) else added


def _add(project: Project, bullet: Bullet) -> Added:
    """Compare a whole bullet with what is there, then write it, merge it or leave it."""
    from memx.app.curate import compare_with_store, mark, matches_elsewhere
    from memx.store.naming import bullet_id

    store = project.store
    apart = ""
    known = _holder(store, bullet)
    if known is not None:
        again = _again(project, bullet, known)
        if again is not None:
            return again
        # Nobody who should see it sees the one that has the id.
        bullet = replace(bullet, id=bullet_id(bullet.text, bullet.scope))
        apart = f"the same lesson is in {known.bullet.scope}, which {bullet.scope} does not see"
    comparison = compare_with_store(project, bullet)
    elsewhere = matches_elsewhere(project, bullet)
    seen = (elsewhere, comparison.similar, comparison.pairs)
    if comparison.merge_with is not None:
        merged = _merge(project, comparison.merge_with, bullet)
        if merged is not None:
            return Added(MERGED, merged.bullet.id, merged.path, (), comparison.reason, *seen)
    bullet = replace(bullet, conflicts_with=comparison.conflicts)
    stored, is_new = store.add(bullet)
    if not is_new:
        # Another process was quicker with the same text.
        return _again(project, bullet, stored) or _taken(project, bullet, stored)
    if comparison.conflicts:
        mark(project, bullet.id, comparison.conflicts)
    action = FLAGGED if comparison.conflicts else WRITTEN
    conflicts = comparison.conflicts
    return Added(action, stored.bullet.id, stored.path, conflicts, comparison.reason or apart, *seen)


def _merge(project: Project, target: StoredBullet, bullet: Bullet) -> StoredBullet | None:
    """Merge, or return None when another process has moved or removed the target meanwhile."""
    from memx.app.merging import merge_into

    if project.store.read_or_none(target.path) is None:
        return None
    try:
        return merge_into(project, target, bullet)
    except StoreError:
        # A merge may wait for an LLM; what happened meanwhile must not cost the lesson.
        if project.store.read_or_none(target.path) is not None:
            raise
        return None


def _unseen_hint(project: Project, scope: str) -> str:
    """Say that a scope names another project, so that nobody sees the bullet in this one; empty for any other."""
    name = project.name
    if project.store_name != "project" or not scope.startswith("project:") or scope == f"project:{name}":
        return ""
    return f"it is not seen here, for this is project:{name}, not {scope}: memx add --scope project"


def _holder(store: Store, bullet: Bullet) -> StoredBullet | None:
    """Return the bullet that has this id already, live before archived; else the one that absorbed it."""
    found = store.find_by_name(bullet.id, archived=False)
    if found:
        return found[0]
    archived = store.find_by_name(bullet.id, archived=True)
    if not archived:
        return None
    return next((s for s in store.scan()[0] if bullet.id in s.bullet.merged_from), archived[0])


def _again(project: Project, bullet: Bullet, known: StoredBullet) -> Added | None:
    """Say that a lesson is here already, or give the one that is here the wider scope of the two.

    Return None when those who would see the new bullet do not see the known one, nor the reverse: sibling
    workspaces are not to learn of each other by themselves.
    """
    from memx.generator.scopes import covers

    name = project.name
    if known.archived or covers(known.bullet.scope, bullet.scope, name):
        return _taken(project, bullet, known)
    twins = [known, *_twins(project.store, bullet, known)]
    for twin in twins:
        if covers(twin.bullet.scope, bullet.scope, name):
            return _taken(project, bullet, twin)
    narrower = [twin for twin in twins if covers(bullet.scope, twin.bullet.scope, name)]
    if not narrower:
        return None
    first, *others = narrower
    return _promoted(project, bullet, first, tuple(twin.bullet.id for twin in others))


def _twins(store: Store, bullet: Bullet, known: StoredBullet) -> list[StoredBullet]:
    """Return the other live bullets with the same text."""
    from memx.store.naming import normalise_text

    text = normalise_text(bullet.text)
    live = store.scan()[0]
    return [s for s in live if s.path != known.path and normalise_text(s.bullet.text) == text]


def _promoted(project: Project, bullet: Bullet, known: StoredBullet, others: tuple[str, ...]) -> Added:
    """Give the known bullet the scope of the new one, which more people see, and whatever else is new."""
    from memx.app.merging import take_more

    store = project.store
    with store.lock():
        store.edit(known.path, {"scope": bullet.scope})
        stored = take_more(store, known.path, bullet)
    reason = f"the same lesson was in {known.bullet.scope}; its scope is now {bullet.scope}"
    return Added(MERGED, stored.bullet.id, stored.path, (), reason, similar=others)


def _taken(project: Project, bullet: Bullet, known: StoredBullet) -> Added:
    """Add what a repeated lesson says more about itself: a tag, a tool, an anchor.

    Where the lesson was absorbed by another bullet, that one gets it.
    """
    from memx.app.merging import take_more

    reason = "the same lesson is here already"
    if bullet.id in known.bullet.merged_from:
        reason = f"the same lesson was merged into {known.bullet.id}"
    if known.bullet.scope != bullet.scope:
        reason += f", for {known.bullet.scope}"
    if known.archived:
        hint = f"it is archived: memx restore {known.bullet.id}"
        return Added(UNCHANGED, known.bullet.id, known.path, (), reason, hint=hint)
    hint = _superseded_hint(project, known)
    stored = take_more(project.store, known.path, bullet)
    names = ("tags", "tools", "entities", "anchors")
    more = [name for name in names if getattr(stored.bullet, name) != getattr(known.bullet, name)]
    if not more:
        return Added(UNCHANGED, stored.bullet.id, stored.path, (), reason, hint=hint)
    return Added(MERGED, stored.bullet.id, stored.path, (), f"{reason}; added {', '.join(more)}", hint=hint)


def _superseded_hint(project: Project, known: StoredBullet) -> str:
    """Say what has taken a bullet's place; empty when nothing has."""
    from memx.app.curate import superseders_of

    found = superseders_of(project, known.bullet.id)
    if not found:
        return ""
    other = found[0]
    return f"it is superseded by {other}: memx resolve {known.bullet.id} {other}"


def complete(project: Project, draft: Draft) -> Bullet:
    """Return the whole bullet: redacted text, id, and whatever the draft leaves open filled in from the text."""
    from memx.reflector.describe import describe
    from memx.store.naming import bullet_id
    from memx.store.validation import validate_text

    validate_text(draft.text)
    text = project.sanitizer.sanitize(draft.text.replace("\0", "\ufffd").strip()).text
    described = describe(text)
    return Bullet(
        id=draft.id or bullet_id(text),
        text=text,
        title=draft.title,
        section=draft.section or described.section,
        type=draft.type or described.type,
        score=described.score if draft.score is None else draft.score,
        scope=draft.scope or project.default_scope,
        tags=_sorted(draft.tags),
        tools=_sorted(draft.tools or described.tools),
        entities=_sorted(draft.entities or described.entities),
        anchors=_sorted(draft.anchors),
        created=project.now if draft.created is None else draft.created,
        updated=project.now if draft.created is None else draft.created,
        accepted=draft.accepted,
        pinned=draft.pinned,
        source=draft.source or "hand",
        author=draft.author,
        lang=draft.lang,
    )


def _sorted(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({name.strip() for name in names if name.strip()}))
