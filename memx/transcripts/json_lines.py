"""JSON objects of a log with one object a line, as such logs really are.

Lines may be torn, joined, empty, or full of NULs; each such place is counted
and the rest is read.
"""

from __future__ import annotations

import json
import re

from memx.record import record
from memx.transcripts.source import read_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

_DECODER = json.JSONDecoder(strict=False)
_SPACE = " \t\r\n"
_OBJECT_START = re.compile(r'\{\s*"')
_RESTARTS = 40
LARGE_BYTES = 1 << 20
MOST_BRACKETS = 400_000
"""Of a record over LARGE_BYTES: each makes an object of a hundred bytes or two, far more than its text takes."""


@record
class Parsed:
    """The objects of one line, and whether all of the line was JSON."""

    objects: tuple[dict[str, Any], ...]
    whole: bool


def read_objects(source: Source, session: SessionRead, offset: int) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each object with the offset of its line.

    A last line that has no newline and is no whole object belongs to a writer
    that is still busy: it is counted as torn and read again the next time.
    """
    for line in read_lines(source, session, offset):
        if len(line.data) > LARGE_BYTES and line.data.count(b"{") + line.data.count(b"[") > MOST_BRACKETS:
            session.skip("too_many_values")
            continue
        parsed = parse_line(line.data)
        if not parsed.whole:
            if not line.terminated:
                session.skip("torn_last_line")
                session.next_offset = line.start
                return
            session.skip("invalid_json")
        for value in parsed.objects:
            yield value, line.start


def parse_line(data: bytes) -> Parsed:
    """Return the objects of a line; never raises."""
    if b"{" not in data:  # blank lines and foreign ones come by the million
        return Parsed((), whole=not data.strip(b"\xef\xbb\xbf\0 \t\r\n"))
    text = data.decode("utf-8", "replace").replace("\0", "").strip("\ufeff" + _SPACE)
    if not text:
        return Parsed((), whole=True)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _parse_joined(text)
    if isinstance(value, dict):
        return Parsed((value,), whole=True)
    return Parsed((), whole=False)


def _parse_joined(text: str) -> Parsed:
    """Read several objects from one line, starting again behind what does not parse.

    Behind a fault only an object that reaches the end of the line or the next
    object counts: any other is a part of the broken one.
    """
    objects: list[dict[str, Any]] = []
    whole = True
    place = 0
    for _ in range(_RESTARTS):
        if place >= len(text):
            break
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            value, end = None, place + 1
        rest = _skip_space(text, end)
        if isinstance(value, dict) and (rest >= len(text) or text[rest] == "{" or whole):
            objects.append(value)
            place = rest
            continue
        whole = False
        found = _OBJECT_START.search(text, place + 1)
        if found is None:
            break
        place = found.start()
    return Parsed(tuple(objects), whole and place >= len(text))


def _skip_space(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place
