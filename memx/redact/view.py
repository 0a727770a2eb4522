"""The text as a matcher should see it, with the way back to the original.

A credential split by a zero-width character, written in full-width letters or
broken over two lines is still a credential (and a reader can still paste it).
"""

from __future__ import annotations

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
_LINE_BREAK = Pattern(r"(?<=[A-Za-z0-9_.+/=-])\\?[ \t]*\r?\n[ \t>|#*]*(?=[A-Za-z0-9_.+/=-])")
_ESCAPED_END = Pattern(r"\\[nr]")
_FULL_WIDTH_FIRST = 0xFF01
_FULL_WIDTH_LAST = 0xFF5E
_FULL_WIDTH_SHIFT = 0xFEE0
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
    kept: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char.isascii():
            kept.append(char)
        elif _FULL_WIDTH_FIRST <= ord(char) <= _FULL_WIDTH_LAST:
            kept.append(chr(ord(char) - _FULL_WIDTH_SHIFT))
        elif char in "\u00a0\u3000":
            kept.append(" ")
        elif _DROPPED.match(char):
            continue
        else:
            kept.append(char)
        places.append(place)
    return View("".join(kept), places)


def unescaped(view: View) -> View | None:
    """Return the view of JSON text with escaped line ends as blanks of the same length; None without any.

    Otherwise the letter of the escape runs into the word behind it.
    """
    if "\\n" not in view.text and "\\t" not in view.text and '\\"' not in view.text:
        return None
    text = _ESCAPED_END.regex.sub(" \n", view.text)
    text = text.replace("\\t", "  ").replace('\\"', ' "')
    return View(text, view.places)


def joined(view: View) -> tuple[View, list[int]] | None:
    """Return the view with lines joined where a token may go on, and the places of the joints.

    None when there is no such line break.
    """
    text = view.text
    pieces: list[str] = []
    places: list[int] = []
    joints: list[int] = []
    last = length = 0
    for match in _LINE_BREAK.finditer(text):
        pieces.append(text[last : match.start()])
        places.extend(range(last, match.start()))
        length += match.start() - last
        joints.append(length)
        last = match.end()
    if not joints:
        return None
    pieces.append(text[last:])
    places.extend(range(last, len(text)))
    originals = [view.span(place, place + 1)[0] for place in places]
    return View("".join(pieces), originals), joints
