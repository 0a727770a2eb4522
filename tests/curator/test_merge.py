"""Merging bullets without losing anything."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memx.curator.merge import facts, join_texts, keep_best, merge, merge_content, separate
from memx.model import Bullet

OLD = Bullet(
    "a000000001",
    "Use a pool of 50.",
    score=60,
    tags=("redis",),
    created=10.0,
    recall_count=2,
    source="commit 1",
)
NEW = Bullet(
    "a000000002",
    "Pool: 50, set `MAX_POOL`.",
    score=80,
    tags=("pool",),
    created=20.0,
    recall_count=3,
    source="commit 2",
)
SENTENCES = st.sampled_from(
    [
        "Set `MAX_POOL` to 50.",
        "The port is 8080!",
        "Use v1.2.3",
        "See src/a_b.py, line 7.",
        "连接池设为 50。",
        "再試行は3回。",
        "Keep it simple.",
    ]
)


def test_higher_score_survives_and_takes_over() -> None:
    """The higher score keeps its text and gains the other's fields."""
    done = keep_best(OLD, NEW)
    kept = done.survivor
    assert (done.absorbed, kept.id, kept.text) == (OLD, NEW.id, NEW.text)
    assert (kept.tags, kept.created, kept.recall_count) == (("pool", "redis"), 10.0, 5)
    assert (kept.merged_from, kept.source) == ((OLD.id,), "commit 2; commit 1")


def test_tie_keeps_existing() -> None:
    """On equal scores the existing bullet survives."""
    assert keep_best(OLD, Bullet("a000000002", "Other.", score=60)).survivor.id == OLD.id


def test_merge_content_adds_only_what_is_new() -> None:
    """The richer text gains the other's sentences; `updated` says that it changed."""
    other = Bullet("a000000003", "Use a pool of 50. The driver reconnects after 30 s.", score=50)
    kept = merge_content(OLD, other, now=99.0).survivor
    assert kept.text == "Use a pool of 50. The driver reconnects after 30 s."
    assert kept.updated == 99.0


def test_merge_content_of_known_text_changes_nothing() -> None:
    """Nothing new to say leaves the text and `updated` alone."""
    kept = merge(OLD, Bullet("a000000003", OLD.text, score=1), "merge_content", now=99.0).survivor
    assert (kept.text, kept.updated) == (OLD.text, None)


def test_separate_takes_one_id_out() -> None:
    """What unmerge leaves of `merged_from` for an edited survivor."""
    assert separate(keep_best(OLD, NEW).survivor, OLD.id).merged_from == ()


def test_prior_path_is_no_bullet_file() -> None:
    """The survivor's earlier bytes are kept under a name that no scan reads."""
    path = keep_best(OLD, NEW).prior_path("bullets/tools/pool-a000000002.md")
    assert path == "archive/tools/pool-a000000002.before-a000000001"


@settings(max_examples=150, deadline=None)
@given(st.lists(SENTENCES, max_size=5).map(" ".join), st.lists(SENTENCES, max_size=5).map(" ".join))
def test_joined_text_keeps_numbers_and_identifiers_of_both(a: str, b: str) -> None:
    """Every fact of both texts is in the joined one, and joining again adds nothing."""
    joined = join_texts(a, b)
    assert facts(a) | facts(b) <= facts(joined)
    assert join_texts(joined, b) == joined


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_join(a: str, b: str) -> None:
    """Joining starts with the first text and never fails."""
    assert join_texts(a, b).startswith(a.rstrip())
