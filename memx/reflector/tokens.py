"""Identifiers, flags, paths, marked code and values in a text."""

from __future__ import annotations

import re
from functools import lru_cache

from memx.reflector.pattern import pattern

CODE_TOKEN = pattern(
    r"`[^`\n]{1,80}`"
    r"|(?<![\w/])--?[a-z][\w-]*(?:=[!-~]+)?"
    r"|\b[A-Za-z_]\w*(?:::|->|\.)[A-Za-z_]\w*(?:\(\))?"
    r"|\b[A-Za-z]\w*\(\)"
    r"|\b[A-Za-z]+_\w+\b"
    r"|\b[a-z]+[A-Z]\w*\b|\b(?:[A-Z][a-z0-9]+){2,}\b"
    r"|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b"
    r"|(?<![\w])[~.]?/?[\w.-]+/[\w./-]+"
    r"|(?<![\w])@[A-Za-z]\w+"
    r"|\b[\w-]+\.(?:py|js|ts|tsx|yml|yaml|toml|json|c|h|cpp|rs|go|java|sh|sql|md|txt|cfg|ini|properties|lock|env)\b",
    re.ASCII,  # else a kana or Han character right beside a name counts as part of it
)
_CODE_MARK = pattern(r"`[^`\n]{1,80}`")
VALUE_TOKEN = pattern(
    r"(?<![\w#.])\d+(?:\.\d+)*(?:\s?(?:ms|s|MB|GB|KB|kB|%|seconds?|minutes?|bytes?|秒|分|条|次))?(?![\w.])",
    re.ASCII,
)
_REFERENCE = pattern(r"\(#\d+\)|#\d+|https?://\S+")
_LONG_TOKEN = 80
_STOPS = ".,;:!?)\"'。，；：！？、）」』”’"
"""What ends a sentence or closes a bracket."""

_PLAIN_KNOWN = 50_000
_plain: set[str] = set()
"""Words that are no code: a bounded memory of what CODE_TOKEN said."""


@lru_cache(maxsize=512)
def code_tokens(text: str) -> tuple[str, ...]:
    """Return the identifiers, flags, paths and marked code of a text, in order."""
    if "`" not in text:
        return tuple(_bare_tokens(text))
    if "=" in text:
        # `--flag=...` goes on over a code mark.
        return tuple(map(_without_stop, CODE_TOKEN.findall(text)))
    tokens: list[str] = []
    start = 0
    for mark in _CODE_MARK.finditer(text):
        tokens += _bare_tokens(text[start : mark.start()])
        tokens.append(mark.group())
        start = mark.end()
    return (*tokens, *_bare_tokens(text[start:]))


def _bare_tokens(text: str) -> list[str]:
    """Return the code tokens outside of marks; none goes over a space."""
    found: list[str] = []
    for word in [word for word in text.split() if word not in _plain]:
        tokens = CODE_TOKEN.findall(word)
        found += map(_without_stop, tokens)
        if not tokens and len(word) < _LONG_TOKEN and len(_plain) < _PLAIN_KNOWN:
            _plain.add(word)
    return found


def _without_stop(token: str) -> str:
    """Take off what ends the sentence or the bracket behind a name: `--max-workers=2.`, `/var/tmp.`."""
    if token[-1] not in _STOPS or token.endswith(".."):
        return token
    return token.rstrip(_STOPS if "(" not in token else _STOPS.replace(")", "")) or token


def count_values(text: str) -> int:
    """Count numbers with their units, references to tickets left out."""
    if not any(map(text.__contains__, "0123456789")):
        return 0
    return len(VALUE_TOKEN.findall(_REFERENCE.sub(" ", text)))
