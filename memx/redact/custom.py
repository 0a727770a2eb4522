"""Patterns from the configuration: checked, and bounded so that none can hang a command.

`re` has no deadline. A repeat within a repeat can take exponential time and is
refused, unless a character between the rounds tells them apart; k open-ended
repeats in a row take time of the order of n^(k+1), so such a pattern sees
stretches short enough to keep the work for one character bounded.
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
_SMALL = 8
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
_CATEGORIES = {"CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w", "CATEGORY_SPACE": r"\s"}
_STRETCHES = (4096, 2048, 160, 48, 28)


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
        if name in _REPEATS:
            low, high, body = argument
            is_variable = low != high
            if inside and is_variable:
                return True
            is_loop = ((is_variable and int(high) > 1) or int(high) > _SMALL) and not _has_separator(body)
            if _nests_repeats(body, inside=inside or is_loop):
                return True
        elif name == "BRANCH":
            if inside or any(_nests_repeats(branch, inside=inside) for branch in argument[1]):
                return True
        elif any(_nests_repeats(part, inside=inside) for part in _parts(argument)):
            return True
    return False


def _has_separator(body: Any) -> bool:
    """Return whether each round ends at a character that its repeats cannot take, as in `([a-z]+[.])+`."""
    items = _flat(body)
    if any(name == "BRANCH" for name, _ in items):
        return False
    repeated = [inner for name, argument in items if name in _REPEATS for inner in _flat(argument[2])]
    singles = [argument for name, argument in items if name == "LITERAL"]
    return any(not any(_can_match(name, argument, char) for name, argument in repeated) for char in singles)


def _flat(tree: Any) -> list[tuple[str, Any]]:
    items: list[tuple[str, Any]] = []
    for operation, argument in tree:
        if str(operation) == "SUBPATTERN":
            items += _flat(argument[-1])
        else:
            items.append((str(operation), argument))
    return items


def _can_match(name: str, argument: Any, char: int) -> bool:
    if name == "LITERAL":
        return bool(argument == char)
    if name == "NOT_LITERAL":
        return bool(argument != char)
    if name != "IN":
        return True
    is_negated = any(str(operation) == "NEGATE" for operation, _ in argument)
    return is_negated != any(_is_in(str(operation), value, char) for operation, value in argument)


def _is_in(name: str, value: Any, char: int) -> bool:
    if name == "RANGE":
        return bool(value[0] <= char <= value[1])
    if name == "CATEGORY":
        return bool(re.match(_CATEGORIES.get(str(value), "."), chr(char)))
    return name == "LITERAL" and bool(value == char)


def _wide_repeats(tree: Any) -> int:
    """Return the degree: open-ended repeats, those apart by a character that none of them takes counting once."""
    items = _flat(tree)
    takers = [inner for name, argument in items if name in _REPEATS for inner in _flat(argument[2])]
    count = run = 0
    for name, argument in items:
        if name == "LITERAL" and not any(_can_match(kind, value, argument) for kind, value in takers):
            run = 0
        for _ in range(_degree(name, argument)):
            count += run > 0 or count == 0
            run += 1
    return count


def _degree(name: str, argument: Any) -> int:
    if name in _REPEATS:
        low, high, body = argument
        rounds = 1 if _has_separator(body) else min(int(high), _WIDE)
        return max(int(high) - int(low) > _WIDE, _wide_repeats(body) * rounds)
    if name == "BRANCH":
        return max(_wide_repeats(branch) for branch in argument[1])
    return sum(_wide_repeats(part) for part in _parts(argument))


def _parts(argument: Any) -> list[Any]:
    """Return the sub-patterns of a group, look-around or conditional."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, tuple):
        return [part for part in argument if isinstance(part, _parser.SubPattern)]
    return []
