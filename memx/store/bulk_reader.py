"""Canonical files, read by one regular expression each: for who reads thousands of them.

Compiling it takes some milliseconds, which a search does not have; then it reads a file in a third of the time of
the strict reader. It knows the keys in canonical order and plain values alone: whatever else there is, the
codec decides. A property test holds both equal.
"""

from __future__ import annotations

import re
from datetime import datetime

from memx.document import BLOCK_LIMIT_CHARS, FIELD_KINDS, FILE_LIMIT_BYTES, has_marker_signs
from memx.model import SCOPE_GLOBAL, SCOPE_PROJECT, SECTIONS, TYPES
from memx.scalar import NULLS
from memx.store.codec import CONVERTERS, SCORE_LIMIT, section_of_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def read_canonical(data: bytes, path: str) -> dict[str, Any] | None:
    """Return {field: value} of what a file says, `Bullet(**fields)` being what the codec returns.

    None says nothing about whether the file is right.
    """
    if len(data) > FILE_LIMIT_BYTES or b"\0" in data:
        return None
    try:
        text = data.decode()
        match = _FRONT.match(text)
        if match is None:
            return None
        fields = {
            key: convert(value)
            for key, convert, value in zip(_KEYS, _READERS, match.groups(), strict=True)
            if value is not None
        }
    except (ValueError, KeyError):
        return None
    start = match.end()
    body = text[start:]
    content = body.removesuffix("\n").removesuffix("\r") if body.endswith("\n") else body
    is_odd = not content or content.isspace() or has_marker_signs(body) or start > BLOCK_LIMIT_CHARS
    if is_odd or "id" not in fields:
        return None
    if not text.isascii() and not text[:start].replace("\n", "").isprintable():
        return None  # in ASCII, the expression has seen to that
    fields["text"] = content
    if "section" not in fields:
        fields["section"] = section_of_path(path)
    return fields


def _make_front() -> re.Pattern[str]:
    # Possessive throughout: a line is read in one way or not at all, so no file takes long.
    plain = r"(?:[^\W_]|[/_.(+$])[^\x00-\x1f\x7f:#]*+(?:(?::(?![ \n])|(?<! )#)[^\x00-\x1f\x7f:#]*+)*+(?<! )"
    scalar = rf'{plain}|"[^"\\\x00-\x1f\x7f]++"'
    patterns = {
        "id": r": ([0-9A-Za-z]{1,10})\n",
        "text": rf": ({scalar})\n",
        "count": r": ([0-9]{1,9})\n",
        "number": r": ([0-9.]{1,9})\n",
        "flag": r": (true)\n",
        "time": r": (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\n",
        "set": rf":\n((?:  - (?:{scalar})\n)++)",
    }
    kinds = FIELD_KINDS | {"id": "id"}
    lines = "".join(f"(?:{key}{patterns[kind]})?+" for key, kind in kinds.items())
    return re.compile(f"---\n{lines}---\n")


def _text(value: str) -> str:
    if value[0] == '"':
        return value[1:-1]
    if value in NULLS:
        raise ValueError(value)
    return value


def _set(block: str) -> tuple[str, ...]:
    items = block[4:-1].split("\n  - ")
    for item in items:
        if item[0] == '"' or item in NULLS:
            return tuple(map(_text, items))
    return tuple(items)


def _time(value: str) -> float:
    return datetime.fromisoformat(value).timestamp()


def _one_of(*values: str) -> Callable[[str], str]:
    """Return what raises KeyError for every other value: then the codec says what it means."""
    return {value: value for value in values}.__getitem__


_FRONT = _make_front()
_KEYS = tuple(FIELD_KINDS)
_BY_KIND: dict[str, Callable[[str], object]] = {"text": _text, "count": int, "time": _time, "set": _set}
_BY_KEY: dict[str, Callable[[str], object]] = {
    "section": _one_of(*SECTIONS),
    "type": _one_of(*TYPES),
    "scope": _one_of(SCOPE_PROJECT, SCOPE_GLOBAL),
    "score": {str(score): score for score in range(SCORE_LIMIT + 1)}.__getitem__,
}
_READERS = tuple(
    _BY_KEY.get(key) or _BY_KIND.get(kind) or CONVERTERS[key] for key, kind in FIELD_KINDS.items()
)
