"""RFC 3339 text to seconds since the epoch and back."""

from __future__ import annotations

from datetime import UTC, datetime


def parse_time(text: str) -> float:
    """Return seconds since the epoch; a time without a zone counts as UTC.

    Accepts a date, and RFC 3339 with `T` or a space. Raises ValueError.
    """
    value = text.strip()
    if value[-1:] in ("Z", "z"):
        value = value[:-1] + "+00:00"
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        # An offset may lead out of the years that can be written back.
        return moment.astimezone(UTC).timestamp()
    except OverflowError as error:
        message = f"time out of range: {text!r}"
        raise ValueError(message) from error


def format_time(seconds: float) -> str:
    """Return `2026-11-30T09:12:00Z`, whole seconds, always UTC."""
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, OSError) as error:
        message = f"time out of range: {seconds!r}"
        raise ValueError(message) from error
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
