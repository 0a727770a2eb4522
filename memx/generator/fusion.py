"""The formula that turns four layers and three factors into one score (pure).

    NormKeyword = (L1 + L2 + L3) / 35
    Blended     = NormKeyword * keyword_weight + Semantic * semantic_weight
    Final       = Blended * DecayWeight * RecencyBoost * ScopeBoost

A layer that could not be computed counts 0 of the same 35. Without L4 the
keyword side weighs 1.0 and the semantic side 0.0; without all of L1-L3 it is
the other way round.
"""

from __future__ import annotations

from memx.config import GeneratorConfig
from memx.record import record

KEYWORD_MAX = 35.0
SECONDS_PER_DAY = 86_400.0

L1, L2, L3, L4 = "l1", "l2", "l3", "l4"
KEYWORD_LAYERS = frozenset((L1, L2, L3))


@record
class Fusion:
    """The three steps of the formula."""

    keyword: float
    blended: float
    final: float


def fuse(
    l1: float,
    l2: float,
    l3: float,
    semantic: float,
    *,
    decay: float = 1.0,
    recency_boost: float = 1.0,
    scope_boost: float = 1.0,
    config: GeneratorConfig | None = None,
    absent: frozenset[str] = frozenset(),
) -> Fusion:
    """Return NormKeyword, Blended and Final; `absent` names layers (l1, l2, l3, l4) that failed.

    fuse(8, 5, 3, 0.72, decay=0.89, scope_boost=1.3) is 0.457, 0.562, 0.650 (rounded at each step;
    nothing is rounded here).
    """
    config = GeneratorConfig() if config is None else config
    keyword, blended = blend(l1, l2, l3, semantic, weights(config, absent))
    return Fusion(keyword, blended, final(blended, decay, recency_boost, scope_boost))


def blend(
    l1: float, l2: float, l3: float, semantic: float, weighing: tuple[float, float]
) -> tuple[float, float]:
    """Return NormKeyword and Blended, with the weights of the keyword and of the semantic side."""
    keyword = (l1 + l2 + l3) / KEYWORD_MAX
    return keyword, keyword * weighing[0] + semantic * weighing[1]


def final(blended: float, decay: float, recency_boost: float, scope_boost: float) -> float:
    """Return Final."""
    return blended * decay * recency_boost * scope_boost


def weights(config: GeneratorConfig, absent: frozenset[str]) -> tuple[float, float]:
    """Return the weights of the keyword and of the semantic side when some layers are absent."""
    if L4 in absent:
        return 1.0, 0.0
    if absent >= KEYWORD_LAYERS:
        return 0.0, 1.0
    return config.keyword_weight, config.semantic_weight


def recency_boost(
    now: float, created: float | None, accepted: float | None, config: GeneratorConfig
) -> float:
    """Return `recency_boost` for a bullet created or accepted within `recency_days`, else 1.0.

    No time at all means a file written by hand just now; the future counts as now.
    """
    known = [time for time in (created, accepted) if time is not None]
    age_days = max(0.0, now - max(known)) / SECONDS_PER_DAY if known else 0.0
    return config.recency_boost if age_days <= config.recency_days else 1.0
