"""The curating commands as a person and a script run them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.terminal import on_terminal

if TYPE_CHECKING:
    from tests.e2e.conftest import Program

FIRST = "Always run the database migrations before starting the web workers."
AGAIN = "Run the database migrations before you start the web workers, always."
FEW = "Setting the Redis connection pool to 10 is enough"
MANY = "At least 50 for stability"
CHINESE = (
    "日志文件必须每天轮转，否则磁盘会写满。",
    "数据库迁移必须在部署之前执行。",
    "前端构建只能使用 pnpm，不要使用 npm。",
)


def bullet(identifier: str, text: str, *, tags: tuple[str, ...] = (), score: int = 50) -> str:
    """Return a canonical file."""
    listed = "tags:\n" + "".join(f"  - {tag}\n" for tag in tags) if tags else ""
    return (
        f"---\nid: {identifier}\nsection: general\ntype: knowledge\nscore: {score}\nscope: project\nrecall_count: 0\n"
        f"{listed}created: 2026-11-01T00:00:00Z\nupdated: 2026-11-01T00:00:00Z\n---\n{text}\n"
    )


def put(program: Program, name: str, data: str) -> None:
    """Write a file into the store by hand."""
    path = program.folder / ".memx/bullets/general" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data, encoding="utf-8")


def start(program: Program, *arguments: str) -> subprocess.Popen[bytes]:
    """Start the program and return at once."""
    return subprocess.Popen(
        [sys.executable, "-m", "memx", *arguments],
        cwd=program.folder,
        env=program.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_same_text_by_twenty_processes_is_one_bullet(store: Program) -> None:
    """However many add it at once, there is one file, and nobody fails."""
    running = [start(store, "add", FIRST, "--tag", f"t{number}") for number in range(20)]
    said = [process.communicate() for process in running]
    assert {process.returncode for process in running} == {0}, said
    bullets = store.json("list")["bullets"]
    assert len(bullets) == 1
    assert len(bullets[0]["tags"]) == 20


def test_twenty_texts_with_one_title_are_twenty(store: Program) -> None:
    """A title is no lesson: other texts are other bullets."""
    running = [
        start(store, "add", f"Service {name} listens on port {8000 + number}.", "--title", "Ports")
        for number, name in enumerate("abcdefghijklmnopqrst")
    ]
    for process in running:
        process.communicate()
    assert {process.returncode for process in running} == {0}
    assert len(store.json("list")["bullets"]) == 20


def test_three_unrelated_chinese_rules_stay_three(store: Program) -> None:
    """They share a script and a tone, and that is all."""
    assert [store.json("add", text)["action"] for text in CHINESE] == ["written"] * 3
    assert store.json("dedup")["groups"] == []
    assert len(store.json("list")["bullets"]) == 3


def test_add_explains_tier_gate_and_rule(store: Program) -> None:
    """Each near bullet comes with what decided."""
    store.ok("add", FEW)
    store.ok("add", FIRST)
    flagged = store.json("add", MANY, "--explain")
    assert (flagged["action"], len(flagged["conflicts"])) == ("flagged", 1)
    explained = {pair["id"]: pair for pair in flagged["explain"]}[flagged["conflicts"][0]]
    assert explained["contradiction"]
    assert "enough" in explained["reason"]
    assert explained["veto"]
    assert "similarity 0." in store.ok("add", AGAIN, "--explain")


def test_dedup_dry_run_then_yes_then_nothing(store: Program) -> None:
    """The plan changes no file; the merge is one change that unmerge takes back."""
    put(store, "a.md", bullet("a000000001", FIRST, tags=("db",), score=70))
    put(store, "b.md", bullet("b000000001", AGAIN, tags=("deploy",)))
    store.commit("Two bullets")
    planned = store.json("dedup", "--dry-run", "--explain")
    assert (planned["applied"], planned["groups"][0]["keep"]) == (False, "a000000001")
    assert store.git("status", "--porcelain") == ""
    assert "similarity" in store.ok("dedup", "--dry-run", "--explain")
    assert store.json("dedup", "--yes")["applied"]
    changed = store.git("status", "--porcelain")
    assert " D .memx/bullets/general/b.md" in changed
    assert store.json("dedup", "--yes")["groups"] == []
    assert store.git("status", "--porcelain") == changed
    shown = store.json("show", "a000000001")["bullet"]
    assert (shown["tags"], shown["merged_from"]) == (["db", "deploy"], ["b000000001"])
    assert store.run("lint").returncode == 0
    assert store.json("unmerge", "a000000001")["exact"]
    assert store.git("status", "--porcelain") == ""
    assert store.json("dedup")["groups"] == []


def test_dedup_refuses_contrary_options(store: Program) -> None:
    """A plan and its execution exclude each other."""
    assert store.run("dedup", "--yes", "--dry-run").returncode == 2


def test_conflicts_of_hand_written_files_and_resolve(store: Program) -> None:
    """Found without marks, with what differs, exit 1; resolved, the loser leaves the search and the list is empty."""
    put(store, "a.md", bullet("a000000001", FEW))
    put(store, "b.md", bullet("b000000001", MANY))
    done = store.run("conflicts", "--json")
    assert done.returncode == 1
    (found,) = json.loads(done.stdout)["conflicts"]
    assert (found["a"], found["b"], found["contradiction"]) == ("a000000001", "b000000001", True)
    assert [found["text_a"][start:end] for start, end in found["spans_a"]]
    assert "[10]" in store.run("conflicts").stdout.decode()
    assert store.run("conflicts", "--marked").returncode == 0
    answer = store.json("resolve", "a000000001", "b000000001", "--keep", "b")
    assert (answer["action"], answer["kept"]) == ("superseded", ["b000000001"])
    assert store.run("conflicts", "--all").returncode == 0
    hits = store.json("search", "Redis connection pool 10 is enough")["hits"]
    assert "a000000001" not in [hit["id"] for hit in hits]
    archived = store.json("search", "Redis connection pool 10 is enough", "--archived")["hits"]
    assert {hit["id"]: hit["superseded"] for hit in archived}["a000000001"]
    listed = {row["id"]: row["superseded"] for row in store.json("list")["bullets"]}
    assert listed == {"a000000001": True, "b000000001": False}
    assert store.ok("list").count("(superseded)") == 1
    assert "supersedes" in store.ok("show", "b000000001")


def test_resolve_without_a_choice_needs_a_terminal(store: Program) -> None:
    """A script has to say what it wants."""
    put(store, "a.md", bullet("a000000001", FEW))
    put(store, "b.md", bullet("b000000001", MANY))
    done = store.run("resolve", "a000000001", "b000000001")
    assert (done.returncode, b"--keep" in done.stderr) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_resolve_on_a_terminal_shows_both_and_asks(store: Program) -> None:
    """The pair is shown with its evidence, and one letter settles it."""
    put(store, "a.md", bullet("a000000001", FEW))
    put(store, "b.md", bullet("b000000001", MANY))
    said = on_terminal(store, "o\n", "resolve", "a000000001", "b000000001")
    assert "keep a, keep b, both" in said
    assert store.json("show", "a000000001")["bullet"]["compatible_with"] == ["b000000001"]
    assert store.run("conflicts", "--all").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_dedup_on_a_terminal_is_only_a_plan(store: Program) -> None:
    """Nothing is merged before `--yes` when a person is watching."""
    put(store, "a.md", bullet("a000000001", FIRST, score=70))
    put(store, "b.md", bullet("b000000001", AGAIN))
    assert "memx dedup --yes" in on_terminal(store, "", "dedup")
    assert len(store.json("list")["bullets"]) == 2


def conflicting_lists(store: Program, text: str = FIRST, other: str = FIRST) -> None:
    """Leave a merge that stopped in a list of tags (and in the text, where the sides differ)."""
    store.git("config", "--remove-section", "merge.memx")
    put(store, "a.md", bullet("a000000001", FIRST, tags=("delta", "old")))
    store.commit("Base")
    store.git("switch", "--quiet", "-c", "topic")
    put(store, "a.md", bullet("a000000001", text, tags=("alpha", "delta")))
    store.commit("Topic")
    store.git("switch", "--quiet", "main")
    put(store, "a.md", bullet("a000000001", other, tags=("beta", "delta", "old", "omega")))
    store.commit("Main")
    done = subprocess.run(
        ["git", "merge", "--no-edit", "topic"],
        cwd=store.folder,
        env=store.environ,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1


def test_resolve_mends_a_list_that_git_left_in_conflict(store: Program) -> None:
    """Both sides' tags are there, what one side removed stays removed, and git accepts the file."""
    conflicting_lists(store)
    assert store.run("lint").returncode == 1
    assert store.json("resolve")["mended"] == ["bullets/general/a.md"]
    assert store.json("show", "a000000001")["bullet"]["tags"] == ["alpha", "beta", "delta", "omega"]
    assert store.run("lint").returncode == 0
    store.git("add", "-A")
    store.git("commit", "--quiet", "--no-edit")
    assert store.json("resolve")["mended"] == []


