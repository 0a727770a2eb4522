"""`memx verify` and its marks: code that moves on under the bullets that speak about it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.e2e.conftest import Program

POOL = """import os

class Pool:
    def acquire(self):
        return self.queue.get()

    def release(self, item):
        self.queue.put(item)

MAX_POOL_SIZE = 10
"""


def states(program: Program, *arguments: str) -> dict[str, str]:
    """Return anchor, without its blob, → state."""
    done = program.run("verify", *arguments, "--json")
    import json

    document: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (1 if document["drifted"] or document["orphaned"] else 0)
    return {entry["anchor"].partition("@")[0]: entry["state"] for entry in document["anchors"]}


@pytest.fixture
def code(store: Program) -> Program:
    """A store with code and four bullets about it, all committed."""
    store.commit("Code", src__pool_py=POOL, src__lines_py=POOL, src__gone_txt="one\ntwo\n")
    store.ok("add", "Set MAX_POOL_SIZE to 50, ten starve the workers", "--anchor", "src/pool.py")
    store.ok("add", "Acquire blocks while the queue is empty", "--anchor", "src/pool.py:Pool.acquire")
    store.ok("add", "Release never fails, so tests may skip it", "--anchor", "src/lines.py#L7-L8")
    store.ok("add", "The plan of the rollout stands in a text", "--anchor", "src/gone.txt")
    store.commit("Bullets")
    return store


def test_new_bullets_are_fresh(code: Program) -> None:
    """Nothing has drifted right after the lessons were written, and the exit code says so."""
    assert set(states(code).values()) == {"fresh"}


def test_changed_code_drifts_where_the_lesson_looks(code: Program) -> None:
    """A change of the named constant drifts one bullet and leaves its neighbours fresh."""
    code.commit("Raise", src__pool_py=POOL.replace("= 10", "= 20"))
    found = states(code)
    assert found["src/pool.py"] == "drifted"
    assert found["src/pool.py:Pool.acquire"] == found["src/lines.py#L7-L8"] == "fresh"


def test_uncommitted_change_drifts_too(code: Program) -> None:
    """The work tree is what counts."""
    (code.folder / "src/pool.py").write_text(POOL.replace("queue.get()", "queue.get(timeout=1)"))
    assert states(code)["src/pool.py:Pool.acquire"] == "drifted"


def test_deleted_file_is_orphaned(code: Program) -> None:
    """A file that is gone without a successor orphans the bullet."""
    code.git("rm", "--quiet", "src/gone.txt")
    code.commit("Drop")
    assert states(code)["src/gone.txt"] == "orphaned"


def test_renames_are_followed_and_written_on_request(code: Program) -> None:
    """A file renamed twice, the second time uncommitted, is found; `--update` writes its new name."""
    code.git("mv", "src/lines.py", "src/middle.py")
    code.commit("Rename", src__other_py="x = 1\n")
    code.git("mv", "src/middle.py", "src/last.py")
    (code.folder / "src/last.py").write_text("# a line before\n" + POOL)
    assert states(code)["src/lines.py#L7-L8"] == "fresh"
    assert states(code, "--update")["src/last.py#L8-L9"] == "fresh"
    assert "src/last.py#L8-L9" in code.git("diff")


def test_fold_of_counts_does_not_reset_the_baseline(code: Program) -> None:
    """A commit that changes a counter of the bullet says nothing about its code."""
    code.commit("Raise", src__pool_py=POOL.replace("= 10", "= 20"))
    path = next((code.folder / ".memx/bullets").rglob("*max-pool-size*.md"))
    path.write_text(path.read_text().replace("recall_count: 0", "recall_count: 3"))
    code.commit("Fold")
    assert states(code)["src/pool.py"] == "drifted"


def test_rewritten_lesson_is_fresh_again(code: Program) -> None:
    """Whoever rewrites the lesson after the code has looked at the code."""
    code.commit("Raise", src__pool_py=POOL.replace("= 10", "= 20"))
    path = next((code.folder / ".memx/bullets").rglob("*max-pool-size*.md"))
    path.write_text(path.read_text().replace("ten starve", "twenty starve"))
    code.commit("Rewrite")
    assert states(code)["src/pool.py"] == "fresh"


def test_mined_lesson_is_compared_with_the_commit_that_taught_it(store: Program) -> None:
    """A lesson taken today from an old commit has drifted when the code went on since."""
    store.commit("Fix", src__pool_py=POOL)
    taught = store.git("rev-parse", "HEAD").strip()
    store.commit("Raise", src__pool_py=POOL.replace("= 10", "= 20"))
    head = f"id: aaaaaaaaaa\nanchors:\n  - src/pool.py\nsource: commit {taught}\n"
    bullet = f"---\n{head}---\nMAX_POOL_SIZE is too small\n"
    (store.folder / ".memx/bullets/general").mkdir(exist_ok=True)
    (store.folder / ".memx/bullets/general/mined-aaaaaaaaaa.md").write_text(bullet)
    assert states(store) == {"src/pool.py": "drifted"}


def test_bullet_beside_its_uncommitted_code_is_fresh(store: Program) -> None:
    """Who writes a lesson about the change at hand commits both together: nothing has drifted."""
    store.commit("Code", src__pool_py=POOL)
    (store.folder / "src/pool.py").write_text(POOL.replace("= 10", "= 50"))
    time.sleep(0.02)
    store.ok("add", "MAX_POOL_SIZE is 50 since ten starve the workers", "--anchor", "src/pool.py")
    assert states(store) == {"src/pool.py": "fresh"}
    store.commit("Both")
    assert states(store) == {"src/pool.py": "fresh"}


@pytest.mark.parametrize("anchor", ["../outside.txt", "/etc/passwd", "a/../../x"])
def test_anchor_that_leads_out_is_never_opened(store: Program, anchor: str) -> None:
    """A path out of the repository is reported, whatever lies there."""
    (store.folder / ".memx/bullets/general").mkdir(exist_ok=True)
    (store.folder / ".memx/bullets/general/x.md").write_text(f"---\nanchors:\n  - {anchor}\n---\nA lesson\n")
    (store.folder.parent / "outside.txt").write_text("secret")
    assert states(store) == {anchor: "orphaned"}


def test_folder_without_git_verifies_what_is_there(memx: Program) -> None:
    """Without commits there is no drift, but a missing file still is one."""
    memx.ok("init")
    (memx.folder / "here.py").write_text("x = 1\n")
    memx.ok("add", "Here is the place of the first lesson", "--anchor", "here.py")
    memx.ok("add", "Nothing lies where the second lesson looks", "--anchor", "there.py")
    assert states(memx) == {"here.py": "fresh", "there.py": "orphaned"}


def test_search_marks_drifted_bullets(code: Program) -> None:
    """After a verification a search marks what drifted, until the bullet is rewritten."""
    code.commit("Raise", src__pool_py=POOL.replace("= 10", "= 20"))
    code.run("verify")
    hit = code.json("search", "MAX_POOL_SIZE")["hits"][0]
    assert hit["drifted"] is True
    assert "[drifted]" in code.ok("search", "MAX_POOL_SIZE").splitlines()[0]
    path = next((code.folder / ".memx/bullets").rglob("*max-pool-size*.md"))
    path.write_text(path.read_text().replace("ten starve", "twenty starve"))
    assert code.json("search", "MAX_POOL_SIZE")["hits"][0]["drifted"] is False


def test_search_has_the_code_verified_behind_its_back(code: Program) -> None:
    """The first search after a commit starts a verification; a later one marks what that found."""
    code.commit("Raise", src__pool_py=POOL.replace("= 10", "= 20"))
    deadline = time.monotonic() + 20
    while not code.json("search", "MAX_POOL_SIZE")["hits"][0]["drifted"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_marks_belong_to_their_commit(code: Program) -> None:
    """Back on the commit before the change nothing is marked."""
    code.commit("Raise", src__pool_py=POOL.replace("= 10", "= 20"))
    code.run("verify")
    code.git("checkout", "--quiet", "HEAD^")
    assert code.json("search", "MAX_POOL_SIZE")["hits"][0]["drifted"] is False


def test_search_prefers_bullets_anchored_at_a_file(code: Program) -> None:
    """`--path` lifts what speaks about a file, named from wherever the command runs."""
    plain = code.json("search", "queue workers tests", "--no-recall")["hits"]
    lifted = code.json("search", "queue workers tests", "--path", "src/lines.py", "--no-recall")["hits"]
    assert [h["l3"] for h in lifted if "Release" in h["text"]] == [10.0]
    assert "Release" in lifted[0]["text"]
    assert "Release" not in plain[0]["text"]
    done = code.run("search", "queue workers tests", "--path", "lines.py", "--json", cwd=code.folder / "src")
    import json

    assert "Release" in json.loads(done.stdout)["hits"][0]["text"]


def test_added_lines_are_tied_to_their_content(code: Program) -> None:
    """Lines typed from a folder get their path from the top and the blob that they are lines of."""
    done = code.run(
        "add", "Two lines put items back", "--anchor", "lines.py#L7-L8", "--json", cwd=code.folder / "src"
    )
    import json

    (anchor,) = code.json("show", json.loads(done.stdout)["id"])["bullet"]["anchors"]
    blob = code.git("rev-parse", "HEAD:src/lines.py").strip()
    assert anchor == f"src/lines.py#L7-L8@{blob[:12]}"


def test_moved_lines_are_followed_from_their_new_content(code: Program) -> None:
    """After an update the anchor names the new lines of the new content, and still sees a change there."""
    code.ok("add", "Two lines put items back", "--anchor", "src/lines.py#L7-L8")
    code.commit("Anchor")
    code.commit("Move", src__lines_py="# one\n# two\n" + POOL)
    found = states(code, "--update")
    blob = code.git("rev-parse", "HEAD:src/lines.py").strip()
    assert found["src/lines.py#L9-L10"] == "fresh"
    assert f"src/lines.py#L9-L10@{blob[:12]}" in code.git("diff")
    code.commit("Update")
    code.commit("Break", src__lines_py="# one\n# two\n" + POOL.replace("put(item)", "put(item, 1)"))
    assert states(code)["src/lines.py#L9-L10"] == "drifted"


def test_linked_worktree_has_marks_of_its_own(code: Program) -> None:
    """What drifted on a branch is marked in its worktree and nowhere else."""
    code.git("worktree", "add", "--quiet", "-b", "other", str(code.folder.parent / "linked"))
    linked = type(code)(code.folder.parent / "linked", code.environ)
    linked.commit("Raise", src__pool_py=POOL.replace("= 10", "= 20"))
    linked.run("verify")
    code.run("verify")
    assert linked.json("search", "MAX_POOL_SIZE")["hits"][0]["drifted"] is True
    assert code.json("search", "MAX_POOL_SIZE")["hits"][0]["drifted"] is False
