"""Count what an LLM costs in `llm` and `hybrid`: calls, tokens both ways, and the lessons it still gets to see.

    python benchmarks/llm_cost.py [--cross-validate] [../shared/eval]

The packaged weights have seen these sessions; with --cross-validate (it needs scikit-learn) each session is judged
by weights that were fitted on the other four fifths.
No model is asked: prompts are built as memx builds them and counted (a token is 1.5 characters of CJK or 4 of
anything else); an answer is counted as if it copied every note, or gave one lesson of average length a labelled
lesson. Sessions with a lesson are far commoner in the data (55 %) than in the field, so lesson-free ones are repeated
until one conversation window in twelve holds a lesson. A repeated session brings its false alarms along each time.
A window is one session file: the files are shorter than any context limit, so one is one chunk.
A lesson is in a prompt when at least half of its key tokens are.
"""

# A program run by hand over JSON; memx itself is typed.
# ruff: noqa: ANN001, ANN201, ANN204
from __future__ import annotations

import json
import os
import sys

from memx.config import LlmConfig, ReflectorConfig
from memx.redact import PrivacySanitizer
from memx.reflector import Reflector
from memx.reflector.llm.extract import chunk_prompt, chunks_of, turns_of
from memx.reflector.llm.refine import batches_of, judged_apart, prompt_of
from memx.reflector.llm.tokens import estimate_tokens, prompt_tokens
from memx.transcripts import read_session

EVAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shared", "eval")
PREVALENCE = 12
EMPTY_ANSWER = '{"lessons": []}'
AROUND_A_JUDGEMENT = 14
AROUND_A_LESSON = 20
"""Tokens of JSON around a text in an answer."""


class Window:
    """One conversation: what the rules find in it, what `llm` would send of it, and its labels."""

    def __init__(self, folder, file, labels, config, worth=None):
        """Read and reflect once; `worth` replaces the packaged weights."""
        sanitizer = PrivacySanitizer()
        events = list(read_session(os.path.join(folder, file)))
        self.labels = [label for label in labels if label["has_knowledge"]]
        self.turns = turns_of(events, lambda text: sanitizer.sanitize(text).text)
        self.whole = sum(estimate_tokens(sanitizer.sanitize(event.text).text) for event in events)
        rules = Reflector(config, sanitizer, worth).session(events, source="session")
        self.candidates = judged_apart(rules.candidates)[0]


def load(folder, config, models=None):
    """Return windows with and without a lesson; `models` has weights by file."""
    by_file = {}
    with open(os.path.join(folder, "labels.jsonl"), encoding="utf-8") as stream:
        for line in stream:
            label = json.loads(line)
            by_file.setdefault(label["file"], []).append(label)
    models = models or {}
    windows = [Window(folder, file, labels, config, models.get(file)) for file, labels in by_file.items()]
    return [w for w in windows if w.labels], [w for w in windows if not w.labels]


def held_out_models(folder):
    """Return for each session file the weights that were fitted without it and its fold."""
    import numpy as np
    from distill import FOLDS, load_sessions, session_labels, trained_model
    from sklearn.model_selection import GroupKFold

    from memx.reflector.worth import parse_model

    examples = load_sessions(folder)
    groups = [example["group"] for example in examples]
    files = set(session_labels(folder))
    models = {}
    for train, test in GroupKFold(FOLDS, shuffle=True, random_state=0).split(
        np.zeros(len(examples)), groups=groups
    ):
        model = {"session": parse_model(trained_model([examples[i] for i in train], "session"))}
        models |= {groups[i]: model for i in test}
    # A file without a single finding gives no candidate whatever the weights.
    return models | dict.fromkeys(files - models.keys())


def holds(text, label):
    """Tell whether a text holds at least half of a label's key tokens."""
    tokens = label["must_contain"]
    return 2 * sum(token.lower() in text.lower() for token in tokens) >= len(tokens)


