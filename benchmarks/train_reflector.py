"""Train the Reflector's readable coefficients: worth.json and classes.json.

    python benchmarks/train_reflector.py [../shared/eval]

Logistic regression over the features of memx/reflector/features.py (worth) and
memx/reflector/classify.py (section and type). Needs scikit-learn, which memx
itself does not. benchmarks/distill.py uses the same functions on the other
folds, so its figures are cross-validated.
"""

# A program run by hand over JSON; memx itself is typed.
# ruff: noqa: ANN001, ANN201, ANN202
from __future__ import annotations

import json
import math
import os
import sys

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from memx.reflector.classify import FEATURES as CLASS_FEATURES
from memx.reflector.classify import class_values
from memx.reflector.features import NAMES
from memx.reflector.session import STRUCTURE

HERE = os.path.dirname(os.path.abspath(__file__))
EVAL = os.path.join(HERE, "..", "..", "shared", "eval")
NEVER_AGAINST = frozenset(
    {
        "cause",
        "hazard",
        "failure",
        "remedy",
        "necessity",
        "contrast",
        "firm",
        "identifiers",
        "values",
        "discourse",
        "general_fact",
        "explained",
        "hazard_failure",
        "best_sentence",
        "stated",
        "body_reason",
    }
) | (frozenset(STRUCTURE) - {"from_user"})
"""Features whose coefficient may not fall below zero: the score is monotone in them."""
BORDERLINE_WEIGHT = 0.5
REGULARISATION = 0.02
SECTION_FEATURES = tuple(name for name in CLASS_FEATURES if name != "rule_correction")
"""In a commit `never do …` is no person's correction: it says nothing of the section, where a session's does."""
CLASS_REGULARISATION = {"section": 2.0, "type": 1.0}
TYPE_FEATURES = tuple(name for name in CLASS_FEATURES if name.startswith(("rule_", "session_")))
"""The rule alone tells the type better (0.71) than the rule with words (0.65): too few examples for more."""


def read_lines(path):
    """Return the objects of a JSONL file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def train_worth(values, labels, weights, regularisation=REGULARISATION, names=NAMES):
    """Return a model file's content: mean, spread and weight for each feature, and the intercept."""
    table = np.array([[v[name] for name in names] for v in values])
    mean, spread = table.mean(0), table.std(0)
    spread[spread < 1e-9] = 1.0
    scaled = np.hstack([(table - mean) / spread, np.ones((len(table), 1))])
    found = bounded_logistic(scaled, np.array(labels), np.array(weights), regularisation, names)
    return {
        "intercept": round(float(found[-1]), 4),
        "features": {
            name: {"mean": round(float(m), 4), "spread": round(float(s), 4), "weight": round(float(w), 4)}
            for name, m, s, w in zip(names, mean, spread, found[:-1], strict=True)
        },
    }


def bounded_logistic(table, labels, weights, regularisation, names):
    """Return coefficients, the intercept last, of a ridge logistic regression with bounded signs."""
    sign = np.where(labels > 0, 1.0, -1.0)

    def loss(beta):
        margin = sign * (table @ beta)
        value = (weights * np.logaddexp(0, -margin)).sum() + (beta[:-1] ** 2).sum() / (2 * regularisation)
        pull = -weights * sign / (1 + np.exp(margin))
        return value, table.T @ pull + np.append(beta[:-1] / regularisation, 0.0)

    bounds = [(0, None) if name in NEVER_AGAINST else (None, None) for name in names] + [(None, None)]
    return minimize(loss, np.zeros(table.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B").x


def shift(model, threshold, target=0.3):
    """Move the intercept so that a probability of `threshold` becomes `target`, which scores just below 30.

    Just below, because what a rule sees lifts a text above its probability.
    """
    move = math.log(target / (1 - target)) - math.log(threshold / (1 - threshold))
    return model | {"intercept": round(model["intercept"] + move, 4)}


def train_classes(examples, field):
    """Return weights by class from (text, rule, language, kind, class) examples."""
    values = [class_values(*example[:4]) for example in examples]
    names = SECTION_FEATURES if field == "section" else TYPE_FEATURES
    table = np.array([[v[name] for name in names] for v in values])
    labels = [example[4] for example in examples]
    model = LogisticRegression(C=CLASS_REGULARISATION[field], max_iter=2000)
    model.fit(table, labels)
    rows = model.coef_ if len(model.classes_) > 2 else np.vstack([-model.coef_, model.coef_])
    bias = (
        model.intercept_ if len(model.classes_) > 2 else np.array([-model.intercept_[0], model.intercept_[0]])
    )
    return {
        str(name): {"bias": round(float(b), 3)}
        | {feature: round(float(w), 3) for feature, w in zip(names, row, strict=True) if abs(w) >= 0.02}
        for name, row, b in zip(model.classes_, rows, bias, strict=True)
    }


def gold_rule(label):
    """Return the rule's name as memx has it."""
    return "statement" if label["rule"] == "other" else label["rule"]


def own_examples(field):
    """Return (text, rule, language, kind, class) examples of our own: they help the section, but not the type."""
    if field != "section":
        return []
    lessons = read_lines(os.path.join(HERE, "data", "lessons.own.jsonl"))
    messages = read_lines(os.path.join(HERE, "data", "commits.own.jsonl"))
    return [
        (row["text"], row["rule"], row["lang"], "commit", row["section"])
        for row in (*lessons, *messages)
        if row.get("section")
    ]


def class_examples(labels, field):
    """Return (text, rule, language, kind, class) examples from labels, in English and in their own language."""
    examples = own_examples(field)
    for label in labels:
        if not label["has_knowledge"]:
            continue
        answer = label[field].lower()
        kind = "commit" if "text" in label else "session"
        examples.append((label["gold"], gold_rule(label), "en", kind, answer))
        if label.get("gold_local"):
            examples.append((label["gold_local"], gold_rule(label), label["lang"], kind, answer))
        if label.get("distilled"):
            examples.append((label["distilled"], label["found_rule"], label["lang"], kind, answer))
    return examples


def write_json(name, content):
    """Write a data file beside the code that reads it."""
    path = os.path.join(HERE, "..", "memx", "reflector", name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, indent=1)
        file.write("\n")


def main():
    """Train on everything and write both files."""
    from distill import labelled_lessons, load_commits, load_sessions, trained_model

    folder = sys.argv[1] if len(sys.argv) > 1 else EVAL
    commits = load_commits(folder)
    sessions = load_sessions(folder)
    worth = {"commit": trained_model(commits, "commit"), "session": trained_model(sessions, "session")}
    write_json("worth.json", worth)
    labels = labelled_lessons(folder)
    write_json("classes.json", {f: train_classes(class_examples(labels, f), f) for f in ("section", "type")})


if __name__ == "__main__":
    main()
