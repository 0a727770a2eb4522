"""A merge as it happens to files, so that a crash at any point leaves both texts in the store; and its undoing.

The order of writes is that of memx.curator.merge: the absorbed bytes to the
archive, the survivor's own bytes beside them, the survivor, and last the
absorbed file goes. Where one of the two is not in the store yet, its bytes are
written first.
"""

from __future__ import annotations

import os

from memx.errors import FrontMatterError, StoreError
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.app.project import Project
    from memx.model import Bullet, StoredBullet
    from memx.store.store import Store

KEPT_APART = "rejected"
"""The decision, local to the clone, that a pair is not to be merged again."""
_SHARED = ".shared"
_STRATEGIES = ("keep_best", "merge_content")


@record
class Unmerged:
    """Both bullets of a merge that was undone.

    is_exact: the survivor has the bytes from before the merge; otherwise it was
    edited since and only lost the other's id.
    """

    survivor: StoredBullet
    restored: StoredBullet
    is_exact: bool


def merge_into(
    project: Project, target: StoredBullet, incoming: Bullet, incoming_path: str = ""
) -> StoredBullet:
    """Merge a lesson into a stored bullet by `curator.merge_strategy` and return the one that survives.

    `incoming_path` is where the incoming bullet's file lies, empty for a lesson that has none yet.
    Both are read again under the lock, so nothing that another process wrote is lost.
    """
    from memx.app.combine import combined_text
    from memx.curator.merge import merge
    from memx.store.naming import bullet_path

    store = project.store
    texts = {target.bullet.text, incoming.text}
    joined = combined_text(project, target.bullet, incoming)
    with store.lock():
        existing = store.read(target.path).bullet
        if incoming_path:
            incoming = store.read(incoming_path).bullet
        else:
            incoming = store.prepare(incoming)
            if incoming.id == existing.id:
                return take_more(store, target.path, incoming)
        if {existing.text, incoming.text} != texts:
            joined = ""  # written for texts that are no more
        plan = merge(existing, incoming, project.config.curator.merge_strategy, project.now, joined)
        if plan.absorbed is incoming:
            kept, kept_path, gone_path = existing, target.path, incoming_path
        else:
            kept, kept_path, gone_path = incoming, incoming_path, target.path
        home = kept_path or bullet_path(plan.survivor)
        archived = _archive_path(gone_path or bullet_path(plan.absorbed))
        if plan.absorbed.id == plan.survivor.id:
            # Two files of one bullet: in the archive the other must not count as one more with that id.
            archived = plan.prior_path(gone_path)
        asides = [
            (_bytes_of(store, gone_path, plan.absorbed), archived, bool(gone_path)),
            (_bytes_of(store, kept_path, kept), plan.prior_path(home), bool(kept_path)),
        ]
        if joined and plan.survivor.text == joined:
            store.keep_aside(joined.encode(), plan.joined_path(home))
        for data, path, _ in sorted(asides, key=lambda aside: aside[2]):
            store.keep_aside(data, path)
        survivor = _with_pending(project, plan.survivor, plan.absorbed) if gone_path else plan.survivor
        written = store.write(survivor, path=home)
        if gone_path:
            store.remove(gone_path)
            project.journal.settle([plan.absorbed.id])
        return written


def take_more(store: Store, path: str, incoming: Bullet) -> StoredBullet:
    """Add what a repeated lesson says more about itself: a tag, a tool, an anchor."""
    with store.lock():
        stored = store.read(path)
        changes: dict[str, object] = {}
        for name in ("tags", "tools", "entities", "anchors"):
            union = tuple(sorted({*getattr(stored.bullet, name), *getattr(incoming, name)}))
            if set(union) != set(getattr(stored.bullet, name)):
                changes[name] = union
        return store.edit(path, changes) if changes else stored


def _archive_path(path: str) -> str:
    return "archive/" + path.partition("/")[2]


def _bytes_of(store: Store, path: str, bullet: Bullet) -> bytes:
    from memx.store.codec import format_bullet

    return store.read_bytes(path) if path else format_bullet(bullet)


