"""The formula, by the design's worked example and by its limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.config import GeneratorConfig
from memx.generator.fusion import fuse, recency_boost, weights

DAY = 86_400.0


def test_worked_example_gives_the_designs_figures() -> None:
    """8, 5, 3 / 0.72 / 0.89 / 1.0 / 1.3 is 0.457, 0.562, 0.650."""
    fused = fuse(8, 5, 3, 0.72, decay=0.89, recency_boost=1.0, scope_boost=1.3)
    # The design rounds on the way: exactly, the last figure is 0.65056.
    assert (fused.keyword, fused.blended, fused.final) == pytest.approx((0.457, 0.562, 0.650), abs=6e-4)


@pytest.mark.parametrize(
    ("absent", "expected"),
    [
        (frozenset(), (0.6, 0.4)),
        (frozenset(("l4",)), (1.0, 0.0)),
        (frozenset(("l1",)), (0.6, 0.4)),
        (frozenset(("l1", "l2")), (0.6, 0.4)),
        (frozenset(("l1", "l2", "l3")), (0.0, 1.0)),
        (frozenset(("l1", "l2", "l3", "l4")), (1.0, 0.0)),
    ],
)
def test_absent_layers_move_the_weights(absent: frozenset[str], expected: tuple[float, float]) -> None:
    """L4 alone and L1-L3 together move the weights; one keyword layer counts 0 of the same 35."""
    assert weights(GeneratorConfig(), absent) == expected


def test_full_exact_hit_beats_a_purely_semantic_one() -> None:
    """25 of 35 keyword points weigh 0.429, a semantic score of 1 weighs 0.4."""
    assert round(fuse(15, 10, 0, 0).final, 3) == 0.429 > fuse(0, 0, 0, 1).final


layer = st.floats(0, 10)


@given(layer, layer, layer, st.floats(0, 1), st.floats(0, 1))
def test_fusion_is_monotone_in_every_layer(
    l1: float, l2: float, l3: float, semantic: float, more: float
) -> None:
    """No layer that rises lowers the score."""
    base = fuse(l1, l2, l3, semantic).final
    assert fuse(l1 + more, l2, l3, semantic).final >= base
    assert fuse(l1, l2 + more, l3, semantic).final >= base
    assert fuse(l1, l2, l3 + more, semantic).final >= base
    assert fuse(l1, l2, l3, min(1, semantic + more)).final >= base


@pytest.mark.parametrize(
    ("created", "accepted", "expected"),
    [
        (0.0, None, 1.0),
        (93 * DAY, None, 1.2),
        (92.9 * DAY, None, 1.0),
        (0.0, 99 * DAY, 1.2),
        (200 * DAY, None, 1.2),
        (None, None, 1.2),
    ],
)
def test_recency_counts_from_creation_or_acceptance(
    created: float | None, accepted: float | None, expected: float
) -> None:
    """Within 7 days, limits inclusive, the future and the unknown counting as now."""
    assert recency_boost(100 * DAY, created, accepted, GeneratorConfig()) == expected
