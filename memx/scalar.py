"""YAML scalars of one line, every one a string: how they are written and how they are read.

What is written is plain only where YAML 1.1 and YAML 1.2 both read that string.
"""

from __future__ import annotations

NULLS = frozenset(("", "~", "null", "Null", "NULL"))

_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "r": "\r", "0": "\0", "/": "/", " ": " "}
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_FLOW_MARKS = frozenset(":#?")
_CODE_LENGTHS = {"x": 2, "u": 4, "U": 8}
# Words that YAML 1.1 reads as something other than a string; 1.2 kept a part of them.
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def format_scalar(text: str) -> str:
    """Return one-line YAML for a string: plain where YAML 1.1 and 1.2 both read that string, else quoted."""
    if (
        text
        and (text[0].isalpha() or text[0] in "/_")
        and text.isprintable()
        and ": " not in text
        and " #" not in text
        and text[-1] not in ": "
        and text.lower() not in _RESERVED
    ):
        return text
    return '"' + "".join(map(_escape, text)) + '"'


def read_scalar(text: str, *, in_list: bool = False) -> str | None:
    """Return a one-line scalar as typed, its comment cut off; None when it is something else.

    A null (`~`, `null`, nothing) is the empty string, but an item of a list stays as it is typed.
    """
    if text[:1] in ("'", '"'):
        end = quoted_end(text)
        follows = text[end:].lstrip()
        return unquote(text[:end]) if end and (not follows or follows[0] == "#") else None
    value = _without_comment(text)
    if value in NULLS:
        return value if in_list else ""
    is_plain = value[0] not in "[]{}&*!|>%@`,\"'" and (value[0] not in "-?:" or value[1:2].strip() != "")
    return value if is_plain and ": " not in value and "\t" not in value and value[-1] != ":" else None


def read_flow_list(text: str) -> tuple[str, ...] | None:
    """Return the items of `[a, "b", c]`; None when the list is nested or not closed in this line."""
    values: list[str] = []
    position = 1
    while position < len(text):
        rest = text[position:].lstrip()
        position = len(text) - len(rest)
        if rest[:1] == "]":
            follows = _without_comment(text[position + 1 :])
            return tuple(values) if not follows else None
        end = quoted_end(rest) if rest[:1] in ("'", '"') else _flow_end(rest)
        value = read_scalar(rest[:end].strip(), in_list=True) if end else None
        is_quoted = rest[:1] in ("'", '"')
        # Inside brackets YAML's readers disagree about these marks in a plain scalar.
        if value is None or (not is_quoted and (not value or not _FLOW_MARKS.isdisjoint(rest[:end]))):
            return None
        values.append(value)
        rest = rest[end:].lstrip()
        position = len(text) - len(rest)
        if rest[:1] == ",":
            position += 1
        elif rest[:1] != "]":
            return None
    return None


def _flow_end(text: str) -> int:
    for index, character in enumerate(text):
        if character in ",]":
            return index
        if character in "[{}":
            return 0
    return 0


def _without_comment(text: str) -> str:
    """Return a plain scalar without the comment that follows it."""
    if text[:1] == "#":
        return ""
    for mark in (" #", "\t#"):
        position = text.find(mark)
        if position >= 0:
            text = text[:position]
    return text.strip()


def read_quoted(value: str) -> str | None:
    """Return the string that a canonical double-quoted scalar stands for, else None."""
    if value[:1] != '"' or value[-1] != '"' or len(value) < 2:  # noqa: PLR2004 (both quotes)
        return None
    inner = value[1:-1]
    if "\\" not in inner:
        return None if '"' in inner else inner
    return unquote(value) if quoted_end(value) == len(value) else None


def quoted_end(text: str) -> int:
    """Return the index after the closing quote of a text that begins with one; 0 when it is not closed."""
    quote = text[0]
    position = 1
    while position < len(text):
        character = text[position]
        if character == "\\" and quote == '"':
            position += 2
            continue
        if character == quote:
            if quote == "'" and text[position + 1 : position + 2] == "'":
                position += 2
                continue
            return position + 1
        position += 1
    return 0


def unquote(text: str) -> str | None:
    """Return the string in quotes; None for an escape outside YAML's common ones."""
    inner = text[1:-1]
    if text[0] == "'":
        return inner.replace("''", "'")
    pieces: list[str] = []
    position = 0
    while True:
        found = inner.find("\\", position)
        if found < 0:
            pieces.append(inner[position:])
            return "".join(pieces)
        pieces.append(inner[position:found])
        letter = inner[found + 1 : found + 2]
        length = _CODE_LENGTHS.get(letter, 0)
        position = found + 2 + length
        digits = inner[found + 2 : position]
        character = _ESCAPES.get(letter)
        if length:
            character = _character(digits) if len(digits) == length else None
        if character is None:
            return None
        pieces.append(character)


def _character(digits: str) -> str | None:
    """Return the character with this hexadecimal code, unless it is a surrogate or none at all."""
    if not digits.isalnum() or not digits.isascii():
        return None
    try:
        code = int(digits, 16)
    except ValueError:
        return None
    return None if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF else chr(code)  # noqa: PLR2004


def _escape(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character.isprintable() or is_readable(character, ""):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004


def is_readable(text: str, allowed: str) -> bool:
    """Say whether YAML takes each character as it is and none of them ends a line."""
    return all(
        " " <= c <= "~"
        or ("\xa0" <= c <= "\ufffd" and c not in "\u2028\u2029\ufeff" and not "\ud800" <= c <= "\udfff")
        or c > "\uffff"
        or c in allowed
        for c in text
    )


def is_plain_key(key: str) -> bool:
    """Say whether a key needs no quotes in any YAML."""
    return key.isascii() and key.replace("-", "_").isidentifier() and key[0] != "-"
