"""The recorded digests are those of the files, and what differs is named."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memx import resources
from memx.app import package_data
from memx.app.package_data import LIST, damaged_files, data_files, digest
from memx.resources import resource

if TYPE_CHECKING:
    from tests.e2e.conftest import Program

ROOT = Path(resource(LIST)).parents[2]
CHECKOUT = [name for name in ("hooks", ".memx-template") if (ROOT / name).is_dir()]
"""What lies beside the package in a checkout; in a wheel it is part of the data."""


def recorded() -> dict[str, str]:
    """Return the recorded digest of each file."""
    lines = Path(resource(LIST)).read_text(encoding="utf-8").splitlines()
    return {name: found for found, name in (line.split() for line in lines)}


def test_every_data_file_is_recorded_as_it_is() -> None:
    """Whoever changes a data file runs tools/release/digests.py."""
    found = {name: digest(Path(resource(name)).read_bytes()) for name in data_files(str(ROOT))}
    assert found == recorded()
    assert damaged_files() == []


def test_ends_of_lines_make_no_difference() -> None:
    """A checkout may have converted them."""
    assert digest(b"a\r\nb\r\n") == digest(b"a\nb\n") != digest(b"a\nb")


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data files, the model apart, that the package takes for its own."""
    ignored = shutil.ignore_patterns("model")
    shutil.copytree(Path(resource(LIST)).parent, tmp_path / "memx" / "data", ignore=ignored)
    for name in CHECKOUT:
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.setattr(resources, "_PACKAGE", str(tmp_path / "memx"))
    return tmp_path / "memx" / "data"


@pytest.mark.parametrize("name", ["aliases.txt", "curator/units.txt", "demo/commits.json", LIST])
@pytest.mark.parametrize("damage", ["gone", "empty", "flipped"])
def test_damage_is_named_with_its_file(copied: Path, name: str, damage: str) -> None:
    """A file that is missing, empty or differs in one bit."""
    assert damaged_files() == []
    path = copied / name
    data = bytearray(path.read_bytes())
    data[3] ^= 0x80
    path.unlink()
    if damage != "gone":
        path.write_bytes(data if damage == "flipped" else b"")
    assert [str(path) in sentence or name == LIST for sentence in damaged_files()] == [True]
    assert package_data.REMEDY.startswith("pip install")


@pytest.fixture
def damageable(store: Program, tmp_path: Path) -> tuple[Program, Path]:
    """The program as a package of links, in which a data file can be replaced, and the folder of these."""
    top = tmp_path / "installed"
    (top / "memx" / "data").mkdir(parents=True)
    for folder in (ROOT / "memx", ROOT / "memx" / "data"):
        for entry in folder.iterdir():
            if entry.name not in ("data", "__pycache__"):
                os.symlink(entry, top / entry.relative_to(ROOT))
    for name in CHECKOUT:
        os.symlink(ROOT / name, top / name)
    store.environ["PYTHONPATH"] = str(top)
    store.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    return store, top / "memx" / "data"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("damage", [None, b"", b"k8s kubernet\xe9s\n"], ids=["gone", "empty", "garbage"])
def test_search_goes_on_without_its_aliases(damageable: tuple[Program, Path], damage: bytes | None) -> None:
    """The answer says what is missing, on either channel, and doctor fails; nothing is a bug."""
    program, data = damageable
    program.ok("add", "Kubernetes evicts the pods of the importer")
    (data / "aliases.txt").unlink()
    if damage is not None:
        (data / "aliases.txt").write_bytes(damage)
    answer = program.json("search", "importer pods")
    assert len(answer["hits"]) == 1
    assert [missing.partition(":")[0] for missing in answer["degraded"]] == ["aliases"]
    assert str(data / "aliases.txt") in answer["degraded"][0]
    assert b"degraded: aliases: " in program.run("search", "importer pods").stderr
    assert f"FAIL  package data   {data / 'aliases.txt'}" in program.run("doctor").stdout.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_what_damaged_data_breaks_is_no_bug(damageable: tuple[Program, Path]) -> None:
    """A command that cannot do without a file says that the installation is damaged, and how to mend it."""
    program, data = damageable
    program.ok("add", "Kubernetes evicts the pods of the importer")
    (data / "curator").unlink()
    done = program.run("compare", "use 50 connections", "use 60 connections", "--json")
    assert (done.returncode, b"the installation is damaged: " in done.stdout) == (1, True)
    done = program.run("compare", "use 50 connections", "use 60 connections")
    assert (done.returncode, b"bug" in done.stderr, b"pip install" in done.stderr) == (1, False, True)
