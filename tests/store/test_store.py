"""The write path, reading whole stores, and what lint names."""

from __future__ import annotations

import multiprocessing
import os
import stat

import pytest

from memx.errors import FrontMatterError, SecretFoundError, StoreError, UnsafePathError
from memx.model import Bullet
from memx.record import replace
from memx.store.dirty import dirty_mark
from memx.store.naming import bullet_id

from .conftest import SECRET, open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memx.store.store import Store

    Put = Callable[[str, bytes], str]

HOME = "bullets/general/redis-pool-size-"


def bullet(text: str = "Redis pool size", **fields: object) -> Bullet:
    """Return a bullet as a caller builds it."""
    return Bullet(id="", text=text, created=1e9, updated=1e9, **fields)


def read(store: Store, path: str) -> bytes:
    """Return a file of the store."""
    return store.read_bytes(path)


def test_written_bullet_is_found_by_id_prefix_and_path(store: Store) -> None:
    """What was written is served, whichever way it is named."""
    stored = store.write(bullet(tags=("redis",)))
    assert stored.bullet.id == bullet_id("Redis pool size")
    assert stored.path == f"{HOME}{stored.bullet.id}.md"
    absolute = os.path.join(store.root, stored.path)
    for reference in (stored.bullet.id, stored.bullet.id[:3], stored.path, ".memx/" + stored.path, absolute):
        assert store.find(reference) == stored
    assert store.scan() == ([stored], [])


def test_every_text_is_redacted(store: Store) -> None:
    """No field and no file name takes a secret to the disk."""
    stored = store.write(
        bullet(f"a {SECRET}", title=f"t {SECRET}", tags=(SECRET,), source=SECRET, anchors=(f"src/{SECRET}",))
    )
    store.edit(stored.bullet.id, {"author": SECRET, "entities": (SECRET,), "text": f"b {SECRET}"})
    assert SECRET.encode() not in read(store, stored.path)
    assert SECRET not in stored.path
    assert stored.bullet.id == bullet_id("a [redacted]")


def test_lone_surrogates_are_replaced_before_they_are_written(store: Store) -> None:
    """What a session log escaped does not stop a write (faults row 67)."""
    stored = store.write(bullet("bad \ud83d text", tags=("x\ud800",)))
    assert store.read(stored.path).bullet.text == "bad \ufffd text"


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "/etc/x.md",
        "a/../../x.md",
        "..\\x.md",
        "C:x.md",
        "C:/x.md",
        "a\0b.md",
        "~/x.md",
        "",
        "a//b.md",
        "./x.md",
    ],
)
def test_unsafe_path_is_refused_everywhere(store: Store, path: str) -> None:
    """Every way in refuses it with the same error (faults row 60)."""
    present = store.write(bullet())
    for act in (
        lambda: store.write(present.bullet, path=path),
        lambda: store.read(path),
        lambda: store.replace_document(path, b"x\n"),
        lambda: store.format(path),
    ):
        with pytest.raises(UnsafePathError):
            act()


@pytest.mark.parametrize(
    "fields",
    [
        {"anchors": ("../x",)},
        {"anchors": ("C:\\x",)},
        {"anchors": ("",)},
        {"id": "../../x"},
        {"supersedes": ("../x",)},
        {"merged_from": ("a/b",)},
    ],
)
def test_id_or_anchor_that_leads_out_is_refused(store: Store, fields: dict[str, object]) -> None:
    """An id never leads anywhere, an anchor never out of the repository."""
    with pytest.raises(UnsafePathError):
        store.write(replace(bullet(), **fields))


@pytest.mark.parametrize(
    "fields",
    [
        {"text": " \n"},
        {"section": "novel"},
        {"type": "novel"},
        {"score": 101},
        {"recall_count": -1},
        {"half_life_days": 0.0},
        {"scope": "team"},
        {"text": "<<<<<<< a\nb\n=======\nc\n>>>>>>> d"},
    ],
)
def test_invalid_bullet_is_refused(store: Store, fields: dict[str, object]) -> None:
    """Nothing is written that would not be served."""
    with pytest.raises(StoreError):
        store.write(replace(bullet(), **fields))
    assert store.paths() == []


