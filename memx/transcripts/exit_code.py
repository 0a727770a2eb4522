"""Exit codes as tools write them into the text of a result."""

from __future__ import annotations

import re

# Tools put the code into the first or the last lines; the body may hold anything.
_EDGE_CHARS = 600
_DIGITS = r"(-?\d{1,10})"
_HEAD = re.compile(
    r"\A\s*(?:Exit code:? " + _DIGITS + r"\b|<returncode>" + _DIGITS + r"</returncode>"
    r"|Chunk ID: [^\n]*\nWall time: [^\n]*\nProcess exited with code " + _DIGITS + r"\b"
    r"|(?:Wall time: [^\n]*\n)?Process exited with code " + _DIGITS + r"\b)"
)
_TAIL = re.compile(
    r"(?:^Exit Code: " + _DIGITS + r"\b|<exited with exit code " + _DIGITS + r">"
    r"|^Command (?:executed successfully|failed)[^\n]{0,40}\bexit code:? " + _DIGITS + r"\b"
    r"|^Exit code: " + _DIGITS + r"\b"
    r"|^\[?(?:Process|Command) (?:exited|finished|completed) with (?:exit )?code:? " + _DIGITS + r"\b)",
    re.MULTILINE | re.IGNORECASE,
)
MAX_CODE = 1 << 31


def exit_code_of(text: str) -> int | None:
    """Return the exit code that the tool wrote at the start or the end of a result, or None."""
    found = _HEAD.match(text[:_EDGE_CHARS])
    if found is None:
        for found in _TAIL.finditer(text[-_EDGE_CHARS:]):  # noqa: B007 (the last one counts)
            pass
    if found is None:
        return None
    return number(next(group for group in found.groups() if group is not None))


def number(value: object) -> int | None:
    """Return an exit code from JSON, or None when it is no sensible integer."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        code = int(value)
    except ValueError:
        return None
    return code if abs(code) <= MAX_CODE else None
