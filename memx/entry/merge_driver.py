"""The merge driver: `python -I -S merge_driver.py %O %A %B %L %P`, run by git once a file.

It writes %A only, takes no lock and imports the standard library and our pure
code only. This file is compiled anew in every run, so it stays short.
"""

from __future__ import annotations

import sys


def main(arguments: list[str]) -> int:
    """Merge %A (ours) and %B (theirs) with %O (base) into %A; return 0 clean, 1 conflicted."""
    base, ours, theirs, *rest = arguments
    size = int(rest[0]) if rest and rest[0].isdigit() else 7
    sides = [_read(path) for path in (base, ours, theirs)]
    try:
        from memx.merge import merge_bullets  # noqa: PLC0415 (its failure must not lose a side)

        outcome = merge_bullets(sides[0], sides[1], sides[2], marker_size=size)
        data, is_clean = outcome.data, outcome.clean
    except Exception as error:  # noqa: BLE001 (git would keep ours alone, without a mark)
        sys.stderr.write(f"memx: merge driver failed: {type(error).__name__}: {error}\n")
        data, is_clean = _marked(sides[1], sides[2], size), False
    with open(ours, "wb") as file:
        file.write(data)
    return 0 if is_clean else 1


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _marked(ours: bytes, theirs: bytes, size: int) -> bytes:
    texts = [text if not text or text.endswith(b"\n") else text + b"\n" for text in (ours, theirs)]
    return b"%b ours\n%b%b\n%b%b theirs\n" % (b"<" * size, texts[0], b"=" * size, texts[1], b">" * size)


def driver_command(python: str, script: str) -> str:
    """Return the text for `merge.memx.driver`.

    When the interpreter or the script is missing or dies, git would keep ours
    without a word; so whatever failed without leaving markers is merged by git.
    """
    run = f"{_quoted(python)} -I -S {_quoted(script)} %O %A %B %L %P"
    marked = f"grep -q '^{'<' * 7}' %A"
    text_merge = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
    return f"test -f {_quoted(script)} && {run} || if {marked}; then exit 1; else {text_merge}; fi"


def _quoted(path: str) -> str:
    # For sh, and for git, which expands % itself.
    return "'" + path.replace("'", "'\\''").replace("%", "%%") + "'"


if __name__ == "__main__":
    sys.path.insert(0, __file__.rsplit("memx", 1)[0])
    sys.exit(main(sys.argv[1:]))
