"""Measure the shipped Reflector on messages that nothing of it was fitted to, and on texts of several paragraphs.

    python benchmarks/unseen.py [-v] [benchmarks/data/commits.unseen.jsonl]

commits.unseen.jsonl holds invented commit messages in the manner of a dozen
kinds of projects. paragraphs.*.jsonl hold texts whose paragraphs are a lesson
each (`apart`), one lesson told in several paragraphs (`one`), or none (`none`);
lists.*.jsonl hold the same in a list's items. A lesson counts as found when a
candidate of its own keeps half of its words.
"""

# A program run by hand over JSON; memx itself is typed.
# ruff: noqa: ANN001, ANN201, ANN202
from __future__ import annotations

import os
import sys

import numpy as np
from distill import HERE, interval, prf
from sklearn.metrics import average_precision_score
from train_reflector import read_lines

from memx.config import ReflectorConfig
from memx.model import Commit, Event
from memx.redact import PrivacySanitizer
from memx.reflector import Reflector

PARAGRAPHS = (
    "paragraphs.own.jsonl",
    "paragraphs.held_out.jsonl",
    "paragraphs.third.jsonl",
    "lists.own.jsonl",
    "lists.held_out.jsonl",
)


def report_messages(rows):
    """Print precision, recall and F1 of commit messages, by language and style."""
    reflector = Reflector(ReflectorConfig(min_score=0), PrivacySanitizer(), explains=False)
    best = [_best(reflector.commit(Commit("a" * 40, row["text"])).candidates) for row in rows]
    scores = np.array([found.score if found else 0 for found in best])
    truth = np.array([row["has_knowledge"] for row in rows])
    precision, recall, f1 = prf(truth, scores >= 30)
    print(
        f"\n{len(rows)} messages, {truth.sum()} with a lesson: P {precision:.2f} R {recall:.2f} F1 {f1:.2f}",
        end="",
    )
    print(f" AP {average_precision_score(truth, scores):.2f}")
    print(f"F1 by bootstrap {_spread(truth, scores >= 30)}")
    order = np.argsort(-scores, kind="stable")
    print(
        "precision of the first 10, 20, 30, 50: "
        + ", ".join(f"{truth[order[:k]].mean():.2f}" for k in (10, 20, 30, 50))
    )
    for least in (30, 50):
        wrong = int((scores[~truth] >= least).sum())
        low, high = interval(wrong, int((~truth).sum()))
        print(f"false candidates, score >= {least}: {wrong}/{(~truth).sum()} ({low:.2f}-{high:.2f})")
    for lang in ("en", "zh", "ja", "es"):
        mine = np.array([row["lang"] == lang for row in rows])
        print(
            f"{lang}  P {prf(truth[mine], scores[mine] >= 30)[0]:.2f} R {prf(truth[mine], scores[mine] >= 30)[1]:.2f}"
        )
    for field in ("section", "type", "rule"):
        pairs = [
            (getattr(b, field), row[field]) for b, row in zip(best, rows, strict=True) if b and row.get(field)
        ]
        hits = sum(a == b for a, b in pairs)
        low, high = interval(hits, len(pairs))
        print(f"{field}: {hits}/{len(pairs)} = {hits / len(pairs):.2f} ({low:.2f}-{high:.2f})")
    if "-v" in sys.argv:
        for at in order:
            if (scores[at] >= 30) != truth[at]:
                print(
                    "missed" if truth[at] else "wrong ",
                    scores[at],
                    rows[at]["text"][:300].replace("\n", " / "),
                )


def _best(candidates):
    return max(candidates, key=lambda found: found.score, default=None)


def _spread(truth, found, rounds=2000):
    """Return a 95 % bootstrap interval of F1."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(rounds):
        drawn = rng.integers(len(truth), size=len(truth))
        values.append(prf(truth[drawn], found[drawn])[2])
    low, high = np.percentile(values, (2.5, 97.5))
    return f"{low:.2f}-{high:.2f}"


def report_paragraphs(name):
    """Print how many lessons of a text get a candidate of their own, and how often one lesson is torn apart."""
    rows = read_lines(os.path.join(HERE, "data", name))
    reflector = Reflector(ReflectorConfig(), PrivacySanitizer(), explains=False)
    found = lessons = whole = torn = single = kept = wrong = empty = 0
    for row in rows:
        texts = [c.text for c in _reflect(reflector, row).candidates]
        if row["kind"] == "none":
            empty += 1
            wrong += bool(texts)
            continue
        own = _assigned(texts, row["lessons"])
        if row["kind"] == "apart":
            lessons += len(row["lessons"])
            found += own
            whole += own == len(row["lessons"]) == len(texts)
        else:
            single += 1
            kept += own
            torn += len(texts) > 1
        if "-v" in sys.argv and (own < len(row["lessons"]) or len(texts) != len(row["lessons"])):
            print(row["kind"], row["form"], row["lessons"], *texts, sep="\n   ")
    apart = sum(row["kind"] == "apart" for row in rows)
    print(
        f"\n{name}: lessons with a candidate of their own {found}/{lessons}; texts cut just right {whole}/{apart};"
    )
    print(
        f"  one lesson found {kept}/{single}, torn apart {torn}/{single}; without a lesson, proposed {wrong}/{empty}"
    )


def _reflect(reflector, row):
    if row["form"] == "commit":
        return reflector.commit(Commit("a" * 40, row["text"]))
    return reflector.session(
        [Event(row["form"].partition("-")[2], "text", row["text"], key="k1")], source="session claude_code s1"
    )


def _assigned(texts, lessons):
    """Return how many lessons have a candidate that holds half of their words and no more of another lesson's."""
    taken = set()
    for text in texts:
        shares = [sum(word.lower() in text.lower() for word in words) / len(words) for words in lessons]
        best = max(range(len(lessons)), key=lambda i: shares[i])
        if shares[best] >= 0.5:
            taken.add(best)
    return len(taken)


def main():
    """Print everything."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    report_messages(read_lines(named[0] if named else os.path.join(HERE, "data", "commits.unseen.jsonl")))
    for name in PARAGRAPHS:
        report_paragraphs(name)


if __name__ == "__main__":
    main()
