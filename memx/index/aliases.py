"""Different names of one thing: `k8s` is `kubernetes` (data file memx/data/aliases.txt)."""

from __future__ import annotations

from memx.index.analysis import clean, fold
from memx.resources import resource

MAX_REMEMBERED = 20_000
"""Names whose canonical form is remembered: the same tags stand on thousands of bullets."""

_groups: dict[str, str] | None = None
_canonical: dict[str, str] = {}


def canonical(name: str) -> str:
    """Return the canonical, folded, blank-free form of a tag, tool or entity."""
    known = _canonical.get(name)
    if known is None:
        word = "-".join(fold(clean(name)).split())
        known = _load().get(word, word)
        if len(_canonical) < MAX_REMEMBERED:
            _canonical[name] = known
    return known


def synonyms(word: str) -> tuple[str, ...]:
    """Return the other names of a folded word, none for most words."""
    groups = _load()
    head = groups.get(word)
    if head is None:
        return ()
    return tuple(name for name, other in groups.items() if other == head and name != word)


def _load() -> dict[str, str]:
    global _groups  # noqa: PLW0603 (a constant of the package, read at its first use)
    if _groups is None:
        _groups = parse_aliases(_read())
    return _groups


def _read() -> str:
    try:
        with open(resource("aliases.txt"), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""  # an alias more or less is no reason to fail a search


def parse_aliases(text: str) -> dict[str, str]:
    """Return {name: canonical name} from lines of names; `#` begins a comment line."""
    groups: dict[str, str] = {}
    for line in text.splitlines():
        names = line.split()
        if names and not names[0].startswith("#"):
            groups.update(dict.fromkeys(names, names[0]))
    return groups
