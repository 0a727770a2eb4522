"""The data files that the package brings, held against the digests that were recorded when they were written.

The model has a manifest of its own. `tools/release/digests.py` writes the list.
"""

from __future__ import annotations

import os

from memx.digest import sha256
from memx.resources import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LIST = "digests.txt"
REMEDY = "pip install --force-reinstall git-memx"


def digest(data: bytes) -> str:
    """Return the SHA-256 of a text file, whichever ends of lines git checked it out with."""
    return sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def damaged_files() -> list[str]:
    """Return what is wrong, a sentence a file, beginning with its path."""
    path = resource(LIST)
    try:
        with open(path, encoding="utf-8") as file:
            recorded = {name: found for found, name in (line.split() for line in file)}
    except (OSError, ValueError) as error:
        return [f"{path}: {_reason(error)}"]
    return [*_damaged(recorded)] if recorded else [f"{path}: it is empty"]


def _damaged(recorded: dict[str, str]) -> Iterator[str]:
    for name, expected in recorded.items():
        path = resource(name)
        try:
            with open(path, "rb") as file:
                found = digest(file.read())
        except OSError as error:
            yield f"{path}: {_reason(error)}"
        else:
            if found != expected:
                yield f"{path}: it is not as it was installed"


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def data_files(root: str) -> list[str]:
    """Return the names, as `resource` takes them, of the files below the folders of a checkout."""
    tops = {"": "memx/data", "hooks": "hooks", "template": ".memx-template"}
    names = []
    for top, folder in tops.items():
        start = os.path.join(root, *folder.split("/"))
        for place, _, files in os.walk(start):
            below = os.path.relpath(place, start).replace(os.sep, "/")
            names += ["/".join(part for part in (top, below.strip("."), file) if part) for file in files]
    return sorted(name for name in names if name != LIST and not name.startswith("model/"))