def test_symbolic_links_are_refused_and_reported(store: Store, put: Put, tmp_path: Path) -> None:
    """A link can neither be read nor written through, nor does it hide the others."""
    good = store.write(bullet())
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_text("outside\n")
    os.symlink(tmp_path / "outside", f"{store.root}/bullets/tools")
    os.symlink(tmp_path / "outside" / "x.md", f"{store.root}/bullets/general/link.md")
    bullets, problems = store.scan()
    assert bullets == [good]
    assert [problem.path for problem in problems] == ["bullets/general/link.md", "bullets/tools"]
    for path in ("bullets/tools/x.md", "bullets/general/link.md"):
        with pytest.raises(UnsafePathError):
            store.read(path)
        with pytest.raises(UnsafePathError):
            store.write(good.bullet, path=path)
    with pytest.raises(UnsafePathError):
        store.move(good.bullet.id, "tools")
    assert (tmp_path / "outside" / "x.md").read_text() == "outside\n"


def test_broken_files_never_hide_the_good_ones(store: Store, put: Put) -> None:
    """Each broken file is named with its line, all others are served (faults row 8)."""
    good = [store.write(bullet(f"lesson {n}")).bullet.id for n in range(10)]
    for number, front in enumerate(("title: `C:\\x`", "title: *Italic*", "- [[a]]b")):
        put(f"bullets/tools/bad{number}.md", f"---\n{front}\n---\nx\n".encode())
    put("bullets/tools/bad3.md", b"---\nnever closed\n")
    bullets, problems = store.scan()
    assert sorted(good) == sorted(stored.bullet.id for stored in bullets)
    assert [(problem.path[-7:], problem.line) for problem in problems] == [
        ("bad0.md", 2),
        ("bad1.md", 2),
        ("bad2.md", 2),
        ("bad3.md", 1),
    ]
    with pytest.raises(FrontMatterError):
        store.replace_document("bullets/tools/bad3.md", b"---\nstill open\n")


def test_two_files_with_one_id_are_served_and_reported(store: Store, put: Put) -> None:
    """A copy is a problem and not a loss; only its path names it."""
    stored = store.write(bullet())
    copy = put(f"bullets/tools/copy-{stored.bullet.id}.md", read(store, stored.path))
    bullets, problems = store.scan()
    assert len(bullets) == 2
    assert [(problem.kind, problem.path) for problem in problems] == [("duplicate-id", copy)]
    with pytest.raises(StoreError, match="more than one"):
        store.find(stored.bullet.id)
    assert store.find(copy).path == copy


def test_write_over_a_file_keeps_what_memx_does_not_know(store: Store, put: Put) -> None:
    """Overwriting is an edit: comments, unknown keys and untouched lines stay."""
    identifier = bullet_id("x")
    path = put(
        f"bullets/general/x-{identifier}.md",
        f"---\n# mine\nid: {identifier}\nteam: [a]\nscore: 1\n---\nx\n".encode(),
    )
    present = store.read(path).bullet
    stored = store.write(replace(present, score=2))
    assert stored.path == path
    assert read(store, path) == f"---\n# mine\nid: {identifier}\nteam: [a]\nscore: 2\n---\nx\n".encode()


def test_edit_sets_updated_only_with_the_text(store: Store) -> None:
    """`updated` says when the text changed, not when the file did."""
    stored = store.write(bullet())
    assert store.edit(stored.bullet.id, {"score": 1}).bullet.updated == 1e9
    assert store.edit(stored.bullet.id, {"text": stored.bullet.text}).bullet.updated == 1e9
    edited = store.edit(stored.bullet.id, {"text": "Another text"})
    assert (edited.bullet.updated, edited.bullet.id, edited.path) == (2e9, stored.bullet.id, stored.path)


