"""The visibility table: viewer by bullet, the same for everything that reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memx.model import Bullet
from memx.store.codec import format_bullet
from tests.support.mcp_process import McpProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.conftest import Program

BULLETS = {
    "global0000": "global",
    "project000": "project",
    "ownproject": "project:repo",
    "sibproject": "project:other",
    "ownspace00": "workspace:feat-auth",
    "sibspace00": "workspace:feat-pay",
}
PROJECT = {"global0000", "project000", "ownproject"}
VIEWERS = {
    "global": ("main", ("--scope", "global"), {"global0000"}),
    "project": ("main", (), PROJECT),
    "project by name": ("feat-auth", ("--scope", "project"), PROJECT),
    "workspace": ("feat-auth", (), PROJECT | {"ownspace00"}),
    "workspace by name": ("main", ("--scope", "workspace:feat-auth"), PROJECT | {"ownspace00"}),
    "workspace by flag": ("main", ("--workspace", "feat-auth"), PROJECT | {"ownspace00"}),
    "workspace as a scope": ("main", ("--workspace", "workspace:feat-auth"), PROJECT | {"ownspace00"}),
    "sibling project": ("feat-auth", ("--scope", "project:other"), {"global0000", "sibproject"}),
    "project by its name": ("main", ("--scope", "project:repo"), PROJECT),
    "sibling workspace": ("feat-auth", ("--workspace", "feat-pay"), PROJECT | {"sibspace00"}),
}


def search(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return what a search for the word that all bullets hold finds."""
    return {hit["id"] for hit in program.json("search", "falcon", "-n", "20", *view)["hits"]}


def list_bullets(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return what `list` shows."""
    return {entry["id"] for entry in program.json("list", *view)["bullets"]}


def taken(program: Program, command: str, *rest: str) -> set[str]:
    """Return which bullets a command takes; every other one is refused as an expected failure."""
    codes = {name: program.run(command, name, *rest).returncode for name in BULLETS}
    assert set(codes.values()) <= {0, 1}
    return {name for name, code in codes.items() if code == 0}


def show(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return which bullets `show` prints."""
    return taken(program, "show", *view)


def why(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return which bullets `why` explains."""
    return taken(program, "why", *view)


def compare(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return which bullets `compare` puts beside a text."""
    return taken(program, "compare", "The falcon lands at noon", *view)


def useful(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return which bullets may be called useful."""
    return taken(program, "useful", *view)


def wrong(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return which bullets may be called wrong."""
    return taken(program, "wrong", *view)


def decay(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return which bullets are listed with their weights."""
    return {entry["id"] for entry in program.json("decay", *view)["bullets"]}


def export(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return what `export` writes, by the word after the id's own in each text."""
    written = program.ok("export", *view)
    return {name for name in BULLETS if f"falcon {name}" in written}


def weigh(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return what a block for a prompt holds without a question."""
    return {hit["id"] for hit in program.json("context", *view)["hits"]}


def ask(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return what a block for a prompt holds that answers a question."""
    return {hit["id"] for hit in program.json("context", "falcon", "-n", "20", *view)["hits"]}


def call(program: Program, view: tuple[str, ...]) -> set[str]:
    """Return what an agent's search finds; `show` refuses the agent what the search does not find."""
    arguments = {view[0].removeprefix("--"): view[1]} if view else {}
    with McpProcess(program.folder, program.environ) as server:
        found = server.ok("search", query="falcon", max_results=20, **arguments)
        shown = {name for name in BULLETS if not server.call("show", bullet=name, **arguments)[1]}
    seen = {name for name in BULLETS if f"falcon {name}" in found}
    assert shown == seen
    return seen


READERS: tuple[Callable[[Program, tuple[str, ...]], set[str]], ...] = (
    search,
    list_bullets,
    show,
    why,
    compare,
    useful,
    wrong,
    decay,
    export,
    weigh,
    ask,
    call,
)


@pytest.fixture
def scoped(store: Program) -> Program:
    """A store with a bullet of each scope, in a repository with two branches beside main."""
    folder = store.folder / ".memx" / "bullets" / "general"
    folder.mkdir(parents=True, exist_ok=True)
    for name, scope in BULLETS.items():
        bullet = Bullet(id=name, text=f"The falcon {name} lands at noon", section="general", scope=scope)
        (folder / f"{name}.md").write_bytes(format_bullet(bullet))
    store.commit("Add bullets of every scope")
    store.git("branch", "feat-auth")
    store.git("branch", "feat-pay")
    return store


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@pytest.mark.parametrize("viewer", VIEWERS)
def test_reader_shows_what_the_viewer_may_see(
    scoped: Program, viewer: str, reader: Callable[[Program, tuple[str, ...]], set[str]]
) -> None:
    """Upper scopes are seen from lower ones, never the reverse, siblings never."""
    branch, view, seen = VIEWERS[viewer]
    scoped.git("switch", "--quiet", branch)
    assert reader(scoped, view) == seen


def test_hidden_bullet_is_refused_with_the_way_to_see_it(scoped: Program) -> None:
    """The message names the scope, and the hint works."""
    done = scoped.run("show", "sibspace00", "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert "workspace:feat-pay" in error["message"]
    assert "sibspace00" in scoped.ok(*error["hint"].split()[1:])


def test_why_not_of_a_hidden_bullet_says_where_without_its_words(scoped: Program) -> None:
    """The reason names the scope; the document holds no text of what cannot be seen."""
    answer = scoped.json("why-not", "sibspace00", "falcon")
    assert "workspace:feat-pay is not visible" in answer["reasons"][0]
    assert (answer["hit"]["title"] or "", answer["hit"]["text"]) == ("", "")


def test_linked_work_tree_is_the_same_project(store: Program) -> None:
    """A bullet of `project:NAME` is seen in every work tree of the repository, whatever its folder is called."""
    store.ok("add", "The falcon lands at noon", "--scope", f"project:{store.folder.name}")
    store.commit("Remember the falcon")
    store.git("worktree", "add", "--quiet", "-b", "topic", str(store.folder.parent / "elsewhere"))
    assert len(store.json("search", "falcon", "-C", "../elsewhere")["hits"]) == 1
    assert len(store.json("list", "-C", "../elsewhere")["bullets"]) == 1
