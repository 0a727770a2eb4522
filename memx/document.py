"""A bullet file as text: a strict reader of the canonical form, and an editor that keeps every other byte.

Grammar of the fences (docs/reference/bullet-format.md):

- the block opens where the first line, after an optional byte order mark, is `---`;
- it closes at the first later line that is `---` or `...`; blanks may follow either mark;
- `----` is not a fence, and an open block that is never closed is an error;
- all that follows the closing line is the body, byte for byte; a file that opens no block is body only.

Standard library only: the merge driver and the hot path import this module.
"""

from __future__ import annotations

from memx.errors import ConflictMarkerError, FrontMatterError
from memx.record import record
from memx.scalar import (
    NULLS,
    format_scalar,
    is_plain_key,
    is_readable,
    quoted_end,
    read_flow_list,
    read_quoted,
    read_scalar,
    unquote,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Value = str | int | float | bool | Sequence[str] | None

FIELD_KINDS = {
    "id": "text",
    "title": "text",
    "section": "text",
    "type": "text",
    "score": "count",
    "scope": "text",
    "recall_count": "count",
    "last_recalled": "time",
    "pinned": "flag",
    "half_life_days": "number",
    "tags": "set",
    "tools": "set",
    "entities": "set",
    "anchors": "set",
    "created": "time",
    "updated": "time",
    "accepted": "time",
    "source": "text",
    "author": "text",
    "lang": "text",
    "merged_from": "set",
    "supersedes": "set",
    "conflicts_with": "set",
    "compatible_with": "set",
    "disputed": "time",
    "disputed_because": "text",
}
"""The known keys in the canonical order, and what their values are."""

FILE_LIMIT_BYTES = 4 * 1024 * 1024
BLOCK_LIMIT_CHARS = 64 * 1024

_RANKS = {key: rank for rank, key in enumerate(FIELD_KINDS)}
_PLAIN_MARKS = frozenset("/_.(+$")
_REPEATED = frozenset(("section", "type", "score", "scope", "recall_count", "lang", "author"))
_MET_LINES_LIMIT = 10_000
_met_lines: dict[str, tuple[str, str]] = {}
"""Lines of these keys that were read before, with what they say: thousands of bullets share a few of them."""
_MARKER_SIGNS = ("<", "|", "=", ">")
MARKER_SIZE = 7
"""The length of git's conflict markers, if no attribute says otherwise."""


@record
class Field:
    """One top-level key: its value when that is simple, else None, and its lines in the file, from 1."""

    key: str
    value: str | tuple[str, ...] | None
    first_line: int
    last_line: int


@record
class Parts:
    """A file cut at its fences; the pieces joined in this order are the file again."""

    mark: str
    opening: str
    block: str
    closing: str
    body: str


def decode_text(data: bytes, path: str | None = None) -> str:
    """Return the text of a file; raise FrontMatterError for what is not UTF-8 with LF or CRLF lines."""
    if len(data) > FILE_LIMIT_BYTES:
        raise FrontMatterError(f"the file is larger than {FILE_LIMIT_BYTES} bytes", path=path, line=1)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        hint = "save it as UTF-8"
        raise FrontMatterError("the file is UTF-16 or binary, not UTF-8", path=path, line=1, hint=hint)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        raise FrontMatterError(message, path=path, line=line, hint="save the file as UTF-8") from error
    if "\r" in text and "\n" not in text:
        message = "lines end in a carriage return alone"
        raise FrontMatterError(message, path=path, line=1, hint="save the file with LF or CRLF line ends")
    return text


def read_strict(text: str) -> tuple[dict[str, str | list[str]], int] | None:
    """Return the fields and where the body begins, or None for anything but the canonical form.

    A string is returned as YAML would read it if it knew no type but text.
    None says nothing about whether the file is right: the general reader decides.
    """
    end = text.find("\n---\n", 3)
    if text[:4] != "---\n" or end < 0 or end > BLOCK_LIMIT_CHARS:
        return None
    if end == 3:  # noqa: PLR2004 (an empty block: the closing fence follows the opening one)
        return {}, 8
    block = text[4:end]
    if not block.replace("\n", "").isprintable() and not is_readable(block, "\n"):
        return None
    fields = _read_lines(block.split("\n"))
    return None if fields is None else (fields, end + 5)


def _read_lines(lines: list[str]) -> dict[str, str | list[str]] | None:  # noqa: C901, PLR0912
    """Return the fields of a canonical block. One loop without calls: it runs for each line of a store."""
    fields: dict[str, str | list[str]] = {}
    items: list[str] | None = None
    for line in lines:
        known = _met_lines.get(line)
        if known is not None and items != [] and known[0] not in fields:
            items = None
            fields[known[0]] = known[1]
            continue
        key = ""
        if line[:4] == "  - ":
            if items is None:
                return None
            value = line[4:]
        elif items == []:
            return None
        else:
            key, colon, value = line.partition(": ")
            if not colon:
                if line[-1:] != ":":
                    return None
                key = line[:-1]
            if key in fields or (key not in FIELD_KINDS and not is_plain_key(key)):
                return None
            if not colon:
                fields[key] = items = []
                continue
            items = None
        if (
            not (value[:1].isalnum() or value[:1] in _PLAIN_MARKS)
            or value[-1] in ": "
            or ": " in value
            or " #" in value
            or value in NULLS
        ):
            quoted = read_quoted(value)
            if quoted is None:
                return None
            value = quoted
        if items is None:
            fields[key] = value
            if key in _REPEATED and len(_met_lines) < _MET_LINES_LIMIT:
                _met_lines[line] = (key, value)
        else:
            items.append(value)
    return None if items == [] else fields


def split_front_matter(text: str, path: str | None = None) -> Parts:
    """Cut a file at its fences; raise FrontMatterError for an open block and for conflict markers."""
    mark = text[:1] if text[:1] == "\ufeff" else ""
    start = len(mark)
    _refuse_conflict_markers(text, path)
    first_end = _line_end(text, start)
    opening = text[start:first_end]
    if not _is_fence(opening, ("---",)):
        _refuse_late_block(text, start, path)
        return Parts(mark, "", "", "", text[start:])
    position = first_end
    while position < len(text):
        line_end = _line_end(text, position)
        if text[position : position + 3] in ("---", "...") and _is_fence(
            text[position:line_end], ("---", "...")
        ):
            block = text[first_end:position]
            _check_block(block, path)
            return Parts(mark, opening, block, text[position:line_end], text[line_end:])
        position = line_end
    hint = "close the block with a line of `---`; a body that begins with a rule can use `***`"
    raise FrontMatterError("the front matter is never closed", path=path, line=1, hint=hint)


class Document:
    """A parsed bullet file: `fields` in file order, `body`, and edits that touch one field's lines.

    `Document.parse(data).to_bytes() == data` for every file that parses.
    """

    __slots__ = ("_lines", "_parts", "_path", "fields")

    fields: tuple[Field, ...]

    def __init__(self, parts: Parts, path: str | None = None) -> None:
        """Find the fields of a file that is already cut; raise FrontMatterError with the line."""
        self._parts = parts
        self._path = path
        self._lines = _split_lines(parts.block)
        self.fields = _find_fields(self._lines, path)

    @classmethod
    def parse(cls, data: bytes, path: str | None = None) -> Document:
        """Return the document in `data`; raise FrontMatterError with path and line."""
        return cls(split_front_matter(decode_text(data, path), path), path)

    @property
    def body(self) -> str:
        """All that follows the closing fence, line ends as in the file."""
        return self._parts.body

    @property
    def parts(self) -> Parts:
        """The file cut at its fences."""
        return self._parts

    @property
    def block_lines(self) -> tuple[str, ...]:
        """The lines of the front matter with their ends; a field's line numbers count from 2 here."""
        return tuple(self._lines)

    @property
    def newline(self) -> str:
        """The line end of the opening fence, else of the body's first line, else LF."""
        first = self._parts.opening or self._parts.body[: _line_end(self._parts.body, 0)]
        return "\r\n" if first.endswith("\r\n") else "\n"

    def get(self, key: str) -> Field | None:
        """Return the field with this key, if there is one."""
        for field in self.fields:
            if field.key == key:
                return field
        return None

    def to_bytes(self) -> bytes:
        """Return the file."""
        parts = self._parts
        return f"{parts.mark}{parts.opening}{parts.block}{parts.closing}{parts.body}".encode()

    def with_body(self, body: str) -> Document:
        """Return a copy with another body."""
        parts = self._parts
        return Document(Parts(parts.mark, parts.opening, parts.block, parts.closing, body), self._path)

    def with_field(self, key: str, value: Value) -> Document:
        """Return a copy with this field set, or without it when `value` is None or an empty set.

        Only the field's own lines change: trailing comments and list items that stay keep theirs.
        """
        lines = list(self._lines)
        field = self.get(key)
        fresh = format_field(key, value)
        if field is None:
            position = self._position_of(key)
            lines[position:position] = [line + self.newline for line in fresh]
        else:
            first, last = field.first_line - 2, field.last_line - 1
            lines[first:last] = _revise(lines[first:last], fresh, self.newline)
        return self._with_block("".join(lines))

    def in_canonical_order(self) -> Document:
        """Return a copy with known keys in canonical order, then others; comments go with what follows."""
        chunks: list[tuple[int, str]] = []
        position = 0
        for field in self.fields:
            chunk = "".join(self._lines[position : field.last_line - 1])
            chunks.append((_RANKS.get(field.key, len(_RANKS)), chunk))
            position = field.last_line - 1
        tail = "".join(self._lines[position:])
        chunks.sort(key=_first)
        return self._with_block("".join(chunk for _, chunk in chunks) + tail)

    def _with_block(self, block: str) -> Document:
        parts = self._parts
        opening = parts.opening or "---" + self.newline
        closing = parts.closing or "---" + self.newline
        return Document(Parts(parts.mark, opening, block, closing, parts.body), self._path)

    def _position_of(self, key: str) -> int:
        """Return the index of the line before which a new field belongs."""
        rank = _RANKS.get(key, len(_RANKS))
        position = 0
        for field in self.fields:
            if _RANKS.get(field.key, len(_RANKS)) <= rank:
                position = field.last_line - 1
        if position == 0 and self.fields:
            return self.fields[0].first_line - 2
        return position


def format_field(key: str, value: Value) -> list[str]:
    """Return the canonical lines of a field without line ends; none for None and for an empty set.

    A number under a key of kind `time` is seconds since the epoch.
    """
    if value is None:
        return []
    name = key if is_plain_key(key) else format_scalar(key)
    if isinstance(value, bool):
        return [f"{name}: {'true' if value else 'false'}"]
    if isinstance(value, int | float):
        return [f"{name}: {_format_number(key, value)}"]
    if isinstance(value, str):
        return [f"{name}: {format_scalar(value)}"]
    items = sorted(set(value))
    return [f"{name}:", *(f"  - {format_scalar(item)}" for item in items)] if items else []


def marker_size(line: str, sign: str) -> int:
    """Return the length of git's conflict marker of this sign that a line is, 0 when it is none.

    Seven, or more where git merged what was in conflict itself: a base of two bases, a file renamed twice.
    """
    size = len(line) - len(line.lstrip(sign))
    return size if size >= MARKER_SIZE and line[size : size + 1] in ("", " ", "\r", "\n") else 0


def has_marker_signs(text: str) -> bool:
    """Return whether a text may hold a line that `find_conflict_marker` finds: a quick look for who reads many."""
    return "<<<<<<<" in text or ">>>>>>>" in text or "|||||||" in text


def is_labelled_marker(line: str) -> bool:
    """Return whether a line is a marker with the name of a side after it, as git writes all but the middle one."""
    sign = line[:1]
    size = marker_size(line, sign) if sign and sign in "<>|" else 0
    return bool(line[size:].strip()) and size > 0 and (sign != ">" or size == MARKER_SIZE)


def find_conflict_marker(text: str) -> int | None:
    """Return the line, from 1, at which git's conflict markers begin: all of a conflict, or a line left of one.

    A line that is left is told by its label. Git's own length counts alone for `>`, of which a quote may have more.
    """
    if not has_marker_signs(text):
        return None
    opened: list[tuple[int, int]] = []
    divided: set[int] = set()
    for number, line in enumerate(text.split("\n"), 1):
        if is_labelled_marker(line):
            return opened[0][0] if opened else number
        if size := marker_size(line, "<"):
            opened.append((number, size))
            divided.discard(size)
        elif opened and (size := marker_size(line, "=")) and size == len(line.rstrip("\r")):
            divided.add(size)
        elif opened and (size := marker_size(line, ">")) in divided and size in (s for _, s in opened):
            return opened[0][0]
    return None


def _refuse_conflict_markers(text: str, path: str | None) -> None:
    line = find_conflict_marker(text)
    if line is not None:
        hint = "finish the merge: memx resolve, or edit the file and remove the marker lines"
        raise ConflictMarkerError("the file holds git's conflict markers", path=path, line=line, hint=hint)


def _refuse_late_block(text: str, start: int, path: str | None) -> None:
    """Refuse front matter that stands below blank lines or an odd fence: it would be served as the lesson."""
    first, _, rest = text[start:].lstrip().partition("\n")
    key = rest.partition(":")[0]
    if first[:3] == "---" and first[3:4] != "-" and key in FIELD_KINDS:
        line = text.count("\n", 0, text.index(first, start)) + 1
        hint = "make a bare `---` the first line of the file"
        raise FrontMatterError("the front matter does not open the file", path=path, line=line, hint=hint)


def _check_block(block: str, path: str | None) -> None:
    """Refuse what YAML and a reader of lines would cut differently, and sizes no bullet needs."""
    if len(block) > BLOCK_LIMIT_CHARS:
        message = f"the front matter is longer than {BLOCK_LIMIT_CHARS} characters"
        raise FrontMatterError(message, path=path, line=1)
    for number, line in enumerate(block.split("\n"), 2):
        if line[:1] in _MARKER_SIGNS and marker_size(line, line[0]):
            raise ConflictMarkerError("the front matter holds a conflict marker", path=path, line=number)
        content = line.removesuffix("\r")
        if not content.isprintable() and not is_readable(content, "\t"):
            message = "a control character or a Unicode line end stands in the front matter"
            raise FrontMatterError(message, path=path, line=number, hint="write it as an escape in quotes")


def _find_fields(lines: list[str], path: str | None) -> tuple[Field, ...]:
    spans: list[tuple[str, int, int]] = []
    seen: dict[str, int] = {}
    for index, line in enumerate(lines):
        content = line.rstrip()
        if not content or content.lstrip()[0] == "#":
            continue
        if line[0] in " \t]}" or content == "-" or line[:2] == "- ":
            if spans:
                spans[-1] = (spans[-1][0], spans[-1][1], index)
            continue
        key = _read_key(content)
        if key is None:
            raise FrontMatterError("expected `key: value`", path=path, line=index + 2)
        if key in seen:
            message = f"the key {key!r} stands here and in line {seen[key]}"
            raise FrontMatterError(message, path=path, line=index + 2)
        seen[key] = index + 2
        spans.append((key, index, index))
    return tuple(
        Field(key, _read_value(lines[first : last + 1]), first + 2, last + 2) for key, first, last in spans
    )


def _read_key(content: str) -> str | None:
    """Return the key of a top-level line."""
    if content[0] in "\"'":
        end = quoted_end(content)
        follows = content[end:].lstrip()
        is_key = end > 0 and (follows == ":" or follows[:2] in (": ", ":\t"))
        return unquote(content[:end]) if is_key else None
    key, colon, rest = content.partition(":")
    while colon and rest and rest[0] not in " \t":
        more, colon, rest = rest.partition(":")
        key += ":" + more
    key = key.rstrip()
    return key if colon and key and key[0] not in "?&*!|>%@`[{,#" else None


def _read_value(lines: list[str]) -> str | tuple[str, ...] | None:
    """Return a scalar or a list of scalars; None for a value of any other shape."""
    rest = _after_key(lines[0])
    if len(lines) == 1:
        if rest[:1] == "[":
            return read_flow_list(rest)
        return read_scalar(rest)
    if read_scalar(rest) != "":
        return None
    values: list[str] = []
    for line in lines[1:]:
        content = line.strip()
        if not content or content[0] == "#":
            continue
        if content != "-" and content[:2] != "- ":
            return None
        value = read_scalar(content[1:].strip(), in_list=True)
        if value is None:
            return None
        values.append(value)
    return tuple(values)


def _after_key(line: str) -> str:
    """Return what follows the colon of a key line, stripped."""
    content = line.strip()
    position = quoted_end(content) if content[0] in "\"'" else 0
    while True:
        position = content.index(":", position) + 1
        if content[position : position + 1] in ("", " ", "\t"):
            return content[position:].strip()


def _comment_of(line: str) -> str:
    """Return the comment at the end of a field's first line with the blanks before it, or nothing."""
    content = line.rstrip()
    rest = _after_key(line)
    start = len(content) - len(rest)
    position = start + (quoted_end(rest) if rest[:1] in ("'", '"') else 0)
    if rest[:1] == "#":
        return " " + rest
    while True:
        position = content.find("#", position)
        if position < 0:
            return ""
        if content[position - 1] in " \t":
            before = content[:position].rstrip()
            return content[len(before) :]
        position += 1


def _revise(old: list[str], fresh: list[str], newline: str) -> list[str]:
    """Return a field's new lines; keep the comment of its first line and the lines of items that stay."""
    if not fresh:
        return []
    comment = _comment_of(old[0])
    if len(fresh) == 1:
        return [fresh[0] + comment + newline]
    kept = _item_chunks(old)
    wanted = {read_scalar(line[4:], in_list=True): line + newline for line in fresh[1:]}
    chunks = [(value, chunk) for value, chunk in kept if value in wanted]
    present = {value for value, _ in chunks}
    for value, line in wanted.items():
        if value is None or value in present:
            continue
        position = next((i for i, (other, _) in enumerate(chunks) if other > value), len(chunks))
        chunks.insert(position, (value, [line]))
    head = old[0] if kept else fresh[0] + comment + newline
    return [head, *(line for _, chunk in chunks for line in chunk)]


def _item_chunks(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Return the items of a block list in canonical indentation with their own lines and comments."""
    chunks: list[tuple[str, list[str]]] = []
    gathered: list[str] = []
    for line in lines[1:]:
        gathered.append(line)
        if line[:4] == "  - ":
            value = read_scalar(line[4:].strip(), in_list=True)
            if value is None or any(value == other for other, _ in chunks):
                return []
            chunks.append((value, gathered))
            gathered = []
        elif line.strip() and line.lstrip()[0] != "#":
            return []
    return chunks


def _is_fence(line: str, marks: tuple[str, ...]) -> bool:
    return line[:3] in marks and not line[3:].strip(" \t\r\n")


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1


def _split_lines(block: str) -> list[str]:
    """Cut at LF alone, line ends kept: `str.splitlines` knows line ends that YAML does not."""
    lines = block.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _format_number(key: str, value: float) -> str:
    if FIELD_KINDS.get(key) == "time":
        from memx.timestamp import format_time

        return format_time(value)
    return str(int(value)) if value == int(value) else repr(value)


def _first(pair: tuple[int, str]) -> int:
    return pair[0]
