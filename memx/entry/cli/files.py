"""`memx lint` and `memx fmt`: whole files, for people, CI and the pre-commit framework."""

from __future__ import annotations

import os

from memx.entry.cli.command import Command, argument, flag
from memx.errors import EXIT_EXPECTED, EXIT_OK
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.entry.cli.invocation import Invocation
    from memx.model import Problem


def run_lint(invocation: Invocation, *, files: tuple[str, ...]) -> int:
    """Name everything that is wrong in the bullets and the configuration; exit 1 when there is something."""
    from memx.app.documents import problem_documents

    project = invocation.project
    problems = list(project.store.lint(_store_paths(invocation, files)))
    if not files:
        problems += project.loaded_config.problems
    document = {"problems": problem_documents(problems)}
    invocation.emit(document, (_finding(invocation, problem) for problem in problems))
    return EXIT_EXPECTED if problems else EXIT_OK


def _finding(invocation: Invocation, problem: Problem) -> str:
    """Return `path:line: message (hint)`, the path as one would open it from the working folder."""
    path = problem.path
    if not os.path.isabs(path):
        path = os.path.relpath(os.path.join(invocation.project.store.root, path), invocation.directory)
    place = path if problem.line is None else f"{path}:{problem.line}"
    hint = f" ({problem.hint})" if problem.hint else ""
    return show_controls(f"{place}: {problem.message}{hint}".replace("\n", "\\n"))


def run_fmt(invocation: Invocation, *, files: tuple[str, ...], check: bool) -> int:
    """Bring bullets into the canonical form and to their section's folder; exit 1 when one changed."""
    from memx.app.format import format_bullets
    from memx.entry.cli.bullet import say_settled

    done = format_bullets(invocation.project, _store_paths(invocation, files), check=check)
    verb = "would format" if check else "formatted"
    document = {
        "changed": list(done.changed),
        "merged": [settled.stored.bullet.id for settled in done.settled if settled.is_merged],
    }
    invocation.emit(document, (f"{verb} {path}" for path in done.changed))
    for settled in done.settled:
        say_settled(invocation, settled)
    invocation.problems(done.problems)
    return EXIT_EXPECTED if done.changed or done.problems else EXIT_OK


def _store_paths(invocation: Invocation, files: Sequence[str]) -> list[str] | None:
    """Return paths relative to the store's root for files named from the working folder; None for all."""
    if not files:
        return None
    root = invocation.project.store.root
    return [os.path.relpath(os.path.join(invocation.directory, name), root) for name in files]


_FILES = argument("files", "Files (default: the whole store).", required=False, many=True)

COMMANDS = (
    Command("lint", "Check bullets: form, ids, anchors, secrets, conflict markers.", run_lint, (_FILES,)),
    Command(
        "fmt",
        "Bring bullets into the canonical form.",
        run_fmt,
        (_FILES, flag("check", "Change nothing, only say what would change.")),
    ),
)
