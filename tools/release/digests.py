"""Record the digests of the data files that the package brings: memx/data/digests.txt.

    python tools/release/digests.py

Run it after a data file was changed on purpose; `memx doctor` holds an installation against the list.
"""

from __future__ import annotations

import os

from memx.app.package_data import LIST, data_files, digest
from memx.resources import resource

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def listing() -> str:
    """Return a line a file: its digest and its name."""
    lines = []
    for name in data_files(ROOT):
        with open(resource(name), "rb") as file:
            lines.append(f"{digest(file.read())} {name}\n")
    return "".join(lines)


def main() -> None:
    """Write the list."""
    with open(os.path.join(ROOT, "memx", "data", LIST), "w", encoding="utf-8", newline="\n") as file:
        file.write(listing())


if __name__ == "__main__":
    main()
