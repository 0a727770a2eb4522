"""A bullet file's bytes to a Bullet and back.

Canonical files take the strict reader, anything else python-frontmatter; a
property test holds both equal. Typing of known keys happens here alone.
"""

from __future__ import annotations

from memx.document import (
    FIELD_KINDS,
    Document,
    decode_text,
    find_conflict_marker,
    format_field,
    has_marker_signs,
    read_strict,
    split_front_matter,
)
from memx.errors import FrontMatterError, StoreError
from memx.model import SCOPE_GLOBAL, SCOPE_PROJECT, SECTIONS, TYPES, Bullet, is_scope_name
from memx.timestamp import parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

SCORE_LIMIT = 100
_COUNT_DIGITS_LIMIT = 9

_SHOWN_CHARS = 40


def parse_bullet(data: bytes, *, path: str, created_fallback: float | None = None) -> Bullet:
    """Return the bullet in a file; raise FrontMatterError with path and line.

    A missing id is the hash of the text, a missing `created` is the fallback,
    a missing section is the folder's; an unknown section or type reads as the default.
    """
    text = decode_text(data, path)
    fields, body = read_fields(text, path)
    values: dict[str, Any] = {}
    for key, value in fields.items():
        convert = CONVERTERS.get(key)
        if convert is None or value is None:
            continue
        if convert is _as_it_is and value.__class__ is str:
            values[key] = value
            continue
        try:
            values[key] = convert(value)
        except ValueError as error:
            line = line_of_key(text, key)
            raise FrontMatterError(f"{key}: {error}", path=path, line=line) from error
    content = body.removesuffix("\n").removesuffix("\r") if body.endswith("\n") else body
    if not content or content.isspace():
        line = text.count("\n", 0, len(text) - len(body)) + 1
        raise FrontMatterError(
            "the file has no text", path=path, line=line, hint="write the lesson below the front matter"
        )
    if not values.get("id"):
        values["id"] = _identify(content)
    if values.get("section") not in SECTIONS:
        values["section"] = section_of_path(path) if "section" not in values else "general"
    if values.get("type") not in TYPES:
        values["type"] = "knowledge"
    if values.get("created") is None:
        values["created"] = created_fallback
    return Bullet(text=content, **values)


def read_fields(text: str, path: str) -> tuple[dict[str, Any], str]:
    """Return the fields as typed and the body: through the strict reader if it can, else the general one."""
    strict = read_strict(text)
    if strict is not None:
        fields, start = strict
        body = text[start:]
        if has_marker_signs(body) and find_conflict_marker(text) is not None:
            split_front_matter(text, path)
        return fields, body
    parts = split_front_matter(text, path)
    if not parts.opening:
        return {}, parts.body
    from memx.store.yaml_reader import read_general  # yaml costs 30 ms; canonical files need none

    return read_general(text, path)


def format_bullet(bullet: Bullet) -> bytes:
    """Return the canonical file: keys in fixed order, optional ones only when they say something."""
    lines = ["---"]
    for key in FIELD_KINDS:
        value = getattr(bullet, key)
        if value is not False and value != "":
            lines += format_field(key, value)
    lines.append("---")
    return ("\n".join(lines) + f"\n{bullet.text}\n").encode()


def edit_bullet(data: bytes, changes: Mapping[str, object], *, path: str | None = None) -> bytes:
    """Return the file with some fields set, and `text` as its body; all other lines keep every byte.

    None, an empty string, an empty set and False remove a field. Raise FrontMatterError when the file does
    not parse, or is YAML of a shape that an edit of lines would break.
    """
    document = Document.parse(data, path)
    before, _ = read_fields(decode_text(data, path), path or "")
    for key, value in changes.items():
        document = _apply(document, key, value)
    edited = document.to_bytes()
    after, _ = read_fields(decode_text(edited, path), path or "")
    for key in before.keys() | after.keys():
        if key not in changes and before.get(key) != after.get(key):
            hint = "write the front matter as plain `key: value` lines"
            raise FrontMatterError(
                "this front matter cannot be edited line by line", path=path, line=2, hint=hint
            )
    return edited


