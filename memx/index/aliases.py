"""Different names of one thing: `k8s` is `kubernetes` (data file memx/data/aliases.txt)."""

from __future__ import annotations

from memx.index.analysis import clean, fold
from memx.resources import resource

NAME = "aliases.txt"
BYTES, SUM_OF_BYTES = 848, 80107
"""What the file is known by without a library that hashes: no search could do without."""

MAX_REMEMBERED = 20_000
"""Names whose canonical form is remembered: the same tags stand on thousands of bullets."""

_groups: dict[str, str] | None = None
_problem = ""
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


def problem() -> str:
    """Return what is wrong with the file of names, empty when nothing is or nobody has asked for a name yet."""
    return _problem


def _load() -> dict[str, str]:
    global _groups, _problem  # noqa: PLW0603 (a constant of the package, read at its first use)
    if _groups is None:
        text, _problem = _read()
        _groups = parse_aliases(text)
    return _groups


def _read() -> tuple[str, str]:
    """Return the text, as far as it can be read, and what is wrong with it: a name less is no reason to fail."""
    path = resource(NAME)
    try:
        with open(path, "rb") as file:
            data = file.read().replace(b"\r\n", b"\n")
    except OSError as error:
        return "", f"{error.strerror}: {path}"
    is_whole = (len(data), sum(data)) == (BYTES, SUM_OF_BYTES)
    return data.decode("utf-8", "replace"), "" if is_whole else f"the file is damaged: {path}"


def parse_aliases(text: str) -> dict[str, str]:
    """Return {name: canonical name} from lines of names; `#` begins a comment line."""
    groups: dict[str, str] = {}
    for line in text.splitlines():
        names = line.split()
        if names and not names[0].startswith("#"):
            groups.update(dict.fromkeys(names, names[0]))
    return groups
