"""The vector file: keyed, append-only, safe between processes and after a crash."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from memx.errors import IndexUnavailableError
from memx.index.dense.tokens import NO_TOKENS, TOKENS_BYTES, pack_tokens
from memx.index.dense.vectors import VectorStore

FINGERPRINT = "model@1/4/abc"


def key(number: int) -> bytes:
    """Return a 16-byte key."""
    return number.to_bytes(16, "big")


def row(number: int) -> bytes:
    """Return a 4-byte vector that is not zero."""
    return bytes([1 + number % 100, number % 7, 3, number // 100 % 50])


@pytest.fixture
def store(tmp_path: object) -> VectorStore:
    """Return an empty store."""
    return VectorStore(str(tmp_path), FINGERPRINT)


def test_empty_store_answers(store: VectorStore) -> None:
    """A folder that is not there is an empty store, and reading creates nothing."""
    assert (len(store), store.dimension, store.has([key(1)]), store.get(key(1))) == (0, 0, set(), None)
    assert store.scan(row(1), 5) == []
    assert not os.path.exists(store.folder)


def test_added_vectors_are_found_by_other_reader(store: VectorStore, tmp_path: object) -> None:
    """What one process adds another one reads."""
    assert store.add((key(n), row(n)) for n in range(50)) == 50
    other = VectorStore(str(tmp_path), FINGERPRINT)
    assert other.has(map(key, range(60))) == {key(n) for n in range(50)}
    assert other.get(key(7)) == row(7)
    assert other.get_many([key(1), key(99)]) == {key(1): row(1)}
    assert other.scan(row(7), 1) == [(key(7), pytest.approx(1.0))]


def test_present_key_is_not_added_again(store: VectorStore) -> None:
    """A key stands for a text, so its vector never changes."""
    store.add([(key(1), row(1))])
    assert store.add([(key(1), row(2)), (key(2), row(2))]) == 1
    assert store.get(key(1)) == row(1)


def test_zero_vectors_are_left_out(store: VectorStore) -> None:
    """None and rows of zeros are not stored and never rank (faults 48)."""
    assert store.add([(key(1), None), (key(2), bytes(4)), (key(3), row(3))]) == 1
    assert [found for found, _ in store.scan(row(1), 5)] == [key(3)]


def test_adding_does_not_rewrite(store: VectorStore) -> None:
    """One more vector appends its bytes: the file keeps its inode and its beginning."""
    store.add((key(n), row(n)) for n in range(1000))
    path = os.path.join(store.folder, "rows-1")
    before = os.stat(path)
    with open(path, "rb") as file:
        content = file.read()
    store.add([(key(5000), row(5))])
    with open(path, "rb") as file:
        assert file.read() == content + row(5)
    assert os.stat(path).st_ino == before.st_ino


def test_unaligned_match_is_no_key(store: VectorStore) -> None:
    """A key that happens to lie across two others is not present."""
    store.add([(b"a" * 16, row(1)), (b"b" * 16, row(2))])
    assert store.has([b"a" * 8 + b"b" * 8]) == set()


def test_scan_passes_dead_rows_over(store: VectorStore) -> None:
    """Rows of other branches do not take the places of live ones, even if they are nearer."""
    store.add((key(n), bytes([100, n % 50, n // 50, 1])) for n in range(2000))
    hits = store.scan(bytes([100, 0, 0, 1]), 3, accept=lambda found: found[-1] == 77)
    assert len(hits) == 3
    assert all(found[-1] == 77 for found, _ in hits)


def test_other_model_never_mixes(store: VectorStore, tmp_path: object) -> None:
    """Another fingerprint of the same size sees nothing of this one, and the reverse."""
    store.add([(key(1), row(1))])
    other = VectorStore(str(tmp_path), "model@2/4/abc")
    assert other.scan(row(1), 5) == []
    other.add([(key(2), row(2))])
    store.reload()
    assert [found for found, _ in store.scan(row(1), 5)] == [key(1)]


def test_similar_folder_name_does_not_mix(tmp_path: object) -> None:
    """Two fingerprints with one folder name are told apart by the manifest."""
    VectorStore(str(tmp_path), "a/b").add([(key(1), row(1))])
    assert len(VectorStore(str(tmp_path), "a:b")) == 0


@pytest.mark.parametrize("length", [3, 5])
def test_wrong_length_is_refused(store: VectorStore, length: int) -> None:
    """A vector of another size cannot enter, and a query of another size finds nothing."""
    store.add([(key(1), row(1))])
    with pytest.raises(IndexUnavailableError):
        store.add([(key(2), b"\1" * length)])
    assert store.scan(b"\1" * length, 1) == []


def test_torn_tail_is_ignored_and_overwritten(store: VectorStore, tmp_path: object) -> None:
    """What a killed writer left behind is not read, and the next writer goes on from the last whole row."""
    store.add((key(n), row(n)) for n in range(3))
    for kind, rest in (("rows", row(9) + b"\1"), ("keys", key(9)[:5])):
        with open(os.path.join(store.folder, f"{kind}-1"), "ab") as file:
            file.write(rest)
    other = VectorStore(str(tmp_path), FINGERPRINT)
    assert len(other) == 3
    other.add([(key(4), row(4))])
    assert (len(other), other.get(key(4)), other.get(key(9))) == (4, row(4), None)
    assert os.path.getsize(os.path.join(store.folder, "rows-1")) == 16


def test_row_lost_by_power_cut_counts_as_absent(store: VectorStore) -> None:
    """A row of zeros is embedded again and then found."""
    store.add([(key(1), row(1)), (key(2), row(2))])
    with open(os.path.join(store.folder, "rows-1"), "r+b") as file:
        file.write(bytes(4))
    store.reload()
    assert store.has([key(1), key(2)]) == {key(2)}
    store.add([(key(1), row(1))])
    assert store.get(key(1)) == row(1)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"memx-vectors 1\nother\n4\n1\n", b"memx-vectors 1\nx\ny\n"]
)
def test_damaged_manifest_is_an_empty_store(store: VectorStore, tmp_path: object, content: bytes) -> None:
    """A cache that cannot be read is rebuilt beside the old files, without an error."""
    store.add([(key(1), row(1))])
    with open(os.path.join(store.folder, "manifest"), "wb") as file:
        file.write(content)
    other = VectorStore(str(tmp_path), FINGERPRINT)
    assert len(other) == 0
    other.add([(key(2), row(2))])
    assert other.has([key(1), key(2)]) == {key(2)}


def test_compaction_keeps_live_rows(store: VectorStore, tmp_path: object) -> None:
    """Only live keys remain, in a new generation; a reader of the old one goes on reading."""
    store.add((key(n), row(n)) for n in range(100))
    reader = VectorStore(str(tmp_path), FINGERPRINT)
    assert store.compact({key(n) for n in range(0, 200, 2)}) == 50
    assert (len(store), store.get(key(2)), store.get(key(3))) == (50, row(2), None)
    assert reader.get(key(3)) == row(3)
    reader.reload()
    assert reader.get(key(3)) is None
    assert sorted(os.listdir(store.folder)) == ["keys-2", "lock", "manifest", "norms-2", "rows-2", "tokens-2"]


def test_compaction_to_nothing_leaves_a_usable_store(store: VectorStore) -> None:
    """An emptied store takes vectors again."""
    store.add([(key(1), row(1))])
    assert store.compact(set()) == 1
    assert store.scan(row(1), 5) == []
    store.add([(key(2), row(2))])
    assert store.get(key(2)) == row(2)


def test_folder_that_cannot_be_written_is_said(tmp_path: object) -> None:
    """Where no folder or lock can be made the error is the index's own, and reading still answers."""
    blocked = os.path.join(str(tmp_path), "file")
    with open(blocked, "wb"):
        pass
    store = VectorStore(blocked, FINGERPRINT)
    with pytest.raises(IndexUnavailableError):
        store.add([(key(1), row(1))])
    assert store.scan(row(1), 1) == []


