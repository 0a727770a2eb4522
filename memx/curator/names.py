"""Two lessons that each name a thing that the other does not: told from the texts alone, at a fiftieth of a comparison.

Only spellings that nothing but a name has count here: `snake_case`, `camelCase`,
`a::b` and paths. Where the other text has the same letters, or all parts of the
name as words, it is not missing there. In a whole store most near pairs are of
this kind: one sentence about many things.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(
    r"(?<![\w./\\:~-])(?:[A-Za-z0-9]+(?:(?:_+|::)[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+"
    r"|(?:[~.]?[\w.-]*/)+[\w-]+(?:\.[\w-]+)+|(?:[~.]?[\w.-]*/){2,}[\w.-]+)"
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_BETWEEN = re.compile(r"(?<![0-9])[\W_]+|[\W_]+(?![\W_0-9])")
_BETWEEN_DIGITS = re.compile(r"[\W_]+")
_TEXTS_KEPT = 32_768


@lru_cache(maxsize=_TEXTS_KEPT)
def _named(text: str) -> tuple[frozenset[str], str]:
    """Return the names of a text, and all its letters and digits in small letters."""
    return frozenset(match.group() for match in _NAME.finditer(text)), _squeezed(text)


@lru_cache(maxsize=_TEXTS_KEPT)
def _spelling(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a name's letters and digits, and its parts if they are words; a digit is easily found by chance."""
    parts = tuple(part.lower() for part in _PART.findall(name))
    return _squeezed(name), parts if all(map(str.isalpha, parts)) else ()


def _squeezed(text: str) -> str:
    """Return letters and digits in small letters; two figures stay two."""
    return _BETWEEN_DIGITS.sub(" ", _BETWEEN.sub("", text.lower()))


def name_places(text: str) -> tuple[int, ...]:
    """Return where the names of a text begin."""
    return tuple(match.start() for match in _NAME.finditer(text))


def name_apart(a: str, b: str) -> bool:
    """Tell whether each of two texts names something that the other does not."""
    names_a, letters_a = _named(a)
    if not names_a:
        return False
    names_b, letters_b = _named(b)
    return _lacks(letters_b, names_a - names_b) and _lacks(letters_a, names_b - names_a)


def _lacks(letters: str, names: frozenset[str]) -> bool:
    return any(_is_missing(name, letters) for name in names)


def _is_missing(name: str, letters: str) -> bool:
    whole, parts = _spelling(name)
    return not _stands_in(whole, letters) and not (parts and all(part in letters for part in parts))


def _stands_in(name: str, letters: str) -> bool:
    """Tell whether a name is somewhere in a text, with no figure cut: `pool_2` does not stand in `pool_26`."""
    at = letters.find(name)
    while at >= 0:
        if not (name[-1].isdigit() and letters[at + len(name) :][:1].isdigit()):
            return True
        at = letters.find(name, at + 1)
    return False
