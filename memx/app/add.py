"""One lesson into the store: classified, compared with what is there, and written, merged or flagged."""

from __future__ import annotations

from memx.errors import MemxError
from memx.model import Bullet
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.model import StoredBullet
    from memx.store.store import Store

WRITTEN, MERGED, FLAGGED, UNCHANGED, REFUSED = "written", "merged", "flagged", "unchanged", "refused"
DEFAULT_SCORE = 50


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


def add(project: Project, draft: Draft) -> Added:
    """Store a lesson; raises MemxError for an empty one and StoreError where there is no store.

    It is compared with all visible stores and written to one.
    """
    from memx.app.curate import compare_with_store, matches_elsewhere, merge_into

    store = project.store
    bullet = complete(project, draft)
    known = _holder(store, bullet.id)
    if known is not None:
        return _again(project, bullet, known.path)
    comparison = compare_with_store(project, bullet)
    elsewhere = matches_elsewhere(project, bullet)
    if comparison.merge_with is not None:
        merged = merge_into(project, comparison.merge_with, bullet)
        return Added(MERGED, merged.bullet.id, merged.path, (), comparison.reason, elsewhere)
    bullet = replace(bullet, conflicts_with=comparison.conflicts)
    stored, is_new = store.add(bullet)
    if not is_new:
        return Added(UNCHANGED, stored.bullet.id, stored.path)
    action = FLAGGED if comparison.conflicts else WRITTEN
    conflicts = comparison.conflicts
    return Added(action, stored.bullet.id, stored.path, conflicts, comparison.reason, elsewhere)


def _holder(store: Store, identifier: str) -> StoredBullet | None:
    """Return the bullet that has this id already, live before archived."""
    for archived in (False, True):
        found = store.find_by_name(identifier, archived=archived)
        if found:
            return found[0]
    return None


def _again(project: Project, bullet: Bullet, path: str) -> Added:
    """Add what a repeated lesson says more about itself: a tag, a tool, an anchor."""
    stored = project.store.read(path)
    changes: dict[str, object] = {}
    for name in ("tags", "tools", "entities", "anchors"):
        union = tuple(sorted({*getattr(stored.bullet, name), *getattr(bullet, name)}))
        if union != getattr(stored.bullet, name):
            changes[name] = union
    if not changes:
        return Added(UNCHANGED, stored.bullet.id, path, (), "the same lesson is here already")
    project.store.edit(path, changes)
    reason = f"the same lesson is here already; added {', '.join(changes)}"
    return Added(MERGED, stored.bullet.id, path, (), reason)


def complete(project: Project, draft: Draft) -> Bullet:
    """Return the whole bullet: redacted text, id, and whatever the draft leaves open filled in from the text."""
    from memx.reflector.describe import describe
    from memx.store.naming import bullet_id

    text = project.sanitizer.sanitize(draft.text.replace("\0", "\ufffd").strip()).text
    if not text:
        raise MemxError("there is nothing to add", hint='memx add "what was learnt"')
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
