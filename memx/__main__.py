"""`python -m memx`."""

from __future__ import annotations

import sys

from memx.entry.cli.main import main

sys.exit(main())