def _with_pending(project: Project, survivor: Bullet, absorbed: Bullet) -> Bullet:
    """Add the absorbed bullet's recalls that are in the journal alone; the survivor's own come with its write."""
    try:
        due = project.journal.fold({absorbed.id: absorbed.recall_count}).get(absorbed.id)
    except StoreError:
        return survivor
    if due is None:
        return survivor
    last = max(filter(None, (survivor.last_recalled, due.last)), default=None)
    count = survivor.recall_count + due.count - absorbed.recall_count
    return replace(survivor, recall_count=count, last_recalled=last)


def interrupted_merges(project: Project, live: Iterable[StoredBullet]) -> list[StoredBullet]:
    """Return the bullets whose merges a crash stopped at the last step.

    Another live bullet has them in `merged_from`, and the archive holds the same bytes.
    """
    bullets = list(live)
    absorbed = {name for stored in bullets for name in stored.bullet.merged_from if name != stored.bullet.id}
    return [s for s in bullets if s.bullet.id in absorbed and _has_copy(project.store, s)]


def _has_copy(store: Store, stored: StoredBullet) -> bool:
    data = store.read_bytes(stored.path)
    copies = store.find_by_name(stored.bullet.id, archived=True)
    return any(store.read_bytes(copy.path) == data for copy in copies)


def finish_merges(project: Project, live: Iterable[StoredBullet]) -> list[str]:
    """Remove the files of interrupted merges; return their paths."""
    with project.store.lock():
        found = interrupted_merges(project, live)
        for stored in found:
            project.store.remove(stored.path)
    return [stored.path for stored in found]


def unmerge(project: Project, reference: str, absorbed: str = "") -> Unmerged:
    """Undo a merge: the absorbed bullet's file comes back byte for byte, and the survivor's, unless it was edited.

    Without `absorbed` the last merge is undone. Raises StoreError.
    """
    from memx.app.stores import find_own

    store = project.store
    with store.lock():
        survivor = find_own(project, reference)
        name = _chosen(project, survivor, absorbed)
        copy = _archived(store, name)
        data = store.read_bytes(copy.path)
        home = (
            "bullets/"
            + copy.path.partition("/")[2].removesuffix(_SHARED)
            + (".md" if copy.path.endswith(_SHARED) else "")
        )
        back = _back_already(store, name, copy)
        taken = store.read_or_none(home)
        if not back and taken is not None and store.read_bytes(home) != data:
            raise StoreError("another file is there already", path=home)
        # Kept first: a second merge must not be proposed at once for what a person took apart.
        project.inbox.decide(pair_key(survivor.bullet.id, name), KEPT_APART)
        restored = back or store.put_back(data, home)
        is_exact, survivor = _restore_survivor(project, survivor, copy.bullet)
        if _is_needed(store, name):
            store.keep_aside(data, _shared_path(copy.path))
        else:
            store.discard(_shared_path(copy.path))
        if copy.path.endswith(".md"):
            store.discard(copy.path)
    return Unmerged(survivor, restored, is_exact)


def _back_already(store: Store, name: str, copy: StoredBullet) -> StoredBullet | None:
    """Return the live bullet when undoing another merge brought it back before."""
    live = store.find_by_name(name, archived=False)
    return live[0] if live and copy.path.endswith(_SHARED) else None


def _is_needed(store: Store, name: str) -> bool:
    """Tell whether another bullet absorbed this one too, as on two branches."""
    return any(name in stored.bullet.merged_from for stored in store.scan()[0])


def _shared_path(path: str) -> str:
    """Return where a text stays that is live again and that another merge holds as well.

    The name does not end in `.md`: a live file with a copy in the archive would be an interrupted merge.
    """
    return path if path.endswith(_SHARED) else path.removesuffix(".md") + _SHARED


def _shared(store: Store, name: str) -> list[StoredBullet]:
    """Return what `_shared_path` keeps of a bullet."""
    ending = name + _SHARED
    return [
        store.parse(store.read_bytes(path), path)
        for folder, _, files in os.walk(os.path.join(store.root, "archive"))
        for file in sorted(files)
        if file.endswith(ending)
        for path in [os.path.relpath(os.path.join(folder, file), store.root)]
    ]


def pair_key(a: str, b: str) -> str:
    """Return the name of a pair among the decisions of this clone."""
    return "+".join(sorted((a, b)))


