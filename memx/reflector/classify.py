"""Section and type of a lesson by all its evidence: two small softmax models with readable weights (classes.json)."""

from __future__ import annotations

import json
import os
from functools import cache

from memx.model import SECTIONS, TYPES
from memx.record import replace
from memx.reflector.guards import advises
from memx.reflector.pattern import pattern
from memx.reflector.vocabulary import cue_counts, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memx.reflector.features import Evidence

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_CUES = (
    "debugging", "tools", "architecture", "workflow", "commands", "patterns", "preference",
    "decision", "necessity", "hazard",
)  # fmt: skip
_RULES = (
    "error_fix",
    "retry_success",
    "config_change",
    "new_tool",
    "repetitive_op",
    "correction",
    "statement",
)
_COMMAND = pattern(
    r"`[a-z][\w.-]*(?: [^`]+)+`|(?<![\w])(?:git|npm|npx|pnpm|yarn|pip|uv|docker|kubectl|helm|make"
    r"|cargo|go|mvn|gradle|dotnet|curl|ssh|terraform|php|bundle|python3?|node|adb|aws)\s+[a-z-]\S*"
)
_OPTION = pattern(r"(?<![\w-])--?[a-z][\w-]*")
_EXCEPTION = pattern(r"\b\w*(?:Error|Exception|Warning|Panic)\b|\b[A-Z]{2,}\d{3,}\b|\b[45]\d\d\b")
_CLAUSE = pattern(r"[:;] |[：；]")
_CALL = pattern(r"\b[a-z_]\w*\.[a-z_]\w*\b(?!\.)|\b\w+\(\)")
"""A function or a member: `np.einsum_path`, `close()`."""
_CONSTANT = pattern(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
FEATURES = (
    *(f"{source}_{name}" for source in ("rule", "session") for name in _RULES),
    *_CUES,
    "command", "option", "exception", "constant",
)  # fmt: skip


def class_values(text: str, rule: str, language: str, kind: str = "session") -> dict[str, float]:
    """Return what section and type are decided by; the same rule means other things in commits and sessions."""
    counts = cue_counts(language, text)
    values = {f"rule_{name}": float(name == rule) for name in _RULES}
    values |= {f"session_{name}": float(name == rule and kind == "session") for name in _RULES}
    values |= {name: min(1.0, counts.get(name, 0) / 2) for name in _CUES}
    values |= {
        "command": float(bool(_COMMAND.search(text))),
        "option": float("-" in text and bool(_OPTION.search(text))),
        "exception": float(bool(_EXCEPTION.search(text))),
        "constant": float("_" in text and bool(_CONSTANT.search(text))),
    }
    return values


@cache
def _models() -> dict[str, dict[str, dict[str, float]]]:
    with open(os.path.join(_FOLDER, "classes.json"), encoding="utf-8") as file:
        models: dict[str, dict[str, dict[str, float]]] = json.load(file)
    return models


def weigh(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return a class's log-odds: its bias and the weighted values."""
    return weights.get("bias", 0.0) + sum(
        [weights[name] * value for name, value in values.items() if value and name in weights]
    )


def classify(text: str, rule: str, language: str, kind: str = "session") -> tuple[str, str]:
    """Return (section, type) for a lesson."""
    values = {name: value for name, value in class_values(text, rule, language, kind).items() if value}
    return _likeliest("section", SECTIONS, values), _likeliest("type", TYPES, values)


def classify_written(text: str, rule: str, evidence: Evidence) -> tuple[str, str]:
    """Return (section, type) for a lesson that a person wrote, which need not tell of any trouble.

    The models learnt from what was found in commits and sessions, nearly all of
    it trouble: without a sign of trouble neither `debugging` nor `pitfall` is said.
    """
    values = class_values(text, rule, evidence.language)
    if _is_troubled(values, evidence):
        return classify(text, rule, evidence.language)
    ordered = _is_order(evidence)
    section = _likeliest("section", [name for name in SECTIONS if name != "debugging"], values)
    if ordered and section in ("architecture", "tools") and values["workflow"]:
        section = "workflow"
    elif section == "architecture" and values["architecture"] < 1.0 and _CALL.search(text):
        section = "patterns"
    kind = _likeliest("type", [name for name in TYPES if name not in ("pitfall", "trick")], values)
    if kind == "knowledge" and ordered:
        kind = "method"
    return section, kind


def _is_troubled(values: Mapping[str, float], evidence: Evidence) -> bool:
    cues = set().union(*evidence.counts)
    if values["exception"] or not cues.isdisjoint(("failure", "diagnosis")):
        return True
    return "hazard" in cues and ("reason" in cues or not _is_order(evidence))


def _is_order(evidence: Evidence) -> bool:
    """Tell whether a text says what to do, by its form or by a word such as `must`."""
    words = vocabulary(evidence.language)
    return any("directive" in cues for cues in evidence.counts) or any(
        advises(replace(sentence, masked=clause), words)
        for sentence in evidence.usable
        for clause in _CLAUSE.split(sentence.masked)
    )


def _likeliest(field: str, names: Sequence[str], values: Mapping[str, float]) -> str:
    models = _models()[field]
    odds = [weigh(values, models.get(name, {"bias": -99.0})) for name in names]
    return names[odds.index(max(odds))]
