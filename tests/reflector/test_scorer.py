"""KnowledgeScorer: bounds and monotony."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memx.record import replace
from memx.reflector.scorer import Factors, KnowledgeScorer
from memx.reflector.worth import load_worth

SHARES = st.floats(0, 1, allow_nan=False)
FACTORS = st.builds(Factors, SHARES, SHARES, SHARES, SHARES, SHARES)
NAMES = ("confidence", "specificity", "cause", "worth", "support")


@settings(max_examples=60)
@given(FACTORS, st.sampled_from(NAMES), SHARES)
def test_raising_a_factor_never_lowers_the_score(factors: Factors, name: str, value: float) -> None:
    """The score is monotone in every factor and stays within 0 to 100."""
    scorer = KnowledgeScorer()
    raised = replace(factors, **{name: max(value, getattr(factors, name))})
    assert 0 <= scorer.score(factors) <= scorer.score(raised) <= 100


def test_packaged_models_never_count_a_cause_against_a_lesson() -> None:
    """Causes, failures and names of things have no negative coefficient."""
    for kind in ("commit", "session"):
        weights = {name: weight for name, _, _, weight in load_worth(kind).coefficients}
        assert all(weights[name] >= 0 for name in ("cause", "failure", "hazard", "identifiers"))
