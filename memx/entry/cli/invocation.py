"""One call of the program: its project, and how it speaks.

Data goes to standard output, everything else to standard error; `--json`
prints one document and never colours.
"""

from __future__ import annotations

import os
import sys

from memx.config import UNTRUSTED
from memx.errors import ConfigError, MemxError, UsageError
from memx.escape import show_controls
from memx.lazy import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from memx.app.project import Project
    from memx.model import Problem

JSON_VERSION = 1


class Invocation:
    """The shared options of a call and its channels."""

    def __init__(self, environ: Mapping[str, str], **shared: object) -> None:
        """Take `json`, `quiet`, `directory` and `now` as they were parsed."""
        self.environ = environ
        self.json = bool(shared.get("json"))
        self.quiet = bool(shared.get("quiet"))
        self._directory = str(shared.get("directory") or "")
        self.is_what_if = bool(shared.get("now"))
        self.given_now = str(shared.get("now") or environ.get("MEMX_NOW", ""))
        self.names_config = True
        """Whether what is wrong with the configuration is named beside the answer, which is not about it."""
        self._named: set[Problem] = set()

    @cached_property
    def directory(self) -> str:
        """The folder that the call works in."""
        folder = os.path.abspath(self._directory or os.getcwd())
        if not os.path.isdir(folder):
            raise UsageError("no such folder", path=self._directory)
        return folder

    @cached_property
    def now(self) -> float:
        """The clock in seconds since the epoch, or what `--now` says."""
        if not self.given_now:
            import time

            return time.time()
        from memx.timestamp import parse_time

        try:
            return parse_time(self.given_now)
        except ValueError as error:
            raise UsageError(
                f"not a date: {self.given_now!r}", hint="use 2026-11-30 or 2026-11-30T09:00:00Z"
            ) from error

    @cached_property
    def project(self) -> Project:
        """The project around the folder."""
        from memx.app.project import Project

        project = Project(self.directory, self.environ, self.now)
        project.is_what_if = self.is_what_if
        return project

    @property
    def config_problems(self) -> tuple[Problem, ...]:
        """What is wrong with the configuration that this call goes by; empty for a call that needs no project."""
        if not self.names_config or "project" not in self.__dict__:
            return ()
        try:
            found = self.project.loaded_config.problems
        except ConfigError:
            return ()  # the environment's: whoever needs the configuration has failed with it
        return tuple(problem for problem in found if problem.kind != UNTRUSTED) if found else ()

    @cached_property
    def is_coloured(self) -> bool:
        """Colours only on a terminal, never against NO_COLOR."""
        return not self.json and sys.stdout.isatty() and not self.environ.get("NO_COLOR")

    @property
    def is_interactive(self) -> bool:
        """A person sits at both ends."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    def style(self, text: str, code: str) -> str:
        """Wrap text in an ANSI style on a terminal."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_coloured else text

    def print(self, text: str = "") -> None:
        """Write one line of data. Text from files has been through `show_controls` by then, styles have not."""
        _write(text + "\n")

    def stream(self, pieces: Iterable[str]) -> None:
        """Write data piece by piece, as it comes."""
        for piece in pieces:
            _write(piece)

    def flush(self) -> None:
        """Have everything that was written arrive, as before work behind the reader's back."""
        _guarded(sys.stdout.flush)

    def document(self, document: Mapping[str, object]) -> None:
        """Write one versioned JSON document."""
        import json

        problems = self.config_problems
        if problems:
            from memx.app.documents import problem_documents

            told: Any = document.get("problems", [])
            document = {**document, "problems": [*told, *problem_documents(problems)]}
        text = json.dumps({"version": JSON_VERSION, **document}, ensure_ascii=False, separators=(",", ":"))
        _write(text.encode("utf-8", "replace").decode() + "\n")

    def emit(self, document: Mapping[str, object], lines: Iterable[str]) -> None:
        """Write the document with `--json`, the lines otherwise."""
        if self.json:
            self.document(document)
        else:
            for line in lines:
                self.print(line)

    def notice(self, text: str) -> None:
        """Say something that is not data."""
        if not self.quiet:
            sys.stderr.write(f"memx: {text}\n")

    def problems(self, problems: Iterable[Problem]) -> None:
        """Name each problem with its place, even when quiet: they are never to be overlooked, but hints are notices."""
        for problem in problems:
            self._named.add(problem)
            hint = "" if self.quiet else problem.hint
            report_error(MemxError(problem.message, path=problem.path, line=problem.line, hint=hint))

    def name_config(self) -> None:
        """Name what is wrong with the configuration, unless this call has named it already."""
        self.problems(problem for problem in self.config_problems if problem not in self._named)

    def confirm(self, question: str) -> bool:
        """Ask yes or no on a terminal; without one the answer is no."""
        if not self.is_interactive:
            return False
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")


class OutputError(OSError):
    """Standard output cannot be written: a full disk, not a bug."""


def _write(text: str) -> None:
    _guarded(sys.stdout.write, text)


def _guarded(act: Callable[..., object], *values: str) -> None:
    """Tell a full disk from a bug; a reader that left is neither."""
    try:
        act(*values)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.errno, error.strerror) from error


def report_error(error: MemxError) -> None:
    """Write `memx: <what>: <path>:<line>` and a hint to standard error."""
    # A name or a value from a cloned repository must not move the cursor or forge a line.
    path = None if error.path is None else error.path.replace("\n", "\\n")
    sys.stderr.write(show_controls(f"memx: {MemxError(error.message, path=path, line=error.line)}\n"))
    if error.hint:
        sys.stderr.write(show_controls(f"hint: {error.hint}\n"))


def report_lesson(text: str) -> None:
    """Write a lesson that could not be stored to standard error, so that it is not lost with the error."""
    if text:
        sys.stderr.write(show_controls(f"not stored:\n{text}\n"))


def error_document(error: MemxError) -> dict[str, object]:
    """Return the JSON form of an error."""
    parts = {"message": error.message, "hint": error.hint, "path": error.path, "line": error.line}
    return {"error": parts}
