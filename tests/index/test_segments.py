"""Alive bits are written as tantivy writes them, and no kill between two steps leaves an index that answers wrongly."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import IndexUnavailableError
from memx.index import index as index_module
from memx.index import manifest, segments
from memx.index.index import make_analyser
from memx.index.lexical import LexicalIndex
from memx.index.packed import pack
from memx.index.segments import Segments
from memx.model import Bullet, StoredBullet
from tests.support.damage import overwrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from memx.index.packed import PackedBullet
    from tests.index.conftest import IndexedStore

COUNT = index_module.FEW + 5


def make(numbers: Iterable[int], word: str = "alpha") -> list[PackedBullet]:
    """Return bullets of these numbers."""
    analyser = make_analyser()
    bullets = [(n, Bullet(id=f"n{n:x<9}", text=f"{word} {n}", created=1.0)) for n in numbers]
    return [pack(StoredBullet(bullet, f"bullets/n{n}.md"), analyser) for n, bullet in bullets]


def index_of(folder: Path, count: int) -> LexicalIndex:
    """Make an index of so many bullets in one segment."""
    folder.mkdir()
    index = LexicalIndex.create(str(folder))
    index.apply(make(range(count)))
    return index


def dead_files(folder: Path) -> list[bytes]:
    """Return the bits of all segments."""
    return [path.read_bytes() for path in sorted(folder.glob("*.del"))]


@settings(max_examples=15, deadline=None)
@given(count=st.sampled_from((2, 63, 64, 65, 129)), data=st.data())
def test_bits_are_the_bytes_that_tantivy_writes(
    tmp_path_factory: pytest.TempPathFactory, count: int, data: st.DataObject
) -> None:
    """Whichever bullets are dead: the file is the same as after a deletion by tantivy."""
    dead = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=count - 1))
    folder = tmp_path_factory.mktemp("segments")
    ours = index_of(folder / "ours", count)
    shutil.copytree(folder / "ours", folder / "theirs")
    theirs = LexicalIndex.open(str(folder / "theirs"))
    writer = theirs._index.writer(15_000_000, 1)
    for number in dead:
        writer.delete_documents_by_term("path", f"bullets/n{number}.md")
    writer.commit()
    writer.wait_merging_threads()
    (name,) = ours.segments().names
    ours.change((), [(name, number) for number in dead])
    assert dead_files(folder / "ours") == dead_files(folder / "theirs")
    assert ours.size == count - len(dead)
    ours.change((), (), [(name, number) for number in dead])
    assert dead_files(folder / "ours") == []
    assert ours.size == count


def test_bullets_leave_and_return_to_where_they_were(tmp_path: Path) -> None:
    """A segment of which no bullet is left is parked: not opened, and complete when they are back."""
    index = index_of(tmp_path / "index", COUNT)
    addresses = [
        at for found in index.addresses([b.path for b in make(range(COUNT))]).values() for at in found
    ]
    assert len(addresses) == COUNT
    index.change(make(range(COUNT), "omega"), addresses)
    assert {bullet.text.split()[0] for bullet in index.everything()} == {"omega"}
    assert index.count("exact", "alpha") == 0
    assert len(index.segments().names) == 1
    assert index.segments().dead == COUNT
    assert all(map(index.segments().holds, addresses))
    index.change((), (), addresses)
    assert index.count("exact", "alpha") == index.count("exact", "omega") == COUNT
    assert LexicalIndex.open(str(tmp_path / "index")).size == 2 * COUNT


def test_few_dead_bullets_are_not_parked(tmp_path: Path) -> None:
    """One bullet that is edited again and again leaves no trail of files."""
    index = index_of(tmp_path / "index", 3)
    for number in range(5):
        ((_, found),) = index.addresses(["bullets/n1.md"]).items()
        index.change(make([1], f"edit{number}"), found)
    assert index.size == 3
    assert [path.suffix for path in (tmp_path / "index").iterdir()].count(".store") == 2


def test_only_the_newest_segments_are_parked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Branches that were looked at long ago are indexed anew."""
    monkeypatch.setattr(segments, "PARKED_AT_MOST", 2)
    index = index_of(tmp_path / "index", COUNT)
    paths = [bullet.path for bullet in make(range(COUNT))]
    left = []
    for word in ("beta", "gamma", "delta", "omega"):
        left.append([at for found in index.addresses(paths).values() for at in found])
        index.change(make(range(COUNT), word), left[-1])
    assert [index.segments().holds(addresses[0]) for addresses in left] == [False, False, True, True]
    assert index.size == COUNT


