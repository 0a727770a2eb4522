"""Write the bundle that `start` reads: once after an installation or a change of the sources."""

from __future__ import annotations

import marshal
import os
import sys

from memx.entry.start import PACKAGE, bundle_path, code_form, held_parts, package_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import SourceFileLoader
    from types import CodeType
    from typing import Any

    from memx.entry.start import Part, Pattern

UNUSUAL = ("numpy", "re", "subprocess", "memx.index.bulk")
"""A search that needed one of these did more than it usually does, and would make all others load that too."""

LEFT_OUT = (
    "memx.app.hooks",
    "memx.app.deadline",
    "memx.repo.hooks",
    "memx.entry.bundle_writer",
    "memx.entry.hook",
)
"""What a command needs only after it has answered, and not always, or before it has a bundle."""

OTHERS = (
    "_datetime",
    "binascii",
    "fcntl",
    "math",
    "simsimd",
    "tantivy",
    "tantivy.tantivy",
    "types",
)
"""Modules that are not ours and that every search loads."""

BEFORE = ("memx.entry", "memx.entry.start")
"""What the console script has loaded before it asks for a bundle, and would read again for nothing."""


def save(command: str, unusual: tuple[str, ...] = UNUSUAL, *, sparing: bool = False) -> None:
    """Write the bundle of what this process has imported and compiled; where that is impossible, do without.

    Nothing is written by a run that loaded one of the modules `unusual`. A sparing
    bundle holds the modules of the standard library too, each to be loaded by itself.
    """
    path = bundle_path(command)
    is_usual = sys.modules.keys().isdisjoint(unusual)
    if sys.dont_write_bytecode or not is_usual or not os.access(os.path.dirname(path), os.W_OK):
        return
    temporary = f"{path}.{os.getpid()}"
    try:
        if sparing:
            loaded = _loaded(library=True).items()
            # What an earlier run needed and this one did not stays.
            parts = list(
                (held_parts() | {name: _part(name, marshal.dumps(code)) for name, code in loaded}).values()
            )
        else:
            codes = {name: code for name, code in _loaded().items() if name not in BEFORE}
            parts = [_part(name, code) for name, code in (*in_order(codes), *_others())]
        value: Any = (code_form(), parts, _patterns())
        data = marshal.dumps(value)
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except (OSError, ValueError, ImportError, AttributeError, TypeError):
        return


def _patterns() -> list[Pattern]:
    """Return what `re` remembers, as `start` gives it back."""
    if "re" not in sys.modules:
        return []
    import re
    from array import array
    from re import _compiler, _parser  # type: ignore[attr-defined]

    found: list[Pattern] = []
    for _, source, flags in list(re._cache):  # type: ignore[attr-defined]  # noqa: SLF001 (the only list of them)
        parsed = _parser.parse(source, flags)
        code = array("I", _compiler._code(parsed, flags)).tobytes()  # noqa: SLF001
        names = dict(parsed.state.groupdict)
        groups: list[str | None] = [None] * parsed.state.groups
        for name, number in names.items():
            groups[number] = name
        rest = (parsed.state.groups - 1, names, tuple(groups))
        found.append((source, int(flags), int(flags | parsed.state.flags), code, rest))
    return found


def _loaded(*, library: bool = False) -> dict[str, CodeType]:
    """Return the code of every module of ours that is loaded, and of the standard library's where wanted."""
    names = list(sys.modules)
    from importlib.machinery import SourceFileLoader

    found = {}
    for name in names:
        path = getattr(sys.modules[name], "__file__", None)
        if name.startswith(f"{PACKAGE}."):
            is_wanted = name == "memx.app.hooks" if library and name in LEFT_OUT else name not in LEFT_OUT
        else:
            is_wanted = library and name.partition(".")[0] in sys.stdlib_module_names and not _is_early(name)
        if is_wanted and path and path.endswith(".py"):
            code = _code_of(SourceFileLoader(name, path), has_docstrings=library)
            if code is not None:
                found[name] = code
    return found


def _code_of(loader: SourceFileLoader, *, has_docstrings: bool) -> CodeType | None:
    """Return the code of a module; a command reads neither docstrings nor annotations."""
    if has_docstrings:
        return loader.get_code(loader.name)
    from memx.entry.bundle_source import compile_bare

    return compile_bare(loader.get_data(loader.path), loader.path)


def _others() -> Iterator[tuple[str, bytes | None]]:
    """Yield the modules of others that every search needs with their code, None for machine code."""
    from importlib.machinery import EXTENSION_SUFFIXES, SourceFileLoader

    for name in [name for name in OTHERS if name in sys.modules]:
        path = str(getattr(sys.modules[name], "__file__", None))
        if path.endswith(tuple(EXTENSION_SUFFIXES)):
            yield name, None
        elif path.endswith(".py"):
            yield name, marshal.dumps(SourceFileLoader(name, path).get_code(name))


def _is_early(name: str) -> bool:
    """Tell whether Python has the module, or has loaded it, before it can read a bundle."""
    spec = sys.modules[name].__spec__
    return name.startswith(("encodings", "_", "site")) or spec is None or spec.origin == "frozen"


def in_order(codes: dict[str, CodeType]) -> list[tuple[str, CodeType]]:
    """Return the modules, each after its package and after those that it imports as it is executed.

    What a package imports of itself comes after it.
    """
    ordered: dict[str, CodeType] = {}
    begun: set[str] = set()

    def place(name: str) -> None:
        if name in begun or name not in codes:
            return
        begun.add(name)
        place(name.rpartition(".")[0])
        for other in _imports(codes[name]):
            if not other.startswith(f"{name}."):
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


def _part(name: str, code: CodeType | bytes | None) -> Part:
    module = sys.modules[name]
    path = str(module.__file__)
    state = os.stat(path)
    below = path
    if name.startswith(f"{PACKAGE}."):
        below = os.path.relpath(path, package_folder()).replace(os.sep, "/")
    return name, below, state.st_mtime_ns, state.st_size, hasattr(module, "__path__"), code
