"""A bundle of modules changes how long a start takes and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import tantivy

import memx
from memx.entry.bundle_source import compile_bare

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

RUN = "from memx.entry.start import run; run()"
ASK = """
import sys
import memx.entry.cli.main
from memx.entry.start import load
print(load("search"))
import memx.app.recall
print(memx.app.recall.__spec__ is None, memx.app.recall.recall.__module__, memx.app.recall.__file__)
print(sorted({"numpy", "re", "typing", "memx.store.codec"} & sys.modules.keys()))
"""


class Copy:
    """A copy of the package, with byte code of its own, and a store to search."""

    def __init__(self, folder: Path) -> None:
        """Copy the package and compile all modules."""
        self.package = folder / "lib" / "memx"
        source = os.path.dirname(memx.__file__)
        shutil.copytree(source, self.package, ignore=shutil.ignore_patterns("data", "__pycache__"))
        os.symlink(os.path.join(source, "data"), self.package / "data")
        self.work = folder
        self.run("import compileall, memx; compileall.compile_dir(memx.__path__[0], quiet=1)")

    def begin(self, folder: Path) -> None:
        """Make a store of one bullet, index it, and have no bundle.

        A store for each test: what a search leaves to a process behind its back is done by the memx that is
        installed, which may be another version by now.
        """
        self.work = folder / "work"
        (self.work / ".memx" / "bullets" / "general").mkdir(parents=True)
        (self.work / ".memx" / "bullets" / "general" / "a.md").write_text("Set the redis pool to 50.\n")
        subprocess.run(["git", "init", "-q", str(self.work)], check=True)
        self.search()
        for path in self.bundles:
            path.unlink()

    def run(self, script: str, *arguments: str) -> str:
        """Run a program with this copy and return its output."""
        environ = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environ |= {"PYTHONPATH": str(self.package.parent), "HOME": str(self.work.parent)}
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, cwd=self.work, env=environ, capture_output=True, text=True, check=True)
        return done.stdout

    def search(self) -> str:
        """Run one search."""
        return self.run(RUN, "search", "--no-recall", "redis pool")

    @property
    def bundles(self) -> list[Path]:
        """The bundles that there are."""
        return sorted((self.package / "__pycache__").glob("*.bundle"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return the copy."""
    return Copy(tmp_path_factory.mktemp("copy"))


@pytest.fixture
def copy(shared: Copy, tmp_path: Path) -> Copy:
    """Return the copy without a bundle."""
    shared.begin(tmp_path)
    return shared


def test_second_search_starts_from_the_bundle(copy: Copy) -> None:
    """The first ordinary search writes it, the next one finds the same with it, and heavy modules are not in it."""
    first = copy.search()
    assert [path.name.partition(".")[0] for path in copy.bundles] == ["search"]
    assert copy.search() == first
    assert "redis pool" in first
    loaded, names, heavy = copy.run(ASK).splitlines()
    assert loaded == "True"
    assert names == f"True memx.app.recall {copy.package}/app/recall.py"
    assert heavy == "[]"


def test_changed_source_is_noticed(copy: Copy) -> None:
    """A bundle holds for the sources that it was made of."""
    copy.search()
    path = copy.package / "generator" / "explain.py"
    path.touch()
    assert copy.run(ASK).splitlines()[0] == "True"  # not one of the modules of a search
    path = copy.package / "app" / "recall.py"
    source = path.read_text()
    path.write_text(source + "\nprint('changed')\n")
    try:
        assert copy.run(ASK).splitlines()[:2] == ["False", "changed"]
        assert copy.search().startswith("changed\n")
        assert copy.run(ASK).splitlines()[0] == "changed"
    finally:
        path.write_text(source)  # the copy is shared by all tests, which run in any order


@pytest.mark.parametrize("data", [b"", b"\0" * 99, b"(\x02\x00\x00\x00NN"])
def test_damaged_bundle_is_passed_over(copy: Copy, data: bytes) -> None:
    """Then the modules are imported as ever, and a whole one is written."""
    expected = copy.search()
    copy.bundles[0].write_bytes(data)
    assert copy.search() == expected
    assert copy.bundles[0].stat().st_size > 100_000


def test_missing_library_is_left_to_the_module_that_needs_it(copy: Copy) -> None:
    """Without tantivy a search with a bundle answers as one without: from the files, and says so."""
    copy.search()
    without = "import sys; sys.modules['tantivy'] = None; "
    found = copy.run(without + RUN, "search", "--no-recall", "--json", "redis pool")
    assert '"index: tantivy cannot be loaded' in found
    assert "redis pool to 50" in found


def test_no_bundle_where_byte_code_is_not_wanted(copy: Copy) -> None:
    """PYTHONDONTWRITEBYTECODE holds for it, too."""
    copy.run(f"import sys; sys.dont_write_bytecode = True; {RUN}", "search", "--no-recall", "redis pool")
    assert copy.bundles == []


