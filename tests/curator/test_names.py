"""Two texts that name two things are told apart without being analysed, and agree with the whole judgement."""

from __future__ import annotations

import pytest

from memx.config import CuratorConfig
from memx.curator.groups import judge_pairs
from memx.curator.judge import INDEPENDENT, judge_texts
from memx.curator.names import name_apart

APART = [
    ("Set `POOL_1` to 50; 10 is not enough.", "Set `POOL_2` to 50; 10 is not enough."),
    ("Set `POOL_2` to 50; 10 is not enough.", "Set `POOL_26` to 50; 10 is not enough."),
    ("Load src/cache/pool.py first.", "Load src/cache/lock.py first."),
    ("部署前先刷新 billing_lock。", "部署前先刷新 search_lock。"),
    ("Raise maxRetries for uploads.", "Raise minRetries for uploads."),
]
NOT_APART = [
    ("Set `MAX_POOL_SIZE` to 50.", "Set the max pool size to 50."),
    ("Set `MAX_POOL_SIZE` to 50.", "Set `max-pool-size` to 50."),
    ("Load src/cache/pool.py first.", "Load pool.py first."),
    ("Load src/cache/pool.py first.", "Load the cache first."),
    ("Use TCP/IP and CI/CD.", "Use HTTP/2 and read/write locks."),
    ("The server is Linux.", "The server is GitHub."),
]


@pytest.mark.parametrize(("a", "b"), APART)
def test_own_names_on_both_sides_are_apart_and_independent(a: str, b: str) -> None:
    """What is left out of a survey would have been judged independent."""
    assert name_apart(a, b)
    assert name_apart(b, a)
    assert judge_texts(a, b, 0.99, CuratorConfig()).action == INDEPENDENT


@pytest.mark.parametrize(("a", "b"), NOT_APART)
def test_name_told_otherwise_or_by_one_side_is_not_apart(a: str, b: str) -> None:
    """A name in another spelling, in words or with fewer folders is no other name."""
    assert not name_apart(a, b)
    assert not name_apart(b, a)


def test_name_as_value_is_judged_although_names_are_apart() -> None:
    """What excludes another value is no other subject, even where the values are identifiers."""
    texts = {
        "a": "Locks are kept in `lock_table`.",
        "b": "Locks are kept in `redis_cluster`.",
        "c": "Renew `lock_table` before noon.",
        "d": "Renew `redis_cluster` before noon.",
    }
    judged = list(judge_pairs(texts, [("a", "b", 0.9), ("c", "d", 0.9)], CuratorConfig()))
    assert [(pair.a, pair.b, pair.verdict.contradiction) for pair in judged] == [("a", "b", True)]
