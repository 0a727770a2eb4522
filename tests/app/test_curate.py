"""What a write does with the bullets that are there already: merged, flagged, shown, and never lost."""

from __future__ import annotations

import os
from itertools import permutations
from random import Random
from typing import TYPE_CHECKING

import pytest

from memx.app.add import Draft, add
from memx.app.conflicts import find_conflicts, list_conflicts
from memx.app.curate import settle_text
from memx.app.dedup import apply, plan
from memx.app.format import format_bullets
from memx.app.initialise import copy_template
from memx.app.merging import merge_into, unmerge
from memx.app.project import Project
from memx.app.recall import recall
from memx.app.resolve import resolve, split_sides
from memx.app.search import SearchRequest
from memx.errors import StoreError, UsageError
from memx.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from memx.model import StoredBullet
    from tests.support.git_repo import GitRepo

NOW = 1_796_000_000.0
DAY = 86_400.0
FIRST = "Always run the database migrations before starting the web workers."
AGAIN = "Run the database migrations before you start the web workers, always."
ENGLISH = "Use pnpm instead of npm in this repository."
SPANISH = "En este repositorio usa pnpm en lugar de npm."
FEW = "Setting the Redis connection pool to 10 is enough"
MANY = "At least 50 Redis connections in the pool for stability"
CONTRADICTIONS = (
    (FEW, "At least 50 for stability"),
    ("Redis 连接池设置为 10 就够了", "为了稳定至少需要 50"),
    ("Redisの接続プールは10で十分", "安定のためには少なくとも50必要"),
    ("Con 10 conexiones en el pool de Redis es suficiente", "Al menos 50 para que sea estable"),
)


class Bench:
    """One store, and projects on it with whatever clock and environment."""

    def __init__(self, repo: GitRepo) -> None:
        """Make an empty store."""
        self.path = repo.path
        self.project = self.at(NOW)
        copy_template(self.project.store_root)

    def at(self, now: float, **environ: str) -> Project:
        """Return a new project, as a new process would see it."""
        return Project(str(self.path), {**os.environ, **environ}, now)

    def write(self, text: str, **fields: object) -> StoredBullet:
        """Write a bullet past the Curator, as a merge of two branches would."""
        from memx.app.add import complete

        bullet = complete(self.project, Draft(text=text))
        return self.project.store.write(replace(bullet, **fields))

    def files(self) -> dict[str, bytes]:
        """Return every file below the store's two folders."""
        found = {}
        for folder in ("bullets", "archive"):
            for place, _, names in os.walk(os.path.join(self.project.store_root, folder)):
                for name in names:
                    full = os.path.join(place, name)
                    with open(full, "rb") as stream:
                        found[os.path.relpath(full, self.project.store_root)] = stream.read()
        return {path: data for path, data in found.items() if not path.endswith(".gitkeep")}

    def live(self) -> list[StoredBullet]:
        """Return the live bullets."""
        return self.at(NOW).store.scan()[0]


@pytest.fixture
def bench(git_repo: GitRepo) -> Bench:
    """A store in a fresh repository."""
    return Bench(git_repo)


def test_same_lesson_in_other_words_is_merged_and_sums_up(bench: Bench) -> None:
    """The survivor takes over tags, sources, the earlier time and all recalls, those in the journal too."""
    old = bench.write(FIRST, recall_count=2, tags=("db",), created=NOW - DAY, source="commit 1", score=70)
    bench.project.journal.record([old.bullet.id], NOW, 0)
    added = add(bench.at(NOW), Draft(text=AGAIN, tags=("deploy",), score=60, source="commit 2"))
    assert (added.action, added.id) == ("merged", old.bullet.id)
    kept = bench.live()[0].bullet
    assert (kept.text, kept.tags, kept.recall_count) == (FIRST, ("db", "deploy"), 3)
    assert (kept.created, kept.source) == (NOW - DAY, "commit 1; commit 2")
    assert len(kept.merged_from) == 1


def test_pending_recalls_of_the_absorbed_count_once(bench: Bench) -> None:
    """What the journal knows of the bullet that goes is added to the one that stays, and never again."""
    a = bench.write(FIRST, score=70, recall_count=1)
    b = bench.write(AGAIN, score=60, recall_count=2)
    for _ in range(3):
        bench.project.journal.record([b.bullet.id], NOW, 0)
    project = bench.at(NOW)
    merged = merge_into(project, a, b.bullet, b.path)
    assert merged.bullet.recall_count == 6
    assert b.bullet.id not in project.journal.pending()
    project.store.fold()
    assert bench.live()[0].bullet.recall_count == 6


