"""A process that searches again and again: `searcher.py FOLDER FIRST COUNT`; it prints a line after each search.

Its searches are two hours apart by the program's clock, so that every one of them counts.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout

from memx.entry.cli.main import main
from memx.timestamp import format_time

START = 1_800_000_000


def run(folder: str, first: int, count: int) -> int:
    """Search `count` times and acknowledge each."""
    acknowledge = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    for number in range(first, first + count):
        os.environ["MEMX_NOW"] = format_time(START + number * 7200)
        with redirect_stdout(io.StringIO()):
            code = main(["-C", folder, "search", "redis pool"])
        if code != 0:
            return code
        acknowledge.write(".\n")
        acknowledge.flush()
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
