"""What the sanitizer reports."""

from __future__ import annotations

from memx.record import record


@record
class Finding:
    """A place in the original text: kind, half-open range of characters, whether it was a secret."""

    kind: str
    start: int
    end: int
    is_secret: bool


@record
class Redaction:
    """The text fit for disk and what was taken out of it."""

    text: str
    findings: tuple[Finding, ...] = ()


@record
class Match:
    """A range of the view that a detector wants replaced; higher `priority` names an overlap."""

    kind: str
    start: int
    end: int
    replacement: str
    is_secret: bool = True
    priority: int = 0


def secret(kind: str, start: int, end: int, *, priority: int = 0) -> Match:
    """Return the match of a secret, replaced by `<redacted:kind>`."""
    return Match(kind, start, end, f"<redacted:{kind}>", is_secret=True, priority=priority)


def personal(kind: str, start: int, end: int, replacement: str) -> Match:
    """Return the match of something private that is no secret."""
    return Match(kind, start, end, replacement, is_secret=False, priority=-1)
