"""What git's configuration says about our merge driver."""

from __future__ import annotations

import os
import re

DRIVER_NAME = "memx"
_QUOTED = re.compile(r"'((?:[^']|'\\'')*)'")


def driver_options(python: str) -> dict[str, str]:
    """Return the configuration keys that make git run our driver for `merge=memx` paths."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    script = os.path.join(package, "entry", "merge_driver.py")
    return {
        f"merge.{DRIVER_NAME}.name": "memx bullet merge",
        f"merge.{DRIVER_NAME}.driver": driver_command(python, script),
    }


def driver_command(python: str, script: str) -> str:
    """Return the shell line for `merge.memx.driver`.

    When a driver is missing or dies, git keeps ours without a mark, and theirs
    is easily lost; so whatever ended without a result is merged by git itself.
    """
    run = f"{_quote(python)} -I -S {_quote(script)} %O %A %B %L %P"
    text = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
    # A conflict of ours has markers; a 1 without them is an interpreter that did not start.
    return f"test -f {_quote(script)} && {run} && exit 0; grep -q '^{'<' * 7}' %A && exit 1; {text}"


def missing_files(command: str) -> list[str]:
    """Return the interpreter and the script that a `merge.memx.driver` names and that are not there.

    A line that somebody wrote otherwise names none.
    """
    quoted = (text.replace("'\\''", "'").replace("%%", "%") for text in _QUOTED.findall(command))
    return [path for path in dict.fromkeys(quoted) if os.path.isabs(path) and not os.path.isfile(path)]


def _quote(path: str) -> str:
    """Quote for sh, and double the % that git would expand."""
    text = path.replace("\\", "/") if os.sep == "\\" else path
    return "'" + text.replace("'", "'\\''").replace("%", "%%") + "'"