def test_patterns_come_back_as_they_were(copy: Copy) -> None:
    """Regular expressions that a hook compiled are compiled no more by the next one, and match the same."""
    write = (
        "import re; from memx.entry.bundle_writer import save\n"
        "for flags in (0, re.IGNORECASE): re.compile('(?P<a>x+)|(?:[\u4e00-\u9fff](y)){2,}', flags)\n"
        "re.compile(rb'b(?=c)'); save('post-commit', ('numpy',))"
    )
    copy.run(write)
    read = (
        "import memx; from memx.entry.start import load; print(load('post-commit'))\n"
        "import re; from re import _compiler\n"
        "_compiler.compile = None\n"
        "plain, folded = (re.compile('(?P<a>x+)|(?:[\u4e00-\u9fff](y)){2,}', f) for f in (0, re.IGNORECASE))\n"
        "print(plain.search('aXxx').span('a'), folded.search('aXxx').span('a'), plain.groups, plain.flags)\n"
        "print(plain.search('\u4e2dy\u4e2dy').groups(), re.compile(rb'b(?=c)').search(b'abc').span())"
    )
    expected = "True\n(2, 4) (1, 4) 2 32\n(None, 'y') (1, 2)\n"
    assert copy.run(read) == expected


SOURCE = b'''"""A module."""
from __future__ import annotations
from memx.record import record, replace
TYPE_CHECKING = False
if TYPE_CHECKING:
    from nowhere import Missing
else:
    Missing = None
LIMIT: Missing = 3
class Pair:
    first: Missing
    second: Missing = 2
def add(a: Missing, *more: Missing, b: Missing = 1, **rest: Missing) -> Missing:
    """Add."""
    total: Missing = a + b
    return total / LIMIT
@record
class Row:
    """A row."""
    first: Missing
    second: Missing = 2
    @property
    def both(self) -> Missing:
        return self.first, self.second
'''


def test_bundled_code_does_the_same() -> None:
    """What is left out of a module is what only people and type checkers read; lines keep their numbers."""
    names: dict[str, Any] = {}
    code = compile_bare(SOURCE, "a.py")
    exec(code, names)  # noqa: S102 (the source above)
    assert (names["add"](5), names["LIMIT"], names["Missing"]) == (2.0, 3, None)
    assert list(names["Pair"].__annotations__) == ["first", "second"]
    assert (names["add"].__annotations__, names["add"].__doc__) == ({}, None)
    assert names["add"].__code__.co_firstlineno == 13
    row = names["Row"](1)
    assert (row.both, repr(row), row == names["Row"](first=1, second=2)) == (
        (1, 2),
        "Row(first=1, second=2)",
        True,
    )
    assert names["replace"](row, second=3).both == (1, 3)
    assert not hasattr(row, "__dict__")
    with pytest.raises(AttributeError):
        row.first = 2
    assert "nowhere" not in code.co_names


LIBRARIES = """
import sys
import memx
from memx.entry.start import load
folders = sys.path
sys.path = [folder for folder in folders if folder != {gone!r}]
print(load("search"), "tantivy" in sys.modules)
sys.path = folders
import tantivy, math, types
print({{sys.modules[name].__spec__.loader.__class__.__name__ for name in ("types", "tantivy")}})
print(math.sqrt(4.0), types.SimpleNamespace(a=1).a, tantivy.SchemaBuilder.__name__)
"""


def test_libraries_are_found_where_they_lay(copy: Copy) -> None:
    """Modules of others need no search through `sys.path`, as long as they lie where that would find them."""
    copy.search()
    assert copy.run(LIBRARIES.format(gone="")).splitlines() == [
        "True True",
        "{'_Finder'}",
        "2.0 1 SchemaBuilder",
    ]
    packages = os.path.dirname(os.path.dirname(tantivy.__file__))
    assert copy.run(LIBRARIES.format(gone=packages)).splitlines()[0] == "True False"


DATES = """
import sys
from memx.entry.start import _lighten_datetime
_lighten_datetime()
import datetime
loaded = "operator" in sys.modules and sys.version_info < (3, 12)
import pickle
from memx.timestamp import format_time
print(loaded, format_time(0.0))
day = datetime.datetime.strptime("2026-11-30", "%Y-%m-%d").replace(tzinfo=datetime.UTC)
print(pickle.loads(pickle.dumps(day)) == day, repr(day))
"""


def test_dates_need_no_python_part(copy: Copy) -> None:
    """A search has the part of `datetime` in C alone, and it reads, prints and pickles as the whole."""
    said = copy.run(DATES).splitlines()
    assert said[0] == "False 1970-01-01T00:00:00Z"
    assert said[1] == "True datetime.datetime(2026, 11, 30, 0, 0, tzinfo=datetime.timezone.utc)"


HOOK = """
import sys
sys.stderr = sys.stdout
from memx.entry.hook import main
print(main(["post-commit"]))
print(type(sys.modules["memx.reflector"].__loader__).__name__)
"""


def test_lesson_comes_from_the_bundle(copy: Copy) -> None:
    """A second hook finds the same with the bundle, whose packages import what lies in them in their own order."""
    lesson = "Requests timed out because the pool held ten connections only. Raising POOL to 50 fixed it"
    said = []
    for number in range(2):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty"]
        subprocess.run([*git, "-m", f"Raise POOL\n\n{lesson}; {number} stays."], cwd=copy.work, check=True)
        said.append(copy.run(HOOK).splitlines())
        assert [path.name.partition(".")[0] for path in copy.bundles] == ["post-commit"]
    assert said[0][0].startswith("memx: learnt: ")
    assert said[1][0].startswith("memx: learnt: ")
    assert [lines[1:] for lines in said] == [["0", "SourceFileLoader"], ["0", "_Finder"]]
