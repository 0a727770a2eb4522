"""Where the user's own files lie: XDG on POSIX, platformdirs elsewhere."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_XDG = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
}


def user_dir(kind: str, environ: Mapping[str, str]) -> str:
    """Return the folder `memx` of a kind: config, data, state or cache. It need not exist.

    XDG variables win everywhere; without them platformdirs knows macOS and Windows.
    """
    variable, fallback = _XDG[kind]
    chosen = environ.get(variable, "")
    if os.path.isabs(chosen):
        return os.path.join(chosen, "memx")
    if os.name == "posix" and sys.platform != "darwin":
        return os.path.join(home(environ), fallback, "memx")
    import platformdirs

    return str(getattr(platformdirs, f"user_{kind}_dir")("memx", appauthor=False))


def home(environ: Mapping[str, str]) -> str:
    """Return the home folder."""
    return environ.get("HOME") or os.path.expanduser("~")


def is_writable(folder: str) -> bool:
    """Say whether a folder, or its nearest parent that exists, can be written."""
    place = folder
    while place and not os.path.exists(place):
        parent = os.path.dirname(place)
        if parent == place:
            return False
        place = parent
    return os.access(place or ".", os.W_OK | os.X_OK)
