"""The program `memx`: parse, run one command, turn every failure into an exit code."""

from __future__ import annotations

import os
import sys

from memx import __version__
from memx.entry.cli.command import Command, parse, refuse_slips, split_shared
from memx.entry.cli.table import GROUPS, MODULES
from memx.errors import EXIT_BUG, EXIT_EXPECTED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, MemxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typer import Typer

    from memx.entry.cli.invocation import Invocation


_TAKES_TEXT = frozenset(("search", "add", "compare", "why-not"))
_ABOUT_CONFIG = frozenset(f"memx.entry.cli.{name}" for name in ("config", "setup", "files", "hooks"))
"""Modules of commands that look at the configuration themselves, make it, or must be quiet."""
_VERSION_FLAGS = frozenset(("--version", "-V"))
_BARE_FLAGS = frozenset(("--json", "--quiet", "-q"))
_SHARED_FLAGS = ("--json", "--quiet", "-q", "-C", "--now")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the console scripts exit with what this returns."""
    if arguments is None:
        _require_utf8()
    _open_closed_streams()
    argv = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    code = EXIT_OK
    try:
        code = _dispatch(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has seen enough; a failure stays one.
        _drop_output()
        return code
    except OSError as error:
        _drop_output()
        sys.stderr.write(f"memx: cannot write the output: {error.strerror or error}\n")
        return EXIT_EXPECTED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return code


def _drop_output() -> None:
    """Send what is still buffered nowhere, or the interpreter would complain about it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _open_closed_streams() -> None:
    """Give a process that was started with closed streams something to read and write."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (open until the end)


def _require_utf8() -> None:
    """Start anew in UTF-8 where arguments and file names were read as ASCII: all but ASCII is lost there."""
    if sys.getfilesystemencoding() in ("ascii", "us-ascii") and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 (this very program)


def _dispatch(argv: list[str]) -> int:
    if not _VERSION_FLAGS.isdisjoint(argv) and _VERSION_FLAGS.union(_BARE_FLAGS).issuperset(argv):
        _print_version(is_json="--json" in argv)
        return EXIT_OK
    found = split_shared(argv)
    if found is not None and found[1]:
        shared, words = found[0], with_default(found[1])
        command = find_command(words)
        if command is not None:
            values = parse(command[0], command[1])
            if values is not None:
                return execute(command[0], {**shared, **values})
    return _run_typer(argv)


def _print_version(*, is_json: bool) -> None:
    if not is_json:
        sys.stdout.write(f"memx {__version__}\n")
        return
    from memx.entry.cli.invocation import Invocation

    Invocation(os.environ, json=True).document({"memx": __version__})


def with_default(words: list[str]) -> list[str]:
    """Return the words with the default command of a group put in: `memx config` is `memx config list`."""
    if words[0] in GROUPS and (len(words) == 1 or words[1] in _SHARED_FLAGS):
        return [words[0], GROUPS[words[0]][1], *words[1:]]
    return words


def find_command(words: Sequence[str]) -> tuple[Command, list[str]] | None:
    """Return the command that the words name and the words left over, None for an unknown one."""
    if words[0] in GROUPS and len(words) > 1:
        module, rest, name = GROUPS[words[0]][0], words[2:], words[1]
    elif words[0] in MODULES:
        module, rest, name = MODULES[words[0]], words[1:], words[0]
    else:
        return None
    for command in load_commands(module):
        if command.name == name:
            return command, list(rest)
    return None


def load_commands(module: str) -> tuple[Command, ...]:
    """Import one module of commands."""
    name = f"memx.entry.cli.{module}"
    __import__(name)
    commands: tuple[Command, ...] = sys.modules[name].COMMANDS
    return commands


def iter_commands() -> Iterator[tuple[str, Command]]:
    """Yield every command with its group ("" at the top), in the order of the table."""
    for name, module in MODULES.items():
        yield from (("", command) for command in load_commands(module) if command.name == name)
    for group, (module, *_) in GROUPS.items():
        yield from ((group, command) for command in load_commands(module))


def execute(command: Command, values: dict[str, object]) -> int:
    """Run a command; an expected failure and a bug are both reported in the form that was asked for."""
    from memx.entry.cli.invocation import (
        Invocation,
        OutputError,
        error_document,
        report_error,
    )

    shared = {name: values.pop(name, None) for name in ("json", "quiet", "directory", "now")}
    invocation = Invocation(os.environ, **shared)
    try:
        refuse_slips(values)
        if any(parameter.is_stored for parameter in command.parameters):
            from memx.entry.cli.text import refuse_broken

            refuse_broken(command.parameters, values)
        invocation.names_config = command.run.__module__ not in _ABOUT_CONFIG
        code = command.run(invocation, **values)
        invocation.name_config()
    except MemxError as error:
        if invocation.json:
            invocation.document(error_document(error))
        else:
            report_error(error)
        return error.exit_code
    except (BrokenPipeError, KeyboardInterrupt, OutputError):
        raise
    except Exception as error:  # noqa: BLE001 (the one place where a bug becomes a report)
        return _report_failure(error, command, invocation)
    return code


def _report_failure(error: Exception, command: Command, invocation: Invocation) -> int:
    """Report a bug, or that the package's own files are damaged, which looks like one."""
    from memx.app.package_data import REMEDY, damaged_files
    from memx.entry.bug_report import write_bug_report
    from memx.entry.cli.invocation import error_document, report_error

    damaged = damaged_files()
    if damaged:
        damage = MemxError(f"the installation is damaged: {'; '.join(damaged)}", hint=REMEDY)
        if invocation.json:
            invocation.document(error_document(damage))
        else:
            report_error(damage)
        return EXIT_EXPECTED
    path = write_bug_report(error, command.name, invocation)
    report_error(MemxError(f"this is a bug in memx: {type(error).__name__}", path=path, hint="report it"))
    return EXIT_BUG


