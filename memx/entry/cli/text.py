"""Texts from outside: what is no UTF-8 is refused, for a replacement character in a lesson is a loss for good."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

from memx.errors import MemxError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.entry.cli.command import Parameter

_HINT = "give it as UTF-8, as with iconv -f latin1 -t utf-8"
_SURROGATES = range(0xD800, 0xE000)
_SHOWN = 20


def read_standard_input() -> str:
    """Return all of standard input: UTF-8, or UTF-16 with a mark, as the pipes of some shells write it.

    Raises MemxError with the place of the first byte that fits neither.
    """
    data = sys.stdin.buffer.read()
    encoding = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
    try:
        return data.removeprefix(BOM_UTF8).decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = (
            f"byte 0x{data[error.start]:02x} is not UTF-8" if encoding == "utf-8" else "this is not UTF-16"
        )
        raise MemxError(message, path="standard input", line=line, hint=_HINT) from error


def refuse_broken(parameters: Iterable[Parameter], values: dict[str, object]) -> None:
    """Raise UsageError for a value that is to be stored and holds what was no UTF-8 on the command line."""
    for parameter in parameters:
        if parameter.is_stored:
            value = values.get(parameter.name)
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and not text.isascii():
                    _refuse(parameter, text)


def _refuse(parameter: Parameter, text: str) -> None:
    place = next((place for place, character in enumerate(text) if ord(character) in _SURROGATES), None)
    if place is None:
        return
    name = parameter.flags[0] if parameter.flags else f"the {parameter.name}"
    before = text[max(0, place - _SHOWN) : place]
    where = f"after {before!r}" if before else "at its start"
    raise UsageError(f"{name} is not UTF-8 {where}", hint=_HINT)
