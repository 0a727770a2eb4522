"""Who supersedes whom, in chains and in circles."""

from __future__ import annotations

import pytest

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
