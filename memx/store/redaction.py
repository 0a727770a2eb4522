"""Redaction of what goes to disk, through whatever sanitizer the store was given."""

from __future__ import annotations

from memx.document import FIELD_KINDS, decode_text
from memx.errors import FrontMatterError, SecretFoundError
from memx.record import replace
from memx.store.codec import edit_bullet, parse_bullet
from memx.store.naming import replace_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from memx.model import Bullet

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


REDACTED_FIELDS = (
    "text",
    "title",
    "source",
    "author",
    "lang",
    "tags",
    "tools",
    "entities",
    "anchors",
    "disputed_because",
)


def redact_value(value: Any, sanitizer: Sanitizer) -> Any:
    """Return a text or a tuple of texts redacted and without lone surrogates; other values as they are."""
    if isinstance(value, str):
        return sanitizer.sanitize(replace_surrogates(value)).text if value else value
    if isinstance(value, tuple | list):
        return tuple(redact_value(item, sanitizer) for item in value)
    return value


def redact_bullet(bullet: Bullet, sanitizer: Sanitizer) -> Bullet:
    """Return the bullet with every text of it redacted; ids, section and type are validated instead."""
    changes = {key: redact_value(getattr(bullet, key), sanitizer) for key in REDACTED_FIELDS}
    return replace(bullet, scope=_redact_scope(bullet.scope, sanitizer), **changes)


def redact_changes(changes: Mapping[str, object], sanitizer: Sanitizer) -> dict[str, object]:
    """Return the changes of an edit with every text of them redacted."""
    redacted = {
        key: redact_value(value, sanitizer) if key in REDACTED_FIELDS else value
        for key, value in changes.items()
    }
    scope = redacted.get("scope")
    return redacted | {"scope": _redact_scope(scope, sanitizer)} if isinstance(scope, str) else redacted


def redact_document(data: bytes, path: str, sanitizer: Sanitizer) -> bytes:
    """Return a file with its texts redacted, unknown keys and comments included.

    Raise FrontMatterError when it does not parse, SecretFoundError where redaction would break it.
    """
    text = decode_text(data, path)
    if sanitizer.sanitize(text).text == text:
        return data
    bullet = parse_bullet(data, path=path)
    clean = redact_bullet(bullet, sanitizer)
    names = (*FIELD_KINDS, "text")
    changed = {key: value for key in names if (value := getattr(clean, key)) != getattr(bullet, key)}
    data = edit_bullet(data, changed, path=path)
    redacted: bytes = redact_value(decode_text(data, path), sanitizer).encode()
    try:
        if parse_bullet(redacted, path=path) == parse_bullet(data, path=path):
            return redacted
    except FrontMatterError:
        pass
    findings = sanitizer.secrets(text)
    line = text.count("\n", 0, findings[0].start) + 1 if findings else None
    raise SecretFoundError("a secret cannot be redacted where it stands", path=path, line=line)


def _redact_scope(scope: str, sanitizer: Sanitizer) -> str:
    kind, colon, name = scope.partition(":")
    return f"{kind}:{redact_value(name, sanitizer)}" if colon else scope
