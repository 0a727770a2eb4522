"""The code that a range changes, and the bullets that speak about it."""

from __future__ import annotations

from memx.app.diff_report import Finding, Touched
from memx.app.project import STORE_FOLDER
from memx.app.verify import read_inside
from memx.record import record, replace
from memx.repo.anchors import FRESH, AnchorState, check_anchor, code_words, parse_anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memx.app.project import Project
    from memx.model import StoredBullet
    from memx.repo.anchors import Anchor
    from memx.repo.baseline import PathEvent
    from memx.repo.compare import Sides
    from memx.repo.discovery import Repository


@record
class _Contact:
    """An anchor of a bullet and what the range does to its file."""

    stored: StoredBullet
    text: str
    anchor: Anchor
    event: PathEvent


def find_touched(
    project: Project,
    repository: Repository,
    sides: Sides,
    live: Mapping[str, StoredBullet],
    rewritten: frozenset[str],
) -> tuple[list[Touched], list[Finding]]:
    """Return the changed files about which bullets speak, and the anchors that this range makes stale.

    A bullet that the range itself rewrites was looked at by whoever did that.
    """
    anchored = [stored for stored in live.values() if stored.bullet.anchors]
    if not anchored:
        return [], []
    from memx.repo.compare import list_changes

    pathspecs = [":(top)", f":(top,exclude){STORE_FOLDER}"]
    events = list_changes(repository, sides.base, sides.head, pathspecs, renames=True)
    contacts, touched = _contacts(anchored, events, _renamed(repository, sides.base, anchored))
    checked = [contact for contact in contacts if contact.stored.path not in rewritten]
    return touched, list(_findings(project, repository, sides, checked))


def _renamed(repository: Repository, base: str, anchored: Sequence[StoredBullet]) -> dict[str, str]:
    """Return path → what it is called at the base, for anchors whose file was renamed before that."""
    from memx.repo.baseline import follow_renames, missing_paths
    from memx.repo.compare import empty_tree

    paths = {parse_anchor(text).path for stored in anchored for text in stored.bullet.anchors}
    gone = set() if base == empty_tree(repository) else missing_paths(repository, sorted(paths), base)
    return follow_renames(repository, gone, base) if gone else {}


def _contacts(
    anchored: Sequence[StoredBullet], events: Sequence[PathEvent], renamed: Mapping[str, str]
) -> tuple[list[_Contact], list[Touched]]:
    """Pair anchors with changed files; an anchor at a folder is touched by every file in it.

    renamed: path in an anchor → what the file is called at the base.
    """
    by_path = {event.old_path: event for event in events if event.status != "A"}
    folders: dict[str, list[str]] = {}
    for event in events:
        parts = event.path.split("/")
        for depth in range(1, len(parts)):
            folders.setdefault("/".join(parts[:depth]), []).append(event.path)
    added = {event.path for event in events}
    contacts: list[_Contact] = []
    speaking: dict[str, set[str]] = {}
    for stored in anchored:
        for text in stored.bullet.anchors:
            anchor = parse_anchor(text)
            if anchor.path in renamed:
                anchor = replace(anchor, path=renamed[anchor.path])
            change = by_path.get(anchor.path)
            if change is not None:
                contacts.append(_Contact(stored, text, anchor, change))
                speaking.setdefault(change.path, set()).add(stored.bullet.id)
            elif anchor.path in added:
                speaking.setdefault(anchor.path, set()).add(stored.bullet.id)
            for path in folders.get(anchor.path, ()):
                speaking.setdefault(path, set()).add(stored.bullet.id)
    return contacts, [Touched(path, tuple(sorted(ids))) for path, ids in sorted(speaking.items())]


def _findings(
    project: Project, repository: Repository, sides: Sides, contacts: Sequence[_Contact]
) -> Iterator[Finding]:
    from memx.repo.compare import read_objects

    if not contacts:
        return
    wanted = [blob for contact in contacts for blob in (contact.event.old_blob, contact.event.blob)]
    blobs = read_objects(repository, [*wanted, *(c.anchor.blob for c in contacts if c.anchor.blob)])
    for contact in contacts:
        event = contact.event
        before = blobs.get(event.old_blob)
        after = None
        if event.status != "D":
            # The work tree's side has no hash: the file itself is the content.
            after = blobs.get(event.blob) if sides.head else read_inside(project.root, event.path)
        state = _state(contact, before, after, blobs)
        if state.state == FRESH:
            continue
        bullet = contact.stored.bullet
        message = f"the code it speaks about, {contact.text}, has changed here: {state.reason}"
        yield Finding(state.state, "warning", message, contact.stored.path, None, bullet.id)


def _state(
    contact: _Contact, before: bytes | None, after: bytes | None, blobs: Mapping[str, bytes]
) -> AnchorState:
    """Return what the range does to an anchor; one that was stale before is not this range's doing."""
    bullet = contact.stored.bullet
    words = code_words((bullet.text, *(f"`{name}`" for name in bullet.entities)))
    anchor = contact.anchor
    if anchor.blob and anchor.blob in blobs:
        taught = blobs[anchor.blob]
        if check_anchor(anchor, taught, before, words).state != FRESH:
            return AnchorState(FRESH)
        before = taught
    return check_anchor(anchor, before, after, words)
