"""The dirty mark: each write of the store changes it, each index compares it with what it last saw.

Several worktrees share one store state, so nobody clears the mark.
"""

from __future__ import annotations

import os

from memx.store.atomic import write_atomically

_NAME = "dirty"


def mark_dirty(state_dir: str) -> None:
    """Leave a new mark; without a state folder to write to, the index finds changes by stat."""
    try:
        write_atomically(os.path.join(state_dir, _NAME), os.urandom(8).hex().encode(), durable=False)
    except OSError:
        return


def dirty_mark(state_dir: str) -> str:
    """Return the present mark, an empty string when nothing was ever written."""
    try:
        with open(os.path.join(state_dir, _NAME), "rb") as file:
            return file.read(64).decode("ascii", "replace")
    except OSError:
        return ""
