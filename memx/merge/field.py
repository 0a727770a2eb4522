"""One field that both sides changed: merged by what its values mean."""

from __future__ import annotations

from memx.document import FIELD_KINDS, Document, format_field
from memx.errors import FrontMatterError
from memx.merge.lines import merge_lines
from memx.scalar import format_scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.document import Field

    Three = tuple[str, str, str]

_FIRST = frozenset(("created",))
"""The earliest time stands; of other times the latest."""
_OF_ORIGIN = frozenset(("source", "author", "lang"))
"""Where the lesson came from: when two branches learnt it, either is true."""


def merge_field(key: str, documents: tuple[Document, Document, Document], owns: Three) -> str | None:
    """Return the field's merged lines, or None when both values stand against each other.

    `owns` are the field's lines in base, ours and theirs, empty where it is absent.
    """
    base, ours, theirs = (document.get(key) for document in documents)
    kind = FIELD_KINDS.get(key, "")
    if kind == "set" and _is_set(base) and _is_set(ours) and _is_set(theirs):
        return _merge_set(key, (base, ours, theirs), owns)
    if ours is None or theirs is None:
        # Removed on one side and changed on the other: the change is news, the removal is not lost work.
        return owns[1] or owns[2]
    if isinstance(ours.value, str) and isinstance(theirs.value, str):
        merged = _merge_value(key, kind, _text(base), ours.value, theirs.value, is_new=base is None)
        if merged is not None:
            return _with_value(key, merged, owns)
    return _merge_unknown(key, owns) if not kind else None


def merge_lead(base: str, ours: str, theirs: str) -> str:
    """Return the merged comment lines before a field: no comment of either side is lost."""
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    pieces: list[str] = []
    for chunk in merge_lines(_lines(base), _lines(ours), _lines(theirs)):
        if isinstance(chunk, tuple):
            one, other = sorted(chunk)
            pieces += [*one, *(line for line in other if line not in one)]
        else:
            pieces += chunk
    return "".join(pieces)


def _merge_value(key: str, kind: str, base: str, ours: str, theirs: str, *, is_new: bool) -> str | None:
    """Return the merged value as it stands in the file, or None."""
    if ours == theirs or (base == ours and not is_new):
        return theirs
    if base == theirs and not is_new:
        return ours
    if kind == "count":
        return _merge_count(key, base, ours, theirs)
    if kind == "time":
        return _merge_time(key, ours, theirs)
    if kind in ("flag", "number"):
        return _stronger(kind, ours, theirs)
    return min(ours, theirs) if is_new and key in _OF_ORIGIN else None


def _stronger(kind: str, ours: str, theirs: str) -> str | None:
    """Return the value that forgets less: a pin on either side holds, the longer half-life too."""
    if kind == "flag":
        return max(ours, theirs, key=lambda value: (value.lower() == "true", value))
    try:
        numbers = (float(ours), float(theirs))
    except ValueError:
        return None
    return max((numbers[0], ours), (numbers[1], theirs))[1] if all(n * 0 == 0 for n in numbers) else None


def _merge_count(key: str, base: str, ours: str, theirs: str) -> str | None:
    numbers = [_count(value) for value in (base or "0", ours, theirs)]
    if None in numbers:
        return None
    start, one, other = (number or 0 for number in numbers)
    if key == "recall_count":
        return str(max(one, other) if start > min(one, other) else one + other - start)
    return str(max(one, other))


