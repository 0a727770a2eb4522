"""`memx export`: all bullets that a viewer sees, one at a time, as documents for other programs or for readers."""

from __future__ import annotations

import os
from itertools import islice

from memx.errors import StoreError, UsageError
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memx.app.project import Project
    from memx.model import Bullet, Problem, StoredBullet

FORMATS = ("json", "jsonl", "markdown")
JSON_VERSION = 1

BATCH = 20
"""Bullets that are redacted at once: twice as fast as one by one."""

_NAMES = ("tags", "tools", "entities", "anchors")


@record
class Selection:
    """Which bullets: the fields are the flags of `memx list` and `memx export`."""

    section: str = ""
    type: str = ""
    tag: str = ""
    scope: str = ""
    workspace: str = ""
    store: str = ""
    archived: bool = False


def export_bullets(
    project: Project,
    selection: Selection,
    problems: list[Problem],
    report: Callable[[str, int, int], None] | None = None,
) -> Iterator[StoredBullet]:
    """Yield the visible bullets, redacted and with their effective recalls: the project's first, in path order.

    A file that does not parse is not among them; `problems` names it once the
    iterator is through. `report(stage, done, total)` hears of each file. Raises UsageError for a scope of another
    form and StoreError where there is no store.
    """
    from memx.app.stores import find_stores, named_store
    from memx.app.viewer import make_viewer
    from memx.generator.scopes import WORKSPACE_PREFIX, is_visible

    places = [named_store(project, selection.store)] if selection.store else find_stores(project)
    # Which scopes occur is not known before the end, so git is asked for branches in any case.
    viewer = make_viewer(
        project, scope=selection.scope, workspace=selection.workspace, scopes=(WORKSPACE_PREFIX,)
    )
    chosen = (
        stored
        for place, stored in _read(places, selection, problems, report)
        if is_visible(place.layer_scope(stored.bullet.scope), viewer) and _is_chosen(stored.bullet, selection)
    )
    while batch := list(islice(chosen, BATCH)):
        yield from _redacted(project, batch)


def _read(
    places: Sequence[Project],
    selection: Selection,
    problems: list[Problem],
    report: Callable[[str, int, int], None] | None,
) -> Iterator[tuple[Project, StoredBullet]]:
    """Yield every bullet with its store and its effective recalls."""
    parts = (False, True) if selection.archived else (False,)
    total = sum(len(place.store.paths(archived=part)) for place in places for part in parts) if report else 0
    done = 0
    for place in places:
        counts = place.journal.counts()
        for part in parts:
            for stored in place.store.stream(problems, archived=part):
                done += 1
                if report:
                    report("bullets", done, total)
                bullet = stored.bullet
                count = counts.effective(bullet.id, bullet.recall_count)
                is_same = count == bullet.recall_count
                yield (
                    place,
                    stored if is_same else replace(stored, bullet=replace(bullet, recall_count=count)),
                )


def _is_chosen(bullet: Bullet, selection: Selection) -> bool:
    return (
        (not selection.section or bullet.section == selection.section)
        and (not selection.type or bullet.type == selection.type)
        and (not selection.tag or selection.tag in bullet.tags)
    )


def _redacted(project: Project, batch: list[StoredBullet]) -> list[StoredBullet]:
    """Return the bullets as the write path would have stored them: a file written by hand may hold anything.

    Nearly all of them have been through it, so a whole batch is tried at once.
    """
    from memx.store.redaction import redact_bullet, redact_value

    text = "\n\n".join(_texts(stored.bullet) for stored in batch)
    if redact_value(text, project.sanitizer) == text:
        return batch
    return [replace(stored, bullet=redact_bullet(stored.bullet, project.sanitizer)) for stored in batch]


def _texts(bullet: Bullet) -> str:
    from memx.store.redaction import REDACTED_FIELDS

    values = (getattr(bullet, name) for name in REDACTED_FIELDS)
    return "\n".join((bullet.scope, *(v if isinstance(v, str) else "\n".join(v) for v in values)))


def format_bullets(bullets: Iterable[StoredBullet], problems: list[Problem], form: str) -> Iterator[str]:
    """Yield the pieces of the export; `problems` is read after the last bullet. Raises ValueError for a form."""
    if form == "json":
        return _json(bullets, problems)
    if form == "jsonl":
        return (_line(stored) + "\n" for stored in bullets)
    if form == "markdown":
        return _markdown(bullets)
    raise ValueError(f"unknown form {form!r}")


def _json(bullets: Iterable[StoredBullet], problems: list[Problem]) -> Iterator[str]:
    """Yield one document of the shape that `memx list --json` has, a bullet a line."""
    from memx.app.documents import problem_documents

    yield f'{{"version":{JSON_VERSION},"bullets":['
    separator = "\n"
    for stored in bullets:
        yield separator + _line(stored)
        separator = ",\n"
    yield f'\n],"problems":{_dump(problem_documents(problems))}}}\n'


def _line(stored: StoredBullet) -> str:
    from memx.app.documents import bullet_document

    return _dump(bullet_document(stored))


def _dump(value: object) -> str:
    from json import dumps

    return dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()


def _markdown(bullets: Iterable[StoredBullet]) -> Iterator[str]:
    from memx.escape import show_controls

    separator = ""
    for stored in bullets:
        bullet = stored.bullet
        title = " ".join((bullet.title or bullet.id).split())
        marks = ", archived" if stored.archived else ""
        head = f"{bullet.id}: {bullet.section}, {bullet.type}, {bullet.scope}, score {bullet.score}{marks}"
        lines = [f"## {title}", "", head, *_facts(stored), ""]
        # Quoted, a line of a bullet is never a line of the document.
        lines += [f"> {line}".rstrip() for line in bullet.text.splitlines()]
        yield separator + "".join(f"{show_controls(line)}\n" for line in lines)
        separator = "\n"


def _facts(stored: StoredBullet) -> Iterator[str]:
    bullet = stored.bullet
    yield f"- file: {stored.store}:{stored.path}"
    if bullet.source:
        yield f"- source: {' '.join(bullet.source.split())}"
    for name in _NAMES:
        values = getattr(bullet, name)
        if values:
            yield f"- {name}: {', '.join(' '.join(value.split()) for value in values)}"


def write_export(project: Project, path: str, pieces: Iterable[str]) -> None:
    """Write the pieces into a file, whole or not at all; raises StoreError, and UsageError for a path in a store.

    What is no regular file, such as a pipe, is written to as it is.
    """
    from memx.store.atomic import write_atomically

    target = os.path.realpath(os.path.join(project.cwd, path))
    _refuse_stores(project, target, path)
    chunks = (piece.encode() for piece in pieces)
    try:
        if os.path.isdir(target) or not os.path.isdir(os.path.dirname(target)):
            raise UsageError(
                "no file can be written there", path=path, hint="name a file in an existing folder"
            )
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as stream:
                stream.writelines(chunks)
        else:
            write_atomically(target, chunks)
    except OSError as error:
        raise StoreError(f"cannot write the export ({error.strerror})", path=path) from error


def _refuse_stores(project: Project, target: str, path: str) -> None:
    """Keep exports out of stores: a file there is a bullet, and bullets have one way in."""
    from memx.app.stores import find_stores

    for place in find_stores(project):
        root = os.path.realpath(place.store_root)
        if target == root or target.startswith(root + os.sep):
            raise UsageError("an export does not belong in a store", path=path, hint="name a file outside")
