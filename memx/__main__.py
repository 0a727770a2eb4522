"""`python -m memx`."""

from __future__ import annotations

from memx.entry.cli.main import run

run()
