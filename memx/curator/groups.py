"""Which of many bullets are one lesson: complete link over pairs that were nominated.

A group needs every pair inside it to be judged the same, so A ~ B ~ C never
pulls A and C together. The pairs come from the vectors' neighbours; there is no
comparison of all with all. The outcome does not depend on the order of the
input, and what a bullet absorbed before counts as a member: a second run after
the merges finds nothing.
"""

from __future__ import annotations

from memx.curator.attribute import gives_name_as_value
from memx.curator.judge import judge_texts
from memx.curator.names import name_apart
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memx.config import CuratorConfig
    from memx.curator.judge import Verdict
    from memx.model import Bullet


@record
class JudgedPair:
    """Two ids in ascending order and what the Curator says of them."""

    a: str
    b: str
    verdict: Verdict


def judge_pairs(
    texts: Mapping[str, str], neighbours: Iterable[tuple[str, str, float]], config: CuratorConfig
) -> Iterator[JudgedPair]:
    """Judge nominated pairs (id, id, cosine), each once, skipping unknown ids; lazily, in the order given.

    Pairs whose texts name two things are independent and left out. Pairs that share a bullet should come
    together: the texts read last are remembered.
    """
    seen: set[tuple[str, str]] = set()
    for left, right, cosine in neighbours:
        a, b = (left, right) if left < right else (right, left)
        if a == b or (a, b) in seen or a not in texts or b not in texts:
            continue
        seen.add((a, b))
        if not name_apart(texts[a], texts[b]) or all(gives_name_as_value(texts[name]) for name in (a, b)):
            yield JudgedPair(a, b, judge_texts(texts[a], texts[b], cosine, config))


def complete_link(
    pairs: Iterable[tuple[str, str, float]], absorbed: Mapping[str, Sequence[str]] | None = None
) -> list[tuple[str, ...]]:
    """Group ids; each pair (id, id, similarity) was judged to be one lesson.

    absorbed: what live bullets merged before (`merged_from`); two bullets are
    joined only if all of those are pairs too. Returns groups of two or more live
    ids, each sorted, in order of their first.
    """
    same = {frozenset((a, b)): similarity for a, b, similarity in pairs if a != b}
    before = absorbed or {}
    live = sorted(
        {name for pair in same for name in pair} - {name for names in before.values() for name in names}
    )
    member_of = {name: name for name in live}
    members = {name: {name, *before.get(name, ())} for name in live}
    for _, (a, b) in sorted((-similarity, sorted(pair)) for pair, similarity in same.items()):
        left, right = member_of.get(a), member_of.get(b)
        if (
            left is None
            or right is None
            or left == right
            or not _all_same(members[left], members[right], same)
        ):
            continue
        members[left] |= members.pop(right)
        for name in members[left]:
            if name in member_of:
                member_of[name] = left
    groups = [tuple(sorted(name for name in group if name in member_of)) for group in members.values()]
    return sorted(group for group in groups if len(group) > 1)


def _all_same(left: set[str], right: set[str], same: dict[frozenset[str], float]) -> bool:
    return all(frozenset((a, b)) in same for a in left for b in right)


def survivor(group: Iterable[Bullet]) -> Bullet:
    """Return the bullet of a group that stays: the highest score, then the oldest, then the least id."""
    return min(group, key=lambda b: (-b.score, b.created if b.created is not None else float("inf"), b.id))
