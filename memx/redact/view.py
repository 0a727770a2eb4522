"""The text as a matcher should see it, with the way back to the original.

A credential split by a zero-width character, written in full-width letters or
broken over two lines is still a credential (and a reader can still paste it).
"""

from __future__ import annotations

import itertools
from bisect import bisect_right

from memx.redact.pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
)
_UNUSUAL = Pattern(f"[{_INVISIBLE}\u00a0\u3000\uff01-\uff5e]")
_DROPPED = Pattern(f"[{_INVISIBLE}]")
_LINE_BREAK = Pattern(r"\n[ \t>|#*]*(?=[A-Za-z0-9_.+/=-])")
_TOKEN_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+/=-")
_ESCAPED_END = Pattern(r"\\[nr]")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0xA0: " ", 0x3000: " "}
"""Full-width forms and blanks to those of ASCII, one for one."""
_LONE_SURROGATE = Pattern("[\ud800-\udfff]")


class View:
    """A normalised text and, for each of its characters, the place in the original."""

    __slots__ = ("places", "text")

    def __init__(self, text: str, places: Sequence[int] | None = None) -> None:
        """Hold `text`; without `places` it is the original itself."""
        self.text = text
        self.places = places

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open range of the original that `text[start:end]` was made from."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end - 1] + 1


def without_surrogates(text: str) -> str:
    """Replace lone surrogates by U+FFFD: no file, index or hash can hold them."""
    return text if text.isascii() else _LONE_SURROGATE.regex.sub("\ufffd", text)


def normalised(text: str) -> View:
    """Return the text without invisible characters and with full-width forms as ASCII."""
    if text.isascii() or not _UNUSUAL.search(text):
        return View(text)
    if not _DROPPED.search(text):
        return View(text.translate(_NARROW))
    kept = [place for place, char in enumerate(text) if char.isascii() or not _DROPPED.match(char)]
    return View("".join([text[place] for place in kept]).translate(_NARROW), kept)


def unescaped(view: View) -> View | None:
    """Return the view of JSON text with escaped line ends as blanks of the same length; None without any.

    Otherwise the letter of the escape runs into the word behind it.
    """
    if "\\n" not in view.text and "\\t" not in view.text and '\\"' not in view.text:
        return None
    text = _ESCAPED_END.regex.sub(" \n", view.text)
    text = text.replace("\\t", "  ").replace('\\"', ' "')
    return View(text, view.places)


def joined(view: View) -> Joined | None:
    """Return the text with lines joined where a token may go on; None when there is no such line break."""
    text = view.text
    starts, ends = [0], []
    for match in _LINE_BREAK.finditer(text):
        end = _line_end(text, match.start())
        if end and text[end - 1] in _TOKEN_CHARS:
            ends.append(end)
            starts.append(match.end())
    return Joined(view, starts, [*ends, len(text)]) if ends else None


class Joined:
    """The lines of a view, joined: the text, and the places in it where one line goes on in the next."""

    __slots__ = ("_starts", "_view", "joints", "text")

    def __init__(self, view: View, starts: Sequence[int], ends: Sequence[int]) -> None:
        """Join the stretches of the view that begin at `starts` and stop before `ends`."""
        self._view = view
        self._starts = starts
        stretches = list(zip(starts, ends, strict=True))
        self.text = "".join([view.text[start:end] for start, end in stretches])
        self.joints = list(itertools.accumulate(end - start for start, end in stretches[:-1]))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open range of the original that `text[start:end]` was made from."""
        return self._view.span(self._place(start), self._place(end - 1) + 1)

    def _place(self, place: int) -> int:
        line = bisect_right(self.joints, place)
        return self._starts[line] + place - (self.joints[line - 1] if line else 0)


def _line_end(text: str, place: int) -> int:
    """Return where the line that ends at `place` ends without blanks and a backslash that continues it."""
    if place and text[place - 1] == "\r":
        place -= 1
    while place and text[place - 1] in " \t":
        place -= 1
    return place - 1 if place and text[place - 1] == "\\" else place
