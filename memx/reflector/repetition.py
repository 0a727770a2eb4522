"""Steps that are run by hand again and again: which are worth counting, and what recurs over sessions.

A step counts once a session, so that a loop of attempts is no habit. What only
looks, waits or checks is left out. Steps that follow one another in as many
sessions are one sequence, in which a build or an installation may stand.
"""

from __future__ import annotations

from itertools import pairwise

from memx.record import record
from memx.reflector.calls import head_of, is_looking, steps_of
from memx.reflector.pattern import pattern
from memx.reflector.variant import is_check, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from memx.reflector.calls import Call

_ROUTINE_STEPS = pattern(
    r"^(?:git|gh|glab|(?:npx )?(?:vitest|jest|eslint|tsc|prettier|playwright)|pytest|(?:npm|pnpm|yarn"
    r"|bun)(?: run)? (?:test|lint|build|dev|start|install)\S*|cargo (?:test|check|build|clippy|run)"
    r"|go (?:test|build|vet)"
    r"|mvn|\./mvnw|gradle|\./gradlew|dotnet (?:test|build)|make (?:test|lint|check)|uv run pytest"
    r"|python3? -m pytest|ruff|mypy|curl|sleep|tail|kill|pip|composer test)\b"
)
_EDITORS = frozenset(
    ("vi", "vim", "nvim", "nano", "emacs", "code", "mkdir", "touch", "export", "source", "set", "exit")
)
"""Programs that open or prepare something; what they were run for is another step."""
_INTERPRETERS = frozenset(
    ("python", "python3", "node", "bash", "sh", "ruby", "perl", "php", "psql", "mysql", "sqlite3")
)
"""Programs that say nothing by their name alone."""
_TYPED = pattern(r"<<|`|\$\(|\s-[ce]\s|\s-m\s+[\"']|\s--(?:message|body|title|eval)\b")
"""A step into which text or code was typed: another thing the next time."""
_SCRIPT = pattern(r"<<|(?:^|[;\n]|&&)\s*(?:for|while|until|if|case|function)\s")
"""A command whose lines or parts are no steps of their own."""
_SHORTEST, _LONGEST = 6, 120
_LONGEST_SEQUENCE = 4
JOINED = "\n"
"""Stands between two steps that were run one after the other, where they are counted together."""


@record
class Recurring:
    """A step, or steps in order, with the number of sessions and of runs in this one."""

    steps: tuple[str, ...]
    sessions: int
    runs: int

    @property
    def command(self) -> str:
        """The steps as one command line."""
        return " && ".join(self.steps)


def count_steps(calls: Sequence[Call]) -> dict[str, int]:
    """Count the steps that succeeded, whole but for their spacing, and each two of them that followed one another."""
    counted: dict[str, int] = {}
    previous = ""
    for call in calls:
        if call.action != "shell":
            continue
        if not call.succeeded or _SCRIPT.search(call.command):
            previous = ""
            continue
        for step in map(_plain, steps_of(call.command)):
            if not step or is_looking(step) or is_check(step):
                continue
            if not _is_countable(step):
                previous = ""
                continue
            counted[step] = counted.get(step, 0) + 1
            if previous and previous != step:
                pair = f"{previous}{JOINED}{step}"
                counted[pair] = counted.get(pair, 0) + 1
            previous = step
    return counted


def recurring(counted: Mapping[str, int], sessions: Mapping[str, int], minimum: int) -> list[Recurring]:
    """Return what was run in `minimum` sessions or more, sequences as one; see `count_steps`.

    counted: the most runs in a session. sessions: in how many each step or pair was seen.
    """
    often = [step for step in counted if sessions.get(step, 0) >= minimum]
    following: dict[str, str] = {}
    for first, joint, second in (pair.partition(JOINED) for pair in often):
        if joint:
            following.setdefault(first, second)
    later = set(following.values())
    single = [step for step in often if JOINED not in step]
    found: list[Recurring] = []
    told: set[str] = set()
    for start in sorted(single, key=lambda step: step in later):
        if start in told:
            continue
        steps = _sequence(start, following, told)
        told.update(steps)
        if not all(map(_ROUTINE_STEPS.match, steps)):
            pairs = [f"{first}{JOINED}{second}" for first, second in pairwise(steps)]
            found.append(Recurring(steps, min(sessions[item] for item in pairs or steps), counted[start]))
    return found


def _sequence(start: str, following: Mapping[str, str], told: AbstractSet[str]) -> tuple[str, ...]:
    steps = [start]
    while len(steps) < _LONGEST_SEQUENCE:
        after = following.get(steps[-1], "")
        if not after or after in steps or after in told:
            break
        steps.append(after)
    return tuple(steps)


def repeated_within(counted: Mapping[str, int], sessions: Mapping[str, int], minimum: int) -> list[Recurring]:
    """Return the steps that one session repeated so often, but that too few sessions ran."""
    return [
        Recurring((step,), max(1, sessions.get(step, 1)), runs)
        for step, runs in counted.items()
        if runs >= minimum > sessions.get(step, 1) and JOINED not in step and not _ROUTINE_STEPS.match(step)
    ]


def _plain(step: str) -> str:
    return " ".join(shown(step).split())


def _is_countable(step: str) -> bool:
    """Tell whether a step can be the same thing another time: no text typed into it, and no file moved about."""
    if not _SHORTEST <= len(step) <= _LONGEST or _TYPED.search(step):
        return False
    head = head_of(step)
    if head in _EDITORS or not head or head[0] in "({[#":
        return False
    return " " in step or head not in _INTERPRETERS


def repeated_steps(calls: Sequence[Call]) -> dict[str, int]:
    """Count the steps that somebody may speak of, by program and up to three fixed words."""
    counted: dict[str, int] = {}
    for call in calls:
        if call.action != "shell" or not call.succeeded:
            continue
        for step in steps_of(call.command):
            if is_looking(step) or _ROUTINE_STEPS.match(step):
                continue
            words = step.split()
            name = " ".join(words[: 2 if len(words) < 4 else 4])  # noqa: PLR2004
            counted[name] = counted.get(name, 0) + 1
    return counted
