"""`memx decay`, `archive`, `restore`, `fold`: forgetting that leaves a trace."""

from __future__ import annotations

from memx.entry.cli.command import Command, argument, flag
from memx.errors import EXIT_OK, MemxError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.forget import Weighed
    from memx.entry.cli.invocation import Invocation

_BARS = "▁▂▃▄▅▆▇█"
_STEPS_DAYS = (0, 15, 30, 60, 90, 120, 180, 365)


def run_decay(invocation: Invocation) -> int:
    """Print the weight of every bullet, the heaviest first."""
    from memx.app.forget import weigh_store
    from memx.timestamp import format_time

    rows, problems = weigh_store(invocation.project)
    document = {
        "now": format_time(invocation.now),
        "bullets": [
            {
                "id": row.stored.bullet.id,
                "path": row.stored.path,
                "age_days": round(row.decay.age_days, 4),
                "recall_count": row.recall_count,
                "base": row.decay.base,
                "weight": row.decay.weight,
                "state": row.decay.state,
                "archive_at": None if row.archive_at is None else format_time(row.archive_at),
            }
            for row in rows
        ],
    }
    invocation.emit(document, (_line(invocation, row) for row in rows))
    invocation.problems(problems)
    return EXIT_OK


def _line(invocation: Invocation, row: Weighed) -> str:
    from memx.app.forget import weigh_bullet
    from memx.timestamp import format_time

    bullet, config = row.stored.bullet, invocation.project.config.decay
    ahead = (
        weigh_bullet(bullet, row.recall_count, invocation.now + days * 86400, config).weight
        for days in _STEPS_DAYS
    )
    spark = "".join(_BARS[min(len(_BARS) - 1, int(weight * len(_BARS)))] for weight in ahead)
    until = "never" if row.archive_at is None else format_time(row.archive_at)[:10]
    text = show_controls(" ".join((bullet.title or bullet.text).split()))[:60]
    numbers = f"{row.decay.weight:6.4f}  {row.recall_count:>4}  {row.decay.age_days:8.1f} d"
    return f"{bullet.id}  {numbers}  {row.decay.state:<17}  {spark}  {until:<10}  {text}"


def run_archive(invocation: Invocation, *, bullets: tuple[str, ...], yes: bool, dry_run: bool) -> int:
    """Move the archive candidates, or the bullets that are named, to the archive."""
    from memx.app.forget import archive, archive_plan

    project = invocation.project
    if bullets:
        references = [project.store.find(reference).path for reference in bullets]
    else:
        plan = archive_plan(project)
        references = [row.stored.path for row in plan]
        for row in plan if not invocation.json else ():
            invocation.print(_line(invocation, row))
    if dry_run or not references:
        invocation.emit({"archived": [], "planned": references}, [])
        return EXIT_OK
    if not (yes or bullets or invocation.confirm(f"move {len(references)} bullets to the archive?")):
        raise MemxError("nothing was archived", hint="memx archive --yes")
    moved = archive(project, references)
    document = {"archived": [{"id": s.bullet.id, "path": s.path} for s in moved], "planned": references}
    invocation.emit(document, (f"archived {s.bullet.id} {s.path}" for s in moved))
    return EXIT_OK


def run_restore(invocation: Invocation, *, bullet: str) -> int:
    """Bring a bullet back from the archive."""
    restored = invocation.project.store.restore(bullet)
    document = {"id": restored.bullet.id, "path": restored.path}
    invocation.emit(document, [f"restored {restored.bullet.id} {restored.path}"])
    return EXIT_OK


def run_fold(invocation: Invocation, *, bullets: tuple[str, ...]) -> int:
    """Move the journal's counts into front matter."""
    from memx.app.forget import fold

    folded = fold(invocation.project, bullets)
    document = {"folded": [{"id": name, "recall_count": count} for name, count in folded.items()]}
    invocation.emit(document, (f"folded {name} {count}" for name, count in folded.items()))
    return EXIT_OK


_BULLETS = argument("bullets", "Ids, prefixes or paths (default: all).", required=False, many=True)

COMMANDS = (
    Command("decay", "Show how much each bullet weighs, and until when.", run_decay),
    Command(
        "archive",
        "Move faded bullets to .memx/archive/; they stay searchable with --archived.",
        run_archive,
        (
            argument("bullets", "These instead of the candidates.", required=False, many=True),
            flag("yes", "Do not ask.", short="-y"),
            flag("dry_run", "Only show what would go.", short="-n"),
        ),
    ),
    Command(
        "restore",
        "Bring a bullet back from the archive.",
        run_restore,
        (argument("bullet", "An id, a unique prefix of one, or a path."),),
    ),
    Command("fold", "Move the journal's recall counts into front matter.", run_fold, (_BULLETS,)),
)
