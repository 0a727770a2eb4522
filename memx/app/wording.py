"""Whether a text says anything that is not said already: sentence by sentence, ticket numbers left aside."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_REFERENCE = re.compile(r"\s*\((?:#|!|gh-)\d+\)", re.IGNORECASE)


def sentences(text: str) -> frozenset[str]:
    """Return the sentences of a text in lower case, without the end marks and a forge's `(#12)`."""
    plain = _REFERENCE.sub("", text).lower()
    found = (" ".join(sentence.split()).rstrip(" .!?;") for sentence in _END.split(plain))
    return frozenset(filter(None, found))


def said_already(text: str, known: Iterable[frozenset[str]]) -> bool:
    """Tell whether each sentence of a text is one of a known text's, or of several ones'."""
    left = set(sentences(text))
    for said in known:
        left -= said
    return not left
