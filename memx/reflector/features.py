"""What can be counted in a text and says whether it teaches something: plain numbers with plain names.

Every feature is language-free; the words come from the lexicons. The learned
coefficients (worth.json) are one number a name.
"""

from __future__ import annotations

import math
import re

from memx.record import record
from memx.reflector.guards import (
    is_denied,
    is_marked,
    is_offer,
    is_plan,
    is_question,
    is_reason,
    is_refuted,
)
from memx.reflector.language import detect_language, weight_of
from memx.reflector.pattern import pattern
from memx.reflector.segment import ITEM, PROSE, TITLE
from memx.reflector.stated import sentence_support
from memx.reflector.tokens import code_tokens, count_values
from memx.reflector.vocabulary import fold, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memx.reflector.segment import Passage, Sentence
    from memx.reflector.vocabulary import Vocabulary

_CONVENTIONAL = pattern(r"^(?P<type>[A-Za-z]+)(?:\((?P<scope>[^)]*)\))?!?:\s*(?P<rest>.+)$", re.DOTALL)
_PREFIX = pattern(
    r"^(?:\[(?P<type>Add|Mod|Fix|New|Imp|Keep|Docs?|Del)\]:?|(?P<key>Add|Mod|Fix|New|Imp|Keep|Docs?|Del):)\s*",
    re.IGNORECASE,
)
_VERB = pattern(r"^(?P<type>Add|Mod|Fix|New|Imp|Keep|Docs?|Del)\b", re.IGNORECASE)
_FIX_TITLE = pattern(
    r"^(?:\[?fix(?:e[sd]|ing)?\b|bug ?fix|hotfix|corrige|corregid|corrig|soluciona|arregl|修复|修正|解决"
    r"|不具合)",
    re.IGNORECASE,
)
_FIX_ENDINGS = ("を修正", "の修正")
_ROUTINE = pattern(
    r"^(?:merge\b|revert\b|bump\b|rel(?:ease|ase)\b|version\b|v?\d+\.\d+|sync with|the \d+\w* batch"
    r"|update(?:s|d)? (?:changelog|readme|version|deps)"
    r"|delete\b|initial\b|\[pre-commit|lint\b|typo)",
    re.IGNORECASE,
)
_BOT_WORDS = (
    "dependabot",
    "bumps [",
    "pre-commit autoupdate",
    "renovate",
    "updated-dependencies:",
    "update pre-commit hooks",
)
_TICKET = pattern(r"\bmt#\d+|\bR\d\b|\bPR #?\d+|\bSC\d\b|\bAT\d\b|\bADR-\d+|\bTask \d+", re.IGNORECASE)
_LABEL = pattern(r"^[*`\"]{0,2}[\w./-]+(?:\(\))?[*`\"]{0,2}\s*[:：] ")
_ROUTINE_TYPES = frozenset(
    ("chore", "docs", "doc", "style", "test", "tests", "refactor", "build", "ci", "keep")
)

NAMES = (
    "cause", "hazard", "failure", "remedy", "necessity", "contrast", "past", "condition", "firm",
    "feature", "maintenance", "testing", "series", "negation", "discourse", "docs_words", "general_fact",
    "identifiers", "values", "length", "items", "body", "explained", "hazard_failure", "best_sentence",
    "mean_sentence", "fluency", "core_discourse", "title_trouble", "title_remedy", "label_items", "crowd",
    "sequel", "thin", "merge_title", "all_series", "all_maintenance", "all_feature",
    "fix_title", "feature_title", "routine_title", "maintenance_title", "bot", "tickets",
    "stated", "prose", "sentence_length", "body_reason",
)  # fmt: skip
_CUES = (
    "cause", "hazard", "failure", "remedy", "necessity", "contrast", "past", "condition", "firm",
    "feature", "maintenance", "testing", "series", "negation", "discourse", "docs_words", "general_fact",
)  # fmt: skip
_OFFERED = frozenset(("offered", "offered_last"))
_CORE = 3
"""How many sentences, the strongest, are taken for the lesson itself."""


@record
class Evidence:
    """A text made ready for rules and scorer: language, usable sentences and feature values."""

    language: str
    passage: Passage
    usable: tuple[Sentence, ...]
    folded: tuple[str, ...]
    """The folded masked text of each usable sentence."""
    counts: tuple[Mapping[str, int], ...]
    """The number of cues in each usable sentence, by group."""
    strengths: tuple[float, ...]
    """How much each usable sentence alone looks like a lesson."""
    values: dict[str, float]


