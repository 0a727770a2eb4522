"""A bar on standard error for what takes over a second; nothing when piped or quiet."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from memx.entry.cli.invocation import Invocation

PATIENCE_S = 1.0
_WIDTH = 30
_PAUSE_S = 0.1


class Progress:
    """Shows how far each stage of a long command is; a context manager that wipes its line at the end."""

    def __init__(self, invocation: Invocation) -> None:
        """Show nothing yet."""
        self.is_on = sys.stderr.isatty() and not invocation.quiet
        self._started = self._last = 0.0
        self._is_shown = False

    def __enter__(self) -> Self:
        """Start the clock."""
        self._started = time.monotonic()
        return self

    def report(self, stage: str, done: int, total: int) -> None:
        """Show `done` of `total`, not before a second has passed and at most ten times a second."""
        now = time.monotonic()
        if (
            not self.is_on
            or now - self._started < PATIENCE_S
            or (now - self._last < _PAUSE_S and done < total)
        ):
            return
        self._last, self._is_shown = now, True
        bar = "█" * round(_WIDTH * min(1.0, done / max(total, 1)))
        sys.stderr.write(f"\r{bar:<{_WIDTH}} {stage} {done:,} of {total:,}")
        sys.stderr.flush()

    def __exit__(self, *exception: object) -> None:
        """Wipe the line."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
