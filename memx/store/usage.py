"""Recall counters as clones share them: for each bullet what a clone recalled and what its folds took.

A counter is text, a line a bullet, sorted: `ID RECALLED FOLDED`. Both numbers
only grow, so two states of one clone's counter merge by the maximum, in any
order and as often as one likes; the counters of several clones add up.
The hot path imports this module.
"""

from __future__ import annotations

from memx.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Usage = dict[str, tuple[int, int]]

USAGE_FILE = "usage"
"""In the state folder, as the last `memx sync` found it: for each bullet the recalls of all other clones, and
what the bullet's file held beyond what any clone's folds put there."""

_DIGITS_LIMIT = 9


def parse_usage(data: bytes) -> Usage:
    """Return the counters of a text; lines of another form are skipped: a teammate's ref is foreign input."""
    usage: Usage = {}
    for line in data.decode("ascii", "replace").split("\n"):
        words = line.split(" ")
        if len(words) == 3 and words[0].isalnum() and _is_count(words[1]) and _is_count(words[2]):  # noqa: PLR2004 (id, recalled, folded)
            usage[words[0]] = (int(words[1]), int(words[2]))
    return usage


def _is_count(word: str) -> bool:
    return word.isdigit() and len(word) <= _DIGITS_LIMIT


def format_usage(usage: Usage) -> bytes:
    """Return counters as text; equal counters give equal bytes."""
    return "".join(f"{name} {pair[0]} {pair[1]}\n" for name, pair in sorted(usage.items())).encode()


def merge_usage(states: Iterable[Usage]) -> Usage:
    """Return the maximum of several states of one clone's counters."""
    merged: Usage = {}
    for state in states:
        for name, (recalled, folded) in state.items():
            before = merged.get(name, (0, 0))
            merged[name] = (max(before[0], recalled), max(before[1], folded))
    return merged


def add_usage(clones: Iterable[Usage]) -> Usage:
    """Return the sum of the counters of several clones."""
    total: Usage = {}
    for usage in clones:
        for name, (recalled, folded) in usage.items():
            before = total.get(name, (0, 0))
            total[name] = (before[0] + recalled, before[1] + folded)
    return total


def subtract_usage(usage: Usage, base: Usage) -> Usage:
    """Return what a counter has beyond another one; what has nothing beyond it is left out."""
    if not base:
        return usage
    left = {}
    for name, (recalled, folded) in usage.items():
        before = base.get(name, (0, 0))
        pair = max(0, recalled - before[0]), max(0, folded - before[1])
        if any(pair):
            left[name] = pair
    return left


def read_usage(path: str) -> Usage:
    """Return the counters in a file, none when there is no such file; raise StoreError."""
    try:
        with open(path, "rb") as file:
            return parse_usage(file.read())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"cannot read the shared counts ({error.strerror})", path=path) from error