def _chosen(project: Project, survivor: StoredBullet, absorbed: str) -> str:
    names = survivor.bullet.merged_from
    if absorbed:
        found = [name for name in names if name.startswith(absorbed)]
        if len(found) != 1:
            raise StoreError(f"{survivor.bullet.id} did not absorb {absorbed!r}", hint=_list(names))
        return found[0]
    if not names:
        raise StoreError(f"{survivor.bullet.id} absorbed nothing", path=survivor.path)
    latest = [name for name in names if _prior_of(project, survivor, name) is not None]
    if len(latest) != 1 and len(names) != 1:
        raise StoreError(f"{survivor.bullet.id} absorbed more than one bullet", hint=_list(names))
    return latest[0] if len(latest) == 1 else names[0]


def _list(names: tuple[str, ...]) -> str:
    return f"it absorbed {', '.join(names)}" if names else "it absorbed nothing"


def _archived(store: Store, name: str) -> StoredBullet:
    found = store.find_by_name(name, archived=True)
    if not found:
        found = [stored for stored in store.scan(archived=True)[0] if stored.bullet.id == name]
    found = found or _shared(store, name)
    if not found:
        raise StoreError(
            f"the text of {name} is not in the archive any more", hint=f"git log --all -- '*{name}*'"
        )
    return found[-1]


def _joined_path(survivor: StoredBullet, name: str) -> str:
    from memx.curator.merge import Merge

    absorbed = replace(survivor.bullet, id=name)
    return Merge(survivor.bullet, absorbed).joined_path(survivor.path)


def _prior_path(survivor: StoredBullet, name: str) -> str:
    from memx.curator.merge import Merge

    absorbed = replace(survivor.bullet, id=name)
    return Merge(survivor.bullet, absorbed).prior_path(survivor.path)


def _prior_of(project: Project, survivor: StoredBullet, name: str) -> bytes | None:
    """Return the survivor's bytes before it absorbed a bullet, if nothing but recalls has changed it since."""
    store = project.store
    try:
        before = store.read_bytes(_prior_path(survivor, name))
        absorbed = _archived(store, name).bullet
        current = store.read_bytes(survivor.path)
    except StoreError:
        return None
    joined = _joined_of(store, survivor, name)
    is_same = any(
        _replay(store, before, absorbed, survivor, strategy, joined) == current for strategy in _STRATEGIES
    )
    return before if is_same else None


def _joined_of(store: Store, survivor: StoredBullet, name: str) -> str:
    """Return the text that an LLM made of both, "" when sentences were joined."""
    try:
        return store.read_bytes(_joined_path(survivor, name)).decode("utf-8", "replace")
    except StoreError:
        return ""


def _replay(
    store: Store, before: bytes, absorbed: Bullet, survivor: StoredBullet, strategy: str, joined: str
) -> bytes:
    """Return what the merge made of the bytes before; recalls are taken from the survivor as it is."""
    from memx.curator.merge import merge
    from memx.store.codec import edit_bullet, format_bullet
    from memx.store.store import differences

    now = survivor.bullet
    prior = store.parse(before, survivor.path).bullet
    merged = merge(prior, absorbed, strategy, now.updated or 0.0, joined).survivor
    merged = replace(
        merged, recall_count=now.recall_count, last_recalled=now.last_recalled, updated=now.updated
    )
    if before == format_bullet(prior):
        # A lesson that came in and won was never a file: the merge wrote it whole.
        whole = format_bullet(merged)
        if whole == store.read_bytes(survivor.path):
            return whole
    try:
        return edit_bullet(before, differences(prior, merged), path=survivor.path)
    except FrontMatterError:
        return b""


def _restore_survivor(
    project: Project, survivor: StoredBullet, absorbed: Bullet
) -> tuple[bool, StoredBullet]:
    from memx.curator.merge import separate

    store = project.store
    before = _prior_of(project, survivor, absorbed.id)
    if before is not None:
        written = store.put_back(before, survivor.path)
        store.discard(_prior_path(survivor, absorbed.id))
        if _joined_of(store, survivor, absorbed.id):
            store.discard(_joined_path(survivor, absorbed.id))
        return True, written
    return False, store.write(separate(survivor.bullet, absorbed.id), path=survivor.path)
