"""Regular expressions that are compiled when first used: a hook's process needs few of them, and all take 30 ms."""

from __future__ import annotations

import re

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "split")


class _Deferred:
    """Stands for a compiled pattern; after its first use each method is the compiled pattern's own."""

    def __init__(self, source: str, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern to use as `re.compile`'s; it is compiled when first used."""
    return _Deferred(source, flags)  # type: ignore[return-value]
