"""What a person reads when something was mistyped, is gone or is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Program


def test_unknown_hook_is_a_usage_error(store: Program) -> None:
    """A hook that memx does not have is named with those that it has."""
    done = store.run("hooks", "run", "bogus")
    assert (done.returncode, b"post-commit" in done.stderr) == (2, True)


def test_negative_value_is_told_where_to_stand(store: Program) -> None:
    """A value that begins with a dash reads as an option: the hint names the two dashes."""
    done = store.run("config", "set", "llm.retries", "-1")
    assert (done.returncode, b" -- -1" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "is_told"),
    [
        (("search", "--no-verify", "pool"), True),
        (("search", "-10 degrees"), True),
        (("search", "-not found"), True),
        (("search", "-n", "abc", "pool"), False),
        (("search", "--format", "yaml", "pool"), False),
        (("search", "--max-results=x", "pool"), False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_hint_about_dashes_stands_where_a_text_has_one(
    store: Program, words: tuple[str, ...], *, is_told: bool
) -> None:
    """A bad value is no text that begins with a dash; a program reads the same hint as a person."""
    plain, document = store.run(*words), store.run(*words, "--json")
    hint = json.loads(document.stdout)["error"]["hint"]
    assert (plain.returncode, document.returncode) == (2, 2)
    assert (b"put -- before" in plain.stderr, "put -- before" in hint) == (is_told, is_told)


@pytest.mark.parametrize(
    "words",
    [
        *(
            f"{command} --{name}="
            for command in ("search x", "list")
            for name in ("section", "tag", "scope", "type")
        ),
        *("search x --rev=", "search x --path=", "search x --workspace=", "export --tag=", "context --path="),
        *("search x --path a --path b", "list --tag a --tag b", "search x --section tools --section general"),
        *(
            "search x --workspace ../x",
            "list --workspace feat..x",
            "context --workspace=a:b",
            "promote --workspace=.x",
        ),
    ],
)
def test_choice_that_would_be_passed_over_is_refused(store: Program, words: str) -> None:
    """An empty value, a second one, and a workspace that cannot be: what was meant is not what would be answered."""
    store.ok("add", "The kiosk needs a reboot on Mondays")
    done = store.run(*words.split(), "--json")
    assert (done.returncode, "error" in json.loads(done.stdout)) == (2, True)


def test_tag_is_found_in_any_case(store: Program) -> None:
    """`list` asks as `search` does."""
    store.ok("add", "The kiosk needs a reboot on Mondays", "--tag", "Git")
    for tag in ("Git", "GIT", "git"):
        assert len(store.json("search", "kiosk", "--tag", tag)["hits"]) == 1
        assert len(store.json("list", "--tag", tag)["bullets"]) == 1
    assert store.json("list", "--tag", "gi")["bullets"] == []


def test_anchor_that_does_not_exist_is_named(store: Program) -> None:
    """A slip in an anchor is said at once; the lesson is stored all the same."""
    store.commit("Code", src__pool_py="def acquire():\n    return 1\n")
    for anchor, words in (("src/pol.py", b"no file"), ("src/pool.py:aquire", b"has no aquire")):
        done = store.run("add", f"Acquire never blocks, says {anchor}", "--anchor", anchor)
        assert (done.returncode, words in done.stderr) == (0, True)
    done = store.run("add", "The pool is small on purpose", "--anchor", "src/pool.py:acquire")
    assert b"anchor" not in done.stderr


def test_removed_bullet_is_followed_in_history(store: Program) -> None:
    """The story of a bullet that is gone is still told, by its whole id."""
    added = store.json("add", "The kiosk needs a reboot on Mondays")
    store.commit("Add")
    (store.folder / ".memx" / added["path"]).unlink()
    store.commit("Remove")
    commits = store.json("log", added["id"])["commits"]
    assert [(one["status"], one["summary"]) for one in commits] == [("D", "Remove"), ("A", "Add")]
    lines = store.json("blame", added["id"])["lines"]
    assert "The kiosk needs a reboot on Mondays" in [line["text"].strip() for line in lines]
    done = store.run("log", "zzzzzzzzzz")
    assert (done.returncode, b"the whole id" in done.stderr) == (1, True)


def test_missing_model_folder_is_no_download(store: Program) -> None:
    """A path in `embedding.model` can be mended but not downloaded; a search says in words what is missing."""
    store.ok("add", "The kiosk needs a reboot on Mondays")
    store.ok("config", "set", "embedding.model", "/nope")
    said = store.run("search", "kiosk").stderr
    assert b"degraded: l4, search by meaning, is missing: " in said
    assert (b"memx doctor" in said, b"Error" in said, b"--download" in said) == (True, False, False)


def test_conflict_in_the_text_is_named_at_its_line(store: Program) -> None:
    """What a person must choose is shown where it stands."""
    path = store.folder / ".memx/bullets/general/x-hhhhhhhhhh.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "---\nid: hhhhhhhhhh\n---\n<<<<<<< a\nOne thing\n=======\nAnother\n>>>>>>> b\n", encoding="utf-8"
    )
    done = store.run("resolve")
    assert b"x-hhhhhhhhhh.md:4" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("anchor", "words"),
    [
        ("src/pool.py#L12-L10", "line 10 is before line 12"),
        ("src/pool.py#L2-L1", "line 1 is before line 2"),
        ("src/pool.py#L9", "has no line 9"),
        ("src/pool.py#L1-L9", "has no line 9"),
        ("src/pool.py:no_such_symbol", "has no no_such_symbol"),
        ("src/none.py:acquire", "there is no file src/none.py"),
    ],
)
def test_anchor_that_holds_nothing_is_named_when_added_and_when_verified(
    store: Program, anchor: str, words: str
) -> None:
    """Lines that run backwards or are not there, and symbols that are not: a word at once, and one from `verify`."""
    store.commit("Code", src__pool_py="def acquire():\n    return 1\n")
    done = store.run("add", "The pool is small on purpose", "--anchor", anchor)
    assert (done.returncode, words in done.stderr.decode()) == (0, True)
    (found,) = json.loads(store.run("verify", "--json").stdout)["anchors"]
    assert (found["state"], bool(found["reason"])) == ("orphaned", True)
    store.commit("The lesson")
    (found,) = json.loads(store.run("verify", "--json").stdout)["anchors"]
    assert (found["state"], bool(found["reason"])) == ("orphaned", True)


@pytest.mark.parametrize(
    "name", ["", " ", "a/b", "../b", "a\\b", "a\nb", "a\x1bb", "project", "user", ".", ".."]
)
def test_name_that_no_store_may_have_is_refused(store: Program, name: str) -> None:
    """A shared store's name is a folder's name and stands before each hit: nothing empty, odd or taken."""
    done = store.run("store", "add", str(store.folder), "--name", name)
    assert (done.returncode, b"not a name for a store" in done.stderr) == (2, True)
    assert store.json("store", "list")["stores"][1:] == []


@pytest.mark.parametrize(
    "scope",
    [
        "workspace:../../e",
        "workspace:/etc",
        "workspace:a//b",
        "workspace:a/../b",
        "workspace:a\\b",
        "project:..",
    ],
)
def test_scope_like_a_path_is_refused(store: Program, scope: str) -> None:
    """A workspace may be called as a branch may; what leads up or out is refused by every way in."""
    done = store.run("add", "The kiosk needs a reboot on Mondays", "--scope", scope)
    assert (done.returncode, b"is not a name" in done.stderr) == (1, True)
    path = store.folder / ".memx/bullets/general/hand.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nscope: '{scope}'\n---\nThe kiosk needs a reboot on Mondays\n")
    assert "hand.md:2" in store.run("lint").stdout.decode()
    assert store.run("search", "kiosk", "--scope", scope).returncode != 0
    assert store.json("search", "kiosk")["hits"] == []


def test_scope_of_a_branch_with_slashes_is_taken(store: Program) -> None:
    """`feature/x.y` is a branch and so a workspace."""
    added = store.json("add", "The kiosk needs a reboot on Mondays", "--scope", "workspace:feature/x.y")
    assert added["action"] == "written"
    assert store.json("search", "kiosk", "--workspace", "feature/x.y")["hits"]


def test_config_set_out_of_range_names_file_key_and_range(store: Program) -> None:
    """A number that no command could work with is not written."""
    said = store.run("config", "set", "curator.merge_threshold", "80").stderr.decode()
    assert "curator.merge_threshold must be from 0 to 1, not '80': " in said
    assert ".git/memx/config.yml" in said
    (store.folder / ".memx/config.yml").write_text("decay:\n  half_life_days: 0\n")
    said = store.run("config").stderr.decode()
    assert "decay.half_life_days must be from 0.001 to 1,000,000, not '0'" in said
    assert ".memx/config.yml:2" in said


def test_since_of_no_date_is_a_usage_error(store: Program) -> None:
    """Git would take it for now and read nothing; what git reads as a date is taken."""
    for source in (["--history"], ["--range", "HEAD"]):
        done = store.run("distill", *source, "--since", "not a date")
        assert (done.returncode, b"not a date" in done.stderr) == (2, True)
    store.ok("distill", "--history", "--since", "2.weeks.ago")


@pytest.mark.parametrize(
    "words",
    [("search", "kiosk", "--rev"), ("diff",), ("distill", "--commit"), ("distill", "--range")],
    ids=" ".join,
)
@pytest.mark.parametrize("revision", ["nosuch", "HEAD~99"])
def test_unknown_revision_is_an_expected_failure(
    store: Program, words: tuple[str, ...], revision: str
) -> None:
    """The same exit code whichever command asks."""
    done = store.run(*words, revision)
    assert (done.returncode, revision.encode() in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/nosuch.py", "there is no file src/nosuch.py"),
        ("../other", "is outside the repository"),
        ("a.py", ""),
    ],
)
@pytest.mark.parametrize("command", ["search", "context"])
def test_path_that_is_not_there_is_named(store: Program, command: str, path: str, words: str) -> None:
    """A slip in `--path` is said, and the answer is given all the same."""
    store.ok("add", "The kiosk needs a reboot on Mondays")
    store.commit("Code", a_py="x = 1\n")
    done = store.run(command, "kiosk reboot", "--path", path, "--json")
    assert (done.returncode, len(json.loads(done.stdout)["hits"])) == (0, 1)
    said = done.stderr.decode()
    assert words in said if words else "--path" not in said


def test_name_of_a_missing_anchor_is_redacted(store: Program) -> None:
    """A notice tells no secret that the stored anchor does not hold either."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    done = store.run("add", "The kiosk needs a reboot on Mondays", "--anchor", f"src/{secret}.py")
    assert b"there is no file" in done.stderr
    assert secret.encode() not in done.stdout + done.stderr
