"""The merge driver: `python -I -S merge_driver.py %O %A %B %L %P`, run by git once a file.

It writes %A only, takes no lock, and is compiled anew in every run, so it stays short.
memx/repo/merge_driver.py has the command that git is given.
"""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:
    """Merge %A (ours) and %B (theirs) with %O (base) into %A; return 0 clean, 1 conflicted."""
    paths, size = arguments[:3], arguments[3] if len(arguments) > 3 else ""  # noqa: PLR2004 (%L may be left out)
    sides = []
    for path in paths:
        with open(path, "rb") as file:
            sides.append(file.read())
    base, ours, theirs = sides
    marker_size = int(size) if size.isdigit() and size != "0" else 7
    try:
        from memx.merge import merge_bullets

        outcome = merge_bullets(base, ours, theirs, marker_size=marker_size)
        data, is_clean = outcome.data, outcome.clean
    except Exception as error:  # noqa: BLE001 (git would keep ours alone, without a mark)
        sys.stderr.write(f"memx: merge driver failed: {type(error).__name__}: {error}\n")
        marks = [sign * marker_size for sign in (b"<", b"=", b">")]
        data = b"\n".join((marks[0] + b" ours", ours, marks[1], theirs, marks[2] + b" theirs", b""))
        is_clean = False
    with open(paths[1], "wb") as file:
        file.write(data)
    return 0 if is_clean else 1


if __name__ == "__main__":
    sys.path.insert(0, __file__.rsplit("memx", 1)[0])
    status = main(sys.argv[1:])
    try:
        # Without the interpreter's teardown, a seventh of the run; the files are closed by now.
        from posix import _exit as leave
    except ImportError:
        leave = sys.exit  # type: ignore[assignment]
    leave(status)
