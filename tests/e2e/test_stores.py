"""Stores beside the project's: the user's own and shared ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def team(tmp_path: Path, store: Program) -> Program:
    """Another repository with a store of three bullets, one of them of a workspace."""
    folder = tmp_path / "team"
    folder.mkdir()
    program = Program(folder, store.environ)
    program.git("init", "--quiet", "--initial-branch=main")
    program.ok("init", "--no-hooks")
    program.ok("add", "Redis timeouts under load come from the pool ceiling")
    program.ok("add", "Everybody signs commits with a hardware key", "--scope", "global")
    program.ok("add", "The experiment renames the billing tables", "--scope", "workspace:experiment")
    program.commit("Team")
    return program


@pytest.fixture
def shared(store: Program, team: Program) -> Program:
    """A project that has added the team's store."""
    store.ok("store", "add", str(team.folder))
    return store


def texts(program: Program, *arguments: str) -> set[str]:
    """Return the texts that `list` shows."""
    return {entry["text"] for entry in program.json("list", *arguments)["bullets"]}


def test_search_names_the_store_of_each_hit(shared: Program) -> None:
    """A hit of another store says so, in the document and on the terminal."""
    shared.ok("add", "The pool of the old importer is fixed at ten")
    hits = shared.json("search", "pool ceiling")["hits"]
    assert [(hit["store"], hit["scope_boost"]) for hit in hits[:2]] == [("team", 1.0), ("project", 1.3)]
    assert "team:bullets/" in shared.ok("search", "pool ceiling")


def test_workspaces_of_another_repository_stay_hidden(shared: Program) -> None:
    """A branch of the team's repository is nobody's here, not even under the same name."""
    shown = texts(shared)
    assert "Redis timeouts under load come from the pool ceiling" in shown
    assert "The experiment renames the billing tables" not in shown
    assert "The experiment renames the billing tables" not in texts(shared, "--workspace", "experiment")
    hits = shared.json("search", "experiment billing tables", "--workspace", "experiment")["hits"]
    assert "The experiment renames the billing tables" not in {hit["text"] for hit in hits}


def test_store_hides_no_bullet_of_another_by_superseding_it(shared: Program, team: Program) -> None:
    """A shared store's `supersedes` counts among its own: search, context, list and why-not agree."""
    added = shared.json("add", "Deploys need two approvals")["id"]
    folder = team.folder / ".memx" / "bullets" / "general"
    folder.mkdir(parents=True, exist_ok=True)
    head = "---\nid: e000000001\nscope: global\nsupersedes:\n"
    folder.joinpath("evil.md").write_text(f"{head}  - {added}\n---\nUnrelated words\n", encoding="utf-8")
    team.commit("Claim a bullet of another store")
    shared.ok("store", "sync")
    assert added in {hit["id"] for hit in shared.json("search", "deploys approvals")["hits"]}
    assert added in {hit["id"] for hit in shared.json("context")["hits"]}
    listed = {entry["id"]: entry["superseded"] for entry in shared.json("list")["bullets"]}
    assert (listed[added], "e000000001" in listed) == (False, True)
    assert shared.json("why-not", added, "deploys approvals")["reasons"] == []


def test_show_finds_a_bullet_in_any_store(shared: Program) -> None:
    """An id is found wherever it is; `STORE:ID` names the place."""
    hit = shared.json("search", "redis timeouts")["hits"][0]
    for reference in (hit["id"], f"team:{hit['id']}", f"team:{hit['path']}"):
        assert shared.json("show", reference)["bullet"]["store"] == "team"


def test_shared_store_is_read_only(shared: Program) -> None:
    """Nothing writes into a shared store unless it was added as writable."""
    done = shared.run("add", "A lesson for all", "--store", "team")
    assert (done.returncode, b"read-only" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        "rm ID",
        "edit ID",
        "mv ID tools",
        "archive ID",
        "restore ID",
        "resolve ID OWN --keep both",
        "unmerge ID",
        "promote ID",
    ],
)
@pytest.mark.parametrize("prefix", ["", "team:"])
def test_change_of_another_stores_bullet_says_whose_it_is(shared: Program, words: str, prefix: str) -> None:
    """Reading finds it in any store, so whoever changes it is not told that there is none."""
    own = shared.json("add", "The pool of the old importer is fixed at ten")["id"]
    hit = shared.json("search", "redis timeouts", "--no-recall")["hits"][0]
    arguments = [{"ID": prefix + hit["id"], "OWN": own}.get(word, word) for word in words.split()]
    done = shared.run(*arguments, environ={"EDITOR": "true"})
    assert done.returncode == 1
    assert b"in the store team, which is read-only" in done.stderr


def test_recalls_belong_to_the_store_of_the_hit(shared: Program) -> None:
    """A search counts in the journal of the store that owns the hit and dirties no work tree."""
    shared.ok("search", "redis timeouts")
    clone = shared.json("store", "list")["stores"][1]["root"].removesuffix("/.memx")
    hit = shared.json("search", "redis timeouts", "--no-recall")["hits"][0]
    assert (hit["store"], hit["recall_count"]) == ("team", 1)
    assert Program(type(shared.folder)(clone), shared.environ).git("status", "--porcelain") == ""