def test_resolve_leaves_a_text_that_both_sides_wrote(store: Program) -> None:
    """Which words are right only a person knows: the file stays as git left it."""
    conflicting_lists(store, "Run migrations first.", "Run migrations last.")
    before = (store.folder / ".memx/bullets/general/a.md").read_bytes()
    done = store.run("resolve", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["problems"][0]["path"] == "bullets/general/a.md"
    assert (store.folder / ".memx/bullets/general/a.md").read_bytes() == before


def test_edit_into_a_contradiction_is_flagged(store: Program) -> None:
    """`memx edit` compares the new words as `memx add` does."""
    put(store, "a.md", bullet("a000000001", FEW))
    put(store, "b.md", bullet("b000000001", "Rotate the signing key every quarter."))
    editor = store.folder / "editor.py"
    editor.write_text(
        f"import sys\np=sys.argv[1]\ns=open(p).read()\n"
        f"open(p,'w').write(s.replace('Rotate the signing key every quarter.', {MANY!r}))\n"
    )
    done = store.run("edit", "b000000001", environ={"EDITOR": f"{sys.executable} {editor}"})
    assert done.returncode == 0
    assert b"may conflict with a000000001" in done.stderr
    assert store.json("show", "a000000001")["bullet"]["conflicts_with"] == ["b000000001"]


def test_distilled_and_accepted_goes_through_the_curator(store: Program) -> None:
    """A lesson from a commit that repeats a bullet is merged when it is accepted."""
    text = "Run the database migrations before you start the web workers, always."
    put(store, "a.md", bullet("a000000001", FIRST, score=100))
    store.commit(f"Deploy\n\nGotcha: {text}")
    waiting = store.json("inbox")["candidates"]
    results = store.json("review", "--all")["results"]
    assert waiting
    assert [result["action"] for result in results] == ["merged"]
    assert len(store.json("list")["bullets"]) == 1


def test_another_store_is_reported_and_never_merged_into(store: Program) -> None:
    """The user's own store says so too: two files in two stores, and a notice."""
    store.ok("init", "--user")
    store.ok("add", FIRST, "--store", "user")
    added = store.json("add", AGAIN)
    assert added["action"] == "written"
    assert added["elsewhere"][0].startswith("user:")


def test_branches_that_settle_a_conflict_oppositely_hide_nothing(store: Program) -> None:
    """After a clean merge each supersedes the other: both are found and marked, and everything says so."""
    a, b = "a000000001", "b000000001"
    put(store, "a.md", bullet(a, FEW))
    put(store, "b.md", bullet(b, MANY))
    store.commit("Two bullets")
    store.git("checkout", "--quiet", "-b", "other")
    store.ok("resolve", a, b, "--keep", "a")
    store.commit("Few")
    store.git("checkout", "--quiet", "main")
    store.ok("resolve", a, b, "--keep", "b")
    store.commit("Many")
    store.git("merge", "--quiet", "--no-edit", "other")
    hits = store.json("search", "redis pool 10 enough, or 50 for stability")["hits"]
    assert {hit["id"]: (hit["superseded"], hit["conflicts_with"]) for hit in hits} == {
        a: (False, [b]),
        b: (False, [a]),
    }
    assert not any(row["superseded"] for row in store.json("list")["bullets"])
    done = store.run("conflicts", "--marked", "--json")
    (found,) = json.loads(done.stdout)["conflicts"]
    assert (done.returncode, found["marked"]) == (1, True)
    assert found["reason"].startswith("each supersedes the other")
    linted = store.run("lint")
    assert (linted.returncode, f"supersedes in a circle with {b}" in linted.stdout.decode()) == (1, True)
    assert f"supersedes in a circle with {b}" in store.run("doctor").stdout.decode()
    store.ok("resolve", a, b, "--keep", "a")
    assert store.run("conflicts", "--marked").returncode == 0
    assert store.run("lint").returncode == 0


def test_bullet_that_supersedes_itself_is_found_and_named(store: Program) -> None:
    """A file by hand may name its own id: it stays in the search, and lint says what to do."""
    put(store, "a.md", bullet("a000000001", FEW).replace("created", "supersedes: [a000000001]\ncreated", 1))
    hits = store.json("search", "Redis connection pool 10 is enough")["hits"]
    assert [(hit["id"], hit["superseded"], hit["conflicts_with"]) for hit in hits] == [
        ("a000000001", False, [])
    ]
    assert "the bullet supersedes itself" in store.run("lint").stdout.decode()


def test_unmerge_of_a_resolved_conflict_brings_the_marks_back(store: Program) -> None:
    """Both files have the bytes from before, `conflicts_with` included."""
    put(store, "a.md", bullet("a000000001", FEW))
    store.commit("Few")
    added = store.json("add", MANY)
    assert (added["action"], added["conflicts"]) == ("flagged", ["a000000001"])
    store.commit("Many, in conflict")
    done = store.json("resolve", "a000000001", added["id"], "--keep", "merge")
    shown = store.json("show", done["kept"][0])["bullet"]
    assert shown.get("conflicts_with", []) == []
    assert store.json("unmerge", done["kept"][0])["exact"]
    assert store.git("status", "--porcelain") == ""


def test_archived_or_superseded_text_added_again_names_the_way_back(store: Program) -> None:
    """The lesson is unchanged, but nobody finds it: standard error says what to do."""
    put(store, "a.md", bullet("a000000001", MANY))
    name = store.json("add", FEW)["id"]
    store.ok("resolve", name, "a000000001", "--keep", "b")
    again = store.run("add", FEW)
    assert again.stdout.decode().startswith(f"unchanged {name}")
    assert f"superseded by a000000001: memx resolve {name} a000000001" in again.stderr.decode()
    store.ok("archive", name, "--yes")
    again = store.run("add", FEW, "--tag", "more")
    assert again.stdout.decode().startswith(f"unchanged {name}")
    assert f"it is archived: memx restore {name}" in again.stderr.decode()
    assert store.json("add", FEW)["hint"] == f"it is archived: memx restore {name}"
