"""Who supersedes whom, in chains and in circles."""

from __future__ import annotations

import pytest

from memx.model import Bullet
from memx.supersession import Supersession


@pytest.mark.parametrize(
    ("links", "superseded", "cycles"),
    [
        pytest.param({"a": ("b",)}, {"b"}, [], id="one"),
        pytest.param({"a": ("b",), "b": ("c",)}, {"b", "c"}, [], id="chain"),
        pytest.param({"a": ("a",)}, set(), [("a",)], id="itself"),
        pytest.param({"a": ("b",), "b": ("a",)}, set(), [("a", "b")], id="each other"),
        pytest.param({"a": ("b",), "b": ("c",), "c": ("a",)}, set(), [("a", "b", "c")], id="circle"),
        pytest.param({"a": ("b",), "b": ("a",), "d": ("a",)}, {"a"}, [("a", "b")], id="circle and outside"),
        pytest.param({"a": ("b", "c"), "b": ("a",)}, {"c"}, [("a", "b")], id="circle above"),
        pytest.param({"a": ("gone",)}, {"gone"}, [], id="unknown"),
    ],
)
def test_bullet_is_superseded_by_what_it_does_not_supersede(
    links: dict[str, tuple[str, ...]], superseded: set[str], cycles: list[tuple[str, ...]]
) -> None:
    """A link counts unless it closes a circle; the circles are named."""
    found = Supersession(links)
    assert (found.superseded, found.cycles()) == (superseded, cycles)


@pytest.mark.parametrize(
    ("links", "is_settled"),
    [
        pytest.param({"a": ("b",)}, True, id="one"),
        pytest.param({"b": ("a",)}, True, id="the other"),
        pytest.param({}, False, id="neither"),
        pytest.param({"a": ("b",), "b": ("a",)}, False, id="each other"),
        pytest.param({"a": ("b",), "b": ("c",), "c": ("a",)}, False, id="circle"),
        pytest.param({"a": ("c",), "c": ("b",)}, False, id="over a third"),
    ],
)
def test_pair_is_settled_by_a_link_outside_of_circles(
    links: dict[str, tuple[str, ...]], *, is_settled: bool
) -> None:
    """One of two has taken the other's place, as the search sees it: a circle settles nothing."""
    found = Supersession(links)
    assert (found.settles("a", "b"), found.settles("b", "a")) == (is_settled, is_settled)


def test_links_of_files_with_one_id_add_up() -> None:
    """Two files of one id are one bullet to whoever looks for what took its place."""
    bullets = [Bullet("a", "x", supersedes=("b",)), Bullet("a", "y", supersedes=("c",)), Bullet("b", "z")]
    assert Supersession.of(bullets).superseded == {"b", "c"}