def test_sync_brings_what_is_new(shared: Program, team: Program) -> None:
    """A sync follows the origin; the next search knows it."""
    team.ok("add", "Use pnpm in the frontend, npm breaks the lockfile")
    team.commit("More")
    before = shared.json("store", "list")["stores"][1]["commit"]
    synced = shared.json("store", "sync")["stores"]
    assert [(one["name"], one["before"] == before, one["error"]) for one in synced] == [("team", True, None)]
    assert shared.json("search", "pnpm lockfile")["hits"][0]["store"] == "team"


def test_sync_that_fails_names_the_store(shared: Program, team: Program) -> None:
    """An origin that is gone is an error of that store, and what is here stays."""
    team.folder.rename(team.folder.with_name("elsewhere"))
    done = shared.run("store", "sync", "team")
    assert (done.returncode, b"team:" in done.stderr) == (1, True)
    assert shared.json("search", "redis timeouts")["hits"]


def test_writable_store_pushes_with_sync(store: Program, team: Program, tmp_path: Path) -> None:
    """A store added as writable takes a lesson, and sync brings its commit to the origin."""
    bare = tmp_path / "memory.git"
    team.git("clone", "--quiet", "--bare", str(team.folder), str(bare))
    store.ok("store", "add", str(bare), "--name", "ours", "--writable")
    store.ok("add", "Rotate the signing keys every quarter", "--store", "ours")
    root = store.json("store", "list")["stores"][1]["root"].removesuffix("/.memx")
    clone = Program(type(store.folder)(root), store.environ)
    clone.commit("Learn")
    store.ok("store", "sync", "ours")
    assert "rotate-the-signing-keys" in Program(bare, store.environ).git(
        "ls-tree", "-r", "--name-only", "main"
    )


def test_user_store_is_seen_from_every_project_and_outside(store: Program, tmp_path: Path) -> None:
    """Lessons of the user's own store answer everywhere, with the global scope."""
    store.ok("init", "--user")
    store.ok("add", "Write short subjects in commit messages", "--store", "user")
    hit = store.json("search", "commit subjects")["hits"][0]
    assert (hit["store"], hit["scope"], hit["scope_boost"]) == ("user", "global", 1.0)
    outside = tmp_path / "outside"
    outside.mkdir()
    done = store.run("search", "commit subjects", cwd=outside)
    assert (done.returncode, b"short subjects" in done.stdout) == (0, True)


def test_same_lesson_elsewhere_is_reported_and_not_merged(shared: Program) -> None:
    """The Curator compares with all stores and writes to one."""
    added = shared.json("add", "Redis timeouts under load come from the pool ceiling.")
    assert added["action"] == "written"
    assert [match.partition(":")[0] for match in added["elsewhere"]] == ["team"]


def test_name_that_is_taken_or_unsafe_is_refused(shared: Program, team: Program) -> None:
    """A store cannot take the place of another one or leave its folder."""
    for name in ("team", "user", "project", "../x", ".hidden", "a/b"):
        assert shared.run("store", "add", str(team.folder), "--name", name).returncode in (1, 2)
    assert shared.run("store", "remove", "../stores").returncode == 2


def test_repository_without_a_store_leaves_nothing(store: Program, tmp_path: Path) -> None:
    """A clone in which there is no store is taken away again."""
    plain = tmp_path / "plain"
    plain.mkdir()
    program = Program(plain, store.environ)
    program.git("init", "--quiet", "--initial-branch=main")
    program.commit("Code", code_py="x\n")
    assert store.run("store", "add", str(plain)).returncode == 1
    assert [one["name"] for one in store.json("store", "list")["stores"]] == ["project"]


def test_committed_config_of_a_shared_store_is_not_read(shared: Program, team: Program) -> None:
    """What another repository configures does not reach this one."""
    (team.folder / ".memx/config.yml").write_text("schema: 1\ngenerator:\n  max_results: 1\n")
    team.commit("Config")
    shared.ok("store", "sync")
    assert shared.ok("config", "get", "generator.max_results").strip() == "5"


def test_broken_store_hides_no_other(shared: Program) -> None:
    """A shared store whose files are broken is reported, and the project's own bullets answer."""
    shared.ok("add", "The importer needs a warm cache")
    root = type(shared.folder)(shared.json("store", "list")["stores"][1]["root"])
    (root / "bullets/general/broken.md").parent.mkdir(exist_ok=True)
    (root / "bullets/general/broken.md").write_text("---\nid: [\n---\nx\n")
    document = shared.json("search", "importer warm cache")
    assert document["hits"][0]["store"] == "project"


def test_removed_store_is_gone_unless_work_would_be_lost(shared: Program) -> None:
    """Removing takes the clone away; own changes in it need --force."""
    root = type(shared.folder)(shared.json("store", "list")["stores"][1]["root"])
    (root / "bullets/general").mkdir(exist_ok=True)
    (root / "bullets/general/mine.md").write_text("Mine\n")
    assert shared.run("store", "remove", "team").returncode == 1
    shared.ok("store", "remove", "team", "--force")
    assert not root.exists()
    assert shared.json("search", "redis timeouts")["hits"] == []
