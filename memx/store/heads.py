"""Only what decay needs of a bullet's file: one expression instead of the reader, for a whole store at a time.

The expression knows the canonical form with plain ASCII values and nothing
else. What it accepts reads the same through `parse_bullet` (a property test
holds them equal); what it does not accept says nothing, and is parsed.
"""

from __future__ import annotations

import re

from memx.model import SCOPE_GLOBAL, SCOPE_PROJECT, SECTIONS, TYPES
from memx.record import record
from memx.store.head_cache import HEAD
from memx.timestamp import parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.model import StoredBullet


@record
class Head:
    """What decay needs of one bullet; `headline` is the beginning of the title, else of the text, on one line."""

    id: str
    path: str
    headline: str
    type: str
    recall_count: int
    created: float | None
    updated: float | None
    accepted: float | None
    half_life_days: float | None
    pinned: bool
    disputed: float | None
    scope: str


_TIME = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_PLAIN = rb"(?!null\n|Null\n|NULL\n)[A-Za-z0-9/_.(+$](?:[!-~ ]*[!-9;-~])?"
_NO_MARKS = rb"(?![^\n]*(?:: | #))"
_VALUE = _NO_MARKS + _PLAIN
_SET = rb":\n(?:  - " + _VALUE + rb"\n)+)?"
_IDS = rb":\n(?:  - [a-z][a-z0-9]{9}\n)+)?"
_CANONICAL = re.compile(
    rb"---\nid: ([a-z][a-z0-9]{9})\n"
    rb"(?:title: (" + _VALUE + rb")\n)?"
    rb"section: (?:" + "|".join(SECTIONS).encode() + rb")\n"
    rb"type: (" + "|".join(TYPES).encode() + rb")\n"
    rb"score: (?:[0-9]{1,2}|100)\n"
    rb"scope: (project|global)\n"
    rb"recall_count: ([0-9]{1,9})\n"
    rb"(?:last_recalled: " + _TIME + rb"\n)?"
    rb"(?:pinned: (true)\n)?"
    rb"(?:half_life_days: ([1-9][0-9]{0,4})\n)?"
    rb"(?:tags"
    + _SET
    + rb"(?:tools"
    + _SET
    + rb"(?:entities"
    + _SET
    + rb"(?:anchors"
    + _SET
    + rb"created: ("
    + _TIME
    + rb")\n"
    rb"updated: (" + _TIME + rb")\n"
    rb"(?:accepted: (" + _TIME + rb")\n)?"
    rb"(?:source: " + _VALUE + rb"\n)?"
    rb"(?:author: " + _VALUE + rb"\n)?"
    rb"(?:lang: " + _VALUE + rb"\n)?"
    rb"(?:merged_from"
    + _IDS
    + rb"(?:supersedes"
    + _IDS
    + rb"(?:conflicts_with"
    + _IDS
    + rb"---\n([^\0\r]+)\Z"
)

_TYPE_NAMES = {name.encode(): name for name in TYPES}
_SCOPES = {b"project": SCOPE_PROJECT, b"global": SCOPE_GLOBAL}
_FILE_LIMIT_BYTES = 64 * 1024
_MARKER_SIGNS = (b"<<<<<<<", b">>>>>>>", b"|||||||")
_HEADLINE_CHARS = 200


def read_head(data: bytes, path: str) -> tuple[object, ...] | None:
    """Return HEAD and the values of a canonical file's Head; None: ask the reader."""
    match = _CANONICAL.match(data) if len(data) < _FILE_LIMIT_BYTES else None
    if match is None or any(signs in data for signs in _MARKER_SIGNS):
        return None
    name, title, kind, scope, count, pin, life, created, updated, accepted, text = match.groups()
    try:
        body = text.decode().removesuffix("\n")
        begun = _time(created)
        if not body or body.isspace():
            return None
        return (
            HEAD,
            name.decode(),
            path,
            _headline(body if title is None else title.decode()),
            _TYPE_NAMES[kind],
            int(count),
            begun,
            begun if updated == created else _time(updated),
            None if accepted is None else _time(accepted),
            None if life is None else float(life),
            pin is not None,
            None,
            _SCOPES[scope],
        )
    except ValueError:
        return None


def values_of(stored: StoredBullet) -> tuple[object, ...]:
    """Return HEAD and the values of the Head of a bullet that was parsed."""
    bullet = stored.bullet
    return (
        HEAD,
        bullet.id,
        stored.path,
        _headline(bullet.title or bullet.text),
        bullet.type,
        bullet.recall_count,
        bullet.created,
        bullet.updated,
        bullet.accepted,
        bullet.half_life_days,
        bullet.pinned,
        bullet.disputed,
        bullet.scope,
    )


def _headline(text: str) -> str:
    return " ".join(text[:_HEADLINE_CHARS].split())


def _time(text: bytes) -> float:
    return parse_time(text.decode())
