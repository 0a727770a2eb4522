"""Measure lessons of one sentence, in four languages and four forms, against sentences that only look like one.

    python benchmarks/stated.py [-v] [benchmarks/data/stated.own.jsonl]

benchmarks/data/stated.held_out.jsonl holds invented sentences, stated.own.jsonl
those that the words were chosen on. Each is given as a commit's subject, as a
commit's body under a bare subject, as a person's turn and as an agent's. A
lesson counts as found when a candidate keeps half of its words; a sentence
without a lesson is wrong when anything is proposed.
"""

# A program run by hand over JSON; memx itself is typed.
# ruff: noqa: ANN001, ANN201, ANN202
from __future__ import annotations

import os
import sys

from distill import HERE, interval
from train_reflector import read_lines

from memx.config import ReflectorConfig
from memx.model import Commit, Event
from memx.redact import PrivacySanitizer
from memx.reflector import Reflector
from memx.reflector.episode import content_words

FORMS = ("subject", "body", "user", "assistant")
SUBJECTS = {
    "en": "Update the worker",
    "zh": "更新 worker",
    "ja": "worker を更新",
    "es": "Actualiza el worker",
}


def reflect(reflector, text, form, lang):
    """Return what a sentence gives in a form."""
    if form in ("subject", "body"):
        message = text if form == "subject" else f"{SUBJECTS[lang]}\n\n{text}"
        return reflector.commit(Commit("a" * 40, message))
    return reflector.session([Event(form, "text", text, key="k1")], source="session claude_code s1")


def is_kept(candidate, text):
    """Tell whether a candidate says the sentence: half of its words stand there."""
    words = content_words(text)
    return 2 * len(words & content_words(candidate.text)) >= len(words)


def main():
    """Print found lessons and false candidates by language and form, by rule and by kind."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    rows = read_lines(named[0] if named else os.path.join(HERE, "data", "stated.held_out.jsonl"))
    reflector = Reflector(ReflectorConfig(), PrivacySanitizer())
    found, shown, so_named, wrong = {}, {}, {}, {}
    for row in rows:
        for form in FORMS:
            told = reflect(reflector, row["text"], form, row["lang"])
            proposed = [c for c in told.candidates if is_kept(c, row["text"])] or list(told.candidates)
            hit = any(is_kept(c, row["text"]) for c in proposed)
            if row["kind"] == "lesson":
                found.setdefault((row["lang"], form), []).append(hit)
                found.setdefault(row["rule"], []).append(hit)
                so_named.setdefault(row["rule"], []).append(hit and proposed[0].rule == row["rule"])
                if not hit:
                    shown.setdefault(form, []).append(bool(told.rejected))
            else:
                wrong.setdefault((row["lang"], form), []).append(bool(proposed))
                wrong.setdefault(row["kind"], []).append(bool(proposed))
            if "-v" in sys.argv and (not hit if row["kind"] == "lesson" else proposed):
                what = proposed[0] if proposed else told.rejected
                print(form, row["lang"], row["rule"] or row["kind"], "|", row["text"], "->", what)
    _table("lessons found", found)
    _table("false candidates", wrong)
    for rule in sorted(so_named):
        print(
            f"{rule:16} found {sum(found[rule])}/{len(found[rule])}, so named {sum(so_named[rule])}/{sum(found[rule])}"
        )
    for kind in sorted(k for k in wrong if isinstance(k, str)):
        print(f"{kind:16} false {sum(wrong[kind])}/{len(wrong[kind])}")
    missed = [told for answers in shown.values() for told in answers]
    print(f"missed lessons that --rejected names: {sum(missed)}/{len(missed)}")


def _table(title, counts):
    print(f"\n{title:18}" + "".join(f"{form:>12}" for form in FORMS))
    for lang in SUBJECTS:
        cells = [counts[lang, form] for form in FORMS]
        print(f"{lang:18}" + "".join(f"{sum(c):6}/{len(c):<5}" for c in cells))
    whole = [answer for lang in SUBJECTS for form in FORMS for answer in counts[lang, form]]
    low, high = interval(sum(whole), len(whole))
    print(f"all: {sum(whole)}/{len(whole)} = {sum(whole) / len(whole):.2f} ({low:.2f}-{high:.2f})")


if __name__ == "__main__":
    main()
