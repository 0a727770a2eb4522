"""A regular expression that is compiled when it is first used: most texts need few of them."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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
