"""Numbers with their nouns, and that nobody writes a plural by hand."""

from __future__ import annotations

import re
from pathlib import Path

import memx
from memx.amount import amount

BY_HAND = re.compile(
    r"\}(?: (?:of|new|more|other))? (?:bullet|pair|recall|duplicate|group|commit|lesson|count|clone|token|time|day|"
    r"candidate|call|reason|line|text|file|change|contradiction|conflict|problem|note|vector|store)s\b"
)
ALWAYS_MANY = ("_LIMIT", "MOST", "LONGEST", "{top} of", "days:.1f", "half_life_days")
"""What marks a line in which the number is a limit of many, or no whole one."""


def test_one_is_singular_and_thousands_are_set_apart() -> None:
    """One thing is one thing; every other number is many."""
    assert [amount(number, "bullet") for number in (0, 1, 2, 12_345)] == [
        "0 bullets",
        "1 bullet",
        "2 bullets",
        "12,345 bullets",
    ]


def test_no_plural_is_written_by_hand() -> None:
    """What is counted at run time may be one, so every module asks `amount`."""
    package = Path(memx.__file__).parent
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if BY_HAND.search(line) and '"""' not in line and not any(sign in line for sign in ALWAYS_MANY)
    ]
    assert found == []
