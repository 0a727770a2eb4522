"""`memx decay`, `archive`, `restore`, `fold`: forgetting that leaves a trace."""

from __future__ import annotations

from bisect import bisect_right

from memx.amount import amount
from memx.decay import (
    PERMANENT,
    PINNED,
    PROTECTED,
    STATES,
    DecayResult,
    fading_factors,
    forecast,
    half_life,
)
from memx.entry.cli.command import BULLET, VIEW, Command, argument, flag, option
from memx.errors import EXIT_OK, MemxError, UsageError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from memx.app.forget import WeighedRow
    from memx.config import DecayConfig
    from memx.entry.cli.invocation import Invocation
    from memx.model import Problem

_BARS = "▁▂▃▄▅▆▇█"
_STEPS_DAYS = (0, 15, 30, 60, 90, 120, 180, 365)
_SCALE = 7.99
_FULL = _BARS[-1] * len(_STEPS_DAYS)
_LINES_AT_ONCE = 1_000


def run_decay(invocation: Invocation, *, state: str | None, scope: str | None, workspace: str | None) -> int:
    """Print the weight of every bullet that can be seen from here, the heaviest first."""
    from memx.app.forget import visible_rows, without_collection

    rows, problems = visible_rows(invocation.project, scope=scope or "", workspace=workspace or "")
    with without_collection():
        states = [row[6] for row in rows]
        layers = {name: states.count(name) for name in STATES}
        if state is not None:
            rows = [row for row in rows if row[6] == state]
        if invocation.json:
            problems = [*problems, *invocation.config_problems]
            invocation.print(_document(invocation, rows, layers, problems))
        else:
            lines = list(_lines(invocation, rows))
            for at in range(0, len(lines), _LINES_AT_ONCE):
                invocation.print("\n".join(lines[at : at + _LINES_AT_ONCE]))
            invocation.notice(", ".join(f"{count} {name}" for name, count in layers.items()))
    invocation.problems(problems)
    return EXIT_OK


def _document(
    invocation: Invocation, rows: Iterable[WeighedRow], layers: dict[str, int], problems: Iterable[Problem]
) -> str:
    """Return the JSON document; the bullets are put together by hand, in a third of the time."""
    import json

    from memx.app.documents import problem_documents
    from memx.entry.cli.invocation import JSON_VERSION
    from memx.timestamp import format_time

    head = {
        "version": JSON_VERSION,
        "now": format_time(invocation.now),
        "states": layers,
        "problems": problem_documents(problems),
    }
    bullets = _objects(rows)
    text = json.dumps(head, separators=(",", ":"))[:-1] + ',"bullets":[' + ",".join(bullets) + "]}"
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _objects(rows: Iterable[WeighedRow]) -> list[str]:
    """Return the JSON object of each bullet: ids and states are plain words, a path may hold what JSON escapes."""
    from json.encoder import encode_basestring

    quoted = _Times().quoted
    return [
        f'{{"id":"{name}","path":{encode_basestring(head[2])},"age_days":{_decimals(age)},'
        f'"recall_count":{recalls},"base":{(shown := repr(base))},'
        f'"weight":{shown if base == -negative else repr(-negative)},"state":"{state}",'
        f'"disputed":{"false" if head[11] is None else "true"},"archive_at":{quoted(until)}}}'
        for negative, name, head, recalls, age, base, state, until in rows
    ]


def _decimals(age: float) -> str:
    """Return `repr(round(age, 4))` in half its time: there are at most four million days."""
    digits = f"{age:.4f}".rstrip("0")
    return digits + "0" if digits[-1] == "." else digits


def _lines(invocation: Invocation, rows: Iterable[WeighedRow]) -> Iterator[str]:
    """Yield a line a bullet: id, weight, recalls, age, state, how it will go on, the day of archiving, its words."""
    day, bars = _Times().day, _Sparklines(invocation.project.config.decay).of
    for negative, name, head, recalls, age, base, state, until in rows:
        text = head[3][:60]
        if not (text.isascii() and text.isprintable()):
            text = show_controls(text)[:60]
        if head[11] is not None:
            text = f"disputed: {text}"
        bar = bars(age, base, -negative, state, head, recalls)
        yield (
            f"{name}  {-negative:6.4f}  {recalls:>4}  {age:8.1f} d  {state:<17}"
            f"  {bar}  {day(until) or 'never':<10}  {text}"
        )