def cost_of_llm(windows):
    """Return (calls, tokens in, tokens out) when every window is sent whole."""
    calls = tokens_in = tokens_out = 0
    for window in windows:
        for chunk in chunks_of(window.turns, LlmConfig().context_tokens):
            calls += 1
            tokens_in += prompt_tokens(chunk_prompt(chunk))
        found = sum(estimate_tokens(label["gold_local"]) + AROUND_A_LESSON for label in window.labels)
        tokens_out += found or estimate_tokens(EMPTY_ANSWER)
    return calls, tokens_in, tokens_out


def cost_of_hybrid(windows, batch_size):
    """Return (calls, tokens in, tokens out); a batch of more than one may join windows of one run."""
    calls = tokens_in = tokens_out = 0
    candidates = [candidate for window in windows for candidate in window.candidates]
    for batch in batches_of(candidates, batch_size, LlmConfig().context_tokens):
        prompt = prompt_of(batch, lambda text: text)
        calls += 1
        tokens_in += prompt_tokens(prompt)
        tokens_out += sum(estimate_tokens(candidate.text) + AROUND_A_JUDGEMENT for candidate in batch)
    return calls, tokens_in, tokens_out


def recall(windows, text_of):
    """Return how many labelled lessons stand in what is sent, and how many there are."""
    labels = [(window, label) for window in windows for label in window.labels]
    return sum(holds(text_of(window), label) for window, label in labels), len(labels)


def row(name, cost, windows, base):
    """Print one line of the table: costs, per conversation, and the ratio to the sanitised windows sent once."""
    calls, tokens_in, tokens_out = cost
    print(
        f"{name:<20} {calls:>6} {tokens_in:>9,} {tokens_out:>8,} {tokens_in / windows:>10.1f} "
        f"{tokens_out / windows:>10.1f} {windows / max(1, calls):>8.1f} {base / max(1, tokens_in):>8.1f} "
        f"{base / max(1, tokens_in + tokens_out):>9.1f}"
    )


def main():
    """Print the tables."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--cross-validate"]
    root = arguments[0] if arguments else EVAL
    folder = os.path.join(root, "sessions")
    models = held_out_models(root) if "--cross-validate" in sys.argv else None
    default = ReflectorConfig()
    taught, empty = load(folder, ReflectorConfig(min_score=default.min_score * 4 // 5), models)
    needed = PREVALENCE * len(taught) - len(taught)
    padded = taught + [empty[at % len(empty)] for at in range(needed)]
    print(
        f"{len(taught)} windows with a lesson, {len(empty)} without; padded to {len(padded)}: one in {PREVALENCE}"
    )
    found, alarms = (sum(len(w.candidates) for w in part) for part in (taught, empty))
    print(f"candidates: {found} in windows with a lesson, {alarms} in those without")
    size = LlmConfig().batch_size
    for name, windows in (("as the data are", taught + empty), ("one window in twelve", padded)):
        base = sum(window.whole for window in windows)
        print(
            f"\n{name}: {len(windows)} windows, {base:,} tokens sanitised and sent once, without instructions"
        )
        print(
            f"{'':<20} {'calls':>6} {'in':>9} {'out':>8} {'in/window':>10} {'out/window':>10} "
            f"{'x calls':>8} {'x in':>8} {'x in+out':>9}"
        )
        row("llm", cost_of_llm(windows), len(windows), base)
        row("hybrid, one a call", cost_of_hybrid(windows, 1), len(windows), base)
        row(f"hybrid, {size} a call", cost_of_hybrid(windows, size), len(windows), base)
    print("\nlabelled lessons that stand in what is sent")
    whole = recall(taught, lambda window: "\n".join(turn.text for turn in window.turns))
    seen = recall(taught, lambda window: "\n".join(c.text for c in window.candidates))
    rules, _ = load(folder, default, models)
    alone = recall(rules, lambda window: "\n".join(c.text for c in window.candidates))
    for name, (hit, total) in (("llm", whole), ("hybrid", seen), ("rules alone", alone)):
        print(f"{name:<20} {hit:>3} of {total} ({hit / total:.2f})")


if __name__ == "__main__":
    main()
