"""`memx maintain`: one reviewable change."""

from __future__ import annotations

from memx.entry.cli.command import Command, flag, option
from memx.errors import EXIT_OK, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.maintain import Maintained
    from memx.entry.cli.invocation import Invocation


def run_maintain(invocation: Invocation, *, branch: str | None, dry_run: bool) -> int:
    """Fold, archive, and report what a person must decide, as Markdown."""
    from memx.app.maintain import maintain, maintain_on_branch
    from memx.app.maintain_summary import format_summary

    if branch and dry_run:
        raise UsageError("--dry-run goes without --branch")
    project = invocation.project
    done = maintain_on_branch(project, branch) if branch else maintain(project, dry_run=dry_run)
    invocation.emit(_document(done), format_summary(done).splitlines())
    if branch and not done.commit:
        invocation.notice(f"nothing to commit on {branch}")
    return EXIT_OK


def _document(done: Maintained) -> dict[str, object]:
    from memx.app.documents import problem_documents

    return {
        "changed": done.is_changed,
        "branch": done.branch or None,
        "commit": done.commit or None,
        "folded": [{"id": name, "recall_count": count} for name, count in sorted(done.folded.items())],
        "archived": [
            {
                "id": row.head.id,
                "path": row.head.path,
                "weight": row.decay.weight,
                "age_days": round(row.decay.age_days, 4),
                "recall_count": row.recall_count,
            }
            for row in done.archived
        ],
        "duplicates": [
            [group.survivor.bullet.id, *(absorption.stored.bullet.id for absorption in group.absorbed)]
            for group in done.duplicates
        ],
        "conflicts": [{"a": c.a.bullet.id, "b": c.b.bullet.id, "reason": c.reason} for c in done.conflicts],
        "disputed": [stored.bullet.id for stored in done.disputed],
        "drifted": [
            {"id": report.stored.bullet.id, "anchor": report.anchor, "state": report.state}
            for report in done.drifted
        ],
        "problems": problem_documents(done.problems),
        "notes": list(done.notes),
    }


COMMANDS = (
    Command(
        "maintain",
        "Fold, archive, and list what a person must decide, as one reviewable change.",
        run_maintain,
        (
            option(
                "branch", "Commit the change on this branch; the work tree stays as it is.", metavar="NAME"
            ),
            flag("dry_run", "Only show what would be done.", short="-n"),
        ),
    ),
)
