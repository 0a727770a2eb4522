"""`memx decay`, `archive`, `restore`, `fold`: forgetting that leaves a trace."""

from __future__ import annotations

from memx.decay import STATES
from memx.entry.cli.command import Command, argument, flag, option
from memx.errors import EXIT_OK, MemxError, UsageError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.forget import Weighed
    from memx.entry.cli.invocation import Invocation

_BARS = "▁▂▃▄▅▆▇█"
_STEPS_DAYS = (0, 15, 30, 60, 90, 120, 180, 365)


def run_decay(invocation: Invocation, *, state: str | None) -> int:
    """Print the weight of every bullet, the heaviest first."""
    from memx.app.forget import weigh_store
    from memx.timestamp import format_time

    rows, problems = weigh_store(invocation.project)
    layers = {name: sum(row.decay.state == name for row in rows) for name in STATES}
    rows = [row for row in rows if state in (None, row.decay.state)]
    document = {
        "now": format_time(invocation.now),
        "states": layers,
        "bullets": [
            {
                "id": row.stored.bullet.id,
                "path": row.stored.path,
                "age_days": round(row.decay.age_days, 4),
                "recall_count": row.recall_count,
                "base": row.decay.base,
                "weight": row.decay.weight,
                "state": row.decay.state,
                "disputed": row.stored.bullet.disputed is not None,
                "archive_at": _day_of(row.archive_at) or None,
            }
            for row in rows
        ],
    }
    invocation.emit(document, (_line(invocation, row) for row in rows))
    invocation.problems(problems)
    if not invocation.json:
        invocation.notice(", ".join(f"{count} {name}" for name, count in layers.items()))
    return EXIT_OK


def _line(invocation: Invocation, row: Weighed) -> str:
    from memx.app.forget import weigh_bullet

    bullet, config = row.stored.bullet, invocation.project.config.decay
    ahead = (
        weigh_bullet(bullet, row.recall_count, invocation.now + days * 86400, config).weight
        for days in _STEPS_DAYS
    )
    spark = "".join(_BARS[min(len(_BARS) - 1, int(weight * len(_BARS)))] for weight in ahead)
    until = _day_of(row.archive_at)[:10] or "never"
    text = show_controls(" ".join((bullet.title or bullet.text).split()))[:60]
    numbers = f"{row.decay.weight:6.4f}  {row.recall_count:>4}  {row.decay.age_days:8.1f} d"
    mark = "disputed: " if bullet.disputed is not None else ""
    return f"{bullet.id}  {numbers}  {row.decay.state:<17}  {spark}  {until:<10}  {mark}{text}"


def _day_of(time: float | None) -> str:
    """Return the time from which a bullet may be archived, empty for never: a half-life may lead beyond year 9999."""
    from memx.timestamp import format_time

    try:
        return "" if time is None else format_time(time)
    except ValueError:
        return ""


def run_archive(
    invocation: Invocation, *, bullets: tuple[str, ...], yes: bool, dry_run: bool, stage: bool
) -> int:
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
    moved = archive(project, references, stage=stage)
    document = {"archived": [{"id": s.bullet.id, "path": s.path} for s in moved], "planned": references}
    invocation.emit(document, (f"archived {s.bullet.id} {s.path}" for s in moved))
    return EXIT_OK


def run_restore(invocation: Invocation, *, bullet: str, stage: bool) -> int:
    """Bring a bullet back from the archive."""
    from memx.app.forget import restore

    restored = restore(invocation.project, bullet, stage=stage)
    document = {"id": restored.bullet.id, "path": restored.path}
    invocation.emit(document, [f"restored {restored.bullet.id} {restored.path}"])
    return EXIT_OK


def run_fold(invocation: Invocation, *, bullets: tuple[str, ...], staged: bool, catch_up: bool) -> int:
    """Move the journal's counts into front matter."""
    from memx.app.forget import fold, fold_staged

    left: tuple[str, ...] = ()
    if staged:
        if bullets or catch_up:
            raise UsageError("--staged goes without bullets and --catch-up")
        folded, left = fold_staged(invocation.project)
    else:
        folded = fold(invocation.project, bullets, catch_up=catch_up)
    for path in left:
        invocation.notice(f"not staged, for the file has other changes: {path}")
    document = {"folded": [{"id": name, "recall_count": count} for name, count in folded.items()]}
    invocation.emit(document, (f"folded {name} {count}" for name, count in folded.items()))
    return EXIT_OK


_STAGE = flag("stage", "Tell git's index of the move.")
_BULLETS = argument("bullets", "Ids, prefixes or paths (default: all).", required=False, many=True)

COMMANDS = (
    Command(
        "decay",
        "Show how much each bullet weighs, how that will go on, and the day on which it may be archived.",
        run_decay,
        (option("state", "Only bullets in this state.", choices=STATES),),
    ),
    Command(
        "archive",
        "Move faded bullets to .memx/archive/; they stay searchable with --archived.",
        run_archive,
        (
            argument("bullets", "These instead of the candidates.", required=False, many=True),
            flag("yes", "Do not ask.", short="-y"),
            flag("dry_run", "Only show what would go.", short="-n"),
            _STAGE,
        ),
    ),
    Command(
        "restore",
        "Bring a bullet back from the archive.",
        run_restore,
        (argument("bullet", "An id, a unique prefix of one, or a path."), _STAGE),
    ),
    Command(
        "fold",
        "Move the journal's recall counts into front matter.",
        run_fold,
        (
            _BULLETS,
            flag("staged", "The bullets that are staged; the result is staged too."),
            flag("catch_up", "Also what a fold on another branch took, for when that branch is gone."),
        ),
    ),
)