def test_edit_that_changes_nothing_writes_nothing(store: Store) -> None:
    """The index is marked dirty by a change alone."""
    stored = store.write(bullet())
    mark = dirty_mark(store.state_dir)
    store.edit(stored.bullet.id, {"score": stored.bullet.score})
    assert dirty_mark(store.state_dir) == mark
    store.edit(stored.bullet.id, {"score": 1})
    assert dirty_mark(store.state_dir) != mark


def test_edit_of_the_id_is_refused(store: Store) -> None:
    """An edit keeps the id."""
    stored = store.write(bullet())
    with pytest.raises(StoreError, match="keeps the id"):
        store.edit(stored.bullet.id, {"id": "b000000000"})


def test_archive_restore_move_and_remove(store: Store) -> None:
    """A bullet moves through the store under its name, and the archive is out of the default scan."""
    stored = store.write(bullet())
    name = stored.path.rpartition("/")[2]
    assert store.archive(stored.bullet.id[:4]).path == f"archive/general/{name}"
    assert store.scan() == ([], [])
    archived = store.scan(archived=True)[0]
    assert [item.archived for item in archived] == [True]
    assert store.add(stored.bullet)[1] is False
    assert store.restore(stored.bullet.id).path == stored.path
    moved = store.move(stored.bullet.id, "TOOLS")
    assert (moved.path, moved.bullet.section) == (f"bullets/tools/{name}", "tools")
    assert store.remove(moved.path).bullet.text == stored.bullet.text
    assert store.paths() == []
    with pytest.raises(StoreError, match="no bullet"):
        store.remove(stored.bullet.id)


def test_archive_never_overwrites(store: Store, put: Put) -> None:
    """A file that is there already stays."""
    stored = store.write(bullet())
    put(stored.path.replace("bullets", "archive"), b"older\n")
    with pytest.raises(StoreError, match="already"):
        store.archive(stored.path)


def test_read_only_store_refuses_every_write(store: Store, tmp_path: Path) -> None:
    """A shared store is read and no more."""
    stored = store.write(bullet())
    other = open_store(str(tmp_path), read_only=True)
    for act in (
        lambda: other.write(bullet("y")),
        lambda: other.add(bullet("y")),
        lambda: other.edit(stored.bullet.id, {"score": 1}),
        lambda: other.remove(stored.bullet.id),
        lambda: other.archive(stored.bullet.id),
        lambda: other.move(stored.bullet.id, "tools"),
    ):
        with pytest.raises(StoreError, match="read-only"):
            act()


def test_hand_written_file_takes_its_time_from_the_callback(put: Put, tmp_path: Path) -> None:
    """A body alone is a bullet, created when the caller says."""
    store = open_store(str(tmp_path), created_of=lambda path: 7.0 if path.endswith("hand.md") else None)
    path = put("bullets/tools/hand.md", b"By hand\n")
    assert store.read(path).bullet == Bullet(
        id=bullet_id("By hand"), text="By hand", section="tools", created=7.0
    )


def test_format_completes_and_moves_a_hand_written_file(store: Store, put: Put) -> None:
    """A body alone becomes a full bullet with a name of its own, its body untouched."""
    path = put("bullets/debugging/notes.md", b"    indented\n\n")
    stored = store.format(path)
    assert stored.path == f"bullets/debugging/indented-{stored.bullet.id}.md"
    assert read(store, stored.path).endswith(b"\n---\n    indented\n\n")
    assert not os.path.exists(f"{store.root}/{path}")
    again = read(store, stored.path)
    assert store.format(stored.path).path == stored.path
    assert read(store, stored.path) == again


def test_format_of_a_canonical_file_writes_nothing(store: Store) -> None:
    """Formatting twice is formatting once."""
    stored = store.write(bullet(title="no", tags=("b", "a"), pinned=True))
    before, mark = read(store, stored.path), dirty_mark(store.state_dir)
    assert store.format(stored.path) == stored
    assert (read(store, stored.path), dirty_mark(store.state_dir)) == (before, mark)


