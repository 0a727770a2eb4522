"""Show what would act instead of be read: control, bidirectional and invisible characters as escapes."""

from __future__ import annotations

_BIDI = (range(0x202A, 0x202F), range(0x2066, 0x206A), (0x200E, 0x200F, 0x061C))
_INVISIBLE = ((0x200B, 0x2060, 0xFEFF, 0x180E), range(0xE0000, 0xE0080))
_CONTROL = (range(0x20), range(0x7F, 0xA0))
_KEPT = (0x09, 0x0A)
_LAST_OF_FOUR_DIGITS = 0xFFFF
_NONCHARACTERS = (
    range(0xFDD0, 0xFDF0),
    [plane + last for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)],
)
"""Codes that stand for no character: XML has no place for the first two of the last kind, and some readers for none."""
_SURROGATES = range(0xD800, 0xE000)
_ESCAPES: dict[int, str] = {}
"""By code, filled when the first text needs one, which few do."""


def show_controls(text: str) -> str:
    r"""Return the text with every character that could move the cursor or hide words as `\uXXXX` or `\UXXXXXXXX`.

    Tabs and line feeds stay. Lone surrogates become U+FFFD, so that the result always encodes.
    """
    if text.isprintable():  # none of them is, and most lines are
        return text
    if not _ESCAPES:
        kinds = (*_BIDI, *_INVISIBLE, *_CONTROL, *_NONCHARACTERS)
        unwanted = (code for codes in kinds for code in codes if code not in _KEPT)
        _ESCAPES.update({code: _escaped(code) for code in unwanted})
    shown = text.translate(_ESCAPES)
    if not shown.isascii() and any(ord(character) in _SURROGATES for character in shown):
        shown = "".join("\ufffd" if ord(c) in _SURROGATES else c for c in shown)
    return shown


def _escaped(code: int) -> str:
    """Return an escape of as many digits as its letter says, for what follows may be a digit too."""
    return f"\\u{code:04x}" if code <= _LAST_OF_FOUR_DIGITS else f"\\U{code:08x}"
