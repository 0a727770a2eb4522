"""The arguments of a tool: a JSON schema from what the command line declares, and the check of what an agent sent."""

from __future__ import annotations

from memx.errors import UsageError
from memx.model import SECTIONS, TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol

    class Declared(Protocol):
        """What this needs of a parameter of a command; without flags it is an argument."""

        @property
        def name(self) -> str:
            """The name of the option and of the Python parameter."""

        @property
        def help(self) -> str:
            """One sentence."""

        @property
        def flags(self) -> tuple[str, ...]:
            """What the command line calls it; empty for an argument."""

        @property
        def kind(self) -> str:
            """One of text, integer, number and flag."""

        @property
        def required(self) -> bool:
            """Whether it must be given."""

        @property
        def many(self) -> bool:
            """Whether it may be repeated; the words of one text for an argument."""


LONGEST = 100_000
"""Characters of one text: what nobody writes by hand, and what a search still answers at once."""

MOST = 100
"""Texts of one list."""

_TYPES = {"text": "string", "integer": "integer", "number": "number", "flag": "boolean"}
_HELP = {"text": "The lesson: what holds and why, in one to three sentences.", "query": "The question."}
"""Where the command line's own words speak of the command line."""

_CHOICES = {"section": SECTIONS, "type": TYPES}


def input_schema(parameters: Sequence[Declared]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    return {
        "type": "object",
        "properties": {parameter.name: _property(parameter) for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }


def _property(parameter: Declared) -> dict[str, Any]:
    kind: dict[str, Any] = {"type": _TYPES[parameter.kind]}
    if parameter.name in _CHOICES:
        kind["enum"] = list(_CHOICES[parameter.name])
    if _is_list(parameter):
        kind = {"type": "array", "items": kind, "maxItems": MOST}
    text = _HELP.get(parameter.name) or parameter.help.replace(" (may be repeated)", "")
    return {**kind, "description": text}


def read_arguments(parameters: Sequence[Declared], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for every parameter: None, False or an empty tuple for what was not given.

    Raises UsageError for an argument that is missing, unknown, too long or of another type.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in arguments:
        if name not in known:
            raise UsageError(f"there is no argument {_short(name)}", hint=f"it takes {', '.join(known)}")
    return {name: _value(parameter, arguments.get(name)) for name, parameter in known.items()}


def _value(parameter: Declared, value: Any) -> Any:
    if value is None:
        if parameter.required:
            raise UsageError(f"the argument {parameter.name} is missing")
        return () if _is_list(parameter) else False if parameter.kind == "flag" else None
    if not _is_list(parameter):
        return _single(parameter, value)
    if not isinstance(value, list):
        raise UsageError(f"{parameter.name} must be a list, not {_short(value)}")
    if len(value) > MOST:
        raise UsageError(f"{parameter.name} holds {len(value)} texts; at most {MOST} are taken")
    return tuple(_single(parameter, item) for item in value)


def _single(parameter: Declared, value: Any) -> Any:
    kind = parameter.kind
    if kind == "text" and isinstance(value, str):
        if len(value) > LONGEST:
            raise UsageError(f"{parameter.name} has {len(value)} characters; at most {LONGEST} are taken")
        allowed = _CHOICES.get(parameter.name, ())
        if allowed and value.lower() not in allowed:
            raise UsageError(f"unknown {parameter.name} {_short(value)}", hint=f"one of {', '.join(allowed)}")
        return value.lower() if allowed else value
    if kind == "flag" and isinstance(value, bool):
        return value
    if kind in ("integer", "number") and isinstance(value, int | float) and not isinstance(value, bool):
        if kind == "number":
            return float(value)
        if abs(value) < 1 << 31 and value == int(value):
            return int(value)
    raise UsageError(f"{parameter.name} must be {_TYPES[kind]}, not {_short(value)}")


def _is_list(parameter: Declared) -> bool:
    return parameter.many and bool(parameter.flags)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"  # noqa: PLR2004 (enough to recognise it)
