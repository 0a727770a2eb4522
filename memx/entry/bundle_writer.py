"""Write the bundle that `bundle` reads: once after an installation or a change of the sources."""

from __future__ import annotations

import marshal
import os
import sys

from memx.entry.bundle import PACKAGE, bundle_path, code_form, package_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

    from memx.entry.bundle import Part

UNUSUAL = ("numpy", "re", "subprocess", "memx.index.bulk")
"""A run that needed one of these did more than its command usually does, and would make all others load that too."""

LEFT_OUT = ("memx.app.hooks", "memx.app.deadline", "memx.repo.hooks", "memx.entry.bundle_writer")
"""What a command needs only after it has answered, and not always."""


def save(command: str) -> None:
    """Write the bundle of the modules that this process has imported; where that is impossible, do without."""
    path = bundle_path(command)
    is_usual = sys.modules.keys().isdisjoint(UNUSUAL)
    if sys.dont_write_bytecode or not is_usual or not os.access(os.path.dirname(path), os.W_OK):
        return
    temporary = f"{path}.{os.getpid()}"
    try:
        data: Any = (code_form(), [_part(name, code) for name, code in in_order(_loaded())])
        with open(temporary, "wb") as file:
            file.write(marshal.dumps(data))
        os.replace(temporary, path)
    except (OSError, ValueError, ImportError, AttributeError, TypeError):
        return


def _loaded() -> dict[str, CodeType]:
    """Return the code of every module of ours that is loaded."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{PACKAGE}.") and name not in LEFT_OUT and module.__spec__ is not None:
            loader: Any = module.__spec__.loader
            found[name] = loader.get_code(name)
    return found


def in_order(codes: dict[str, CodeType]) -> list[tuple[str, CodeType]]:
    """Return the modules, each after those that it imports as it is executed."""
    ordered: dict[str, CodeType] = {}
    begun: set[str] = set()

    def place(name: str) -> None:
        if name in begun or name not in codes:
            return
        begun.add(name)
        place(name.rpartition(".")[0])
        for other in _imports(codes[name]):
            place(other)
        ordered[name] = codes[name]

    for name in codes:
        place(name)
    return list(ordered.items())


def _imports(code: CodeType) -> Iterator[str]:
    """Yield every module that a module's code names in an import, save those for type checkers.

    A module that is missed here or comes in the wrong place is merely imported in the usual way.
    """
    import dis

    names: object = ()
    is_guard, end = False, 0
    for step in dis.get_instructions(code):
        if step.offset < end:
            continue
        if step.opname == "LOAD_CONST":
            names = step.argval
        elif step.opname == "LOAD_NAME":
            is_guard = step.argval == "TYPE_CHECKING"
        elif is_guard and "JUMP" in step.opname and "FALSE" in step.opname:
            is_guard, end = False, step.argval
        elif step.opname == "IMPORT_NAME":
            yield step.argval
            yield from (f"{step.argval}.{name}" for name in (names if isinstance(names, tuple) else ()))


def _part(name: str, code: CodeType) -> Part:
    module = sys.modules[name]
    path = str(module.__file__)
    state = os.stat(path)
    below = os.path.relpath(path, package_folder()).replace(os.sep, "/")
    return name, below, state.st_mtime_ns, state.st_size, hasattr(module, "__path__"), code
