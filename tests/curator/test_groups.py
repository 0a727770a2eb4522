"""Groups of one lesson."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memx.config import CuratorConfig
from memx.curator.groups import complete_link, judge_pairs, survivor
from memx.model import Bullet

EDGES = st.dictionaries(
    st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")).filter(lambda p: p[0] < p[1]),
    st.sampled_from([0.8, 0.85, 0.9, 1.0]),
    max_size=15,
)


def test_chain_is_not_one_group() -> None:
    """A ~ B ~ C without A ~ C gives one pair, the nearer one."""
    assert complete_link([("a", "b", 0.9), ("b", "c", 0.95)]) == [("b", "c")]


def test_absorbed_texts_count_as_members() -> None:
    """What a bullet merged before keeps it from joining a text unlike that."""
    assert complete_link([("b", "c", 0.9)], absorbed={"b": ["a"]}) == []


@settings(max_examples=200, deadline=None)
@given(EDGES, st.randoms())
def test_order_of_pairs_does_not_matter(edges: dict[tuple[str, str], float], random: object) -> None:
    """Any order and direction of the pairs gives the same groups."""
    pairs = [(a, b, s) for (a, b), s in edges.items()]
    turned = [(b, a, s) for a, b, s in pairs]
    random.shuffle(turned)  # type: ignore[attr-defined]
    assert complete_link(turned) == complete_link(pairs)


@settings(max_examples=200, deadline=None)
@given(EDGES)
def test_groups_are_complete_and_second_run_is_empty(edges: dict[tuple[str, str], float]) -> None:
    """All pairs inside a group are edges; after merging, nothing is left to merge."""
    pairs = [(a, b, s) for (a, b), s in edges.items()]
    groups = complete_link(pairs)
    assert all((a, b) in edges for group in groups for a in group for b in group if a < b)
    absorbed = {group[0]: group[1:] for group in groups}
    assert complete_link(pairs, absorbed) == []


def test_pairs_are_judged_once() -> None:
    """A pair nominated from both sides is judged once; unknown ids are skipped."""
    texts = {"a": "Use pnpm.", "b": "Use pnpm!"}
    judged = list(
        judge_pairs(
            texts, [("a", "b", 0.9), ("b", "a", 0.9), ("a", "z", 0.9), ("a", "a", 1.0)], CuratorConfig()
        )
    )
    assert [(pair.a, pair.b, pair.verdict.action) for pair in judged] == [("a", "b", "merge")]


def test_survivor_has_highest_score_then_oldest() -> None:
    """Score decides, then age, then the id."""
    group = [
        Bullet("c", "x", score=5, created=2.0),
        Bullet("b", "x", score=5, created=1.0),
        Bullet("a", "x", score=4),
    ]
    assert survivor(group).id == "b"
