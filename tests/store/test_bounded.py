"""Files that are longer than a bullet may be are not read to their end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.document import FILE_LIMIT_BYTES
from memx.errors import FrontMatterError
from memx.index.bulk import read_bytes, read_listed
from memx.store.bounded import read_bounded
from memx.store.mentions import find_mentions

if TYPE_CHECKING:
    from pathlib import Path

    from memx.store.store import Store

SPARSE = 1 << 40


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, FILE_LIMIT_BYTES])
def test_file_within_the_limit_is_read_whole(tmp_path: Path, size: int) -> None:
    """Around each border of a chunk, every byte is there."""
    path = tmp_path / "a.md"
    path.write_bytes(os.urandom(size))
    with path.open("rb") as file:
        assert read_bounded(file.fileno()) == path.read_bytes()


@pytest.mark.parametrize("size", [FILE_LIMIT_BYTES + 1, FILE_LIMIT_BYTES + 2, SPARSE])
def test_longer_file_is_read_to_one_byte_beyond_the_limit(tmp_path: Path, size: int) -> None:
    """What is read of it is enough to be refused."""
    path = tmp_path / "a.md"
    with path.open("wb") as file:
        file.truncate(size)
    with path.open("rb") as file:
        assert len(read_bounded(file.fileno())) == FILE_LIMIT_BYTES + 1


def test_sparse_file_of_a_terabyte_is_refused_by_every_reader(store: Store) -> None:
    """Scans, heads, mentions and the index stop at the limit, and nobody serves the file."""
    path = f"{store.root}/bullets/general/huge.md"
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as file:
        file.truncate(SPARSE)
    assert [problem.path for problem in store.scan()[1]] == ["bullets/general/huge.md"]
    assert [problem.path for problem in store.scan_heads()[1]] == ["bullets/general/huge.md"]
    assert find_mentions(store.root, ["a"]) == ["bullets/general/huge.md"]
    listed = read_listed(store.root, "bullets/general/huge.md")
    assert listed is not None
    for data in (
        listed[1],
        read_bytes(store.root, "bullets/general/huge.md"),
        store.read_bytes("bullets/general/huge.md"),
    ):
        assert data is not None
        assert len(data) == FILE_LIMIT_BYTES + 1
    with pytest.raises(FrontMatterError, match="larger than"):
        store.read("bullets/general/huge.md")
