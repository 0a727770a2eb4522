"""Calls of tools, each with a fresh look at the repository; nothing that happens in one of them ends the server."""

from __future__ import annotations

import os
import re

from memx.agents.schema import read_arguments
from memx.agents.tools import call_context
from memx.errors import MemxError, UsageError
from memx.escape import show_controls
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from memx.agents.schema import Declared
    from memx.agents.tools import Tool
    from memx.app.project import Project

_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 40

LONGEST_MESSAGE = 500
"""Characters of an error: it may quote what was sent."""


@record
class Answer:
    """What a tool says, and whether that is an error."""

    text: str
    is_error: bool = False


class Session:
    """The tools of one server.

    `open_project` looks at the repository anew: branch, files, configuration and clock may all have changed
    since the last call. `report_bug(error, tool)` writes a report and returns its path.
    """

    def __init__(
        self,
        tools: Sequence[tuple[Tool, Sequence[Declared]]],
        open_project: Callable[[], Project],
        report_bug: Callable[[Exception, str], str],
    ) -> None:
        """Take the tools with the parameters that each one takes."""
        self.tools = {tool.name: (tool, parameters) for tool, parameters in tools}
        self._open_project = open_project
        self._report_bug = report_bug

    def call(self, name: str, arguments: Mapping[str, Any], agent: str = "") -> Answer:
        """Call a tool for an agent of some name; every failure is an answer."""
        if name not in self.tools:
            known = ", ".join(self.tools)
            return _failure(UsageError(f"there is no tool {name[:_LONGEST_NAME]!r}", hint=f"one of {known}"))
        tool, parameters = self.tools[name]
        who = _NAME.sub("-", agent).strip("-")[:_LONGEST_NAME]
        return self._answer(
            lambda: tool.call(self._open_project(), who, read_arguments(parameters, _clean(arguments))), name
        )

    def context(self, arguments: Mapping[str, str]) -> Answer:
        """Return the block for a prompt."""
        return self._answer(lambda: call_context(self._open_project(), dict(_clean(arguments))), "context")

    def _answer(self, act: Callable[[], str], name: str) -> Answer:
        try:
            return Answer(_encodable(act()))
        except MemxError as error:
            return _failure(error)
        except Exception as error:  # noqa: BLE001 (an entry point: a bug in one call must not end the session)
            path = self._report_bug(error, name)
            return _failure(MemxError(f"this is a bug in memx: {type(error).__name__}", path=path))
        finally:
            _reap_children()


def _failure(error: MemxError) -> Answer:
    hint = f"\nhint: {error.hint}" if error.hint else ""
    said = str(error)
    if len(said) > LONGEST_MESSAGE:
        said = f"{said[:LONGEST_MESSAGE]}…"
    return Answer(show_controls(f"{said}{hint}"), is_error=True)


def _clean(value: Any) -> Any:
    """Return JSON values without lone surrogates, which neither a file nor a pipe can hold."""
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _reap_children() -> None:
    """Take leave of background processes that have ended, or they would stay as zombies as long as the server."""
    try:
        while hasattr(os, "WNOHANG") and os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
