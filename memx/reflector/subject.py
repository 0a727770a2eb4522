"""What a lesson is about: tools, tags and the files that it is anchored to."""

from __future__ import annotations

import os
import re
from functools import cache

from memx.reflector.language import is_cjk
from memx.reflector.pattern import pattern
from memx.reflector.tokens import code_tokens
from memx.store.paths import is_storable

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_NAME = pattern(r"[A-Za-z][A-Za-z0-9+#-]*(?:\.[A-Za-z0-9]+)*")
_GENERATED = pattern(
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|poetry\.lock|uv\.lock|Cargo\.lock"
    r"|go\.sum|composer\.lock|Gemfile\.lock)$|\.min\.(?:js|css)$|\.(?:png|jpe?g|gif|svg|pdf|ico|woff2?)$"
)
_BEHIND = pattern(
    r"\b(?:with|using|via|use|uses|used|run|runs|running|ran|install|installs|installed"
    r"|adopt|adopted|con|usa|usar|usamos|usando|mediante|instala|instalar)\s+$",
    re.IGNORECASE,
)
"""Behind these a tool's name stands, and seldom another word of the list."""
_ARGUMENT = pattern(
    r"\s+(?!(?:the|a|an|it|its|sure|this|that|these|those|all|of|to|up|on|in|for|and|or|is)\b)[a-z-]"
)
"""What a command is followed by."""
_PREDICATE = pattern(
    r"\s+(?:v?\d|[A-Z]|(?:does|doesn't|cannot|can't|needs|requires|drops|ignores|fails|caches|keeps|returns|builds"
    r"|puts|writes|reads|uses|strips|falla|necesita|usa)\b)"
)
"""What a name at the beginning of a sentence is followed by, and an order is not."""
_ANCHORS = 5
_TAGS = 6


@cache
def known_tools() -> frozenset[str]:
    """Return names of tools, lower case, one a line in tools.txt."""
    return frozenset(name.removeprefix("~") for name in _listed())


@cache
def _ordinary() -> frozenset[str]:
    """Return the names of tools that are ordinary words too: make, go, next."""
    return frozenset(name.removeprefix("~") for name in _listed() if name.startswith("~"))


def _listed() -> list[str]:
    with open(os.path.join(_FOLDER, "tools.txt"), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def tools_of(text: str) -> tuple[str, ...]:
    """Return the tools that a text names, in order of appearance."""
    known, ordinary = known_tools(), _ordinary()
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        name = match.group().lower()
        if name in known and (name not in ordinary or _is_name(match, text)):
            found[name] = None
    return tuple(found)


def _is_name(match: re.Match[str], text: str) -> bool:
    """Tell whether an ordinary word stands for a tool: `run make`, `with Go`, make test, not `Make it`, `next to`."""
    before, after = text[: match.start()], text[match.end() :]
    if before.endswith(("`", "$ ")) or _BEHIND.search(before):
        return True
    begins = not before.strip() or before.rstrip().endswith(
        (".", "!", "?", ":", "。", "！", "？", "：", "\n")
    )
    if match.group()[0].isupper():
        return not begins or _PREDICATE.match(after) is not None
    if any(map(is_cjk, before[-2:] + after[:2])):
        return True
    return begins and _ARGUMENT.match(after) is not None


def tags_of(text: str, tools: tuple[str, ...]) -> tuple[str, ...]:
    """Return a few lower-case words to find the lesson by: tools, error names, identifiers; sorted."""
    tags = list(tools[:3])
    for token in code_tokens(text):
        name = token.strip("`").strip("-").lower()
        if re.fullmatch(r"[a-z][a-z0-9_-]{2,29}", name) and name not in tags:
            tags.append(name)
    return tuple(sorted(tags[:_TAGS]))


def anchors_of(text: str, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files of a commit that a lesson belongs to: those it names first, no generated ones.

    A name that no anchor can hold is left out: control characters, bytes that are not UTF-8.
    """
    real = [path for path in paths if not _GENERATED.search(path) and is_storable(path)]
    named = [path for path in real if os.path.basename(path) in text]
    return tuple(sorted(named or real[:_ANCHORS])[:_ANCHORS]) if len(real) <= 3 * _ANCHORS or named else ()