def test_lock_that_cannot_be_opened_is_said(store: VectorStore) -> None:
    """A lock file that is a folder raises the index's own error for both writers."""
    os.makedirs(os.path.join(store.folder, "lock"))
    with pytest.raises(IndexUnavailableError):
        store.add([(key(1), row(1))])
    with pytest.raises(IndexUnavailableError):
        store.compact(set())


def append_range(folder: str, first: int) -> None:
    """Add forty vectors one at a time (runs in a process of its own)."""
    store = VectorStore(folder, FINGERPRINT)
    for number in range(first, first + 40):
        store.add([(key(number), row(number))])


def test_concurrent_appenders_lose_nothing(tmp_path: object) -> None:
    """Four processes that append, overlapping, while one compacts, end with every vector once."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=append_range, args=(str(tmp_path), 20 * n)) for n in range(4)]
    for worker in workers:
        worker.start()
    store = VectorStore(str(tmp_path), FINGERPRINT)
    while any(worker.is_alive() for worker in workers):
        store.compact({key(n) for n in range(100)})
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    store.reload()
    assert len(store) == 100
    assert store.get_many(map(key, range(100))) == {key(n): row(n) for n in range(100)}


@pytest.mark.parametrize("damage", ["missing", "short", "zero"])
def test_norms_that_cannot_be_trusted_change_no_hit(tmp_path: object, damage: str) -> None:
    """Norms are derived: without them, or with a hole in them, a scan finds the same; the next writer mends them."""
    store = VectorStore(str(tmp_path), "m")
    store.add((key(i), bytes([100, i, 255 - i, 1])) for i in range(1, 200))
    query = bytes([90, 40, 3, 7])
    expected = store.scan(query, 5)
    path = os.path.join(store.folder, "norms-1")
    whole = os.stat(path).st_size
    if damage == "missing":
        os.unlink(path)
    else:
        with open(path, "r+b") as file:
            if damage == "short":
                file.truncate(40)
            file.seek(0)
            file.write(bytes(8))
    other = VectorStore(str(tmp_path), "m")
    assert other.scan(query, 5) == expected
    other.add([(key(201), bytes([1, 2, 3, 4]))])
    with open(path, "rb") as file:
        assert bytes(4) not in file.read()
    assert os.stat(path).st_size == whole + 4
    assert other.scan(query, 5) == expected


def test_scan_returns_as_many_accepted_as_there_are(tmp_path: object) -> None:
    """Rows that nothing uses any more do not take the places of those in use, however many they are."""
    store = VectorStore(str(tmp_path), "m")
    store.add((bytes(14) + i.to_bytes(2, "big"), bytes([100, i % 100, i // 100, 1])) for i in range(1, 2000))
    live = {bytes(14) + i.to_bytes(2, "big") for i in range(1900, 1930)}
    found = store.scan(bytes([100, 1, 1, 1]), 20, live.__contains__)
    assert len(found) == 20
    assert len(store.scan(bytes([100, 1, 1, 1]), 50, live.__contains__)) == 30
    assert [value for _, value in found] == sorted((value for _, value in found), reverse=True)


def cell(number: int) -> bytes:
    """Return the packed tokens of a text of two words."""
    return pack_tokens([number, number + 1], None)


def test_tokens_stay_with_their_vectors(store: VectorStore, tmp_path: object) -> None:
    """Another reader sees them, compaction keeps them, and a key without any has none."""
    store.add([(key(n), row(n)) for n in range(9)], tokens={key(n): cell(n) for n in range(8)})
    reader = VectorStore(str(tmp_path), FINGERPRINT)
    assert [bytes(reader.tokens(key(n))) for n in (3, 8, 9)] == [cell(3), NO_TOKENS, NO_TOKENS]
    store.compact({key(3), key(8)})
    store.add([(key(20), row(20))], tokens={key(20): cell(20)})
    assert [bytes(store.tokens(key(n))) for n in (3, 8, 20)] == [cell(3), NO_TOKENS, cell(20)]


@pytest.mark.parametrize("left", [0, TOKENS_BYTES + 5, None])
def test_tokens_that_are_lost_are_none_and_harm_nothing(
    store: VectorStore, tmp_path: object, left: int | None
) -> None:
    """A column that was cut, or is gone, leaves holes; what is added later stands in its own place."""
    store.add([(key(n), row(n)) for n in range(3)], tokens={key(n): cell(n) for n in range(3)})
    path = os.path.join(store.folder, "tokens-1")
    if left is None:
        os.unlink(path)
    else:
        os.truncate(path, left)
    other = VectorStore(str(tmp_path), FINGERPRINT)
    assert (other.get(key(2)), bytes(other.tokens(key(2)))) == (row(2), NO_TOKENS)
    other.add([(key(5), row(5))], tokens={key(5): cell(5)})
    assert [bytes(other.tokens(key(n))) for n in (2, 5)] == [NO_TOKENS, cell(5)]


def test_torn_tail_of_tokens_is_overwritten(store: VectorStore, tmp_path: object) -> None:
    """What a killed writer left behind the last key belongs to nobody."""
    store.add([(key(1), row(1))], tokens={key(1): cell(1)})
    with open(os.path.join(store.folder, "tokens-1"), "ab") as file:
        file.write(b"garbage" * 30)
    other = VectorStore(str(tmp_path), FINGERPRINT)
    other.add([(key(2), row(2))], tokens={key(2): cell(2)})
    assert [bytes(other.tokens(key(n))) for n in (1, 2)] == [cell(1), cell(2)]
    assert os.path.getsize(os.path.join(store.folder, "tokens-1")) == 2 * TOKENS_BYTES


def test_files_of_an_earlier_format_are_replaced(store: VectorStore, tmp_path: object) -> None:
    """Vectors without tokens count as none, are embedded again, and do not stay behind."""
    store.add([(key(1), row(1))])
    path = os.path.join(store.folder, "manifest")
    with open(path, encoding="utf-8") as file:
        lines = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines.replace("memx-vectors 2", "memx-vectors 1"))
    other = VectorStore(str(tmp_path), FINGERPRINT)
    assert (len(other), other.has([key(1)])) == (0, set())
    other.add([(key(1), row(1))])
    assert sorted(os.listdir(other.folder)) == ["keys-2", "lock", "manifest", "norms-2", "rows-2", "tokens-2"]
