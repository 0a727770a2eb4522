"""Files that can hold an id, found without parsing them."""

from __future__ import annotations

import pytest

from memx.store.mentions import find_mentions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a store with one bullet of each kind."""
    for path, text in {
        "bullets/tools/own-a000000001.md": "---\nid: a000000001\n---\nA.\n",
        "bullets/tools/other-a000000002.md": "---\nid: a000000002\nmerged_from:\n  - a000000003\n---\nB.\n",
        "archive/tools/gone-a000000004.md": "---\nid: a000000004\n---\nC.\n",
        "bullets/tools/by-hand.md": "Written without an id.\n",
        "bullets/tools/.hidden.md": "a000000001\n",
        "bullets/tools/notes.txt": "a000000001\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "bullets" / "linked.md").symlink_to(tmp_path / "bullets" / "tools" / "own-a000000001.md")
    return tmp_path


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ({"a000000001"}, ["bullets/tools/own-a000000001.md"]),
        ({"a000000003"}, ["bullets/tools/other-a000000002.md"]),
        ({"a000000004"}, ["archive/tools/gone-a000000004.md"]),
        ({"a000000009"}, []),
    ],
)
def test_files_that_hold_an_id_are_found(root: Path, ids: set[str], expected: list[str]) -> None:
    """Own ids and merged ones, live and archived; a file without an id always may hold it."""
    assert sorted(find_mentions(str(root), ids)) == sorted([*expected, "bullets/tools/by-hand.md"])


def test_missing_store_holds_nothing(tmp_path: Path) -> None:
    """There is nothing to read then."""
    assert find_mentions(str(tmp_path / "none"), {"a000000001"}) == []
