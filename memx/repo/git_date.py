"""What git would read as a date: git itself takes any words, and those that say nothing for now."""

from __future__ import annotations

import re

_NAMES = """
january february march april may june july august september october november december
sunday monday tuesday wednesday thursday friday saturday seconds minutes hours days weeks months years
"""
_LEAST_PREFIX = 3
_WORDS = """
one two three four five six seven eight nine ten last ago now today yesterday noon midnight tea never am pm
st nd rd th t z utc gmt wet west cet cest met eet eest msk est edt cst cdt mst mdt pst pdt jst bst ist hst akst akdt
"""
_FILLERS = "at on of the a an in since"


def is_git_date(text: str) -> bool:
    """Return whether every word of a text means something to git, and one of them, or a number, a time."""
    telling = [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in _FILLERS.split()]
    if not all(word in _WORDS.split() or _is_prefix(word) for word in telling):
        return False
    return bool(telling) or any(letter.isdigit() for letter in text)


def _is_prefix(word: str) -> bool:
    return len(word) >= _LEAST_PREFIX and any(name.startswith(word) for name in _NAMES.split())
