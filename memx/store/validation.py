"""What must hold for a bullet before it is written, and for a file before it is accepted."""

from __future__ import annotations

from memx.errors import StoreError, UnsafePathError
from memx.model import SECTIONS, TYPES, Bullet, Problem
from memx.record import replace
from memx.store.codec import SCORE_LIMIT, line_of_key, parse_scope
from memx.store.naming import is_safe_id, replace_surrogates
from memx.store.paths import refuse_unsafe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    class Redaction(Protocol):
        """What a sanitizer returns."""

        @property
        def text(self) -> str:
            """The text without secrets."""

    class Secret(Protocol):
        """A secret found in a text."""

        @property
        def kind(self) -> str:
            """What it looks like."""

        @property
        def start(self) -> int:
            """Index of its first character."""

    class Sanitizer(Protocol):
        """What the store needs of a PrivacySanitizer."""

        def sanitize(self, text: str) -> Redaction:
            """Return the text without secrets and private paths."""

        def secrets(self, text: str) -> tuple[Secret, ...]:
            """Return the secrets in a text."""


TEXT_LIMIT_CHARS = 1024 * 1024

_WORDS = ("title", "source", "author", "lang")
_SETS = ("tags", "tools", "entities", "anchors")
_IDS = ("merged_from", "supersedes", "conflicts_with")


def redact_value(value: Any, sanitizer: Sanitizer) -> Any:
    """Return a text or a tuple of texts redacted and without lone surrogates; other values as they are."""
    if isinstance(value, str):
        return sanitizer.sanitize(replace_surrogates(value)).text if value else value
    if isinstance(value, tuple | list):
        return tuple(redact_value(item, sanitizer) for item in value)
    return value


def redact_bullet(bullet: Bullet, sanitizer: Sanitizer) -> Bullet:
    """Return the bullet with every text of it redacted; ids, section and type are validated instead."""
    changes = {key: redact_value(getattr(bullet, key), sanitizer) for key in ("text", *_WORDS, *_SETS)}
    scope_kind, colon, scope_name = bullet.scope.partition(":")
    if colon:
        changes["scope"] = f"{scope_kind}:{redact_value(scope_name, sanitizer)}"
    return replace(bullet, **changes)


def redact_changes(changes: Mapping[str, object], sanitizer: Sanitizer) -> dict[str, object]:
    """Return the changes of an edit with every text of them redacted."""
    free = ("text", *_WORDS, *_SETS, "scope")
    return {key: redact_value(value, sanitizer) if key in free else value for key, value in changes.items()}


def validate_bullet(bullet: Bullet) -> None:
    """Raise StoreError, or UnsafePathError for an anchor or id that leads elsewhere, naming what is wrong."""
    if not bullet.text.strip():
        raise StoreError("a bullet needs text")
    if len(bullet.text) > TEXT_LIMIT_CHARS:
        raise StoreError(
            f"the text is longer than {TEXT_LIMIT_CHARS} characters", hint="keep the lesson, not the log"
        )
    if bullet.section not in SECTIONS:
        raise StoreError(f"there is no section {bullet.section!r}", hint="sections: " + ", ".join(SECTIONS))
    if bullet.type not in TYPES:
        raise StoreError(f"there is no type {bullet.type!r}", hint="types: " + ", ".join(TYPES))
    if not 0 <= bullet.score <= SCORE_LIMIT:
        raise StoreError(f"the score {bullet.score} is not between 0 and {SCORE_LIMIT}")
    if bullet.recall_count < 0:
        raise StoreError(f"the recall count {bullet.recall_count} is negative")
    if bullet.half_life_days is not None and not 0 < bullet.half_life_days < float("inf"):
        raise StoreError(f"the half-life of {bullet.half_life_days} days is not above 0")
    try:
        parse_scope(bullet.scope)
    except ValueError as error:
        raise StoreError(f"scope: {error}") from error
    for identifier in (bullet.id, *(item for key in _IDS for item in getattr(bullet, key))):
        if not is_safe_id(identifier):
            raise UnsafePathError(
                "this is not an id", path=identifier.encode("ascii", "backslashreplace").decode()
            )
    for anchor in bullet.anchors:
        refuse_unsafe(anchor, "anchor")


def find_oddities(fields: Mapping[str, Any], bullet: Bullet, text: str, path: str) -> list[Problem]:
    """Return what a file says that reads as something else: unknown sections and types, anchors that lead out."""
    problems: list[Problem] = []
    for key, known in (("section", SECTIONS), ("type", TYPES)):
        value = fields.get(key)
        if isinstance(value, str) and value.strip().lower() not in known:
            hint = "one of: " + ", ".join(known)
            message = f"unknown {key} {value!r}"
            problems.append(Problem(message, path, line_of_key(text, key), hint=hint, kind=key))
    for anchor in bullet.anchors:
        try:
            refuse_unsafe(anchor, "anchor")
        except UnsafePathError as error:
            line = line_of_key(text, "anchors")
            message = f"{error.message}: {anchor!r}"
            problems.append(Problem(message, path, line, hint=error.hint or "", kind="unsafe-path"))
    return problems


def find_secrets(text: str, path: str, sanitizer: Sanitizer) -> list[Problem]:
    """Return a problem for each secret in a file; the secret itself is not repeated."""
    return [
        Problem(
            f"this looks like a secret ({finding.kind})",
            path,
            text.count("\n", 0, finding.start) + 1,
            hint="memx edit redacts the file when it is saved; revoke the secret, it is in git",
            kind="secret",
        )
        for finding in sanitizer.secrets(text)
    ]
