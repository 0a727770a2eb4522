"""Names of one thing, from a file that may be damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from memx import resources
from memx.index import aliases
from memx.resources import resource


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of a data file that nobody has read yet."""
    monkeypatch.setattr(resources, "_PACKAGE", str(tmp_path))
    for name, value in (("_groups", None), ("_problem", ""), ("_canonical", {})):
        monkeypatch.setattr(aliases, name, value)
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / aliases.NAME


def test_file_is_known_by_its_sum() -> None:
    """Whoever changes the file changes BYTES and SUM_OF_BYTES too."""
    data = Path(resource(aliases.NAME)).read_bytes().replace(b"\r\n", b"\n")
    assert (len(data), sum(data)) == (aliases.BYTES, aliases.SUM_OF_BYTES)
    assert aliases.canonical("k8s") == "kubernetes"
    assert aliases.problem() == ""


@pytest.mark.parametrize("place", range(0, aliases.BYTES, 53))
def test_flipped_byte_is_noticed_wherever_it_is(fresh: Path, place: int) -> None:
    """All other names are still known, and the problem names the file."""
    data = bytearray((Path(aliases.__file__).parents[1] / "data" / aliases.NAME).read_bytes())
    data[place] ^= 0x80
    fresh.write_bytes(data)
    names = aliases.canonical("k8s"), aliases.canonical("postgres")
    assert "kubernetes" in names or "postgresql" in names
    assert str(fresh) in aliases.problem()


def test_missing_file_is_a_problem(fresh: Path) -> None:
    """A name stands for itself then."""
    assert aliases.canonical("k8s") == "k8s"
    assert str(fresh) in aliases.problem()
