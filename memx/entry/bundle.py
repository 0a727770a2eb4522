"""The modules of one command in one file, so that its start opens one file instead of seventy.

Python finds, checks, opens and reads each module by itself, which is a sixth of the
CPU of a search. A bundle lies beside the byte code of the package, is as much to be
trusted, and holds the same code objects with the state of each source, and
the regular expressions in their compiled form, for compiling them takes a hook longer
than all its modules. When one source is not as it was, nothing of the bundle
is used and the command writes a new one at its end (`bundle_writer`). Whatever
goes wrong, the modules are imported as usual.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any

    Part = tuple[str, str, int, int, bool, CodeType]
    Pattern = tuple[str | bytes, int, int, bytes, tuple[Any, ...]]

PACKAGE = "memx"
_FORMAT = 3


def load(command: str) -> bool:
    """Put the modules of a command into `sys.modules`; False when there is no bundle that holds now."""
    folder = package_folder()
    try:
        with open(bundle_path(command), "rb") as file:
            form, parts, patterns = marshal.loads(file.read())  # noqa: S302 (byte code of our own, where byte code lies)
        if form != code_form() or not all(_is_as_it_was(folder, part) for part in parts):
            return False
    except (OSError, ValueError, EOFError, TypeError):
        return False
    if patterns:
        _remember(patterns)
    for part in parts:
        if part[0] not in sys.modules:
            try:
                _execute(folder, part)
            except Exception:  # noqa: BLE001 (a library is missing: the module's importer says what to do then)
                break
    return True


def _remember(patterns: list[Pattern]) -> None:
    """Put compiled expressions into the memory of `re`; another Python that keeps it differently compiles as ever."""
    import _sre  # type: ignore[import-not-found,unused-ignore]
    import re

    try:
        for source, flags, all_flags, code, rest in patterns:
            words = memoryview(code).cast("I").tolist()
            compiled = _sre.compile(source, all_flags, words, *rest)
            re._cache[type(source), source, flags] = compiled  # type: ignore[attr-defined]  # noqa: SLF001
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return


def package_folder() -> str:
    """Return the folder that the sources are named from."""
    return os.path.dirname(str(sys.modules[PACKAGE].__file__))


def bundle_path(command: str) -> str:
    """Return where the bundle of a command lies, whether or not it is there."""
    tag = sys.implementation.cache_tag
    return os.path.join(package_folder(), "__pycache__", f"{command}.{tag}-{sys.flags.optimize}.bundle")


def code_form() -> tuple[int, str]:
    """Return what code objects depend on beside their source."""
    return _FORMAT, sys.version


def _is_as_it_was(folder: str, part: Part) -> bool:
    state = os.stat(f"{folder}/{part[1]}")
    return state.st_mtime_ns == part[2] and state.st_size == part[3]


def _execute(folder: str, part: Part) -> None:
    """Do what an import does once it has found the code."""
    name, path, _, _, is_package, code = part
    path = f"{folder}/{path}"
    module: ModuleType = type(sys)(name)
    parent, _, child = name.rpartition(".")
    module.__file__ = path
    module.__package__ = name if is_package else parent
    if is_package:
        module.__path__ = [os.path.dirname(path)]
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 (a module of ours)
    except BaseException:
        del sys.modules[name]
        raise
    if parent:
        setattr(sys.modules[parent], child, module)
