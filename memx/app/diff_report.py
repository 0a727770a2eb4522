"""What `memx diff` reports, as values and as the JSON document."""

from __future__ import annotations

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memx.model import StoredBullet

CHANGE_KINDS = ("added", "changed", "promoted", "archived", "restored", "removed", "moved", "counted")
FINDING_KINDS = {
    "secret": "A bullet holds what looks like a secret.",
    "conflict-marker": "A bullet still holds git's conflict markers.",
    "front-matter": "A bullet's front matter does not parse.",
    "unsafe-path": "An anchor or file leads out of the repository.",
    "duplicate-id": "Two files hold the same bullet.",
    "injection": "A bullet gives orders to an agent.",
    "contradiction": "Two bullets contradict each other.",
    "duplicate": "Two bullets are the same lesson.",
    "similar": "Two bullets are nearly the same lesson.",
    "drifted": "The code that a bullet speaks about has changed.",
    "orphaned": "The code that a bullet speaks about is gone.",
    "form": "A bullet is not in the form that memx writes.",
}
"""Every kind of finding, and what it means in general."""


@record
class Change:
    """What happened to one bullet; `fields` are those whose values differ."""

    kind: str
    id: str
    old: StoredBullet | None
    new: StoredBullet | None
    fields: tuple[str, ...] = ()

    @property
    def stored(self) -> StoredBullet:
        """The bullet as it is after the change, else as it was."""
        found = self.new or self.old
        if found is None:
            raise ValueError("a change has a side")
        return found


@record
class Finding:
    """Something that a reviewer should look at: level error, warning or note; `path` is below the store.

    `other` is the second bullet of a pair, `store` where that lies when it is not on this side.
    """

    kind: str
    level: str
    message: str
    path: str
    line: int | None = None
    id: str = ""
    other: str = ""
    store: str = ""


@record
class Touched:
    """A file of code that the range changes, and the bullets that are anchored at it."""

    path: str
    ids: tuple[str, ...]


@record
class DiffReport:
    """The whole comparison; an empty `head` is the work tree, `degraded` names what could not be looked at."""

    label: str
    base: str
    head: str
    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]
    touched: tuple[Touched, ...]
    degraded: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return how many bullets were added, changed and so on; kinds that do not occur are left out."""
        kinds = [change.kind for change in self.changes]
        return {kind: kinds.count(kind) for kind in CHANGE_KINDS if kind in kinds}

    def failing(self, kinds: frozenset[str]) -> list[Finding]:
        """Return the findings of these kinds."""
        return [finding for finding in self.findings if finding.kind in kinds]

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "range": self.label,
            "base": self.base,
            "head": self.head or None,
            "counts": self.counts(),
            "changes": [change_document(change) for change in self.changes],
            "findings": [finding_document(finding) for finding in self.findings],
            "touched": [{"path": one.path, "bullets": list(one.ids)} for one in self.touched],
            "degraded": list(self.degraded),
        }


def change_document(change: Change) -> dict[str, Any]:
    """Return one change as JSON values."""
    stored, old = change.stored, change.old
    return {
        "kind": change.kind,
        "id": change.id,
        "path": stored.path,
        "old_path": None if old is None or old.path == stored.path else old.path,
        "section": stored.bullet.section,
        "type": stored.bullet.type,
        "scope": stored.bullet.scope,
        "old_scope": None if old is None or old.bullet.scope == stored.bullet.scope else old.bullet.scope,
        "title": stored.bullet.title,
        "text": stored.bullet.text,
        "old_text": old.bullet.text if old is not None and "text" in change.fields else None,
        "fields": list(change.fields),
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return one finding as JSON values."""
    return {
        "kind": finding.kind,
        "level": finding.level,
        "message": finding.message,
        "path": finding.path,
        "line": finding.line,
        "id": finding.id or None,
        "other": finding.other or None,
        "store": finding.store or None,
    }
