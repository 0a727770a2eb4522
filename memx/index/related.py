"""Words that mean nearly the same, in a language and across: `connect`, `接続`, `conexion` (memx/data/related.txt).

The list comes from the rows of the bundled model (tools/embedding/related.py): a line a word, sorted by its
bytes, so that a look-up is a binary search in a mapped file and nothing is parsed.
"""

from __future__ import annotations

from memx.resources import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mmap import mmap

NAME = "related.txt"

LONGEST_CJK = 6
"""Characters of the longest CJK word of the list."""

_lines: mmap | bytes | None = None


def related(word: str) -> tuple[str, ...]:
    """Return the relatives of a stem or a CJK word, the nearest first; none for most."""
    global _lines  # noqa: PLW0603 (a constant of the package, mapped at its first use)
    if _lines is None:
        _lines = _open()
    sought = word.encode("utf-8", "replace") + b" "
    low, high = 0, len(_lines)
    while low < high:
        start = _lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = _lines.find(b"\n", start) + 1 or high
        line = _lines[start:end]
        if line.startswith(sought):
            return tuple(line.decode().split()[1:])
        if line < sought:
            low = end
        else:
            high = start
    return ()


def _open() -> mmap | bytes:
    from mmap import ACCESS_READ, mmap

    try:
        with open(resource(NAME), "rb") as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError):
        return b""  # a relative more or less is no reason to fail a search
