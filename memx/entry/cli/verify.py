"""`memx verify`: the code that bullets speak about, checked."""

from __future__ import annotations

from memx.entry.cli.command import Command, argument, flag
from memx.errors import EXIT_EXPECTED, EXIT_OK
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memx.app.verify import AnchorReport
    from memx.entry.cli.invocation import Invocation

COLOURS = {"fresh": "32", "drifted": "33", "orphaned": "31"}


def run_verify(
    invocation: Invocation,
    *,
    bullets: tuple[str, ...],
    update: bool,
    all: bool,  # noqa: A002 (the flag's name)
) -> int:
    """Name every anchor whose code has changed or gone; exit 1 when there is one."""
    from memx.app.documents import problem_documents
    from memx.app.verify import count_states, update_anchors, verify

    project = invocation.project
    reports, problems = verify(project, bullets)
    updated: list[str] = []
    if update:
        updated = update_anchors(project, reports)
        reports, problems = verify(project, bullets) if updated else (reports, problems)
    counts = count_states(reports)
    document = {
        "anchors": [anchor_document(report) for report in reports],
        **counts,
        "updated": updated,
        "problems": problem_documents(problems),
    }
    invocation.emit(document, _lines(invocation, reports, is_whole=all))
    if not invocation.json:
        invocation.notice(", ".join(f"{count} {state}" for state, count in counts.items()))
        for identifier in updated:
            invocation.notice(f"updated the anchors of {identifier}")
    invocation.problems(problems)
    return EXIT_EXPECTED if counts["drifted"] or counts["orphaned"] or problems else EXIT_OK


def anchor_document(report: AnchorReport) -> dict[str, object]:
    """Return one anchor as JSON values."""
    return {
        "id": report.stored.bullet.id,
        "path": report.stored.path,
        "anchor": report.anchor,
        "state": report.state,
        "reason": report.reason or None,
        "now": report.now or None,
    }


def _lines(invocation: Invocation, reports: Sequence[AnchorReport], *, is_whole: bool) -> Iterator[str]:
    for report in reports:
        if report.state == "fresh" and not (is_whole or report.now):
            continue
        state = invocation.style(f"{report.state:<8}", COLOURS[report.state])
        details = [report.reason] if report.reason else []
        details += [f"now {report.now}"] if report.now else []
        suffix = f"  ({'; '.join(map(show_controls, details))})" if details else ""
        yield f"{state}  {report.stored.bullet.id}  {show_controls(report.anchor)}{suffix}"


COMMANDS = (
    Command(
        "verify",
        "Check the code that bullets are anchored at: fresh, drifted, orphaned, followed through renames.",
        run_verify,
        (
            argument("bullets", "Ids, prefixes or paths (default: all).", required=False, many=True),
            flag("update", "Write the new place of code that has moved into the bullets."),
            flag("all", "List fresh anchors too."),
        ),
    ),
)
