"""What a person reads when something was mistyped, is gone or is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
