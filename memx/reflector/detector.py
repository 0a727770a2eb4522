"""PatternDetector: all rules over a text's sentences, and which finding names the lesson."""

from __future__ import annotations

from memx.record import replace
from memx.reflector.language import detect_language
from memx.reflector.rules import ALL_RULES, Match
from memx.reflector.rules.rule import lower
from memx.reflector.stated import may_state, share_of
from memx.reflector.vocabulary import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.reflector.features import Evidence
    from memx.reflector.rules import Rule
    from memx.reflector.segment import Passage, Sentence


class PatternDetector:
    """Runs the rules over what `gather` left usable."""

    def __init__(self, rules: Sequence[Rule] = ALL_RULES) -> None:
        """Take the rules, the more particular first."""
        self.rules = tuple(rules)

    def detect(self, evidence: Evidence, *, alone: bool | None = None) -> list[Match]:
        """Return all matches; positions count the usable sentences.

        alone: only of rules whose match is a lesson by itself (True), only of the others (False).
        """
        lowered = lower(evidence.usable)
        return [
            match
            for rule in self.rules
            if alone is None or rule.stands_alone is alone
            for match in rule.find(evidence.usable, evidence.language, lowered)
        ]

    def denied(self, evidence: Evidence) -> frozenset[int]:
        """Return the positions of sentences that a rule's words deny: no other rule may read them as a lesson."""
        rules = [rule for rule in self.rules if rule.stands_alone and rule.negation in ("whole", "clause")]
        return frozenset(
            at
            for at, sentence in enumerate(evidence.usable)
            if any(rule.denies(sentence, evidence.language) for rule in rules)
        )

    def may_match(self, text: str) -> bool:
        """Tell cheaply whether a rule whose match is a lesson by itself could match a short text."""
        lowered = f" {text.lower()} "
        words = vocabulary(detect_language(text))
        for rule in self.rules:  # noqa: SIM110 (a generator doubles the cost)
            if rule.stands_alone and words.may_match(rule.name, lowered):
                return True
        return False

    def may_state(self, text: str) -> bool:
        """Tell cheaply whether a short text may state a lesson in no rule's wording: a reason, or a directive."""
        return may_state(text, vocabulary(detect_language(text)))

    def voided(self, sentences: Sequence[Sentence]) -> tuple[str, Sentence] | None:
        """Return (rule, sentence) of words that a rule knows, but denied, planned, asked or quoted."""
        language = detect_language(" ".join(sentence.text for sentence in sentences))
        for sentence, lowered in zip(sentences, lower(sentences), strict=True):
            for rule in self.rules:
                if rule.denies(sentence, language, lowered) or rule.is_quoted(sentence, language):
                    return rule.name, sentence
        return None

    def has_match(self, passage: Passage) -> bool:
        """Tell whether a rule whose match is a lesson by itself matches in any sentence."""
        language = detect_language(" ".join(s.text for s in passage.sentences))
        lowered = lower(passage.sentences)
        return any(
            next(rule.find(passage.sentences, language, lowered), None)
            for rule in self.rules
            if rule.stands_alone
        )


_WHOLE = 0.3
"""The share of a text from which a rule's own words carry all of it."""
_LEAST = 0.4
"""What a rule's own words carry in a text that is nearly all about other things."""


def in_proportion(match: Match, evidence: Evidence) -> Match:
    """Return a match with less support where its sentences are a small part of a text.

    `each time round the loop` in one of thirty items does not make the list of changes a lesson.
    """
    share = share_of(evidence.usable, match.first, match.last) / _WHOLE
    return (
        match if share >= 1.0 else replace(match, support=match.support * (_LEAST + (1.0 - _LEAST) * share))
    )


def is_failing(evidence: Evidence) -> bool:
    """Tell whether a text speaks of something that went wrong, not only of what may."""
    values = evidence.values
    if values.get("fix_title", 0.0):
        return True
    return values.get("failure", 0.0) > 0 and (not values.get("stated") or values.get("past", 0.0) > 0)


def _is_diagnosis(match: Match, evidence: Evidence) -> bool:
    """Tell whether the matched sentences say why something was so, and not what is to be done."""
    cues = set().union(*evidence.counts[match.first : match.last + 1])
    if "diagnosis" in cues:
        return True
    return {"reason", "past"} <= cues and cues.isdisjoint(("directive", "decision"))


def as_fix(match: Match) -> Match:
    """Return a statement about what went wrong as an error and its fix, no surer a lesson than before."""
    return replace(match, rule="error_fix", confidence=0.8, support=match.support * match.confidence / 0.8)


def lead_match(matches: Sequence[Match], evidence: Evidence) -> Match:
    """Return the match that names the lesson; without one, the kind that the words suggest, with no support."""
    failing = is_failing(evidence)
    if matches:
        best = max(matches, key=lambda match: (match.support * match.confidence, match.confidence))
        if best.rule == "correction" and not best.support:
            best = replace(best, rule="statement", confidence=0.55)  # `do not` alone corrects nobody
        return (
            as_fix(best) if best.rule == "statement" and (failing or _is_diagnosis(best, evidence)) else best
        )
    name, confidence = ("error_fix", 0.8) if failing else ("statement", 0.55)
    return Match(name, confidence, 0.0, 0, max(0, len(evidence.usable) - 1), ())
