"""`memx export`: the visible bullets for other programs."""

from __future__ import annotations

from memx.entry.cli.bullet import FILTERS, choice
from memx.entry.cli.command import Command, option
from memx.errors import EXIT_OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.entry.cli.invocation import Invocation
    from memx.model import Problem

FORMATS = ("json", "jsonl", "markdown")


def run_export(invocation: Invocation, **values: object) -> int:
    """Print or write the bullets that this viewer sees."""
    from memx.app.export import Selection, export_bullets, format_bullets, write_export
    from memx.entry.cli.progress import Progress
    from memx.model import SECTIONS, TYPES

    selection = Selection(
        section=choice("section", values["section"], SECTIONS),
        type=choice("type", values["type"], TYPES),
        archived=bool(values["archived"]),
        **{name: str(values[name] or "") for name in ("tag", "scope", "workspace", "store")},
    )
    form = "json" if invocation.json else str(values["format"])
    problems: list[Problem] = [*invocation.config_problems]
    output = str(values["output"] or "-")
    with Progress(invocation) as progress:
        report = progress.report if progress.is_on else None
        pieces = format_bullets(
            export_bullets(invocation.project, selection, problems, report), problems, form
        )
        if output == "-":
            invocation.stream(pieces)
        else:
            write_export(invocation.project, output, pieces)
    invocation.problems(problems)
    return EXIT_OK


COMMANDS = (
    Command(
        "export",
        "Print or write all bullets that can be seen from here.",
        run_export,
        (
            option("format", "How to print.", choices=FORMATS, default="json"),
            option("output", "Write to FILE instead of standard output.", short="-o", metavar="FILE"),
            *FILTERS,
        ),
    ),
)
