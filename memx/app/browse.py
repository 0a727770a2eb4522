"""`memx list` and `memx show`: what a viewer may see in all stores, filtered, in a stable order."""

from __future__ import annotations

from memx.errors import StoreError
from memx.record import record
from memx.supersession import Supersession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project
    from memx.model import Bullet, Problem, StoredBullet


@record
class Listing:
    """The bullets that a viewer sees, which of them (store, id) another one supersedes, and what cannot be read."""

    bullets: list[StoredBullet]
    superseded: frozenset[tuple[str, str]]
    problems: list[Problem]


def browse(
    project: Project,
    *,
    section: str = "",
    type: str = "",  # noqa: A002 (the field's name)
    tag: str = "",
    scope: str = "",
    workspace: str = "",
    archived: bool = False,
    store: str = "",
) -> Listing:
    """Return the visible bullets, best score first within a section, and what could not be read.

    The project's own come first, then those of other stores by name; `store` names a single one.
    """
    from memx.app.count import with_recalls
    from memx.app.stores import find_stores, named_store
    from memx.app.viewer import make_viewer
    from memx.generator.scopes import is_visible

    places = [named_store(project, store)] if store else find_stores(project)
    bullets: list[tuple[int, str, StoredBullet]] = []
    problems: list[Problem] = []
    for order, place in enumerate(places):
        found, worse = _scan(place, archived=archived)
        found = with_recalls(place, found)
        bullets += [(order, place.layer_scope(stored.bullet.scope), stored) for stored in found]
        problems += worse
    viewer = make_viewer(project, scope=scope, workspace=workspace, scopes={reach for _, reach, _ in bullets})
    chosen = [
        (order, stored)
        for order, reach, stored in bullets
        if is_visible(reach, viewer)
        and (not section or stored.bullet.section == section)
        and (not type or stored.bullet.type == type)
        and (not tag or tag.casefold() in {own.casefold() for own in stored.bullet.tags})
    ]
    chosen.sort(key=lambda s: (s[1].archived, s[0], s[1].bullet.section, -s[1].bullet.score, s[1].bullet.id))
    visible = [stored for _, reach, stored in bullets if not stored.archived and is_visible(reach, viewer)]
    return Listing([stored for _, stored in chosen], _superseded(visible), problems)


def _superseded(live: list[StoredBullet]) -> frozenset[tuple[str, str]]:
    """Return (store, id) of what is superseded; each store decides about its own bullets only."""
    by_store: dict[str, list[Bullet]] = {}
    for stored in live:
        by_store.setdefault(stored.store, []).append(stored.bullet)
    return frozenset(
        (store, name) for store, bullets in by_store.items() for name in Supersession.of(bullets).superseded
    )


def _scan(place: Project, *, archived: bool) -> tuple[list[StoredBullet], list[Problem]]:
    bullets, problems = place.store.scan()
    if archived:
        more, worse = place.store.scan(archived=True)
        bullets, problems = bullets + more, problems + worse
    return bullets, problems


def find_visible(
    project: Project, reference: str, *, scope: str = "", workspace: str = ""
) -> tuple[Project, StoredBullet]:
    """Return a bullet and its store; raises StoreError when there is none or this viewer does not see it.

    Who changes a bullet names it on purpose and needs no view of it; who reads
    sees what a search would show.
    """
    from memx.app.stores import find_bullet

    place, stored = find_bullet(project, reference)
    require_visible(project, place, stored, scope=scope, workspace=workspace)
    return place, stored


def require_visible(
    project: Project, place: Project, stored: StoredBullet, *, scope: str = "", workspace: str = ""
) -> None:
    """Raise StoreError with the way to see it when this viewer does not see a bullet of a store."""
    from memx.app.viewer import make_viewer
    from memx.generator.scopes import is_visible, scope_of

    reach = place.layer_scope(stored.bullet.scope)
    viewer = make_viewer(project, scope=scope, workspace=workspace, scopes=(reach,))
    if not is_visible(reach, viewer):
        raise StoreError(
            f"bullet {stored.bullet.id!r} is of {reach}, which is not seen from {scope_of(viewer)}",
            hint=f"memx show {stored.bullet.id} --scope {reach}",
        )