def test_format_orders_keys_and_keeps_comments_and_unknown_words(store: Store, put: Put) -> None:
    """Known fields become canonical; what memx does not know stays with its comments."""
    path = put(
        "bullets/general/x-k3v9q2m7xa.md",
        b"---\nmine: 1\n# why\ntags: [b, a]\nid: 'k3v9q2m7xa'\ntype: hint\nsection: tools\ncreated: 2024-01-05\n---\nx",
    )
    stored = store.format(path)
    assert stored.path == "bullets/tools/x-k3v9q2m7xa.md"
    assert read(store, stored.path) == (
        b"---\nid: k3v9q2m7xa\nsection: tools\ntype: hint\nscore: 50\nscope: project\nrecall_count: 0\n"
        b"# why\ntags:\n  - a\n  - b\ncreated: 2024-01-05T00:00:00Z\nupdated: 2024-01-05T00:00:00Z\nmine: 1\n---\nx"
    )


def test_whole_document_is_redacted_in_unknown_keys_too(store: Store) -> None:
    """An edited file loses its secrets wherever they stand; the text's change is dated."""
    stored = store.write(bullet())
    data = read(store, stored.path).replace(
        b"---\nRedis", f"# {SECRET}\nmine: {SECRET}\n---\nNew {SECRET}".encode()
    )
    written = store.replace_document(stored.path, data)
    assert SECRET.encode() not in read(store, stored.path)
    assert written.bullet.updated == 2e9


def test_secret_that_cannot_be_redacted_stops_the_write(store: Store) -> None:
    """A key made of a secret is an error that names the line."""
    stored = store.write(bullet())
    data = read(store, stored.path).replace(b"---\nRedis", f"{SECRET}: x\n---\nRedis".encode())
    with pytest.raises(SecretFoundError) as caught:
        store.replace_document(stored.path, data)
    assert caught.value.line == 10


def test_lint_names_path_and_line(store: Store, put: Put) -> None:
    """Each kind of fault is named where it stands."""
    clean = store.write(bullet())
    put(
        "bullets/tools/a.md",
        b"---\nid: k3v9q2m7xa\nsection: novel\ntype: hint\nanchors:\n  - ok.py\n  - ../x\n---\nx\n",
    )
    put("bullets/tools/b.md", f"---\nid: k3v9q2m7xa\n---\nx\n\n{SECRET}\n".encode())
    put("bullets/tools/c.md", b"---\nid: b000000000\n---\nx\n<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n")
    put("bullets/tools/d.md", b"---\nscope: team\n---\nx\n")
    found = [(p.path[-4:], p.line, p.kind) for p in store.lint()]
    assert found == [
        ("a.md", 3, "section"),
        ("a.md", 4, "type"),
        ("a.md", 7, "unsafe-path"),
        ("b.md", 6, "secret"),
        ("b.md", None, "duplicate-id"),
        ("c.md", 5, "conflict-marker"),
        ("d.md", 2, "front-matter"),
    ]
    assert store.lint([clean.path]) == []
    assert [p.kind for p in store.lint(["bullets/tools/a.md"])] == [
        "section",
        "type",
        "unsafe-path",
        "duplicate-id",
    ]
    assert [p.kind for p in store.lint(["bullets/tools/none.md", "../x.md"])] == ["unsafe-path", "unreadable"]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_mode_follows_umask_and_is_kept(store: Store) -> None:
    """New files obey the umask, old ones keep their mode (faults row 62)."""
    old = os.umask(0o002)
    try:
        stored = store.write(bullet())
        full = f"{store.root}/{stored.path}"
        assert stat.S_IMODE(os.stat(full).st_mode) == 0o664
        os.chmod(full, 0o640)
        store.edit(stored.bullet.id, {"score": 1})
        assert stat.S_IMODE(os.stat(full).st_mode) == 0o640
    finally:
        os.umask(old)


