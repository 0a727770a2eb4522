"""A deadline for the process of a git hook: late is the same as skipped."""

from __future__ import annotations

import os
import sys


def start_deadline(name: str, seconds: float) -> None:
    """End the process with exit code 0 and one line after `seconds`; a later call replaces the earlier.

    Where the system has no alarm (Windows) only git's own timeouts hold.
    """
    # `signal` builds two enums for 10 ms; the built-in module below it is loaded anyway.
    import _signal  # type: ignore[import-not-found,unused-ignore]

    if not hasattr(_signal, "setitimer"):
        return

    def give_up(_number: int, _frame: object) -> None:
        say(f"memx: {name} skipped: it took longer than {seconds:g} s")
        os._exit(0)

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def say(line: str) -> None:
    """Write one line to standard error, controls shown; that nobody listens is no reason to fail."""
    from memx.escape import show_controls

    try:
        sys.stderr.write(show_controls(line.replace("\n", " ")) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return
