"""The tables of a generation say the same of one file and of all files of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memx.index import manifest
from memx.index.freshness import make_listing

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "bullets/general"
STATS = {f"{name}.md": (number, 10, 100 + number, number) for number, name in enumerate("abc", 1)}
DIGESTS = {name: bytes([number]) * manifest.DIGEST_BYTES for number, name in enumerate(STATS)}


def write_tables(folder: Path) -> manifest.Tables:
    """Write tables of three files and a log in which one was changed, one removed and one added."""
    manifest.save_tables(str(folder), {FOLDER: make_listing(STATS)}, {FOLDER: DIGESTS})
    entries: dict[str, manifest.Entry] = {
        f"{FOLDER}/b.md": ((9, 9, 909, 9), b"b" * manifest.DIGEST_BYTES),
        f"{FOLDER}/c.md": (None, None),
        f"{FOLDER}/d.md": ((8, 8, 808, 8), b"d" * manifest.DIGEST_BYTES),
    }
    assert manifest.append_log(str(folder), entries, 10)
    return manifest.Tables(str(folder))


def test_one_digest_is_that_of_the_whole_table(tmp_path: Path) -> None:
    """Files of the table, of the log and of neither."""
    tables = write_tables(tmp_path)
    table = tables.digests(FOLDER)
    assert sorted(table) == ["a.md", "b.md", "d.md"]
    for name in ("a.md", "b.md", "c.md", "d.md", "never.md"):
        assert tables.digest(FOLDER, name) == table.get(name)
    assert tables.digest("bullets/none", "a.md") is None


def test_some_stats_and_numbers_are_those_of_the_whole_table(tmp_path: Path) -> None:
    """The log is laid over both."""
    tables = write_tables(tmp_path)
    table = tables.stats(FOLDER)
    assert table == {"a.md": STATS["a.md"], "b.md": (9, 9, 909, 9), "d.md": (8, 8, 808, 8)}
    assert tables.some_stats(FOLDER, (*STATS, "d.md", "never.md")) == table
    assert tables.numbers(FOLDER) == {name: stat[2] for name, stat in table.items()}
    assert tables.numbers("bullets/none") == {}