def title_type(title: str) -> tuple[str, str]:
    """Return a title's type, in lower case, and what follows it; ('', title) without one.

    A bare verb at the beginning names the type too, and stays: it belongs to the sentence.
    """
    match = _CONVENTIONAL.match(title)
    if match:
        return match["type"].lower(), title[match.start("rest") :]
    match = _PREFIX.match(title)
    if match:
        return (match["type"] or match["key"]).lower(), title[match.end() :]
    match = _VERB.match(title)
    return (match["type"].lower(), title) if match else ("", title)


def gather(passage: Passage, language: str = "", *, plans: bool = False) -> Evidence:
    """Count everything in a passage; `plans` keeps what was announced, where it was then done."""
    return measure(sift(passage, language, plans=plans))


def sift(passage: Passage, language: str = "", *, plans: bool = False) -> Evidence:
    """Keep a passage's usable sentences with their cues, which is all that rules read; see `measure` and `gather`."""
    language = language or detect_language(" ".join(s.text for s in passage.sentences))
    words = vocabulary(language)
    usable, folded, tallies = [], [], []
    dropped = False
    for sentence in passage.sentences:
        text = fold(sentence.masked)
        counts = words.tally(text)
        doubtful = "?" in sentence.text or "？" in sentence.text or "asked" in counts
        asked = doubtful and is_question(sentence.text, text, words)
        planned = "planned" in counts and not plans and is_plan(text, words)
        planned = planned or is_marked(sentence.masked)
        planned = planned or (not _OFFERED.isdisjoint(counts) and is_offer(text, words))
        planned = planned or ("supposed" in counts and is_refuted(text, words))
        dropped = asked or planned or is_denied(counts) or (dropped and is_reason(text, words))
        if dropped:
            continue
        usable.append(sentence)
        folded.append(text)
        tallies.append(counts)
    return Evidence(language, passage, tuple(usable), tuple(folded), tuple(tallies), (), {})


def measure(evidence: Evidence) -> Evidence:
    """Return sifted evidence with its strengths and feature values, which cost more than the rest of it."""
    passage, usable, folded, tallies = evidence.passage, evidence.usable, evidence.folded, evidence.counts
    tokens = [set(code_tokens(s.text)) for s in usable]
    strengths = [sentence_strength(c, s, len(t)) for c, s, t in zip(tallies, usable, tokens, strict=True)]
    words = vocabulary(evidence.language)
    values = _measure(passage, usable, folded, tallies, tokens, strengths, words)
    return Evidence(evidence.language, passage, usable, folded, tallies, tuple(strengths), values)


def _measure(
    passage: Passage,
    usable: Sequence[Sentence],
    folded: Sequence[str],
    tallies: Sequence[Mapping[str, int]],
    tokens: Sequence[set[str]],
    strengths: Sequence[float],
    words: Vocabulary,
) -> dict[str, float]:
    ranked = sorted(range(len(usable)), key=lambda i: (-strengths[i], i))
    core = sorted(ranked[:_CORE])
    text = "\n".join([s.text for s in usable])
    core_text = text if len(core) == len(usable) else "\n".join([usable[i].text for i in core])
    weights = [weight_of(s.text) for s in usable]
    length = sum(weights) + max(0, len(weights) - 1)  # the weight of `text`: its lines and their ends
    core_length = sum([weights[i] for i in core]) + max(0, len(core) - 1)
    many = len(usable) + 1
    titled = words.tally(fold(passage.title)) if passage.title else {}
    explained = ["cause" in c or "hazard" in c for c in tallies]
    total = _summed(tallies).get
    summed = _summed([tallies[i] for i in core])
    values = {name: math.log1p(summed[name]) if name in summed else 0.0 for name in _CUES}
    values |= {
        "identifiers": math.log1p(len(set().union(*[tokens[i] for i in core]))),
        "values": math.log1p(count_values(core_text)),
        "length": math.log1p(length / 100),
        "items": sum([w for w, s in zip(weights, usable, strict=True) if s.kind == ITEM]) / length
        if length
        else 0.0,
        "explained": sum(explained) / many,
        "hazard_failure": math.log1p(
            sum([e and "failure" in c for e, c in zip(explained, tallies, strict=True)])
        ),
        "best_sentence": strengths[ranked[0]] if ranked else 0.0,
        "mean_sentence": sum(strengths) / many,
        "fluency": (total("discourse", 0) + total("negation", 0)) / (length / 50 + 1),
        "core_discourse": summed.get("discourse", 0) / (core_length / 50 + 1),
        "title_trouble": math.log1p(sum([titled.get(n, 0) for n in ("failure", "hazard", "negation")])),
        "title_remedy": math.log1p(sum([titled.get(n, 0) for n in ("contrast", "firm", "necessity")])),
        "label_items": sum([_LABEL.match(s.text) is not None for s in usable]) / many,
        "crowd": math.log1p(max(0, len(usable) - 8)),
        "sequel": float(bool(total("sequel"))),
        "thin": float(length < 200),  # noqa: PLR2004
        "all_series": math.log1p(total("series", 0)),
        "all_maintenance": total("maintenance", 0) / many,
        "all_feature": total("feature", 0) / many,
    }
    values |= _title_values(passage.title, text, words)
    return values | _stated_values(usable, folded, tallies, weights, words)