@pytest.mark.parametrize(("score", "kept"), [(90, AGAIN), (50, FIRST), (10, FIRST)])
def test_keep_best_keeps_higher_score(bench: Bench, score: int, kept: str) -> None:
    """The higher score survives, and on a tie the bullet that was there."""
    bench.write(FIRST, score=50)
    assert add(bench.at(NOW), Draft(text=AGAIN, score=score)).action == "merged"
    (stored,) = bench.live()
    assert stored.bullet.text == kept
    assert {FIRST, AGAIN} - {kept} == {s.bullet.text for s in bench.project.store.scan(archived=True)[0]}


@pytest.mark.parametrize("strategy", ["keep_best", "merge_content"])
@pytest.mark.parametrize(("one", "other"), [(50, 60), (60, 50), (50, 50)])
def test_unmerge_restores_both_files_exactly(bench: Bench, one: int, other: int, strategy: str) -> None:
    """The bytes of before come back, comments and unknown keys included, whichever side had won."""
    a, b = bench.write(FIRST, score=one), bench.write(AGAIN, score=other)
    path = bench.path / ".memx" / b.path
    path.write_bytes(path.read_bytes().replace(b"scope:", b"# by hand\nowner: me\nscope:"))
    bench.project.journal.record([a.bullet.id, b.bullet.id], NOW, 0)
    before = bench.files()
    project = bench.at(NOW, MEMX_CURATOR_MERGE_STRATEGY=strategy)
    apply(project, plan(project))
    (kept,) = bench.live()
    assert bench.files() != before
    done = unmerge(bench.at(NOW), kept.bullet.id)
    assert done.is_exact
    assert bench.files() == before
    assert plan(bench.at(NOW)).groups == ()


def test_unmerge_after_an_edit_keeps_the_edit(bench: Bench) -> None:
    """A survivor that was edited since keeps its text and loses the other's id alone."""
    a, b = bench.write(FIRST, score=60), bench.write(AGAIN, score=50)
    raw = bench.files()[b.path]
    merged = merge_into(bench.project, a, b.bullet, b.path)
    bench.project.store.edit(merged.path, {"text": FIRST + " Twice."})
    done = unmerge(bench.at(NOW), a.bullet.id, b.bullet.id)
    assert not done.is_exact
    assert done.survivor.bullet.text == FIRST + " Twice."
    assert done.survivor.bullet.merged_from == ()
    assert bench.files()[b.path] == raw


def test_unmerge_of_what_was_never_merged_says_so(bench: Bench) -> None:
    """There is nothing to undo, and that is an error with the id in it."""
    a = bench.write(FIRST)
    with pytest.raises(StoreError, match="absorbed nothing"):
        unmerge(bench.project, a.bullet.id)


def test_two_merges_are_undone_last_first(bench: Bench) -> None:
    """Without a name the last merge is undone, exactly, and then the one before."""
    a = bench.write(FIRST, score=70)
    b, c = bench.write(AGAIN, score=60), bench.write("Migrations run first, then the web workers.", score=50)
    before = bench.files()
    first = merge_into(bench.project, a, b.bullet, b.path)
    between = bench.files()
    merge_into(bench.project, first, c.bullet, c.path)
    assert unmerge(bench.at(NOW), a.bullet.id).restored.bullet.id == c.bullet.id
    assert bench.files() == between
    assert unmerge(bench.at(NOW), a.bullet.id).restored.bullet.id == b.bullet.id
    assert bench.files() == before


def test_bullet_absorbed_by_two_is_restored_from_either(bench: Bench) -> None:
    """Two branches absorbed the same bullet: undoing one merge leaves the other one to be undone, exactly."""
    a, b = bench.write(FIRST, score=70), bench.write("Migrations run first, then the workers.", score=70)
    c = bench.write(AGAIN, score=50)
    before = bench.files()
    merge_into(bench.project, a, c.bullet, c.path)
    bench.project.store.put_back(before[c.path], c.path)
    merge_into(bench.project, b, c.bullet, c.path)
    unmerge(bench.at(NOW), a.bullet.id, c.bullet.id)
    assert bench.files()[c.path] == before[c.path]
    assert plan(bench.at(NOW)).unfinished == ()
    done = unmerge(bench.at(NOW), b.bullet.id, c.bullet.id)
    assert done.is_exact
    assert bench.files() == before


