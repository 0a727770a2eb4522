"""Patterns from the configuration: checked, and bounded so that none can hang a command.

`re` has no deadline. A repeat within a repeat can take exponential time and is
refused; k open-ended repeats in a row take time of the order of n^(k+1), so
such a pattern sees stretches short enough to stay within milliseconds.
"""

from __future__ import annotations

import re
from re import _parser  # type: ignore[attr-defined]

from memx.errors import ConfigError
from memx.redact.finding import Match, secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_WIDE = 16
_STRETCHES = (4096, 2048, 256, 96, 48)


class CustomPattern:
    """One compiled pattern and the length of text it may see at a time."""

    __slots__ = ("_regex", "_stretch")

    def __init__(self, source: str) -> None:
        """Compile `source`; raise ConfigError when it is no regular expression or could run away."""
        try:
            tree = _parser.parse(source)
            self._regex = re.compile(source)
        except (re.error, OverflowError, RecursionError) as error:
            raise ConfigError(
                f"bad pattern in privacy.patterns: {source!r}: {error}",
                hint="write one Python regular expression an item; escape ( [ { . * + ? with a backslash",
            ) from error
        if _nests_repeats(tree, inside=False):
            raise ConfigError(
                f"pattern in privacy.patterns can run away: {source!r}",
                hint="do not repeat what is itself repeated or branches: write [a-z]+ for ([a-z]+)+",
            )
        repeats = _wide_repeats(tree)
        if repeats >= len(_STRETCHES):
            raise ConfigError(
                f"pattern in privacy.patterns has {repeats} open-ended repeats: {source!r}",
                hint=f"bound them, for example {{1,{_WIDE}}} for +; {len(_STRETCHES) - 1} may stay open",
            )
        self._stretch = _STRETCHES[repeats]

    def matches(self, text: str) -> Iterator[Match]:
        """Yield what the pattern finds, line by line, long lines in overlapping stretches."""
        start = 0
        for line in text.splitlines(keepends=True):
            bare = line.rstrip("\r\n")
            for offset in range(0, max(1, len(bare)), self._stretch // 2):
                for match in self._regex.finditer(bare[offset : offset + self._stretch]):
                    if match.start() < match.end():
                        yield secret("custom", start + offset + match.start(), start + offset + match.end())
                if offset + self._stretch >= len(bare):
                    break
            start += len(line)


def _nests_repeats(tree: Any, *, inside: bool) -> bool:
    for operation, argument in tree:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, body = argument
            variable = low != high and int(high) > 1
            if inside and variable:
                return True
            repeats = int(high) > 1 and (variable or inside)
            if _nests_repeats(body, inside=inside or repeats):
                return True
        elif name == "BRANCH":
            if inside or any(_nests_repeats(branch, inside=inside) for branch in argument[1]):
                return True
        elif any(_nests_repeats(part, inside=inside) for part in _parts(argument)):
            return True
    return False


def _wide_repeats(tree: Any) -> int:
    count = 0
    for operation, argument in tree:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, body = argument
            inner = _wide_repeats(body)
            count += (int(high) - int(low) > _WIDE) + inner * max(1, min(int(high), _WIDE))
        elif name == "BRANCH":
            count += max(_wide_repeats(branch) for branch in argument[1])
        else:
            count += sum(_wide_repeats(part) for part in _parts(argument))
    return count


def _parts(argument: Any) -> list[Any]:
    """Return the sub-patterns of a group, look-around or conditional."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, tuple):
        return [part for part in argument if isinstance(part, _parser.SubPattern)]
    return []
