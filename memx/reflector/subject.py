"""What a lesson is about: tools, tags and the files that it is anchored to."""

from __future__ import annotations

import os
import re
from functools import cache

from memx.reflector.pattern import pattern
from memx.reflector.tokens import code_tokens
from memx.store.paths import is_storable

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_NAME = pattern(r"[A-Za-z][A-Za-z0-9+#-]*(?:\.[A-Za-z0-9]+)*")
_GENERATED = pattern(
    r"(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|yarn\.lock|poetry\.lock|uv\.lock|Cargo\.lock"
    r"|go\.sum|composer\.lock|Gemfile\.lock)$|\.min\.(?:js|css)$|\.(?:png|jpe?g|gif|svg|pdf|ico|woff2?)$"
)
_ANCHORS = 5
_TAGS = 6


@cache
def known_tools() -> frozenset[str]:
    """Return names of tools, lower case, one a line in tools.txt."""
    with open(os.path.join(_FOLDER, "tools.txt"), encoding="utf-8") as file:
        return frozenset(line.strip() for line in file if line.strip() and not line.startswith("#"))


def tools_of(text: str) -> tuple[str, ...]:
    """Return the tools that a text names, in order of appearance."""
    known = known_tools()
    names = (name.lower() for name in _NAME.findall(text))
    return tuple(dict.fromkeys(name for name in names if name in known))


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