def test_small_segments_are_merged_without_those_of_other_branches(tmp_path: Path) -> None:
    """Searches open few segments however many edits there were; what a switch took out stays where it is."""
    index = index_of(tmp_path / "index", 2 * COUNT)
    paths = [bullet.path for bullet in make(range(COUNT))]
    left = [at for found in index.addresses(paths).values() for at in found]
    index.change((), left)
    for number in range(segments.MANY + 3):
        index.tidy(index.change(make([1_000 + number], "beta")))
    assert len(index.segments().names) < segments.MANY
    assert all(map(index.segments().holds, left))
    index.change((), (), left)
    assert index.count("exact", "alpha") == 2 * COUNT
    assert index.count("exact", "beta") == segments.MANY + 3


@pytest.mark.parametrize("damage", [b"", b"garbage that is no bits", None])
def test_damaged_bits_are_noticed(tmp_path: Path, damage: bytes | None) -> None:
    """Neither are they turned nor is the index opened."""
    index = index_of(tmp_path / "index", 70)
    (name,) = index.segments().names
    index.change((), [(name, 3)])
    (path,) = (tmp_path / "index").glob("*.del")
    data = bytearray(path.read_bytes())
    data[6] ^= 1
    overwrite(path, bytes(data) if damage is None else damage)
    with pytest.raises(IndexUnavailableError):
        index.change((), [(name, 4)])


class Killed(BaseException):
    """A kill -9, as far as the files are concerned."""


STEPS = (
    *((os, name) for name in ("replace", "rename", "unlink", "rmdir", "link")),
    (segments, "_write_through"),
)


def kill_after(steps: int, patch: pytest.MonkeyPatch) -> None:
    """Let so many steps change files, and no more: not those either that clean up."""
    done = [0]

    def counted(action: Callable[..., object]) -> Callable[..., object]:
        def do(*arguments: object, **options: object) -> object:
            done[0] += 1
            if done[0] > steps:
                raise Killed
            return action(*arguments, **options)

        return do

    for module, name in STEPS:
        patch.setattr(module, name, counted(getattr(module, name)))


def write_branch(store: IndexedStore, word: str) -> None:
    """Write all files as they are on a branch, where every third one may not exist."""
    for number in range(COUNT + 6):
        if word == "omega" and number % 3 == 0:
            store.path(f"n{number}").unlink(missing_ok=True)
        else:
            store.write(f"n{number}", f"{word} {number}", created=1.0)


def said(store: IndexedStore) -> tuple[list[str], int]:
    """Return the texts that the index holds, and their number by tantivy."""
    snapshot = store.index().snapshot()
    return sorted(bullet.text for bullet in snapshot.everything()), snapshot.size


def test_kill_between_any_two_steps_leaves_right_answers(
    store: IndexedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a switch that was killed at any step, the next searches on either branch find its bullets alone."""
    monkeypatch.setattr(segments, "MANY", 8)  # so that some steps are those of a merge
    write_branch(store, "alpha")
    store.index().rebuild()
    for number in range(8):
        store.write(f"m{number}", f"edit {number}", created=1.0)
        store.index().refresh()
    write_branch(store, "omega")
    omega = said(store)
    write_branch(store, "alpha")
    alpha = said(store)
    shutil.copytree(store.cache, tmp_path / "before")
    for word, stride in (("omega", 1), ("new", 3)):
        steps, is_over = 0, False
        while not is_over:
            shutil.rmtree(store.cache)
            shutil.copytree(tmp_path / "before", store.cache)
            write_branch(store, word if word == "omega" else f"new{steps}")
            with monkeypatch.context() as patch:
                kill_after(steps, patch)
                try:
                    store.index().refresh()
                    is_over = True
                except Killed:
                    steps += stride
            assert said(store) == (omega if word == "omega" else said_of_files(store)), steps
            for back, expected in (("alpha", alpha), ("omega", omega)):
                write_branch(store, back)
                assert said(store) == expected, steps
        assert steps > 3


def said_of_files(store: IndexedStore) -> tuple[list[str], int]:
    """Return the same by the files alone."""
    bullets = store.index("").snapshot().everything()
    return sorted(bullet.text for bullet in bullets), len(bullets)


def test_index_with_too_many_dead_bullets_is_rebuilt(
    store: IndexedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What other branches leave behind does not grow for ever."""
    monkeypatch.setattr(index_module, "DEAD_LEAST", 2 * COUNT)
    store.write("m", "edit", created=1.0)
    for word in ("one", "two", "three"):
        for number in range(COUNT):
            store.write(f"n{number}", f"{word} {number}", created=1.0)
        store.index().refresh()
    generation = manifest.current_generation(str(store.cache))
    assert generation is not None
    assert manifest.load_head(generation).dead == 2 * COUNT
    assert not store.index().snapshot().check_due
    for number in range(COUNT):
        store.write(f"n{number}", f"four {number}", created=1.0)
    assert store.index().snapshot().size == COUNT + 1
    assert store.index().snapshot().check_due
    outcome = store.index().refresh()
    assert outcome is not None
    assert outcome.rebuilt
    assert Segments(os.path.join(manifest.current_generation(str(store.cache)) or "", "lexical")).dead == 0
