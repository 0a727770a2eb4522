"""What a lesson that a person wrote is about: section, type, score, tools and entities, from its text alone."""

from __future__ import annotations

from memx.record import record
from memx.reflector.classify import classify_written
from memx.reflector.detector import PatternDetector, lead_match
from memx.reflector.distiller import entities_of
from memx.reflector.features import gather
from memx.reflector.scorer import Factors, KnowledgeScorer
from memx.reflector.segment import segment_prose
from memx.reflector.subject import tools_of
from memx.reflector.vocabulary import vocabulary


@record
class Description:
    """What could be read off a text."""

    section: str
    type: str
    score: int
    tools: tuple[str, ...]
    entities: tuple[str, ...]
    lang: str


def factors_of(text: str) -> tuple[tuple[str, float], ...]:
    """Return what the score of a text is made of, by name; each 0 to 1."""
    evidence = gather(segment_prose(text))
    scorer, words = KnowledgeScorer(), vocabulary(evidence.language)
    return (("specificity", scorer.specificity(text, words)), ("cause", scorer.cause(text, words)))


def describe(text: str) -> Description:
    """Return a description; the score counts the person's word as full confidence.

    A text that shows neither a name, a value nor a cause says nothing of where
    it belongs, so it goes to `general`.
    """
    evidence = gather(segment_prose(text))
    match = lead_match(PatternDetector().detect(evidence), evidence)
    section, kind = classify_written(text, match.rule, evidence)
    scorer, words = KnowledgeScorer(), vocabulary(evidence.language)
    factors = Factors(1.0, scorer.specificity(text, words), scorer.cause(text, words), support=1.0)
    if not factors.specificity and not factors.cause and not match.support:
        section, kind = "general", "knowledge"
    tools = tools_of(text)
    return Description(section, kind, scorer.score(factors), tools, entities_of(text), evidence.language)
