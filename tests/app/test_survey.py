"""Every pair of a survey is judged once, and those of one text come together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memx.app.survey import walk

COUNT = 30
NODE = st.integers(0, COUNT - 1)
PAIRS = st.lists(st.tuples(NODE, NODE).filter(lambda pair: pair[0] < pair[1]), unique=True, max_size=60)


@given(PAIRS)
def test_walk_yields_each_pair_once(pairs: list[tuple[int, int]]) -> None:
    """No pair is lost or judged twice, whatever graph they form."""
    numbers = [low * COUNT + high for low, high in pairs]
    assert sorted(walk(numbers, COUNT)) == sorted(numbers)


@given(PAIRS)
def test_walk_does_not_depend_on_order_of_nodes_seen(pairs: list[tuple[int, int]]) -> None:
    """Each pair but the first of a component touches a node that was there before."""
    met: set[int] = set()
    components = 0
    for number in walk([low * COUNT + high for low, high in pairs], COUNT):
        nodes = set(divmod(number, COUNT))
        components += not nodes & met
        met |= nodes
    assert components == _components(pairs)


def _components(pairs: list[tuple[int, int]]) -> int:
    of = {node: node for pair in pairs for node in pair}

    def root(node: int) -> int:
        while of[node] != node:
            node = of[node]
        return node

    for low, high in pairs:
        of[root(low)] = root(high)
    return sum(of[node] == node for node in of)
