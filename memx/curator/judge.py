"""Decide what happens to two lessons: contradiction, then the evidence gate, then the tiers."""

from __future__ import annotations

from memx.curator.attribute import other_subject
from memx.curator.contradiction import contradict
from memx.curator.features import compare
from memx.curator.gate import DOUBTFUL, OPPOSING, SUBJECTS, evidence, facts_apart
from memx.curator.similarity import likelihood, says_the_same
from memx.curator.tokens import analyse
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.config import CuratorConfig
    from memx.curator.features import Comparison
    from memx.curator.gate import Veto
    from memx.curator.similarity import Models
    from memx.model import Bullet

MERGE, CONFLICT, INDEPENDENT = "merge", "conflict", "independent"
_EDITED = 0.85  # share of characters that two versions of one text have in common
ADVICE = "confirm which practice is right and delete the outdated one"


@record
class Verdict:
    """What the Curator decided for a pair, and on what grounds."""

    similarity: float
    cosine: float
    action: str
    """merge, conflict or independent."""
    contradiction: bool
    veto: tuple[str, ...]
    """The gate's reasons against a merge; those in writing alone are looked for only where a merge is at stake."""
    reason: str


def tier(similarity: float, config: CuratorConfig) -> str:
    """Return the action for a calibrated similarity alone; the limits are inclusive."""
    if similarity >= config.merge_threshold:
        return MERGE
    return CONFLICT if similarity >= config.conflict_threshold else INDEPENDENT


def judge(a: Bullet, b: Bullet, cosine: float, config: CuratorConfig) -> Verdict:
    """Judge two bullets by their texts; cosine is the exact one of their vectors, -1..1."""
    return judge_texts(a.text, b.text, cosine, config)


def judge_texts(a: str, b: str, cosine: float, config: CuratorConfig) -> Verdict:
    """Judge two texts; symmetric in them."""
    if a == b:
        return Verdict(1.0, cosine, tier(1.0, config), False, (), "the same text")  # noqa: FBT003 (a field)
    return judge_comparison(compare(analyse(a), analyse(b)), cosine, config)


def judge_comparison(
    comparison: Comparison, cosine: float, config: CuratorConfig, models: Models | None = None
) -> Verdict:
    """Judge a pair that was compared before."""
    chances = likelihood(comparison, cosine, models)
    score = chances.similarity
    if says_the_same(comparison) and not evidence(comparison):
        return Verdict(score, cosine, tier(score, config), False, (), "the same words")  # noqa: FBT003 (a field)
    found = contradict(comparison, chances, config.conflict_threshold)
    action = tier(score, config)
    if action == INDEPENDENT and not found.is_contradiction:
        return Verdict(score, cosine, action, False, (), f"similarity {score:.2f}: {action}")  # noqa: FBT003 (a field)
    # The texts are read a second time, as they are written, only where a merge is at stake.
    vetoes = evidence(comparison) if action == MERGE else facts_apart(comparison)
    reasons = tuple(str(veto) for veto in vetoes)
    if found.is_contradiction:
        reason = f"contradiction: {found.reason}; {ADVICE}"
        return Verdict(score, cosine, CONFLICT, True, reasons, reason)  # noqa: FBT003 (a field)
    other = _other_subject(comparison, vetoes) if action == CONFLICT else ""
    if other:
        return Verdict(score, cosine, INDEPENDENT, False, reasons, other)  # noqa: FBT003 (a field)
    if action == MERGE and vetoes:
        opposed = any(veto.kind in OPPOSING for veto in vetoes)
        doubtful = all(veto.kind in DOUBTFUL for veto in vetoes)
        kept = CONFLICT if opposed or doubtful else INDEPENDENT
        return Verdict(score, cosine, kept, opposed, reasons, f"not merged: {reasons[0]}")
    return Verdict(score, cosine, action, False, reasons, f"similarity {score:.2f}: {action}")  # noqa: FBT003 (a field)


def _other_subject(comparison: Comparison, vetoes: tuple[Veto, ...]) -> str:
    """Return why what only looks alike is no possible duplicate, '' when it may be one."""
    if vetoes and all(veto.kind in SUBJECTS for veto in vetoes):
        return f"another subject: {vetoes[0]}"
    return other_subject(comparison)


def is_edit(a: str, b: str) -> bool:
    """Tell whether two texts that bear one id may be versions of one lesson: almost alike and no fact apart."""
    from difflib import SequenceMatcher

    if SequenceMatcher(None, a, b, autojunk=False).ratio() < _EDITED:
        return False
    comparison = compare(analyse(a), analyse(b))
    return not evidence(comparison) and not comparison.turned and not comparison.axes
