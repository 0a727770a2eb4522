"""Paths that stay inside the store, whoever wrote them."""

from __future__ import annotations

import os

from memx.errors import UnsafePathError
from memx.model import Problem

_RENAME = "rename it"


def refuse_unsafe(path: str, what: str = "path") -> None:
    """Raise UnsafePathError unless `path` is relative, with forward slashes and no way up."""
    reason = _reason(path)
    if reason:
        shown = path.encode("ascii", "backslashreplace").decode()
        hint = "use a relative path inside the repository, with forward slashes"
        raise UnsafePathError(f"the {what} {reason}", path=shown, hint=hint)


def resolve_inside(root: str, path: str) -> str:
    """Return the absolute path of a relative one; raise UnsafePathError when it or a link leaves `root`."""
    refuse_unsafe(path)
    if not {"", "."}.isdisjoint(path.split("/")):
        raise UnsafePathError("the path is not in its shortest form", path=path)
    full = os.path.join(root, *path.split("/"))
    real_root = os.path.realpath(root)
    real_folder = os.path.realpath(os.path.dirname(full))
    if real_folder != real_root and not real_folder.startswith(real_root.rstrip(os.sep) + os.sep):
        raise UnsafePathError("a symbolic link leads out of the store", path=path)
    if os.path.islink(full):
        raise UnsafePathError("the file is a symbolic link", path=path, hint="put the file itself there")
    return full


def name_problem(path: str) -> Problem | None:
    """Return what is wrong with the name of a file in the store: bytes that are not UTF-8, a control character.

    No index, no JSON and no other system can hold the first; the second would forge lines of output. A hidden
    file is nobody's to serve, and a suffix in capitals is another on one system and the same on the next.
    """
    if path[-3:] != ".md":
        return Problem("only a file whose name ends in .md is served", path, hint=_RENAME, kind="unsafe-path")
    if "/." in path:
        return Problem("a hidden file is not served", path, hint=_RENAME, kind="unsafe-path")
    what = _unwritable(path)
    return Problem(what, path, hint=_RENAME, kind="unsafe-path") if what else None


def _unwritable(path: str) -> str:
    """Return what no output can hold of a path; empty for any other."""
    if path.isascii() and path.isprintable():
        return ""
    if any(ord(c) < 32 or ord(c) == 127 for c in path):  # noqa: PLR2004 (C0 and DEL)
        return "the file's name holds a control character"
    if any(0xD800 <= ord(c) < 0xE000 for c in path):  # noqa: PLR2004 (undecodable bytes)
        return "the file's name is not UTF-8"
    return ""


def is_storable(path: str) -> bool:
    """Say whether a bullet can name this path: safe, and free of undecodable bytes (U+FFFD, surrogates)."""
    if path.isascii() and path.isprintable():
        return not _reason(path)
    return not (_reason(path) or _unwritable(path) or "\ufffd" in path)


def _reason(path: str) -> str:
    if not path:
        return "is empty"
    if not path.isprintable() and any(ord(c) < 32 or ord(c) == 127 for c in path):  # noqa: PLR2004 (C0 and DEL)
        return "holds a control character"
    if path[0] == "/" or path.partition("/")[0] == "~":
        return "is not relative"
    if "\\" in path:
        return "holds a backslash"
    if path[1:2] == ":" and path[0].isalpha():
        return "names a drive"
    return "leads out of the repository" if ".." in path.split("/") else ""
