"""`memx dedup` and `memx unmerge`: duplicates of the whole store, and the way back."""

from __future__ import annotations

import sys

from memx.amount import amount
from memx.entry.cli.command import Command, argument, flag
from memx.errors import EXIT_EXPECTED, EXIT_OK, UsageError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.app.dedup import Applied, Group, Plan
    from memx.entry.cli.invocation import Invocation
    from memx.model import StoredBullet


def run_dedup(invocation: Invocation, *, dry_run: bool, yes: bool, explain: bool) -> int:
    """Merge what is the same lesson; on a terminal only the plan is shown unless `--yes` is given."""
    from memx.app import dedup
    from memx.entry.cli.progress import Progress
    from memx.entry.cli.search import say_missing

    if dry_run and yes:
        raise UsageError("--dry-run and --yes exclude each other")
    is_dry = dry_run or (not yes and sys.stdout.isatty())
    with Progress(invocation) as progress:
        planned = dedup.plan(invocation.project, progress.report)
        applied = None if is_dry else dedup.apply(invocation.project, planned, progress.report)
    invocation.emit(_document(planned, applied), _lines(planned, applied, explain=explain))
    invocation.problems(planned.problems)
    say_missing(invocation, _missing(planned))
    if planned.conflicts:
        invocation.notice(f"{amount(planned.conflicts, 'pair')} may be in conflict: memx conflicts --all")
    if applied is None and (planned.groups or planned.misnamed):
        invocation.notice("nothing was changed: memx dedup --yes merges them")
    elif applied is not None and (applied.survivors or applied.renamed):
        invocation.notice("one change to review: git diff; memx unmerge ID takes a merge back")
    for note in () if applied is None else applied.skipped:
        invocation.notice(f"not merged: {note}")
    return EXIT_EXPECTED if applied is not None and applied.skipped else EXIT_OK


def _document(planned: Plan, applied: Applied | None) -> dict[str, object]:
    return {
        "applied": applied is not None,
        "compared": planned.compared,
        "groups": [
            {
                "keep": group.survivor.bullet.id,
                "path": group.survivor.path,
                "absorb": [
                    {
                        "id": taken.stored.bullet.id,
                        "path": taken.stored.path,
                        "similarity": taken.similarity,
                        "reason": taken.reason,
                    }
                    for taken in group.absorbed
                ],
            }
            for group in planned.groups
        ],
        "shown": [
            {
                "a": shown.a.bullet.id,
                "b": shown.b.bullet.id,
                "similarity": shown.similarity,
                "reason": shown.reason,
            }
            for shown in planned.shown
        ],
        "left": [
            {"a": left.a.bullet.id, "b": left.b.bullet.id, "reason": left.reason} for left in planned.left
        ],
        "renamed": [
            {"id": stored.bullet.id, "path": stored.path}
            for stored in (planned.misnamed if applied is None else applied.renamed)
        ],
        "conflicts": planned.conflicts,
        "finished": list(planned.unfinished if applied is None else applied.finished),
        "skipped": [] if applied is None else list(applied.skipped),
        "degraded": _missing(planned),
    }


def _missing(planned: Plan) -> list[str]:
    return [f"l4: {planned.degraded}"] if planned.degraded else []


def _lines(planned: Plan, applied: Applied | None, *, explain: bool) -> Iterator[str]:
    verb = "would merge" if applied is None else "merged"
    for group in planned.groups:
        yield from _group_lines(group, verb, explain=explain)
    for shown in planned.shown:
        a, b = shown.a.bullet, shown.b.bullet
        yield f"the same, not merged by itself ({show_controls(shown.reason)}): memx resolve {a.id} {b.id}"
        yield f"  {_text(shown.a)}"
        yield f"  {_text(shown.b)}"
    for left in planned.left if explain else ():
        yield f"alike, not merged ({show_controls(left.reason)}): {left.a.bullet.id} {left.b.bullet.id}"
    for stored in planned.misnamed:
        yield f"another lesson with the id {stored.bullet.id}, gets its own: {stored.path}  {_text(stored)}"
    taken = amount(sum(len(group.absorbed) for group in planned.groups), "duplicate")
    yield f"{amount(planned.compared, 'bullet')} compared, {taken} in {amount(len(planned.groups), 'group')}"


def _group_lines(group: Group, verb: str, *, explain: bool) -> Iterator[str]:
    yield f"{verb} into {group.survivor.bullet.id}  {_text(group.survivor)}"
    for taken in group.absorbed:
        yield f"  {taken.stored.bullet.id}  similarity {taken.similarity:.2f}  {_text(taken.stored)}"
        if explain:
            yield f"    {show_controls(taken.reason)}"
    if explain:
        score = group.survivor.bullet.score
        yield f"    {group.survivor.bullet.id} stays: the highest score, {score}, then the oldest"


def _text(stored: StoredBullet) -> str:
    return show_controls(" ".join(stored.bullet.text.split()))


def run_unmerge(invocation: Invocation, *, bullet: str, absorbed: str | None) -> int:
    """Bring a bullet back that was merged into another one."""
    from memx.app.merging import unmerge

    done = unmerge(invocation.project, bullet, absorbed or "")
    document = {
        "id": done.survivor.bullet.id,
        "path": done.survivor.path,
        "restored": done.restored.bullet.id,
        "restored_path": done.restored.path,
        "exact": done.is_exact,
    }
    lines = [
        f"restored {done.restored.bullet.id} {done.restored.path}",
        f"separated {done.survivor.bullet.id} {done.survivor.path}",
    ]
    invocation.emit(document, lines)
    if not done.is_exact:
        invocation.notice(
            f"{done.survivor.bullet.id} was edited since the merge: the edit stays, with what it took over"
        )
    return EXIT_OK


COMMANDS = (
    Command(
        "dedup",
        "Merge the bullets that are the same lesson; on a terminal the plan is shown first.",
        run_dedup,
        (
            flag("dry_run", "Show the plan, change nothing (the default on a terminal)."),
            flag("yes", "Carry the plan out.", short="-y"),
            flag("explain", "Say which tier or rule decided."),
        ),
    ),
    Command(
        "unmerge",
        "Undo a merge: both files come back as they were.",
        run_unmerge,
        (
            argument("bullet", "The bullet that took the other in."),
            argument("absorbed", "The id that it absorbed (default: the last one).", required=False),
        ),
    ),
)
