"""A failed command and what made it work: a changed variant, or a step before it. The difference is the lesson."""

from __future__ import annotations

from memx.record import record
from memx.reflector.calls import Call, head_of, is_edit, is_looking, steps_of
from memx.reflector.pattern import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DISTANCE = 8
"""Calls between failure and success."""
_WORD = pattern(r"[^\s\"'|;&<>]+")
_LEAST_RETAINED = 0.6
_HEADER = pattern(r"\s+-H\s+(?:\"[^\"]*\"|'[^']*')")
_STEM = pattern(r"^[a-z]+(?:-(?![\d.])[a-z]+)*")
_CHECKS = pattern(
    r"^(?:\S*/)?(?:curl|wget|sleep|tail|kill|timeout|(?:npx |python3? -m )?(?:pytest|vitest|jest|eslint|tsc"
    r"|prettier|playwright|ruff|mypy|tox)|(?:uv|poetry|pdm|hatch) run\b.*\b(?:pytest|ruff|mypy|tox)"
    r"|(?:npm|pnpm|yarn|bun)(?: run)? (?:test|lint)\S*|cargo (?:test|check|clippy)|go (?:test|vet)"
    r"|git (?:add|commit|checkout|switch))\b"
)
"""Steps that test, poll or keep what was done: they make nothing work."""
_MOST_STEPS = 2


@record
class Variant:
    """A failed call and the call that worked, with the words that only the latter has.

    steps: what ran between where the very same command worked then; `added` is empty.
    """

    failed: Call
    worked: Call
    added: tuple[str, ...]
    steps: tuple[str, ...] = ()


def _words(command: str) -> list[str]:
    return _WORD.findall(command)


def is_same(command: str, other: str) -> bool:
    """Tell whether two commands are one but for their spacing."""
    return command.split() == other.split()


def _retained(failed: Call, worked: Call) -> float:
    """Return the share of the failed command's words that the other one keeps; 0 for another program."""
    if is_same(failed.command, worked.command):
        return 0.0
    # Task runners print the command that they run: it is what failed.
    ran = [line[2:] for line in failed.result.splitlines() if line.startswith("> ")]
    kept = set(_words(worked.command))
    shares = [_other_program(failed, worked)]
    for command in [failed.command, *ran]:
        heads = {head_of(step) for step in _working_steps(command)} - {""}
        words = set(_words(command))
        if heads and not heads.isdisjoint(_heads(worked.command)):
            shares.append(len(words & kept) / len(words))
    return max(shares)


def _other_program(failed: Call, worked: Call) -> float:
    """Return 1 where all but the program is kept, and the first one is missing or akin to the other by its name."""
    for step in _working_steps(failed.command):
        program, arguments = head_of(step), set(_words(step)[1:])
        for other in _working_steps(worked.command):
            instead = head_of(other)
            if instead == program or not arguments <= set(_words(other)):
                continue
            akin = bool(_stem(program)) and _stem(program) == _stem(instead)
            if akin or (arguments and failed.missing):
                return 1.0
    return 0.0


def _working_steps(command: str) -> list[str]:
    return [step for step in steps_of(command) if not is_looking(step)]


def _program(word: str) -> str:
    return word.rsplit("/", 1)[-1].lower()


def _stem(program: str) -> str:
    """Return a program's name without its version: `python` of `python3.11`."""
    found = _STEM.match(program)
    return found.group() if found else ""


def _heads(command: str) -> set[str]:
    return {head_of(step) for step in steps_of(command)} | {_program(word) for word in _words(command)[:4]}


def find_variants(calls: Sequence[Call]) -> list[Variant]:
    """Return what made each substantive failure work: the changed variant that kept most words, or steps between."""
    found: list[Variant] = []
    for index, failed in enumerate(calls):
        if not failed.failed:
            continue
        variant = _changed(failed, calls[index + 1 :]) or _prepared(failed, calls[index + 1 :])
        if variant:
            found.append(variant)
    return found


def open_failures(calls: Sequence[Call]) -> list[Call]:
    """Return the failures that neither a variant nor the same command has overcome."""
    overcome = [variant.failed for variant in find_variants(calls)]
    return [
        call
        for call in calls
        if call.failed
        and not any(call is failed for failed in overcome)
        and not any(c.succeeded and c.at > call.at and is_same(c.command, call.command) for c in calls)
    ]


def _changed(failed: Call, after: Sequence[Call]) -> Variant | None:
    later = [c for c in after[:MAX_DISTANCE] if c.action == "shell" and c.succeeded]
    best = max(later, key=lambda worked: (_retained(failed, worked), -worked.at), default=None)
    if best is None or _retained(failed, best) < _LEAST_RETAINED:
        return None
    old = set(_words(failed.command))
    added = tuple(word for word in dict.fromkeys(_words(best.command)) if word not in old)
    return Variant(failed, best, added) if added else None


def _prepared(failed: Call, after: Sequence[Call]) -> Variant | None:
    """Return the steps between a failure and the same command's success, where no file was edited between."""
    steps: list[str] = []
    for call in after[:MAX_DISTANCE]:
        if is_edit(call):
            return None
        if call.action != "shell":
            continue
        if is_same(call.command, failed.command):
            if call.succeeded:
                return Variant(failed, call, (), tuple(steps)) if 0 < len(steps) <= _MOST_STEPS else None
        elif call.succeeded:
            own = [step for step in _working_steps(call.command) if not is_check(step)]
            steps += [step for step in own if step not in steps]
    return None


def is_check(step: str) -> bool:
    """Tell whether a step tests, waits or keeps what was done."""
    return bool(_CHECKS.match(step))


def shown(command: str, limit: int = 180) -> str:
    """Return a command as a lesson shows it: one line, without headers that hold credentials."""
    line = " && ".join(_HEADER.sub("", step) for step in steps_of(command))
    return line if len(line) <= limit else ""
