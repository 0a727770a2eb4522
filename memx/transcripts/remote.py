"""Remote URLs brought to one form, so that clones of one repository are told to be the same."""

from __future__ import annotations

import re
from hashlib import sha1

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^@/\s]+@)?([\w.-]+):(?!\d+/)(.+)$")


def normalize_remote(url: str) -> str:
    """Return `host/path` without scheme, user, port and `.git`; empty when it is no remote address.

    The host is lower case and so is the path, since the large hosts ignore case.
    """
    text = url.strip()
    scheme = _SCHEME.match(text)
    if scheme:
        if scheme[0].lower() == "file://":
            return ""
        text = text[scheme.end() :].rpartition("@")[2] if "@" in text.split("/")[2] else text[scheme.end() :]
        host, _, path = text.partition("/")
        host = host.partition(":")[0]
    else:
        found = _SCP.match(text)
        if found is None:
            return ""
        host, path = found[1], found[2]
    path = path.strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}".lower() if host and path else ""


def opencode_project(url: str) -> str:
    """Return the project id that OpenCode derives from a remote; empty when it is none."""
    remote = normalize_remote(url)
    # The tool's own definition; nothing is protected by this hash.
    return sha1(f"git-remote:{remote}".encode(), usedforsecurity=False).hexdigest() if remote else ""
