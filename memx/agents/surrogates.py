"""Half characters in JSON: what a program writes that cuts a text between the two halves of an emoji."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)",
    re.DOTALL,
)
_HALF = 6
"""Characters of the escape of one half; a pair has twice as many, every other escape is taken in two."""


def mend_surrogates(line: str) -> str:
    r"""Return a line of JSON with `\ufffd` in the place of every escape of half a character."""
    return _ESCAPE.sub(lambda match: r"\ufffd" if len(match[0]) == _HALF else match[0], line)