def _usage_hint(argv: list[str], mistake: BaseException | None) -> str:
    """Return what helps somebody whose text or value begins with a dash; empty for any other mistake.

    `mistake` is typer's own exception: an unknown option, or a short one with what was meant as text for a value.
    """
    kind = type(mistake).__name__
    is_attached = any(word[:1] == "-" and word[:2] != "--" and len(word) > 2 for word in argv)  # noqa: PLR2004
    if "--" in argv or not (kind == "NoSuchOption" or (kind == "BadParameter" and is_attached)):
        return ""
    if _TAKES_TEXT.intersection(argv):
        return "put -- before a text that begins with a dash"
    number = next(filter(_is_negative, argv), "")
    return f"put -- before a value that begins with a dash, as in -- {number}" if number else ""


def _is_negative(word: str) -> bool:
    return word[:1] == "-" and word[1:2].isdigit()


def _run_typer(argv: list[str]) -> int:
    from memx.entry.cli.typer_app import build_app

    app = build_app(
        iter_commands(), execute, __version__, {name: text for name, (*_, text) in GROUPS.items()}
    )
    if "--json" in argv[: argv.index("--") if "--" in argv else None]:
        return _run_typer_for_programs(app, argv)
    code, mistake = _run_app(app, argv)
    hint = _usage_hint(argv, mistake) if code == EXIT_USAGE else ""
    if hint:
        sys.stderr.write(f"hint: {hint}\n")
    return code


def _run_typer_for_programs(app: Typer, argv: list[str]) -> int:
    """Turn what typer would say about a mistake into the document that every other error is.

    typer keeps its exceptions to itself, so the message is taken from what it writes.
    """
    from contextlib import redirect_stderr
    from io import StringIO

    from memx.entry.cli.invocation import Invocation, error_document

    with redirect_stderr(StringIO()) as said:
        code, mistake = _run_app(app, argv)
    lines = said.getvalue().splitlines()
    if code == EXIT_USAGE and lines:
        message = lines[-1].removeprefix("Error: ")
        hint = _usage_hint(argv, mistake) or "memx --help names the commands and their options"
        error = MemxError(message, hint=hint)
        Invocation(os.environ, json=True).document(error_document(error))
    else:
        sys.stderr.write(said.getvalue())
    return code


def _run_app(app: Typer, argv: list[str]) -> tuple[int, BaseException | None]:
    """Return the exit code, and the mistake that typer found where there is one."""
    try:
        app(argv, prog_name="memx", standalone_mode=True)
    except SystemExit as error:
        mistake = error.__context__
        if isinstance(mistake, BrokenPipeError):
            # To click that is a failure of the program.
            raise mistake from None
        return (error.code if isinstance(error.code, int) else EXIT_USAGE), mistake
    return EXIT_OK, None
