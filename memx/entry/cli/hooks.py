"""`memx hooks`: what git will really run."""

from __future__ import annotations

from memx.entry.cli.command import Command, argument
from memx.errors import EXIT_EXPECTED, EXIT_OK, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.entry.cli.invocation import Invocation
    from memx.repo.discovery import Repository
    from memx.repo.hooks import HooksReport


def run_install(invocation: Invocation) -> int:
    """Put the hooks in place; those that were there keep running first."""
    from memx.repo.hooks import install

    report = install(_repository(invocation))
    _report(invocation, report)
    is_done = not report.snippet or any(state.runs_memx for state in report.hooks)
    return EXIT_OK if is_done else EXIT_EXPECTED


def run_uninstall(invocation: Invocation) -> int:
    """Take the hooks away and put those that were there before back."""
    from memx.repo.hooks import uninstall

    _report(invocation, uninstall(_repository(invocation)))
    return EXIT_OK


def run_status(invocation: Invocation) -> int:
    """Say for each hook what git will run; exit 1 when memx is in none."""
    from memx.repo.hooks import status

    report = status(_repository(invocation))
    _report(invocation, report)
    return EXIT_OK if any(state.runs_memx for state in report.hooks) else EXIT_EXPECTED


def run_run(invocation: Invocation, *, name: str, arguments: tuple[str, ...]) -> int:
    """Do what a hook does, as its dispatcher calls it."""
    from memx.entry.hook import main
    from memx.repo.hooks import HOOKS

    if name not in HOOKS:
        raise UsageError(f"memx has no hook {name[:40]!r}", hint=f"one of {', '.join(HOOKS)}")
    _repository(invocation)
    code = main([name, *arguments])
    if invocation.json:
        invocation.document({"hook": name, "exit": code})
    return code


def _repository(invocation: Invocation) -> Repository:
    from memx.app.distil import require_repository

    return require_repository(invocation.project)


def _report(invocation: Invocation, report: HooksReport) -> None:
    document = {
        "hooks_dir": report.hooks_dir,
        "hooks": [
            {
                "name": state.name,
                "state": state.state,
                "runs_memx": state.runs_memx,
                "path": state.path,
                "runner": state.runner,
                "note": state.note,
            }
            for state in report.hooks
        ],
        "changed": list(report.changed),
        "reason": report.reason,
        "snippet": report.snippet,
    }
    invocation.emit(document, _lines(report))
    for message in report.messages:
        invocation.notice(message)


def _lines(report: HooksReport) -> Iterator[str]:
    yield f"git runs hooks from {report.hooks_dir}"
    for state in report.hooks:
        note = f"  {state.note}" if state.note else ""
        runner = f" ({state.runner})" if state.runner else ""
        yield f"  {state.name:<14} {state.state}{runner}{note}"
    if report.snippet:
        yield ""
        yield from report.snippet.splitlines()


COMMANDS = (
    Command("install", "Put the hooks in place; those that were there keep running first.", run_install),
    Command("uninstall", "Take the hooks away and put the former ones back.", run_uninstall),
    Command("status", "Say for each hook what git will really run.", run_status),
    Command(
        "run",
        "Do what a hook does (for hook managers).",
        run_run,
        (
            argument("name", "The hook's name, such as post-commit."),
            argument("arguments", "What git gives the hook.", required=False, many=True),
        ),
    ),
)
