"""Contradictions and duplicates between the two sides of a merge: git joins files, not what they say.

Found behind git's back after a merge or a rebase and kept as notes, which hold
for as long as both bullets live and say what they said.
"""

from __future__ import annotations

import json
import os

from memx.amount import amount
from memx.errors import GitError, StoreError
from memx.record import record
from memx.supersession import Supersession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memx.app.diff_report import Finding
    from memx.app.project import Project
    from memx.model import StoredBullet

NOTE_LIMIT = 200
_FILE = "merge-notes.json"
_KINDS = ("contradiction", "duplicate")


@record
class MergeNote:
    """A pair of live bullets that a merge brought together: kind contradiction or duplicate, and why."""

    kind: str
    a: StoredBullet
    b: StoredBullet
    message: str


def check_merge(project: Project, ours: str, theirs: str) -> list[Finding]:
    """Note what the two sides say of the same thing; nothing for a fast-forward. Returns the findings."""
    from memx.app.diff import find_rewritten
    from memx.app.diff_meaning import find_pairs
    from memx.repo.compare import merge_base
    from memx.repo.history import resolve_commit

    repository = project.repository
    if repository is None:
        return []
    try:
        one, other = resolve_commit(repository, ours), resolve_commit(repository, theirs)
        base = merge_base(repository, one, [other])
    except GitError:
        return []  # no second parent: a fast-forward
    mine = find_rewritten(project, repository, base, one)
    brought = {
        name: stored
        for name, stored in find_rewritten(project, repository, base, other).items()
        # After a rebase theirs holds our own changes as well.
        if name not in mine or mine[name].bullet.text != stored.bullet.text
    }
    if not mine or not brought:
        return []
    live = {stored.bullet.id: stored for stored in project.store.scan()[0]}
    sides = [{name: live[name] for name in side if name in live} for side in (mine, brought)]
    found, _ = find_pairs(project, sides[1], sides[0], {})
    wanted = [f for f in found if f.kind in _KINDS and f.other in sides[0] and f.other not in sides[1]]
    if wanted:
        _keep(project, wanted, live)
    return wanted


def merge_notes(project: Project) -> list[MergeNote]:
    """Return the notes that still hold, contradictions first."""
    rows = _read(project)
    if not rows:
        return []
    try:
        live = {stored.bullet.id: stored for stored in project.store.scan()[0]}
    except StoreError:
        return []
    links = Supersession.of(stored.bullet for stored in live.values())
    notes = [
        MergeNote(row["kind"], live[row["a"]], live[row["b"]], row["message"])
        for row in rows
        if _holds(row, live, links)
    ]
    return sorted(notes, key=lambda note: (note.kind, note.a.bullet.id, note.b.bullet.id))


def summary(notes: Iterable[MergeNote]) -> str:
    """Return one line on the notes, '' without any."""
    kinds = [note.kind for note in notes]
    counted = [amount(kinds.count(kind), kind) for kind in _KINDS if kind in kinds]
    return f"a merge brought together {' and '.join(counted)} (memx conflicts)" if counted else ""


def _keep(project: Project, findings: Iterable[Finding], live: Mapping[str, StoredBullet]) -> None:
    from memx.store.atomic import write_atomically
    from memx.store.lock import Lock

    new = [
        {
            "kind": finding.kind,
            "a": finding.id,
            "b": finding.other,
            "message": project.sanitizer.sanitize(finding.message).text,
            "texts": [_digest(live[finding.id]), _digest(live[finding.other])],
        }
        for finding in findings
    ]
    with Lock(os.path.join(project.state_dir, "merge-notes.lock")):
        links = Supersession.of(stored.bullet for stored in live.values())
        rows = [*(row for row in _read(project) if row not in new and _holds(row, live, links)), *new]
        data = json.dumps(rows[-NOTE_LIMIT:], ensure_ascii=False, indent=1).encode()
        write_atomically(os.path.join(project.state_dir, _FILE), data)


def _read(project: Project) -> list[dict[str, str]]:
    try:
        with open(os.path.join(project.state_dir, _FILE), "rb") as stream:
            rows = json.loads(stream.read())
    except (OSError, ValueError):
        return []
    keys = {"kind", "a", "b", "message", "texts"}
    return [row for row in rows if isinstance(row, dict) and keys <= row.keys()]


def _holds(row: Mapping[str, object], live: Mapping[str, StoredBullet], links: Supersession) -> bool:
    a, b = live.get(str(row["a"])), live.get(str(row["b"]))
    if a is None or b is None or row["texts"] != [_digest(a), _digest(b)]:
        return False
    if b.bullet.id in a.bullet.compatible_with or a.bullet.id in b.bullet.compatible_with:
        return False
    return not links.settles(a.bullet.id, b.bullet.id)


def _digest(stored: StoredBullet) -> str:
    from memx.digest import sha256

    return str(sha256(stored.bullet.text.encode("utf-8", "surrogatepass")).hexdigest()[:16])
