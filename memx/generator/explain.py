"""Every factor of a hit's score as a table that multiplies out."""

from __future__ import annotations

from memx.generator.exact import EXACT_MAX
from memx.generator.fusion import KEYWORD_MAX
from memx.generator.fuzzy import FUZZY_MAX
from memx.generator.metadata import METADATA_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.model import Hit

_LABEL_WIDTH = 22


def explain(hit: Hit) -> Iterator[str]:
    """Yield the lines of the table, the formula's steps in order."""
    rows = (
        ("L1 exact words", hit.l1, f"of {EXACT_MAX:g}"),
        ("L2 fuzzy words", hit.l2, f"of {FUZZY_MAX:g}"),
        ("L3 tools, names, tags", hit.l3, f"of {METADATA_MAX:g}"),
        ("keyword", hit.keyword, f"(L1 + L2 + L3) / {KEYWORD_MAX:g}"),
        ("L4 semantic", hit.semantic, _meaning(hit)),
        ("blended", hit.blended, _blend(hit)),
        ("decay", hit.decay, "by age and recalls"),
        ("recency boost", hit.recency_boost, "created or accepted lately"),
        ("scope boost", hit.scope_boost, "of the current scope"),
        ("final", hit.score, "blended * decay * recency boost * scope boost"),
    )
    for label, value, remark in rows:
        yield f"    {label:<{_LABEL_WIDTH}}{format_factor(value)}  {remark}"


def format_factor(value: float) -> str:
    """Return a factor to three places; a tiny one with its exponent, so that it still multiplies out."""
    return f"{value:8.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:8.1e}"  # noqa: PLR2004


def _meaning(hit: Hit) -> str:
    return (
        "cosine above chance, from 0.5 on for the whole query word for word"
        if hit.l1 >= EXACT_MAX
        else "cosine above chance"
    )


def _blend(hit: Hit) -> str:
    """Say how the two sides were weighted, as far as the values tell."""
    if abs(hit.blended - hit.keyword) < 1e-12:  # noqa: PLR2004
        return "keyword alone" if hit.semantic == 0 else "keyword side"
    return "keyword * keyword weight + semantic * semantic weight"