def _killed_at(step: int, work: Callable[[], None]) -> bool:
    """Run `work` in a child that dies at its step-th change of the file system; say whether it was done before."""
    child = os.fork()
    if child == 0:
        left = [step]

        def dying(real: Callable[..., object]) -> Callable[..., object]:
            def call(*arguments: object, **options: object) -> object:
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                return real(*arguments, **options)

            return call

        for name in ("replace", "rename", "unlink", "write", "fsync"):
            setattr(os, name, dying(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_crash_at_any_point_of_a_merge_leaves_both_texts(bench: Bench) -> None:
    """Killed at every single change of a file, both bullets are whole in the store, and the next run ends the merge."""
    a, b = bench.write(FIRST, score=60), bench.write(AGAIN, score=50)
    bench.project.journal.record([a.bullet.id, b.bullet.id], NOW, 0)
    whole = bench.files()
    step, is_done = 0, False
    while not is_done:
        step += 1
        is_done = _killed_at(step, lambda: (merge_into(bench.at(NOW), a, b.bullet, b.path), None)[1])
        found = bench.files()
        texts = {s.bullet.text for archived in (False, True) for s in bench.at(NOW).store.scan(archived)[0]}
        assert texts >= {FIRST, AGAIN}, step
        assert whole[b.path] in found.values(), step
        project = bench.at(NOW)
        apply(project, plan(project))
        (kept,) = bench.live()
        assert kept.bullet.merged_from == (b.bullet.id,), step
        unmerge(bench.at(NOW), a.bullet.id)
        assert {s.bullet.text for s in bench.live()} == {FIRST, AGAIN}, step
        _forget_decisions(bench)
    assert step > 10


def _forget_decisions(bench: Bench) -> None:
    os.unlink(os.path.join(bench.project.state_dir, "decided"))


@pytest.mark.parametrize("score", [90, 10])
def test_crash_while_adding_never_loses_the_one_that_is_there(bench: Bench, score: int) -> None:
    """Whichever side wins, killed at a random change the stored text is whole, and adding again succeeds."""
    bench.write(FIRST, score=50)
    for step in Random(score).sample(range(1, 40), 6):  # noqa: S311 (points in time, no secret)
        _killed_at(step, lambda: (add(bench.at(NOW), Draft(text=AGAIN, score=score)), None)[1])
        texts = {s.bullet.text for archived in (False, True) for s in bench.at(NOW).store.scan(archived)[0]}
        assert FIRST in texts, step
    add(bench.at(NOW), Draft(text=AGAIN, score=score))
    project = bench.at(NOW)
    apply(project, plan(project))
    assert len(bench.live()) == 1


def test_dedup_is_a_plan_then_one_change_then_nothing(bench: Bench) -> None:
    """The plan writes nothing, the second run finds nothing, and unrelated bullets are untouched."""
    for text in (FIRST, AGAIN, ENGLISH, "Rotate the signing key every 90 days."):
        bench.write(text)
    before = bench.files()
    planned = plan(bench.at(NOW))
    assert [len(group.absorbed) for group in planned.groups] == [1]
    assert bench.files() == before
    project = bench.at(NOW)
    applied = apply(project, planned)
    assert (len(applied.survivors), applied.skipped) == (1, ())
    after = bench.files()
    assert len(bench.live()) == 3
    project = bench.at(NOW)
    apply(project, plan(project))
    assert bench.files() == after


def test_dedup_knows_no_order(git_repo: GitRepo) -> None:
    """Whatever the order in which bullets were written, the same groups are found."""
    bench = Bench(git_repo)
    texts = [FIRST, AGAIN, "Run the database migrations before starting the web workers!", ENGLISH]
    outcomes = set()
    for shuffled in list(permutations(texts))[::9]:
        stored = [bench.write(text, created=NOW, score=50) for text in shuffled]
        groups = plan(bench.at(NOW)).groups
        outcomes.add(tuple((g.survivor.bullet.id, *(t.stored.bullet.id for t in g.absorbed)) for g in groups))
        for one in stored:
            bench.project.store.remove(one.path)
    assert len(outcomes) == 1
    assert outcomes != {()}


def test_two_files_with_one_id_are_merged_by_dedup(bench: Bench) -> None:
    """What lint calls a duplicate id is one file afterwards, with the other's bytes in the archive."""
    stored = bench.write(FIRST)
    source = bench.path / ".memx" / stored.path
    copy = source.with_name("by-hand.md")
    copy.write_bytes(source.read_bytes().replace(b"before", b"well before"))
    raw = copy.read_bytes()
    project = bench.at(NOW)
    apply(project, plan(project))
    assert len(bench.live()) == 1
    assert raw in bench.files().values() or raw.replace(b"well before", b"before") in bench.files().values()
    assert bench.project.store.lint() == []


def test_two_lessons_with_one_id_are_not_merged_by_dedup(bench: Bench) -> None:
    """A file copied by hand with another text is another lesson: it gets an id of its own and both stay."""
    stored = bench.write(FIRST)
    source = bench.path / ".memx" / stored.path
    copy = source.with_name("by-hand.md")
    copy.write_bytes(source.read_bytes().replace(FIRST.encode(), ENGLISH.encode()))
    planned = plan(bench.at(NOW))
    assert (planned.groups, [one.path for one in planned.misnamed]) == (
        (),
        [str(copy.relative_to(bench.path / ".memx"))],
    )
    done = apply(bench.at(NOW), planned)
    assert (len(done.renamed), done.skipped) == (1, ())
    assert sorted(one.bullet.text for one in bench.live()) == sorted((FIRST, ENGLISH))
    assert len({one.bullet.id for one in bench.live()}) == 2
    assert bench.project.store.lint() == []


def test_pair_that_company_keeps_apart_is_explained(bench: Bench) -> None:
    """A survivor that absorbed something else is not merged with its twin, and the plan says why."""
    a = bench.write(FIRST, score=70)
    stranger = bench.write(ENGLISH, score=50)
    merge_into(bench.project, a, stranger.bullet, stranger.path)
    bench.write(FIRST.replace("Always run", "always run").rstrip("."), score=60)
    planned = plan(bench.at(NOW))
    assert planned.groups == ()
    assert ["brought together by a merge" in one.reason for one in planned.left] == [True]


def test_other_language_is_shown_and_merged_on_request(bench: Bench) -> None:
    """Near-duplicates across languages are two bullets until somebody says otherwise."""
    bench.write(ENGLISH)
    added = add(bench.at(NOW), Draft(text=SPANISH))
    assert (added.action, len(added.similar)) == ("written", 1)
    planned = plan(bench.at(NOW))
    assert planned.groups == ()
    assert "languages differ" in planned.shown[0].reason
    assert resolve(bench.at(NOW), added.id, added.similar[0], "merge").action == "merged"
    assert len(bench.live()) == 1


def test_scopes_are_not_merged_into_one_another(bench: Bench) -> None:
    """A merge would show a workspace's lesson to everybody, or hide the project's."""
    bench.write(FIRST, scope="workspace:topic")
    added = add(bench.at(NOW), Draft(text=AGAIN))
    assert (added.action, len(added.similar)) == ("written", 1)


@pytest.mark.parametrize(("few", "many"), CONTRADICTIONS)
def test_contradiction_is_flagged_on_both_sides_with_advice(bench: Bench, few: str, many: str) -> None:
    """In each language both are written and marked, and the advice names what to do."""
    first = add(bench.at(NOW), Draft(text=few))
    second = add(bench.at(NOW), Draft(text=many))
    conflicts = find_conflicts(bench.at(NOW)).conflicts
    assert {conflicts[0].a.bullet.id, conflicts[0].b.bullet.id} == {first.id, second.id}
    assert conflicts[0].is_contradiction
    assert "delete the outdated" in conflicts[0].recommendation
    assert conflicts[0].advice.spans_a
    assert conflicts[0].advice.spans_b


def test_conflicts_are_found_unmarked_and_only_on_request(bench: Bench) -> None:
    """A pair that nobody marked is found by comparing the store."""
    bench.write(FEW)
    bench.write(MANY)
    assert list_conflicts(bench.at(NOW))[0] == []
    (found,) = find_conflicts(bench.at(NOW), everywhere=True).conflicts
    assert (found.is_contradiction, found.is_marked) == (True, False)


def test_only_proven_contradictions_are_shown_and_the_rest_counted(bench: Bench) -> None:
    """Pairs that may be one lesson, and pairs alike without a fact against each other, are named on request."""
    for text in (
        "The importer_token_04530 port is 8030.",
        "The importer_token_04530 port is 9030.",
        "Blank pages in Safari came from a missing polyfill.",
        "Blank pages in Safari came from a blocked third-party cookie.",
    ):
        bench.write(text)
    found = find_conflicts(bench.at(NOW), everywhere=True)
    assert ["port is" in conflict.a.bullet.text for conflict in found.conflicts] == [True]
    assert found.conflicts[0].proof > 0
    every = find_conflicts(bench.at(NOW), everywhere=True, possible=True)
    assert (every.alike, every.duplicates) == (0, 0)
    assert len(every.conflicts) == 1 + found.alike + found.duplicates


def test_newer_and_better_proven_are_named(bench: Bench) -> None:
    """The advice weighs recalls and age."""
    old = bench.write(FEW, created=NOW - 90 * DAY, updated=NOW - 90 * DAY, recall_count=12)
    new = bench.write(MANY, created=NOW, updated=NOW)
    (found,) = find_conflicts(bench.at(NOW)).conflicts
    assert (found.advice.newer, found.advice.better_proven) == (new.bullet.id, old.bullet.id)


def _flagged(bench: Bench) -> tuple[str, str]:
    first = add(bench.at(NOW), Draft(text=FEW))
    second = add(bench.at(NOW), Draft(text=MANY))
    assert (second.action, second.conflicts) == ("flagged", (first.id,))
    return first.id, second.id


def _found(bench: Bench, query: str, *, archived: bool = False) -> dict[str, bool]:
    answer = recall(bench.at(NOW), SearchRequest(query, archived=archived), is_counted=False)
    return {hit.id: bool(hit.conflicts_with) for hit in answer.hits}


@pytest.mark.parametrize("keep", ["a", "id"])
def test_keeping_one_supersedes_the_other(bench: Bench, keep: str) -> None:
    """The loser leaves the default search and stays a file; marks go from both sides."""
    first, second = _flagged(bench)
    assert _found(bench, "redis connection pool") == {first: True, second: True}
    done = resolve(bench.at(NOW), second, first, keep="a" if keep == "a" else second)
    assert (done.action, done.kept[0].bullet.supersedes) == ("superseded", (first,))
    assert all(stored.bullet.conflicts_with == () for stored in bench.live())
    assert _found(bench, "redis connection pool") == {second: False}
    assert set(_found(bench, "redis connection pool", archived=True)) == {first, second}
    assert find_conflicts(bench.at(NOW)).conflicts == ()
    assert plan(bench.at(NOW)).conflicts == 0


def test_keeping_both_is_remembered(bench: Bench) -> None:
    """A pair that holds side by side is asked about no more, by anybody who has the files."""
    first, second = _flagged(bench)
    resolve(bench.at(NOW), first, second, "both")
    assert _found(bench, "redis connection pool") == {first: False, second: False}
    assert find_conflicts(bench.at(NOW), everywhere=True).conflicts == ()


def test_keep_of_a_stranger_is_a_usage_error(bench: Bench) -> None:
    """Only the two bullets, both and merge can be kept."""
    first, second = _flagged(bench)
    with pytest.raises(UsageError):
        resolve(bench.at(NOW), first, second, "zzz")
    with pytest.raises(UsageError):
        resolve(bench.at(NOW), first, first, "both")


def test_edited_text_goes_through_the_curator(bench: Bench) -> None:
    """A bullet edited into another one's words is merged; edited out of a conflict it loses the mark."""
    first, second = _flagged(bench)
    edited = bench.project.store.edit(second, {"text": "Rotate the signing key every 90 days."})
    settled = settle_text(bench.at(NOW), edited)
    assert not settled.is_merged
    assert all(stored.bullet.conflicts_with == () for stored in bench.live())
    again = bench.project.store.edit(second, {"text": FEW})
    assert settle_text(bench.at(NOW), again).is_merged
    assert [stored.bullet.text for stored in bench.live()] == [FEW]
    assert {first, second} >= {stored.bullet.id for stored in bench.live()}


def test_file_by_hand_goes_through_the_curator_with_fmt(bench: Bench) -> None:
    """A file without an id is compared when it gets one: marked, or merged."""
    first = add(bench.at(NOW), Draft(text=FEW))
    hand = bench.path / ".memx/bullets/general/mine.md"
    hand.parent.mkdir(parents=True, exist_ok=True)
    hand.write_text(MANY + "\n")
    done = format_bullets(bench.at(NOW), None)
    assert done.settled[0].comparison.conflicts == (first.id,)
    assert all(stored.bullet.conflicts_with for stored in bench.live())
    bench.write(FIRST)
    hand.write_text(AGAIN + "\n")
    done = format_bullets(bench.at(NOW), None)
    assert [settled.is_merged for settled in done.settled] == [True]
    assert len(bench.live()) == 3


def test_absorbed_text_added_again_is_not_a_new_bullet(bench: Bench) -> None:
    """What was merged away is known: adding it again points to the one that took it in."""
    old = bench.write(FIRST, score=80)
    add(bench.at(NOW), Draft(text=AGAIN, score=10))
    again = add(bench.at(NOW), Draft(text=AGAIN, score=10))
    assert (again.action, again.id) == ("unchanged", old.bullet.id)


def test_merge_threshold_moves_its_tier(bench: Bench) -> None:
    """Above the similarity of a pair the threshold leaves both, marked."""
    bench.write(FIRST)
    assert add(bench.at(NOW, MEMX_CURATOR_MERGE_THRESHOLD="0.95"), Draft(text=AGAIN)).action == "flagged"


def test_conflict_threshold_moves_its_tier(bench: Bench) -> None:
    """What is a possible duplicate by default is another conclusion on the subject when the threshold is above it."""
    other = "In this repository use pnpm instead of npm."
    bench.write(ENGLISH)
    added = add(bench.at(NOW), Draft(text=other))
    assert added.reason.startswith("similarity")
    bench.project.store.remove(added.id)
    again = add(bench.at(NOW, MEMX_CURATOR_CONFLICT_THRESHOLD="0.79"), Draft(text=other))
    assert again.reason.startswith("contradiction")


def test_nothing_is_merged_into_a_superseded_bullet(bench: Bench) -> None:
    """A lesson that repeats what was superseded is compared with what holds now."""
    first, second = _flagged(bench)
    resolve(bench.at(NOW), first, second, "b")
    again = add(bench.at(NOW), Draft(text=FEW + "."))
    assert (again.action, again.conflicts) == ("flagged", (second,))


def test_what_was_taken_apart_stays_apart_after_an_edit(bench: Bench) -> None:
    """An edit of one of two unmerged bullets does not merge them again."""
    a, b = bench.write(FIRST, score=60), bench.write(AGAIN, score=50)
    merge_into(bench.project, a, b.bullet, b.path)
    unmerge(bench.at(NOW), a.bullet.id)
    edited = bench.project.store.edit(b.path, {"text": AGAIN.replace("always.", "always!")})
    assert not settle_text(bench.at(NOW), edited).is_merged
    assert len(bench.live()) == 2


def test_merge_strategy_changes_the_text(bench: Bench) -> None:
    """`merge_content` adds what the other knew; `keep_best` keeps the better text as it is."""
    more = AGAIN + " The job waits 30 s for the lock."
    a, b = bench.write(FIRST, score=60), bench.write(more, score=50)
    project = bench.at(NOW, MEMX_CURATOR_MERGE_STRATEGY="merge_content")
    merged = merge_into(project, a, b.bullet, b.path)
    assert merged.bullet.text.startswith(FIRST)
    assert "30 s" in merged.bullet.text


def test_split_sides_reads_both_styles_of_markers() -> None:
    """With and without the ancestor between the markers; broken markers are none."""
    plain = "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\nd\n"
    assert split_sides(plain) == (b"a\nd\n", b"a\nb\nd\n", b"a\nc\nd\n")
    based = "<<<<<<< o\nb\n||||||| base\nx\n=======\nc\n>>>>>>> t\n"
    assert split_sides(based) == (b"x\n", b"b\n", b"c\n")
    assert split_sides("a\n") is None
    assert split_sides("<<<<<<< o\nb\n=======\n") is None
    longer = "a\n<<<<<<<< o\nb\n========\nc\n>>>>>>>> t\nd\n"
    assert split_sides(longer) == (b"a\nd\n", b"a\nb\nd\n", b"a\nc\nd\n")