class _Sparklines:
    """The weight now and in the days to come, if nobody recalls the bullet."""

    def __init__(self, config: DecayConfig) -> None:
        self._config = config
        self._steps: dict[tuple[str, float | None], tuple[list[float], list[str]]] = {}

    def of(
        self, age: float, base: float, weight: float, state: str, head: Sequence[Any], recalls: int
    ) -> str:
        """Return the bars of one bullet."""
        if state in (PINNED, PERMANENT):
            return _FULL
        key = (head[4], head[9])
        steps = self._steps.get(key)
        if steps is None:
            steps = self._steps[key] = self._find_steps(half_life(*key, self._config))
        if state != PROTECTED and weight < 1.0:
            return steps[1][bisect_right(steps[0], weight)]
        factors = fading_factors(half_life(*key, self._config), _STEPS_DAYS)
        result = DecayResult(age, base, weight, state)
        return _bars(forecast(result, recalls, _STEPS_DAYS, factors, self._config))

    def _find_steps(self, life: float) -> tuple[list[float], list[str]]:
        """Return the weights at which one of the bars grows, and the bars up to each and above the last."""
        factors = fading_factors(life, _STEPS_DAYS)
        limits = {level / _SCALE / factor for factor in factors if factor for level in range(1, len(_BARS))}
        edges = sorted(limit for limit in limits if limit < 1.0)
        middles = [(low + high) / 2 for low, high in zip((0.0, *edges), (*edges, 1.0), strict=True)]
        return edges, [_bars([middle * factor for factor in factors]) for middle in middles]


def _bars(weights: Iterable[float]) -> str:
    return "".join([_BARS[int(weight * _SCALE)] for weight in weights])


class _Times:
    """Days of archiving as text: formatting is slow, and a store has few days."""

    def __init__(self) -> None:
        self._days: dict[int, str] = {}
        self._minutes = [f"{minute // 60:02}:{minute % 60:02}" for minute in range(1440)]

    def day(self, time: float | None) -> str:
        """Return the day, empty for never: a half-life may lead beyond year 9999."""
        if time is None:
            return ""
        number = int(time) // 86400
        day = self._days.get(number)
        if day is None:
            from memx.timestamp import format_time

            try:
                day = format_time(number * 86400.0)[:10]
            except ValueError:
                day = ""
            self._days[number] = day
        return day

    def quoted(self, time: float | None) -> str:
        """Return the second as a JSON value."""
        if time is None:
            return "null"
        day = self._days.get(int(time) // 86400) or self.day(time)
        minute, second = divmod(int(time) % 86400, 60)
        return f'"{day}T{self._minutes[minute]}:{self._minutes[second][3:]}Z"' if day else "null"


def run_archive(
    invocation: Invocation, *, bullets: tuple[str, ...], yes: bool, dry_run: bool, stage: bool
) -> int:
    """Move the archive candidates, or the bullets that are named, to the archive."""
    from memx.app.forget import archive, archive_plan

    project = invocation.project
    plan = archive_plan(project, bullets)
    references = [row[2][2] for row in plan]
    is_shown = dry_run or not bullets
    for line in _lines(invocation, plan) if is_shown and not invocation.json else ():
        invocation.print(line)
    for row in plan if bullets else ():
        if row[6] in (PINNED, PERMANENT, PROTECTED):
            invocation.notice(f"{row[1]} is {row[6]}, and goes because you name it")
    if dry_run or not references:
        reasons = [{"id": row[1], "path": row[2][2], "weight": -row[0], "state": row[6]} for row in plan]
        invocation.emit({"archived": [], "planned": references, "reasons": reasons}, [])
        return EXIT_OK
    if not (
        yes or bullets or invocation.confirm(f"move {amount(len(references), 'bullet')} to the archive?")
    ):
        raise MemxError("nothing was archived", hint="memx archive --yes")
    moved = archive(project, references, stage=stage)
    document = {"archived": [{"id": s.bullet.id, "path": s.path} for s in moved], "planned": references}
    invocation.emit(document, (f"archived {s.bullet.id} {s.path}" for s in moved))
    return EXIT_OK


def run_restore(invocation: Invocation, *, bullet: str, stage: bool) -> int:
    """Bring a bullet back from the archive."""
    from memx.app.forget import restore
    from memx.app.orders import ORDERS, gives_orders

    restored = restore(invocation.project, bullet, stage=stage)
    warning = ORDERS if gives_orders(restored.bullet) else ""
    document = {"id": restored.bullet.id, "path": restored.path, "warning": warning}
    invocation.emit(document, [f"restored {restored.bullet.id} {restored.path}"])
    if warning:
        invocation.notice(warning)
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
        (option("state", "Only bullets in this state.", choices=STATES), *VIEW),
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
        "Bring a bullet back from the archive; one that faded counts as accepted today.",
        run_restore,
        (BULLET, _STAGE),
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
