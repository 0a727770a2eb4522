"""A tool newly taken into use."""

from __future__ import annotations

from memx.reflector.pattern import pattern
from memx.reflector.rules.rule import Rule
from memx.reflector.subject import tools_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_FIRST = pattern(r"first|primera|首次|第一次|初|头一次|はじめて")
_TOOL_WORDS = pattern(
    r"\b(?:tool|library|package manager|framework|linter|formatter|bundler|plugin)\b"
    r"|\b(?:herramienta|librería|biblioteca|gestor)\b"
    r"|工具|框架|ツール|ライブラリ|フレームワーク"
)


class NewToolRule(Rule):
    """`First time using pnpm, much faster than npm`."""

    name = "new_tool"
    confidence = 0.65
    tells_deed = True
    negation = "clause"

    def accepts(self, found: re.Match[str], masked: str) -> bool:
        """Refuse what was switched or introduced but is no tool, where the first use is not named as such."""
        said = found.group().lower()
        return bool(_FIRST.search(said) or tools_of(said) or _TOOL_WORDS.search(masked.lower()))