def _summed(tallies: Sequence[Mapping[str, int]]) -> Mapping[str, int]:
    """Return the cues of several sentences together."""
    if len(tallies) == 1:
        return tallies[0]
    summed: dict[str, int] = {}
    for counts in tallies:
        for name, count in counts.items():
            summed[name] = summed.get(name, 0) + count
    return summed


def _stated_values(
    usable: Sequence[Sentence],
    folded: Sequence[str],
    tallies: Sequence[Mapping[str, int]],
    weights: Sequence[int],
    words: Vocabulary,
) -> dict[str, float]:
    """Return how clearly a sentence states a lesson, and how far the text is prose that begins with a reason."""
    prose = [weight for weight, s in zip(weights, usable, strict=True) if s.kind == PROSE]
    first = next((at for at, s in enumerate(usable) if s.kind != TITLE), None)
    body: Mapping[str, int] = {} if first is None else tallies[first]
    return {
        "body": float(first is not None),
        "stated": max(map(sentence_support, usable, folded, tallies, [words] * len(usable)), default=0.0),
        "prose": math.log1p(sum(prose) / 100),
        "sentence_length": math.log1p(sum(prose) / max(1, len(prose)) / 50),
        "body_reason": float("reason" in body or "cause" in body),
    }


def is_fix_title(title: str) -> bool:
    """Tell whether a title says that something was mended."""
    return (
        title_type(title)[0] == "fix"
        or bool(_FIX_TITLE.match(title))
        or any(map(title.__contains__, _FIX_ENDINGS))
    )


def _title_values(title: str, text: str, words: Vocabulary) -> dict[str, float]:
    kind, rest = title_type(title)
    folded, lowered = fold(rest), text.lower()
    return {
        "fix_title": float(is_fix_title(title)),
        "feature_title": float(kind in ("feat", "add", "new", "imp") or words.has("feature", folded[:16])),
        "routine_title": float(kind in _ROUTINE_TYPES or bool(_ROUTINE.match(title))),
        "maintenance_title": float(words.has("maintenance", folded)),
        "merge_title": float(title.startswith(("Merge ", "Revert "))),
        "bot": float(any(map(lowered.__contains__, _BOT_WORDS))),
        "tickets": math.log1p(
            len(_TICKET.findall(text)) if "#" in text or "-" in text or " R" in text else 0
        ),
    }


_DISCOURSE_STRENGTH = 0.3
_STRENGTH = {
    "cause": 1.0, "hazard": 0.8, "failure": 0.9, "remedy": 0.5, "necessity": 0.5, "contrast": 0.4, "firm": 0.8,
    "condition": 0.3, "past": 0.2, "decision": 0.3, "measure": 0.1,
    "feature": -0.3, "maintenance": -0.35, "series": -0.9, "testing": -0.3, "chatter": -0.4,
}  # fmt: skip


def sentence_strength(counts: Mapping[str, int], sentence: Sentence, identifiers: int) -> float:
    """Return how much a sentence alone looks like a lesson, around 0 (nothing) to 5."""
    total = 0.0
    for name, count in counts.items():
        weight = _STRENGTH.get(name)
        if weight:
            total += weight * (1.0 if count == 1 else 1.4142)
    total += 0.5 * math.log1p(identifiers)
    total += _DISCOURSE_STRENGTH * math.log1p(counts.get("discourse", 0) + counts.get("negation", 0))
    length = weight_of(sentence.text)
    if length < 40:  # noqa: PLR2004 (too short to hold cause and remedy)
        total *= length / 40
    return total
