"""What a newcomer does, from an empty repository to an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

REDIS = "Redis timeouts under load: MAX_POOL_SIZE 10 is too small, 50 is stable"
LESSON = (
    "fix(cache): stop the stalls at noon\n\n"
    "The root cause was the connection pool: with fewer connections than workers the rest\n"
    "block until the timeout, so `pool_size` must be at least the number of workers.\n"
)


def test_init_add_search_finds_and_tree_stays_clean(memx: Program) -> None:
    """The three commands of the README find the lesson, and reading never dirties the tree."""
    memx.ok("init")
    memx.ok("add", REDIS, "--tag", "redis")
    assert "MAX_POOL_SIZE" in memx.ok("search", "redis pool size")
    memx.git("add", "-A")
    memx.git("commit", "--quiet", "-m", "Remember the pool")
    before = memx.git("status", "--porcelain", "--ignored")
    for _ in range(10):
        memx.ok("search", "redis pool size")
    assert memx.git("status", "--porcelain", "--ignored") == before == ""


def test_search_json_is_one_document_with_every_layer(store: Program) -> None:
    """Programs find the scores of all layers under the names of the contract."""
    store.ok("add", REDIS, "--tag", "redis")
    answer = store.json("search", "MAX_POOL_SIZE")
    assert answer["version"] == 1
    hit = answer["hits"][0]
    names = {
        "id",
        "path",
        "score",
        "keyword",
        "blended",
        "l1",
        "l2",
        "l3",
        "semantic",
        "decay",
        "recency_boost",
    }
    assert names <= hit.keys()
    assert hit["text"] == REDIS
    assert hit["semantic"] > 0
    assert answer["degraded"] == []


def test_nothing_found_says_so_and_succeeds(store: Program) -> None:
    """No hits is no failure, and is said on standard error."""
    store.ok("add", REDIS)
    done = store.run("search", "how do whales sleep under arctic ice")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"no bullet is about that" in done.stderr


def test_add_shapes_of_answer(store: Program) -> None:
    """The same lesson again is unchanged, one more tag is merged in, the opposite is flagged and listed."""
    first = store.json("add", REDIS)
    assert first["action"] == "written"
    assert store.json("add", REDIS)["action"] == "unchanged"
    assert store.json("add", REDIS, "--tag", "redis")["action"] == "merged"
    store.json("add", "Setting the Redis connection pool to 10 is enough")
    flagged = store.json("add", "At least 50 Redis connections in the pool for stability")
    assert flagged["action"] == "flagged"
    assert flagged["conflicts"]
    done = store.run("conflicts", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["conflicts"]


def test_commit_is_distilled_by_the_hook_once(store: Program) -> None:
    """A commit with a lesson leaves one candidate and one line; committing on adds nothing."""
    assert "memx" in store.commit(LESSON, src__pool_py="pool_size = 50\n")
    candidates = store.json("inbox")["candidates"]
    assert len(candidates) == 1
    assert "pool_size" in candidates[0]["text"]
    assert store.commit("Bump the version", VERSION="2") == ""
    store.git("commit", "--quiet", "--amend", "--no-edit")
    assert [c["id"] for c in store.json("inbox")["candidates"]] == [candidates[0]["id"]]


def test_review_accepts_and_never_proposes_again(store: Program) -> None:
    """Accepted, rejected and removed lessons are not proposed a second time."""
    store.commit(LESSON)
    name = store.json("inbox")["candidates"][0]["id"]
    assert store.json("review", "--accept", name)["results"][0]["action"] == "written"
    assert store.json("distill", "--commit", "HEAD")["candidates"][0]["new"] is False
    assert store.json("inbox")["candidates"] == []
    store.ok("rm", name)
    store.ok("distill", "--commit", "HEAD")
    assert store.json("inbox")["candidates"] == []
    store.ok("distill", "--commit", "HEAD", "--again")
    assert [c["id"] for c in store.json("inbox")["candidates"]] == [name]
    store.ok("review", "--reject", name)
    store.ok("distill", "--commit", "HEAD")
    assert store.json("inbox")["candidates"] == []


def test_trailer_is_a_lesson_as_written(store: Program) -> None:
    """A lesson stated in so many words is taken word for word."""
    store.commit(
        "Share the key\n\nGotcha: SECRET_KEY must be the same on every replica, or cookies are rejected."
    )
    candidate = store.json("inbox")["candidates"][0]
    assert candidate["text"] == "SECRET_KEY must be the same on every replica, or cookies are rejected."
    assert candidate["confidence"] == 1.0


def test_same_lesson_on_two_branches_is_one(store: Program) -> None:
    """A cherry-picked commit proposes nothing new."""
    store.git("switch", "--quiet", "-c", "topic")
    store.commit(LESSON, a_txt="1")
    store.git("switch", "--quiet", "main")
    store.git("cherry-pick", "topic")
    assert len(store.json("inbox")["candidates"]) == 1


def test_history_is_distilled_ranked_and_not_twice(store: Program) -> None:
    """`--history` fills the inbox, and a second run reads nothing anew."""
    store.git("config", "core.hooksPath", "/dev/null")
    store.commit(LESSON)
    store.commit("Gotcha: never name a column `order`, PostgreSQL reserves it and every query needs quotes.")
    first = store.json("distill", "--history")
    assert first["sources"] >= 2
    assert len(first["candidates"]) == 2
    assert store.json("distill", "--history")["sources"] == 0


def test_demo_shows_lessons_and_answers(memx: Program, tmp_path: Path) -> None:
    """The demo distils its sample, answers two questions and finds nothing for the third."""
    outside = tmp_path / "outside"
    outside.mkdir()
    done = memx.run("demo", "--json", cwd=outside)
    assert done.returncode == 0, done.stderr.decode()
    document = json.loads(done.stdout)
    assert document["repository"] == "sample"
    assert len(document["candidates"]) >= 12
    languages = {candidate["lang"] for candidate in document["candidates"]}
    assert {"en", "zh", "ja", "es"} <= languages
    *answered, nothing = document["queries"]
    assert len(answered) == 2
    for query in answered:
        assert query["expected"] in [hit["id"] for hit in query["hits"]]
    assert nothing["hits"] == []
    assert list(outside.iterdir()) == []


def test_demo_leaves_the_shown_repository_alone(memx: Program) -> None:
    """`--path` reads a repository and writes nothing into it."""
    memx.commit(LESSON)
    before = sorted(path.name for path in (memx.folder / ".git").iterdir())
    assert "1 lesson found" in memx.ok("demo", "--path", ".")
    assert sorted(path.name for path in (memx.folder / ".git").iterdir()) == before
    assert memx.git("status", "--porcelain") == ""


@pytest.mark.parametrize("command", ["list", "search", "lint", "doctor"])
def test_broken_bullet_is_named_and_hides_no_other(store: Program, command: str) -> None:
    """A bad file is reported with path and line by every reader, and the good ones are served."""
    store.ok("add", REDIS)
    bad = store.folder / ".memx/bullets/general/bad.md"
    bad.parent.mkdir(parents=True, exist_ok=True)
    bad.write_text("---\nid: a\ntags: [unclosed\n---\nsecret words here\n", encoding="utf-8")
    words = [command, "secret words here"] if command == "search" else [command]
    done = store.run(*words)
    said = (done.stdout + done.stderr).decode()
    assert "bullets/general/bad.md:" in said
    assert done.returncode == (1 if command in ("lint", "doctor") else 0)
    if command == "list":
        assert "MAX_POOL_SIZE" in said
    if command == "search":
        assert "secret words" not in done.stdout.decode()
        assert "MAX_POOL_SIZE" in store.ok("search", "redis")


def test_two_branches_merge_without_a_driver(store: Program) -> None:
    """Bullets added on two branches, and tags at different places of one list, merge with plain git."""
    store.git("config", "--remove-section", "merge.memx")
    store.ok("add", REDIS, "--tag", "beta", "--tag", "delta", "--tag", "kappa", "--tag", "omega")
    store.git("add", "-A")
    store.git("commit", "--quiet", "-m", "One bullet")
    path = next((store.folder / ".memx/bullets").rglob("*.md"))
    store.git("switch", "--quiet", "-c", "topic")
    path.write_text(path.read_text().replace("  - beta\n", "  - alpha\n  - beta\n"))
    store.ok("add", "Always end a ZPL job with ^XZ and a newline, or the printer drops it silently")
    store.commit("Topic")
    store.git("switch", "--quiet", "main")
    path.write_text(path.read_text().replace("  - omega\n", "  - omega\n  - zeta\n"))
    store.ok("add", "Use Decimal for money, floats lose cents when they are summed in another order")
    store.commit("Main")
    store.git("merge", "--quiet", "--no-edit", "topic")
    assert store.run("lint").returncode == 0
    bullets = store.json("list")["bullets"]
    assert len(bullets) == 3
    assert {"alpha", "beta", "delta", "kappa", "omega", "zeta"} in [set(b["tags"]) for b in bullets]
