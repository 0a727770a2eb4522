"""The process `memx`: what the console scripts call, and all that is read before a bundle of modules is."""

from __future__ import annotations

import gc
import os
import sys

from memx.entry.bundle import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

BUNDLED = ("search", "context")
"""Commands whose start is worth a bundle of their modules."""

FIRST_COLLECTION = 100_000
"""Objects before the cyclic collector looks for the first time: most commands end before they make so many."""


def run() -> NoReturn:
    """Be the process `memx`: run its command line and end. Only console scripts may call this."""
    gc.set_threshold(FIRST_COLLECTION)
    command = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] in BUNDLED else ""
    has_bundle = not command or load(command)
    from memx.entry.cli.main import main  # from the bundle, where there is one
    from memx.errors import EXIT_OK

    code = main()
    if not has_bundle and code == EXIT_OK:
        from memx.entry.bundle_writer import save

        save(command)
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process without taking the interpreter apart, which costs a search a tenth of its time.

    Whoever asked to be told of the end (threads, `atexit`) is told in the ordinary way.
    """
    import atexit

    if "threading" not in sys.modules and not atexit._ncallbacks():  # noqa: SLF001 (no other way to ask)
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            sys.exit(code)
        os._exit(code)
    sys.exit(code)
