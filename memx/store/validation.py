"""What must hold for a bullet before it is written."""

from __future__ import annotations

from memx.errors import StoreError, UnsafePathError
from memx.model import SECTIONS, TYPES, Bullet
from memx.store.codec import SCORE_LIMIT, parse_scope
from memx.store.naming import is_safe_id
from memx.store.paths import refuse_unsafe

TEXT_LIMIT_CHARS = 1024 * 1024


def validate_bullet(bullet: Bullet) -> None:
    """Raise StoreError, or UnsafePathError for an anchor or id that leads elsewhere, naming what is wrong."""
    validate_text(bullet.text)
    validate_section(bullet.section)
    if bullet.type not in TYPES:
        raise StoreError(f"there is no type {bullet.type!r}", hint="types: " + ", ".join(TYPES))
    _validate_numbers(bullet)
    try:
        parse_scope(bullet.scope)
    except ValueError as error:
        raise StoreError(f"scope: {error}") from error
    others = (*bullet.merged_from, *bullet.supersedes, *bullet.conflicts_with, *bullet.compatible_with)
    for identifier in (bullet.id, *others):
        if not is_safe_id(identifier):
            shown = identifier.encode("ascii", "backslashreplace").decode()
            raise UnsafePathError("this is not an id", path=shown)
    for anchor in bullet.anchors:
        refuse_unsafe(anchor, "anchor")


def validate_section(section: str) -> None:
    """Raise StoreError for an unknown section."""
    if section not in SECTIONS:
        raise StoreError(f"there is no section {section!r}", hint="sections: " + ", ".join(SECTIONS))


def validate_text(text: str) -> None:
    """Raise StoreError for a text that is blank or too long."""
    if not text.strip():
        raise StoreError("a bullet needs text", hint='memx add "what was learnt"')
    if len(text) > TEXT_LIMIT_CHARS:
        message = f"the text is longer than {TEXT_LIMIT_CHARS} characters"
        raise StoreError(message, hint="keep the lesson, not the log")


def _validate_numbers(bullet: Bullet) -> None:
    if not 0 <= bullet.score <= SCORE_LIMIT:
        raise StoreError(f"the score {bullet.score} is not between 0 and {SCORE_LIMIT}")
    if bullet.recall_count < 0:
        raise StoreError(f"the recall count {bullet.recall_count} is negative")
    if bullet.half_life_days is not None and not 0 < bullet.half_life_days < float("inf"):
        raise StoreError(f"the half-life of {bullet.half_life_days} days is not above 0")
