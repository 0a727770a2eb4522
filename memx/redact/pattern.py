"""A regular expression that is compiled when it is first used: most texts need few of them."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Pattern:
    """Source and flags of a regular expression; compiling all of ours takes longer than a search."""

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        """Keep the source for later."""
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        """The compiled expression."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def match(self, text: str, place: int = 0) -> re.Match[str] | None:
        """Match at one place."""
        return self.regex.match(text, place)

    def search(self, text: str) -> re.Match[str] | None:
        """Find the first match."""
        return self.regex.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find all matches."""
        return self.regex.finditer(text)


def has_any(text: str, needles: Iterable[str]) -> bool:
    """Return whether one of the needles occurs: what spares most texts a regular expression."""
    for needle in needles:  # noqa: SIM110 (a generator takes three times as long, and every text comes by here)
        if needle in text:
            return True
    return False


_LOWER_BY_HAND = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}


def lower(text: str) -> str:
    """Return lower-case text of the same length, in which a plain search finds what IGNORECASE finds in the text."""
    if not text.isascii() and has_any(text, map(chr, _LOWER_BY_HAND)):
        text = text.translate(_LOWER_BY_HAND)
    return text.lower()


def has_long_word(text: str, size: int) -> bool:
    """Return whether the text holds so many characters in a row without a blank: no token is in it otherwise."""
    return len(text) >= size and max(map(len, text.split()), default=0) >= size
