"""`python -m memx`."""

from __future__ import annotations

from memx.entry.start import run

run()
