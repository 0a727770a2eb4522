"""A failed command and the changed one that worked: the difference is the lesson, in any language."""

from __future__ import annotations

from memx.record import record
from memx.reflector.calls import NAVIGATION, Call, head_of, steps_of
from memx.reflector.pattern import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DISTANCE = 8
"""Calls between failure and success."""
_WORD = pattern(r"[^\s\"'|;&<>]+")
_LEAST_RETAINED = 0.6
_HEADER = pattern(r"\s+-H\s+(?:\"[^\"]*\"|'[^']*')")


@record
class Variant:
    """The failed call, the call that worked, and the words that only the latter has."""

    failed: Call
    worked: Call
    added: tuple[str, ...]


def _words(command: str) -> list[str]:
    return _WORD.findall(command)


def _retained(failed: Call, worked: Call) -> float:
    """Return the share of the failed command's words that the other one keeps; 0 for another program."""
    if failed.command.strip() == worked.command.strip():
        return 0.0
    # Task runners print the command that they run: it is what failed.
    ran = [line[2:] for line in failed.result.splitlines() if line.startswith("> ")]
    kept = set(_words(worked.command))
    shares = []
    for command in [failed.command, *ran]:
        heads = {head_of(step) for step in steps_of(command)} - NAVIGATION - {""}
        words = set(_words(command))
        if heads and not heads.isdisjoint(_heads(worked.command)):
            shares.append(len(words & kept) / len(words))
    return max(shares, default=0.0)


def _heads(command: str) -> set[str]:
    return {head_of(step) for step in steps_of(command)} | {
        word.rsplit("/", 1)[-1].lower() for word in _words(command)[:4]
    }


def find_variants(calls: Sequence[Call]) -> list[Variant]:
    """Return each substantive failure with the changed variant that worked and kept most of its words."""
    found = []
    for index, failed in enumerate(calls):
        if not failed.failed:
            continue
        later = [
            c for c in calls[index + 1 : index + 1 + MAX_DISTANCE] if c.action == "shell" and c.succeeded
        ]
        best = max(later, key=lambda worked: (_retained(failed, worked), -worked.at), default=None)
        if best is None or _retained(failed, best) < _LEAST_RETAINED:
            continue
        old = set(_words(failed.command))
        added = tuple(word for word in dict.fromkeys(_words(best.command)) if word not in old)
        if added:
            found.append(Variant(failed, best, added))
    return found


def shown(command: str, limit: int = 180) -> str:
    """Return a command as a lesson shows it: one line, without headers that hold credentials."""
    line = " && ".join(_HEADER.sub("", step) for step in steps_of(command))
    return line if len(line) <= limit else ""
