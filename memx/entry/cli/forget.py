"""`memx decay`, `archive`, `restore`, `fold`: forgetting that leaves a trace."""

from __future__ import annotations

from memx.decay import STATES, fading_factors, forecast, half_life
from memx.entry.cli.command import Command, argument, flag, option
from memx.errors import EXIT_OK, MemxError, UsageError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memx.app.forget import Weighed
    from memx.config import DecayConfig
    from memx.entry.cli.invocation import Invocation

_BARS = "▁▂▃▄▅▆▇█"
_STEPS_DAYS = (0, 15, 30, 60, 90, 120, 180, 365)
_SHOWN_CHARS = 200
_DATES: dict[int, str] = {}
_FACTORS: dict[float, list[float]] = {}


def run_decay(invocation: Invocation, *, state: str | None) -> int:
    """Print the weight of every bullet, the heaviest first."""
    from memx.app.forget import weigh_store, without_collection

    rows, problems = weigh_store(invocation.project)
    layers = dict.fromkeys(STATES, 0)
    for row in rows:
        layers[row.decay.state] += 1
    rows = [row for row in rows if state in (None, row.decay.state)]
    if invocation.json:
        with without_collection():
            invocation.document(_document(invocation, rows, layers))
    else:
        for line in _lines(invocation, rows):
            invocation.print(line)
        invocation.notice(", ".join(f"{count} {name}" for name, count in layers.items()))
    invocation.problems(problems)
    return EXIT_OK


def _document(invocation: Invocation, rows: Iterable[Weighed], layers: dict[str, int]) -> dict[str, object]:
    from memx.timestamp import format_time

    return {
        "now": format_time(invocation.now),
        "states": layers,
        "bullets": [
            {
                "id": row.head.id,
                "path": row.head.path,
                "age_days": round(row.decay.age_days, 4),
                "recall_count": row.recall_count,
                "base": row.decay.base,
                "weight": row.decay.weight,
                "state": row.decay.state,
                "disputed": row.head.disputed is not None,
                "archive_at": _day_of(row.archive_at) or None,
            }
            for row in rows
        ],
    }


def _lines(invocation: Invocation, rows: Iterable[Weighed]) -> Iterator[str]:
    """Yield a line a bullet: id, weight, recalls, age, state, how it will go on, the day of archiving, its words."""
    config = invocation.project.config.decay
    for row in rows:
        head = row.head
        until = _day_of(row.archive_at)[:10] or "never"
        text = show_controls(" ".join(head.headline[:_SHOWN_CHARS].split()))[:60]
        numbers = f"{row.decay.weight:6.4f}  {row.recall_count:>4}  {row.decay.age_days:8.1f} d"
        mark = "disputed: " if head.disputed is not None else ""
        bars = _sparkline(row, config)
        yield f"{head.id}  {numbers}  {row.decay.state:<17}  {bars}  {until:<10}  {mark}{text}"


def _sparkline(row: Weighed, config: DecayConfig) -> str:
    """Return the weight now and in the days to come, if nobody recalls the bullet."""
    life = half_life(row.head.type, row.head.half_life_days, config)
    factors = _FACTORS.get(life)
    if factors is None:
        factors = _FACTORS[life] = fading_factors(life, _STEPS_DAYS)
    ahead = forecast(row.decay, row.recall_count, _STEPS_DAYS, factors, config)
    return "".join([_BARS[int(weight * 7.99)] for weight in ahead])


def _day_of(time: float | None) -> str:
    """Return the time from which a bullet may be archived, empty for never: a half-life may lead beyond year 9999."""
    if time is None:
        return ""
    day, second = divmod(int(time), 86400)
    date = _DATES.get(day)
    if date is None:
        from memx.timestamp import format_time

        try:
            date = format_time(time)[:11]  # with the T
        except ValueError:
            date = ""
        # Formatting is slow, and a store has few days.
        _DATES[day] = date
    return date and f"{date}{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


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
        references = [row.head.path for row in plan]
        for line in _lines(invocation, plan) if not invocation.json else ():
            invocation.print(line)
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
