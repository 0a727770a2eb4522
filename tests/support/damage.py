"""What becomes of files without the help of the program."""

from __future__ import annotations

import os


def overwrite(path: str | os.PathLike[str], data: bytes) -> None:
    """Put a new file with this content in the place of another.

    A file that is cut short in place takes every process along that has it mapped: tantivy's own thread looks at the
    files of an index that is still open somewhere in the test.
    """
    aside = f"{os.fspath(path)}.aside"
    with open(aside, "wb") as file:
        file.write(data)
    os.replace(aside, path)