def test_unfinished_temporary_is_invisible_and_tidied(store: Store) -> None:
    """What a killed writer left is never a bullet, and goes when it is old."""
    stored = store.write(bullet())
    left = f"{store.root}/bullets/general/.memx-tmp-1-abc"
    with open(left, "w") as file:
        file.write("half")
    assert store.scan() == ([stored], [])
    assert store.tidy() == 0
    os.utime(left, (0, 0))
    assert store.tidy() == 1
    assert os.listdir(os.path.dirname(left)) == [os.path.basename(stored.path)]


def _add(folder: str, text: str, title: str) -> bool:
    return open_store(folder).add(bullet(text, title=title))[1]


def _edit(folder: str, identifier: str, number: int) -> None:
    with_lock = open_store(folder)
    for _ in range(5):
        with with_lock.lock():
            present = with_lock.find(identifier).bullet
            with_lock.edit(
                identifier, {"recall_count": present.recall_count + 1, "tags": (*present.tags, f"t{number}")}
            )


def test_many_processes_write_without_loss(store: Store, tmp_path: Path) -> None:
    """One text is one bullet, one title with many texts is many, and no edit is lost (faults row 56)."""
    folder = str(tmp_path)
    context = multiprocessing.get_context("spawn")
    with context.Pool(8) as pool:
        same = pool.starmap(_add, [(folder, "the same text", "")] * 16)
        pool.starmap(_add, [(folder, f"text {n}", "one title") for n in range(24)])
        identifier = bullet_id("the same text")
        pool.starmap(_edit, [(folder, identifier, n) for n in range(8)])
    assert same.count(True) == 1
    bullets, problems = store.scan()
    assert (len(bullets), problems) == (25, [])
    edited = store.find(identifier).bullet
    assert (edited.recall_count, len(edited.tags)) == (40, 8)


def test_write_over_another_bullet_is_refused(store: Store) -> None:
    """A path holds one bullet for its life."""
    stored = store.write(bullet())
    with pytest.raises(StoreError, match="another bullet"):
        store.write(bullet("something else"), path=stored.path)


def test_broken_file_is_never_overwritten(store: Store, put: Put) -> None:
    """What does not parse is left for a person."""
    wanted = bullet("Broken one")
    path = put(f"bullets/general/broken-one-{bullet_id('Broken one')}.md", b"---\nopen\n")
    for act in (
        lambda: store.write(wanted),
        lambda: store.add(wanted),
        lambda: store.write(wanted, path=path),
    ):
        with pytest.raises(StoreError):
            act()
    assert read(store, path) == b"---\nopen\n"


def test_scope_and_reference_that_fit_nothing(store: Store) -> None:
    """A scope's name is redacted too; an empty reference and a stranger's path are refused."""
    stored = store.write(bullet(scope=f"workspace:{SECRET}"))
    assert stored.bullet.scope == "workspace:[redacted]"
    assert store.edit(stored.bullet.id, {"scope": f"project:{SECRET}"}).bullet.scope == "project:[redacted]"
    for reference in ("", "zzzzzz", "bullets/tools/none.md"):
        with pytest.raises(StoreError):
            store.find(reference)
    with pytest.raises(UnsafePathError):
        store.find("/elsewhere/x.md")


def test_reference_is_a_path_from_where_one_stands(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside the store a path from the current folder works as in git."""
    stored = store.write(bullet())
    monkeypatch.chdir(f"{store.root}/bullets")
    assert store.find(f"general/{stored.path.rpartition('/')[2]}") == stored


def test_unreadable_file_is_a_problem(store: Store) -> None:
    """A folder named like a bullet, or a file that is gone, stops nothing."""
    stored = store.write(bullet())
    os.makedirs(f"{store.root}/bullets/general/folder.md")
    assert store.scan() == ([stored], [])
    with pytest.raises(StoreError, match="cannot read"):
        store.read("bullets/general/folder.md")
    with pytest.raises(StoreError, match="cannot write"):
        store.write(bullet("y"), path=f"{stored.path}/y.md")
