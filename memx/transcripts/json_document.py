"""One JSON document read member by member, so that its size does not matter.

Tools write a session as one object or array, often on a single line. Only
the member being read is in memory. A member that is no JSON is counted and
passed over: reading goes on with the next one that begins as its neighbours
do. What a cut takes away is lost, what stands before it is kept.
"""

from __future__ import annotations

import codecs
import json
import re
from itertools import chain

from memx.transcripts.json_lines import LARGE_BYTES, MOST_BRACKETS
from memx.transcripts.source import read_chunks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

_DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\r\n\0\ufeff]*")
_STRUCTURE = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')
_OPENING = re.compile(r'\{\s*("(?:[^"\\\n]{1,40})")')
_UNSURE = 16
"""Characters before the end of what was read in which a fault may only be a value that goes on."""
_LONGEST_OPENING = 64


def read_members(source: Source, session: SessionRead, lists: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield (key, value) for each member of the object; a list named in `lists` is yielded item by item.

    The items of a document that is an array come with an empty key. A value
    over the cap is counted and skipped.
    """
    text = _Text(source, session)
    start = text.peek()
    if start == "[":
        for item in chain(text.items(), text.stray_items()):
            yield "", item
    elif start == "{":
        yield from _object_members(text, lists)
    else:
        session.skip("invalid_json")


def _object_members(text: _Text, lists: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    text.advance()
    listed = ""
    while (start := text.peek()) != "}":
        if start == ",":
            text.advance()
            continue
        key, is_read = text.value() if start == '"' else (None, False)
        if not is_read or text.peek() != ":":
            text.tear()
            return
        text.advance()
        if key in lists and text.peek() == "[":
            listed = str(key)
            for item in text.items():
                yield str(key), item
        else:
            value, is_read = text.value()
            if is_read:
                yield str(key), value
        if text.is_torn:
            return
    text.advance()
    if not listed:
        text.session.skip("no_messages")
    for item in text.stray_items():
        yield listed, item


class _Text:
    """A window of the decoded file that grows as far as the value being read needs."""

    def __init__(self, source: Source, session: SessionRead) -> None:
        self._chunks = read_chunks(source)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.session = session
        self._buffer = ""
        self._place = 0
        self._ended = False
        self._is_astray = False
        self._opening: re.Pattern[str] | None = None
        self.is_torn = False

    def peek(self) -> str:
        """Return the next character that is no space; empty at the end."""
        while True:
            found = _SPACE.match(self._buffer, self._place)
            self._place = found.end() if found else self._place
            if self._place < len(self._buffer):
                return self._buffer[self._place]
            if not self._fill():
                return ""

    def advance(self) -> None:
        """Step over one character."""
        self._place += 1

    def tear(self) -> None:
        """Count the document as torn, once."""
        if not self.is_torn:
            self.is_torn = True
            self.session.skip("torn_document")

    def items(self) -> Iterator[Any]:
        """Yield the items of the array that starts here."""
        self.advance()
        yield from self._items()

    def stray_items(self) -> Iterator[Any]:
        """Yield the items behind the document's end: a bracket that is missing in one of them ends it too early."""
        if not self.is_torn and self.peek() and self._pass_over("invalid_json"):
            yield from self._items()

    def _items(self) -> Iterator[Any]:
        while True:
            start = self.peek()
            if start == "]" and not (self._is_astray and self._pass_over()):
                break
            if start == ",":
                self.advance()
                continue
            self._note_opening()
            value, is_read = self.value()
            if self.is_torn:
                return
            if is_read:
                yield value
        self.advance()

    def _note_opening(self) -> None:
        """Remember how the first item begins: the others most likely begin so too."""
        found = _OPENING.match(self._buffer, self._place) if not self._opening else None
        if found:
            self._opening = re.compile(r"\{\s*" + re.escape(found[1]) + r"\s*:")

    def value(self) -> tuple[Any, bool]:
        """Return the value that starts here and True; nothing and False when it is torn or too long."""
        if not self.peek():
            self.tear()
            return None, False
        cap = self.session.limits.line_bytes
        while True:
            if self._is_swollen():
                self.session.skip("too_many_values")
                self._skip_value()
                return None, False
            value, end, fault = self._decoded()
            if fault and self._pass_over(fault):
                return None, False
            if end >= 0 and (end < len(self._buffer) or not self._fill()):
                self._place = end
                return value, True
            if end >= 0:
                continue  # a number may go on in the next piece
            size = len(self._buffer) - self._place
            if size > cap:
                self.session.skip("line_too_long")
                self._skip_value()
                return None, False
            if not self._fill(size):
                if not self._pass_over("invalid_json"):
                    self.tear()
                return None, False

    def _is_swollen(self) -> bool:
        """Tell whether the objects of a large value would take many times the room of its text."""
        if len(self._buffer) - self._place < LARGE_BYTES:
            return False
        return self._buffer.count("{", self._place) + self._buffer.count("[", self._place) > MOST_BRACKETS

    def _decoded(self) -> tuple[Any, int, str]:
        """Return the value that starts here and its end, -1 while none is whole; or what is wrong with it."""
        try:
            value, end = _DECODER.raw_decode(self._buffer, self._place)
        except RecursionError:
            return None, -1, "nested_too_deeply"
        except ValueError as error:
            return None, -1, "invalid_json" if self._is_sure(error) else ""
        return value, end, ""

    def _is_sure(self, error: ValueError) -> bool:
        """Tell whether a value is no JSON whatever follows; a string or a word may only be cut by the window."""
        place = getattr(error, "pos", len(self._buffer))
        return place < len(self._buffer) - _UNSURE and "Unterminated" not in str(error)

    def _pass_over(self, reason: str = "") -> bool:
        """Step to the next item that begins as the others do, counting what is passed over; False without any."""
        place = self._place + 1
        while self._opening is not None:
            for found in self._opening.finditer(self._buffer, place):
                if self._is_item(found.start()):
                    if reason:
                        self.session.skip(reason)
                    # A list inside of a broken item may look like the items; its end is not theirs.
                    self._is_astray = True
                    self._place = found.start()
                    return True
            self._place = max(self._place, len(self._buffer) - 2 * _LONGEST_OPENING)
            if not self._fill():
                return False
            place = 0
        return False

    def _is_item(self, start: int) -> bool:
        """Tell whether what begins here follows another item: inside of an item a key stands before it."""
        before = self._buffer[max(0, start - _LONGEST_OPENING) : start].rstrip(" \t\r\n\0")
        return before.endswith(",") and before[:-1].rstrip(" \t\r\n\0").endswith(("}", "]"))

    def _fill(self, size: int = 1) -> bool:
        """Read at least `size` more characters, doubling the window, unless the file ends."""
        if self._ended:
            return False
        pieces = [self._buffer[self._place :]]
        self._place = 0
        gained = 0
        while gained < size:
            chunk = next(self._chunks, b"")
            piece = self._decoder.decode(chunk, final=not chunk)
            pieces.append(piece)
            gained += len(piece)
            if not chunk:
                self._ended = True
                break
        self._buffer = "".join(pieces)
        return gained > 0

    def _skip_value(self) -> None:
        depth = 0
        in_string = False
        while True:
            found = (_IN_STRING if in_string else _STRUCTURE).search(self._buffer, self._place)
            if found is None:
                self._place = len(self._buffer)
                if not self._fill():
                    self.tear()
                    return
                continue
            self._place = found.end()
            mark = found[0]
            if mark == "\\":
                if self._place >= len(self._buffer) and not self._fill():
                    self.tear()
                    return
                self._place += 1
            elif mark == '"':
                in_string = not in_string
            else:
                depth += 1 if mark in "{[" else -1
            if depth == 0 and not in_string and mark != "\\":
                return
