"""A number with its noun, as a person would write it."""

from __future__ import annotations


def amount(number: int, noun: str) -> str:
    """Return `1 bullet`, `0 bullets` or `2,000 bullets`; `noun` is a singular whose plural takes an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
