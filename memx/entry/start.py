"""The process `memx`: what the console scripts call, and all that is read before a bundle of modules is.

A bundle is the modules of one command in one file, so that its start opens one file instead of seventy. Python
finds, checks, opens and reads each module by itself, which is a sixth of the CPU of a search. A bundle lies beside the
byte code of the package, is as much to be trusted, and holds the same code objects with the state of each source, and
the regular expressions in their compiled form, for compiling them takes a hook longer than all its modules. When one
source is not as it was, nothing of the bundle is used and the command writes a new one at its end (`bundle_writer`).
Whatever goes wrong, the modules are imported as usual.

A search executes all modules of ours at once; of others the bundle knows where they lie, which saves it the search
through the folders of `sys.path`. A hook needs far fewer where a commit teaches nothing, so its bundle is sparing: an
import takes out what it asks for, the standard library's modules among it.

This module and the packages around it do without `__future__`, whose import takes as long as theirs.
"""

import gc
import marshal
import os
import sys
from _frozen_importlib_external import spec_from_file_location  # type: ignore[import-not-found,unused-ignore]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, NoReturn

    Part = tuple[str, str, int, int, bool, Any]
    """Name, path below the package or absolute, mtime in ns, size, is a package, code.

    The code is marshalled where an import takes it out, and None where it is the machine's own, in that file.
    """
    Pattern = tuple[str | bytes, int, int, bytes, tuple[Any, ...]]

BUNDLED = ("search", "context")
"""Commands whose start is worth a bundle of their modules."""

FIRST_COLLECTION = 100_000
"""Objects before the cyclic collector looks for the first time: most commands end before they make so many."""

PACKAGE = "memx"
_FORMAT = 5


def run() -> "NoReturn":
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


def _leave(code: int) -> "NoReturn":
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


def load(command: str) -> bool:
    """Give Python the modules of a command; False when there is no bundle that holds now."""
    folder = package_folder()
    held = _read(folder, bundle_path(command))
    if held is not None:
        sys.meta_path.insert(0, _Finder(folder, held[0]))
    _lighten_datetime()
    if held is None:
        return False
    parts, patterns = held
    if patterns:
        _remember(patterns)
    for part in parts:
        # A package comes before what lies in it; where packages need each other, Python finds the order.
        is_next = part[0] not in sys.modules and part[0].rpartition(".")[0] in sys.modules
        if is_next and part[5] is not None and not isinstance(part[5], bytes):
            try:
                _execute(folder, part)
            except Exception:  # noqa: BLE001 (a library is missing: the module's importer says what to do then)
                break
    return True


def _read(folder: str, path: str) -> "tuple[list[Part], list[Pattern]] | None":
    """Return what a bundle holds, None when it is not whole or one of the sources is not as it was."""
    try:
        # Mapped, for a copy of it in memory would cost as much as all the rest of the reading.
        from mmap import ACCESS_READ, mmap

        with open(path, "rb", buffering=0) as file:
            data = mmap(file.fileno(), 0, access=ACCESS_READ)
        form, parts, patterns = marshal.loads(data)  # noqa: S302 (byte code of our own, where byte code lies)
        if form != code_form() or not _are_as_they_were(folder, parts):
            return None
    except (OSError, ValueError, EOFError, TypeError, ImportError):
        return None
    return parts, patterns


def _lighten_datetime() -> None:
    """Let `datetime` be its part in C, which is all that Python keeps of it; tantivy asks for that part.

    Up to Python 3.11 the module executes two thousand lines in Python first and then throws them away.
    """
    if sys.version_info >= (3, 12) or "datetime" in sys.modules:
        return
    try:
        import _datetime  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return
    sys.modules["datetime"] = _datetime


def held_parts() -> "dict[str, Part]":
    """Return the parts of the bundle that this process loaded, by name; none where there was no bundle."""
    return next((finder.parts for finder in sys.meta_path if isinstance(finder, _Finder)), {})


def _remember(patterns: "list[Pattern]") -> None:
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


def _are_as_they_were(folder: str, parts: "list[Part]") -> bool:
    stat, is_absolute = os.stat, os.path.isabs
    for _, path, modified_ns, size, _, _ in parts:
        state = stat(path if is_absolute(path) else f"{folder}/{path}")
        if state.st_mtime_ns != modified_ns or state.st_size != size:
            return False
    return True


class _Finder:
    """Gives an import what the bundle holds and was not executed ahead."""

    def __init__(self, folder: str, parts: "list[Part]") -> None:
        self._folder = folder
        self.parts = {part[0]: part for part in parts}

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":  # noqa: ARG002 (Python's own signature)
        """Return the specification of a module that the bundle holds."""
        part = self.parts.get(name)
        if part is None or not (name.startswith(f"{PACKAGE}.") or _is_reachable(part)):
            return None
        if part[5] is None:
            return spec_from_file_location(name, part[1])  # type: ignore[no-any-return,unused-ignore]
        return type(sys.__spec__)(name, self, is_package=part[4])  # type: ignore[arg-type]

    def create_module(self, spec: "ModuleSpec") -> None:
        """Leave the making to Python."""

    def exec_module(self, module: "ModuleType") -> None:
        """Execute the module."""
        _, path, _, _, is_package, code = self.parts[module.__name__]
        _locate(module, os.path.join(self._folder, path), is_package=is_package)
        exec(marshal.loads(code) if isinstance(code, bytes) else code, module.__dict__)  # noqa: S102, S302 (as in `load`)


def _is_reachable(part: "Part") -> bool:
    """Return whether a module of others lies in a folder where this process would look for it."""
    folder = part[1]
    for _ in range(part[0].count(".") + part[4] + 1):
        folder = os.path.dirname(folder)
    return folder in sys.path


def _locate(module: "ModuleType", path: str, *, is_package: bool) -> None:
    module.__file__ = path
    if is_package:
        module.__path__ = [os.path.dirname(path)]


def _execute(folder: str, part: "Part") -> None:
    """Do what an import does once it has found the code, without its locks and specifications."""
    name, path, _, _, is_package, code = part
    module: ModuleType = type(sys)(name)
    parent, _, child = name.rpartition(".")
    module.__package__ = name if is_package else parent
    _locate(module, f"{folder}/{path}", is_package=is_package)
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 (a module of ours)
    except BaseException:
        del sys.modules[name]
        raise
    setattr(sys.modules[parent], child, module)
