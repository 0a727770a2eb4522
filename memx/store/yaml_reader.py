"""The general reader: front matter of any shape, through python-frontmatter and libyaml.

Every scalar stays the string that was typed: YAML 1.1 would read `no`, `0123`, `10:00`
and `2024-01-05` as something else. What a known key means is decided by the codec.
The only importer of yaml and frontmatter; loaded when the strict reader gives up.
"""

from __future__ import annotations

import frontmatter
import yaml
from frontmatter.default_handlers import BaseHandler

from memx.document import Parts, split_front_matter
from memx.errors import FrontMatterError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DEPTH_LIMIT = 16
NODE_LIMIT = 10_000

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))


def read_general(text: str, path: str | None = None) -> tuple[dict[str, Any], str]:
    """Return the fields and the body; values are str, None for a null, list or dict.

    Raise FrontMatterError with path and line for all that YAML or memx refuses.
    """
    parts = split_front_matter(text, path)
    if not parts.opening:
        return {}, parts.body
    fields, _ = frontmatter.parse(text, handler=_Handler(parts, path))
    return fields, parts.body


class _Handler(BaseHandler):
    """Give python-frontmatter the block that our own fences enclose.

    Its own split takes `----` for a fence and loses what surrounds the body, so
    the body is taken from our splitter and never from the library.
    """

    FM_BOUNDARY = frontmatter.default_handlers.YAMLHandler.FM_BOUNDARY

    def __init__(self, parts: Parts, path: str | None) -> None:
        super().__init__()
        self._parts = parts
        self._path = path

    def split(self, text: str) -> tuple[str, str]:  # noqa: ARG002 (the library's signature)
        return self._parts.block, self._parts.body

    def load(self, fm: str) -> dict[str, Any]:
        try:
            return _load(fm, self._path)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            line = mark.line + 2 if mark is not None else _line_of_reader_error(error, fm)
            message = f"the front matter is not YAML: {getattr(error, 'problem', None) or 'bad character'}"
            hint = "put the value in double quotes"
            raise FrontMatterError(message, path=self._path, line=line, hint=hint) from error


def _line_of_reader_error(error: yaml.YAMLError, block: str) -> int:
    position = getattr(error, "position", 0)
    return block.count("\n", 0, position if isinstance(position, int) and position > 0 else 0) + 2


def _load(block: str, path: str | None) -> dict[str, Any]:
    events = _checked_events(block, path)
    value: Any = None
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent) and event.explicit:
            raise FrontMatterError("a second YAML document begins", path=path, line=_line(event))
        if isinstance(event, yaml.NodeEvent):
            value = _build(event, events, path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        hint = "write `key: value` lines, or leave the `---` lines out"
        raise FrontMatterError("the front matter is not a mapping", path=path, line=2, hint=hint)
    return value


def _checked_events(block: str, path: str | None) -> Iterator[Any]:
    """Yield the events of a block; refuse aliases, deep nesting and huge numbers of nodes."""
    depth = 0
    for number, event in enumerate(yaml.parse(block, Loader=_Loader)):
        if isinstance(event, yaml.AliasEvent):
            raise FrontMatterError(f"the alias *{event.anchor} is refused", path=path, line=_line(event))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEPTH_LIMIT or number > NODE_LIMIT:
            raise FrontMatterError(
                "the front matter is nested too deep or too large", path=path, line=_line(event)
            )
        yield event


def _build(event: Any, events: Iterator[Any], path: str | None) -> Any:
    if isinstance(event, yaml.ScalarEvent):
        # A plain scalar has the style None, and '' from libyaml.
        if not event.style and event.value in _NULLS:
            return None
        return event.value
    if isinstance(event, yaml.SequenceStartEvent):
        return _build_list(events, path)
    return _build_mapping(events, path)


def _build_list(events: Iterator[Any], path: str | None) -> list[Any]:
    items: list[Any] = []
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        # An item is as typed: a tag named `null` is a word, not nothing.
        items.append(event.value if isinstance(event, yaml.ScalarEvent) else _build(event, events, path))
    return items


def _build_mapping(events: Iterator[Any], path: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        if not isinstance(event, yaml.ScalarEvent):
            raise FrontMatterError("a key must be text", path=path, line=_line(event))
        key = event.value
        if key in lines:
            message = f"the key {key!r} stands here and in line {lines[key]}"
            raise FrontMatterError(message, path=path, line=_line(event))
        lines[key] = _line(event)
        values[key] = _build(next(events), events, path)
    return values


def _line(event: Any) -> int:
    """Return the line in the file, from 1: the block begins in line 2."""
    line: int = event.start_mark.line + 2
    return line