def _count(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None  # noqa: PLR2004 (no count is that long)


def _merge_time(key: str, ours: str, theirs: str) -> str | None:
    choose = min if key in _FIRST else max
    if _is_canonical_time(ours) and _is_canonical_time(theirs):
        return choose(ours, theirs)
    from memx.timestamp import parse_time

    try:
        return choose(ours, theirs, key=lambda value: (parse_time(value), value))
    except ValueError:
        return None


def _is_canonical_time(value: str) -> bool:
    return len(value) == 20 and value[10] == "T" and value[-1] == "Z" and value[:4].isdigit()  # noqa: PLR2004 (2026-11-30T09:12:00Z)


def _merge_set(key: str, fields: tuple[Field | None, Field | None, Field | None], owns: Three) -> str:
    """Return the lines of (ours and theirs) or added by one of them; comments stay with their items."""
    values = [frozenset(_items(field)) for field in fields]
    merged = (values[1] & values[2]) | (values[1] - values[0]) | (values[2] - values[0])
    if not merged:
        return ""
    if not all(_is_block_list(own) for own in owns):
        source = max(owns[1:], key=_by_length)
        return _revised(key, source, tuple(sorted(merged)))
    pieces = [_pieces(field, own) for field, own in zip(fields, owns, strict=True)]
    head = max((piece[0] for piece in pieces[1:]), key=_by_length)
    lines = [_item_lines(item, [piece[1].get(item, "") for piece in pieces]) for item in sorted(merged)]
    tail = merge_lead(*(piece[2] for piece in pieces))
    return head + "".join(lines) + tail


def _item_lines(item: str, texts: list[str]) -> str:
    base, ours, theirs = texts
    if theirs in (ours, base):
        chosen = ours or theirs
    elif ours == base:
        chosen = theirs or ours
    else:
        chosen = max(ours, theirs, key=_by_length)
    return chosen or f"  - {format_scalar(item)}\n"


def _is_block_list(own: str) -> bool:
    if not own:
        return True
    lines = own.split("\n")[1:-1]
    return (
        bool(lines)
        and own[-1] == "\n"
        and all(line[:4] == "  - " or line.lstrip()[:1] == "#" for line in lines)
    )


def _pieces(field: Field | None, own: str) -> tuple[str, dict[str, str], str]:
    """Return a block list's head line, its items with the comments above them, and what follows the last."""
    lines = _lines(own)
    if field is None or not lines:
        return "", {}, ""
    items: dict[str, str] = {}
    values = iter(_items(field))
    gathered = ""
    for line in lines[1:]:
        gathered += line
        if line[:4] == "  - ":
            items.setdefault(next(values), gathered)
            gathered = ""
    return lines[0], items, gathered


def _merge_unknown(key: str, owns: Three) -> str | None:
    """Return a clean line merge of a field we know nothing about, if it is still that one field."""
    chunks = merge_lines(*(_lines(own) for own in owns))
    if any(isinstance(chunk, tuple) for chunk in chunks):
        return None
    text = "".join("".join(chunk) for chunk in chunks if isinstance(chunk, list))
    return text if _keys(text) == (key,) else None


def _with_value(key: str, value: str, owns: Three) -> str:
    """Return the lines of the side that has this value, else the longer side's with a new number."""
    having = [own for own in owns[1:] if _document(own).fields[0].value == value]
    if not having:
        return _revised(key, max(owns[1:], key=_by_length), int(value))
    chosen = max(having, key=_by_length)
    comments = [own[own.index(" #") :] for own in owns[1:] if " #" in own]
    if comments and " #" not in chosen and FIELD_KINDS[key] != "text":
        return chosen.rstrip() + max(comments, key=_by_length)
    return chosen


def _revised(key: str, own: str, value: int | tuple[str, ...]) -> str:
    changed = _document(own).with_field(key, value)
    text = "".join(changed.block_lines)
    return text or "".join(line + "\n" for line in format_field(key, value))


def _document(own: str) -> Document:
    return Document.parse(f"---\n{own}---\n".encode())


def _keys(own: str) -> tuple[str, ...]:
    try:
        return tuple(field.key for field in _document(own).fields)
    except FrontMatterError:
        return ()


def _is_set(field: Field | None) -> bool:
    return field is None or field.value == "" or isinstance(field.value, tuple)


def _items(field: Field | None) -> tuple[str, ...]:
    return field.value if field is not None and isinstance(field.value, tuple) else ()


def _text(field: Field | None) -> str:
    return field.value if field is not None and isinstance(field.value, str) else ""


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*(line + "\n" for line in lines), *([last + "\n"] if last else [])]