def line_of_key(text: str, key: str) -> int:
    """Return the line of a top-level key, from 1; the first line when it is written in some other way."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith((f"{key}:", f'"{key}"', f"'{key}'")):
            return number
    return 1


def section_of_path(path: str) -> str:
    """Return the section whose folder holds this path, `general` when none does."""
    parts = path.split("/")
    return next((part for part in reversed(parts[:-1]) if part in SECTIONS), "general")


def parse_scope(value: str) -> str:
    """Return a scope as written; raise ValueError for anything but the three forms, and for a name like a path."""
    kind, _, name = value.partition(":")
    if value in (SCOPE_GLOBAL, SCOPE_PROJECT):
        return value
    if kind in ("project", "workspace") and name.strip():
        if is_scope_name(name):
            return value
        raise ValueError(f"{_show(name)} is not a name: no `..`, empty part, backslash or control character")
    raise ValueError(f"{_show(value)} is neither global, project, project:NAME nor workspace:NAME")


def _apply(document: Document, key: str, value: Any) -> Document:
    if key == "text":
        if document.newline == "\r\n":
            value = value.replace("\r\n", "\n").replace("\n", "\r\n")
        return document.with_body(value + document.newline)
    kind = FIELD_KINDS.get(key)
    if kind is None:
        raise StoreError(f"there is no field {key!r}", hint="fields: " + ", ".join(FIELD_KINDS))
    if value is False or value == "" or value is None:
        return document.with_field(key, None)
    if kind == "time" and isinstance(value, str):
        value = parse_time(value)
    return document.with_field(key, value)


def _identify(text: str) -> str:
    from memx.store.naming import bullet_id  # only files written by hand have no id

    return bullet_id(text)


def _show(value: str) -> str:
    return repr(value if len(value) <= _SHOWN_CHARS else value[:_SHOWN_CHARS] + "…")


def _as_it_is(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("expected text")  # noqa: TRY004 (a wrong value in a file, not a wrong call)
    return value


def _word(value: Any) -> str:
    return _as_it_is(value).strip().lower()


def _id(value: Any) -> str:
    plain = _as_it_is(value)
    if not (plain.isascii() and plain.isalnum() and len(plain) <= 10):  # noqa: PLR2004 (the common case, quickly)
        from memx.store.naming import is_safe_id

        if not is_safe_id(plain):
            raise ValueError(f"{_show(plain)} is not an id")
    return plain


def _scope(value: Any) -> str:
    return value if value == SCOPE_PROJECT else parse_scope(_as_it_is(value))


def _count(value: Any) -> int:
    text = _as_it_is(value)
    if not (text.isascii() and text.isdigit() and len(text) <= _COUNT_DIGITS_LIMIT):
        raise ValueError(f"{_show(text)} is not a whole number")
    return int(text)


def _score(value: Any) -> int:
    score = _count(value)
    if score > SCORE_LIMIT:
        raise ValueError(f"{score} is above {SCORE_LIMIT}")
    return score


def _days(value: Any) -> float:
    text = _as_it_is(value)
    digits = text.replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _COUNT_DIGITS_LIMIT) or float(text) <= 0:
        raise ValueError(f"{_show(text)} is not a number of days above 0")
    return float(text)


def _flag(value: Any) -> bool:
    word = _word(value)
    if word not in ("true", "false", "yes", "no", "on", "off"):
        raise ValueError(f"{_show(word)} is neither true nor false")
    return word in ("true", "yes", "on")


def _time(value: Any) -> float:
    text = _as_it_is(value)
    try:
        return parse_time(text)
    except ValueError as error:
        raise ValueError(f"{_show(text)} is not a date") from error


def _set(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(item for part in value.split(",") if (item := part.strip()))
    if not isinstance(value, list):
        raise ValueError("expected a list of words")  # noqa: TRY004 (see above)
    for item in value:
        if item.__class__ is not str:
            raise ValueError("expected a list of words")
    return tuple(filter(None, value))


_BY_KIND: dict[str, Callable[[Any], object]] = {
    "text": _as_it_is,
    "count": _count,
    "number": _days,
    "flag": _flag,
    "time": _time,
    "set": _set,
}
CONVERTERS: dict[str, Callable[[Any], object]] = {
    key: _BY_KIND[kind] for key, kind in FIELD_KINDS.items()
} | {
    "id": _id,
    "section": _word,
    "type": _word,
    "scope": _scope,
    "score": _score,
}
