"""Measure the Reflector on labelled commits and sessions: 5-fold cross-validated, with baselines and speed.

    python benchmarks/distill.py [../shared/eval]

Whatever is learned is learned on the other folds only; thresholds too. A
commit counts as found when it gives a candidate at the default min_score. A
session's candidate is right when it holds at least half of the key tokens of a
label of its file; everything else it proposes is wrong.
"""

# A program run by hand over JSON; memx itself is typed.
# ruff: noqa: ANN001, ANN201, ANN202, ANN204
from __future__ import annotations

import base64
import hashlib
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedGroupKFold
from train_reflector import (
    EVAL,
    HERE,
    class_examples,
    gold_rule,
    read_lines,
    shift,
    train_classes,
    train_worth,
)

from memx.config import ReflectorConfig
from memx.model import Commit
from memx.redact import PrivacySanitizer
from memx.reflector import Reflector
from memx.reflector.classify import class_values, weigh
from memx.reflector.episode import split_episodes
from memx.reflector.features import NAMES, gather
from memx.reflector.segment import segment
from memx.reflector.session import SESSION_NAMES, find_lessons
from memx.reflector.tokens import CODE_TOKEN, VALUE_TOKEN
from memx.reflector.worth import parse_model
from memx.transcripts import read_session

FOLDS = 5
SEEDS = 4
REGULARISATION = {"commit": 0.02, "session": 0.05}
OWN_WEIGHT = 0.5
"""What an invented commit message counts beside a real one; from 0.25 to 1 the figures are the same within 0.005."""
OWN = []
"""Invented commit messages that every commit model is trained on besides; none is ever tested on."""


class Unchanged:
    """A sanitizer that changes nothing: what is measured here is the distilling."""

    class Redaction:
        """The text as it was."""

        def __init__(self, text):
            """Keep the text."""
            self.text = text
            self.findings = ()

    def sanitize(self, text):
        """Return the text as it was."""
        return self.Redaction(text)

    def breaks_secrets(self, _text):
        """Know no secret that could break."""
        return False


def load_commits(folder):
    """Return labelled commits with their feature values."""
    examples = []
    for label in read_lines(os.path.join(folder, "commits.dev.jsonl")):
        borderline = label["confidence"] == "borderline"
        examples.append(
            label
            | {
                "values": gather(segment(label["text"])).values,
                "label": int(label["has_knowledge"]),
                "weight": 0.5 if borderline else 1.0,
                "group": label["id"],
                "borderline": borderline,
            }
        )
    return examples


def load_own():
    """Return our own invented commit messages with their feature values; they are only ever trained on."""
    rows = read_lines(os.path.join(HERE, "data", "commits.own.jsonl"))
    return [
        row
        | {
            "values": gather(segment(row["text"])).values,
            "label": int(row["has_knowledge"]),
            "weight": OWN_WEIGHT,
        }
        for row in rows
    ]


def load_sessions(folder):
    """Return every finding in the sessions with its label: which gold lesson it gives, if any."""
    examples = []
    for file, labels in session_labels(folder).items():
        events = list(read_session(os.path.join(folder, "sessions", file)))
        for finding in find_lessons(split_episodes(events)):
            gold = matching_gold(finding.text, labels)
            examples.append(
                {
                    "values": finding.values,
                    "label": int(gold is not None),
                    "weight": 1.0,
                    "group": file,
                    "lang": labels[0]["lang"],
                    "borderline": False,
                    "gold": gold,
                    "rule": finding.rule,
                    "text": finding.text,
                }
            )
    return examples


def session_labels(folder):
    """Return the labels of each session file."""
    by_file = {}
    for label in read_lines(os.path.join(folder, "sessions", "labels.jsonl")):
        by_file.setdefault(label["file"], []).append(label)
    return by_file


def matching_gold(text, labels):
    """Return the label whose key tokens the text holds best, None when it holds less than half of any."""
    best, best_share = None, 0.0
    for label in labels:
        tokens = label["must_contain"]
        share = sum(token.lower() in text.lower() for token in tokens) / len(tokens) if tokens else 0.0
        if share >= 0.5 and share > best_share:
            best, best_share = label, share
    return best


def out_of_fold(examples, names, regularisation, seed, folds=FOLDS):
    """Return each example's probability from a model that was trained without its group."""
    labels = np.array([e["label"] for e in examples])
    groups = [e["group"] for e in examples]
    probability = np.zeros(len(examples))
    for train, test in StratifiedGroupKFold(folds, shuffle=True, random_state=seed).split(
        labels, labels, groups
    ):
        model = parse_model(fit([examples[i] for i in train], names, regularisation))
        for i in test:
            probability[i] = model.probability(examples[i]["values"])
    return probability


def fit(examples, names, regularisation):
    """Train a worth model, for commits with our own examples besides."""
    if names is NAMES:
        if not OWN:
            OWN.extend(load_own())
        examples = [*examples, *OWN]
    return train_worth(
        [e["values"] for e in examples],
        [e["label"] for e in examples],
        [e["weight"] for e in examples],
        regularisation,
        names,
    )


def names_of(kind):
    """Return the features of a kind of source."""
    return NAMES if kind == "commit" else SESSION_NAMES


def operating_point(examples, kind):
    """Return the probability above which F1 is best, smoothed over seeds and neighbouring thresholds."""
    labels = np.array([e["label"] for e in examples])
    grid = np.arange(0.16, 0.66, 0.02)
    curves = []
    for seed in range(3):
        probability = out_of_fold(examples, names_of(kind), REGULARISATION[kind], seed)
        curves.append([f1(labels, probability >= t) for t in grid])
    curve = np.convolve(np.pad(np.mean(curves, 0), 2, mode="edge"), np.ones(5) / 5, mode="valid")
    return float(grid[int(np.argmax(curve))])


def f1(truth, found):
    """Return the F1 of two boolean arrays."""
    return prf(truth, found)[2]


def prf(truth, found):
    """Return precision, recall and F1."""
    truth, found = np.asarray(truth, bool), np.asarray(found, bool)
    hits = int((truth & found).sum())
    precision = hits / max(1, int(found.sum()))
    recall = hits / max(1, int(truth.sum()))
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def trained_model(examples, kind):
    """Return the model for a kind, its operating point moved to the default min_score."""
    return shift(fit(examples, names_of(kind), REGULARISATION[kind]), operating_point(examples, kind))


def interval(precision_hits, total):
    """Return a 95 % Wilson interval of a share."""
    if not total:
        return 0.0, 1.0
    z, p = 1.96, precision_hits / total
    middle = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return middle - half, middle + half


# --- commits ---------------------------------------------------------------------------------


def commit_run(examples, seed):
    """Return for each commit its candidate (or None), cross-validated, with the model's own threshold."""
    labels = np.array([e["label"] for e in examples])
    results = [None] * len(examples)
    scores = np.zeros(len(examples))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(labels, labels, [e["group"] for e in examples]):
        model = parse_model(trained_model([examples[i] for i in train], "commit"))
        reflector = Reflector(ReflectorConfig(min_score=0), Unchanged(), worth={"commit": model})
        for i in test:
            found = reflector.commit(Commit(examples[i]["sha"], examples[i]["text"])).candidates
            if found:
                results[i] = max(found, key=lambda candidate: candidate.score)
                scores[i] = results[i].score
    return results, scores


def naive_regex(text):
    """Tell whether the words of the five rules occur: the simplest rules in four languages."""
    return bool(
        re.search(
            r"\b(error|fix(ed)?|bug|fail|exception|retry|finally|config|from \S+ to \S+|first time|every time)\b"
            r"|错误|修复|失败|配置|首次|每次|エラー|修正|失敗|設定|初めて|毎回|error|corrig|fallo|primera vez|cada vez",
            text,
            re.IGNORECASE,
        )
    )


def long_and_no_chore(text):
    """Tell whether a message has 250 characters and its title is no chore."""
    return len(text) >= 250 and not re.match(r"(merge|chore|docs?|test|style)\b", text, re.IGNORECASE)


def report_commits(examples):
    """Print the tables for commits; return the pooled by-language counts."""
    truth = np.array([e["label"] for e in examples], bool)
    clear = np.array([not e["borderline"] for e in examples])
    runs = [commit_run(examples, seed) for seed in range(SEEDS)]
    rows = []
    for name, found in (
        ("naive regex", [naive_regex(e["text"]) for e in examples]),
        ("length >= 250 and no chore", [long_and_no_chore(e["text"]) for e in examples]),
    ):
        hit = np.array(found)
        rows.append((name, *prf(truth, hit), float("nan"), *prf(truth[clear], hit[clear])))
    means = np.mean(
        [
            (*prf(truth, s >= 30), average_precision_score(truth, s), *prf(truth[clear], s[clear] >= 30))
            for _, s in runs
        ],
        0,
    )
    rows.append(("memx, min_score 30", *means))
    means = np.mean(
        [
            (*prf(truth, s >= 50), average_precision_score(truth, s), *prf(truth[clear], s[clear] >= 50))
            for _, s in runs
        ],
        0,
    )
    rows.append(("memx, score >= 50", *means))
    print(f"\nCommits: {len(examples)}, {truth.sum()} with a lesson; right half without borderline labels")
    print(f"{'':32}{'P':>7}{'R':>7}{'F1':>7}{'AP':>7}{'P':>7}{'R':>7}{'F1':>7}")
    for name, *figures in rows:
        print(f"{name:32}" + "".join(f"{x:7.2f}" for x in figures))
    _first_shown([s for _, s in runs], truth)
    for least in (30, 50):
        wrong = np.mean([(s[~truth] >= least).mean() for _, s in runs])
        low, high = interval(wrong * (~truth).sum(), (~truth).sum())
        print(
            f"false candidates in 100 lesson-free commits, score >= {least}:"
            f" {100 * wrong:.0f} ({100 * low:.0f}-{100 * high:.0f})"
        )
    results, scores = runs[0]
    _by_rule(results, scores >= 30, truth, [gold_rule(e) for e in examples])
    _tokens_kept(
        [(r.text, e["gold"], e["text"]) for r, e in zip(results, examples, strict=True) if r and e["label"]]
    )
    return [(e["lang"], bool(t), bool(s >= 30)) for e, t, s in zip(examples, truth, scores, strict=True)]


def _first_shown(scores, truth):
    """Print precision at the top, which is what review shows first."""
    shares = [
        statistics.mean(truth[np.argsort(-s, kind="stable")[:k]].mean() for s in scores) for k in (10, 20, 30)
    ]
    print("precision of the first 10, 20, 30 shown: " + ", ".join(f"{s:.2f}" for s in shares))


def _by_rule(results, found, truth, gold):
    """Print how often each rule proposes rightly, and how often a label's rule is named."""
    print(f"{'rule':18}{'proposed':>9}{'right':>7}{'P':>6}{'labels':>8}{'found':>7}{'named':>7}")
    for rule in sorted({r.rule for r in results if r} | {g for g in gold if g}):
        mine = [i for i, r in enumerate(results) if r and found[i] and r.rule == rule]
        right = sum(bool(truth[i]) for i in mine)
        labels = [i for i, g in enumerate(gold) if g == rule and truth[i]]
        seen = [i for i in labels if found[i]]
        named = sum(results[i].rule == rule for i in seen)
        print(
            f"{rule:18}{len(mine):9}{right:7}{right / max(1, len(mine)):6.2f}{len(labels):8}{len(seen):7}{named:7}"
        )


def _tokens_kept(triples):
    """Print the share of the gold sentence's identifiers and values that the distilled text keeps."""
    kept = total = 0
    lengths = []
    for text, gold, source in triples:
        lengths.append(len(text))
        for token in set(CODE_TOKEN.findall(gold)) | set(VALUE_TOKEN.findall(gold)):
            bare = token.strip("`").lower()
            if bare in source.lower():
                total += 1
                kept += bare in text.lower()
    print(
        f"gold key tokens kept: {kept}/{total} = {kept / max(1, total):.2f}; median length {statistics.median(lengths)}"
    )


# --- sessions --------------------------------------------------------------------------------


def session_run(folder, examples, seed):
    """Return (file, candidates) with models trained on the other files."""
    by_file = session_labels(folder)
    labels = np.array([e["label"] for e in examples])
    groups = [e["group"] for e in examples]
    done = {}
    for train, test in StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed).split(
        labels, labels, groups
    ):
        model = parse_model(trained_model([examples[i] for i in train], "session"))
        reflector = Reflector(ReflectorConfig(), Unchanged(), worth={"session": model})
        for file in {groups[i] for i in test}:
            events = list(read_session(os.path.join(folder, "sessions", file)))
            done[file] = reflector.session(events, source="session x y").candidates
    return [(file, done.get(file, ())) for file in by_file]


WINDOW_EVENTS = 12
WINDOWS = 400


def false_windows(folder, examples):
    """Return (windows with a candidate, windows) over random stretches of sessions without a lesson, out of fold."""
    free = {
        file: list(read_session(os.path.join(folder, "sessions", file)))
        for file, labels in session_labels(folder).items()
        if not any(label["has_knowledge"] for label in labels)
    }
    labels = np.array([e["label"] for e in examples])
    groups = [e["group"] for e in examples]
    rng = np.random.default_rng(1)
    hits = total = 0
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(labels, labels, groups):
        model = parse_model(trained_model([examples[i] for i in train], "session"))
        reflector = Reflector(ReflectorConfig(), Unchanged(), worth={"session": model})
        files = sorted({groups[i] for i in test} & free.keys())
        for _ in range(WINDOWS // FOLDS if files else 0):
            events = free[files[rng.integers(len(files))]]
            start = int(rng.integers(max(1, len(events) - WINDOW_EVENTS + 1)))
            window = events[start : start + WINDOW_EVENTS]
            hits += bool(reflector.session(window, source="session x y").candidates)
            total += 1
    return hits, total


def report_privacy(folder):
    """Print planted secrets that reach a candidate, and harmless hashes that are redacted in one."""
    leaks = candidates = 0
    texts = []
    for file, labels in session_labels(folder).items():
        events = list(read_session(os.path.join(folder, "sessions", file)))
        planted = [word.lower() for label in labels for word in label.get("forbidden", ())]
        for found in (
            Reflector(ReflectorConfig(min_score=0), PrivacySanitizer())
            .session(events, source="session x y")
            .candidates
        ):
            candidates += 1
            shown = repr(found).lower()
            leaks += any(word in shown for word in planted)
            texts.append(found.text)
    print(f"\nplanted secrets in {candidates} session candidates (min_score 0, all fields): {leaks}")
    reflector = Reflector(ReflectorConfig(min_score=0), Unchanged())
    for label in read_lines(os.path.join(folder, "commits.dev.jsonl")):
        texts += [c.text for c in reflector.commit(Commit(label["sha"], label["text"])).candidates]
    sanitizer, lost, total = PrivacySanitizer(), 0, 0
    for number, text in enumerate(texts):
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        uuid = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
        integrity = f"sha256-{base64.b64encode(bytes.fromhex(digest)).decode()}"
        for harmless in (digest[:10], digest[:40], digest, uuid, integrity):
            total += 1
            lost += harmless not in sanitizer.sanitize(f"{text} It came with {harmless}.").text
    print(f"harmless hashes redacted in candidates: {lost} of {total} = {lost / total:.2%}")


def report_sessions(folder, examples):
    """Print the tables for sessions."""
    by_file = session_labels(folder)
    golds = [label for labels in by_file.values() for label in labels if label["has_knowledge"]]
    rows, file_rows = [], []
    for seed in range(SEEDS):
        run = session_run(folder, examples, seed)
        proposed = right = 0
        found, kept, total, sections, types = set(), 0, 0, [], []
        leaks = 0
        for file, candidates in run:
            labels = [label for label in by_file[file] if label["has_knowledge"]]
            for candidate in candidates:
                proposed += 1
                gold = matching_gold(candidate.text, labels)
                leaks += any(
                    w.lower() in candidate.text.lower()
                    for label in by_file[file]
                    for w in label.get("forbidden", ())
                )
                if gold:
                    right += 1
                    if gold["gold"] not in found:
                        kept += sum(t.lower() in candidate.text.lower() for t in gold["must_contain"])
                        total += len(gold["must_contain"])
                        sections.append(candidate.section == gold["section"].lower())
                        types.append(candidate.type == gold["type"].lower())
                    found.add(gold["gold"])
            if seed == 0 and "-v" in sys.argv:
                _show(file, candidates, labels)
        precision, recall = right / max(1, proposed), len(found) / len(golds)
        rows.append(
            (
                precision,
                recall,
                2 * precision * recall / max(1e-9, precision + recall),
                kept / max(1, total),
                np.mean(sections),
                np.mean(types),
                leaks,
            )
        )
        truth = [any(label["has_knowledge"] for label in by_file[file]) for file, _ in run]
        file_rows.append(prf(truth, [bool(c) for _, c in run]))
    print(f"\nSessions: {len(by_file)} files, {len(golds)} lessons")
    print(f"{'':32}{'P':>7}{'R':>7}{'F1':>7}{'tokens':>8}{'section':>9}{'type':>7}{'leaks':>7}")
    p, r, f, k, s, t, leaks = np.mean(rows, 0)
    print(f"{'memx, lesson by lesson':32}{p:7.2f}{r:7.2f}{f:7.2f}{k:8.2f}{s:9.2f}{t:7.2f}{leaks:7.1f}")
    p, r, f = np.mean(file_rows, 0)
    print(f"{'memx, file by file':32}{p:7.2f}{r:7.2f}{f:7.2f}")
    everything = np.array([e["label"] for e in examples])
    p, r, f = prf(everything, np.ones(len(everything), bool))
    print(f"{'all findings, unscored':32}{p:7.2f}")
    hits, total = false_windows(folder, examples)
    low, high = interval(hits, total)
    print(
        f"false candidates in 100 random windows of {WINDOW_EVENTS} events of lesson-free sessions:"
        f" {100 * hits / max(1, total):.1f} ({100 * low:.1f}-{100 * high:.1f})"
    )
    return [
        (by_file[file][0]["lang"], any(label["has_knowledge"] for label in by_file[file]), bool(c))
        for file, c in run
    ]


def _show(file, candidates, labels):
    print("##", file[:60], [label["must_contain"] for label in labels])
    for candidate in candidates:
        print(
            "   ",
            candidate.score,
            candidate.rule,
            candidate.section,
            bool(matching_gold(candidate.text, labels)),
            candidate.text[:300],
        )


# --- both ------------------------------------------------------------------------------------


def report_languages(outcomes):
    """Print recall and precision by language, commits and session files pooled, with 95 % intervals."""
    print(f"\n{'language':10}{'P':>6}{'':14}{'R':>6}{'':14}{'F1':>6}")
    for lang in ("en", "zh", "ja", "es"):
        mine = [(t, f) for language, t, f in outcomes if language == lang]
        hits = sum(t and f for t, f in mine)
        found, truth = sum(f for _, f in mine), sum(t for t, _ in mine)
        p, r = hits / max(1, found), hits / max(1, truth)
        low, high = interval(hits, found)
        low_r, high_r = interval(hits, truth)
        print(
            f"{lang:10}{p:6.2f} ({low:.2f}-{high:.2f}) {r:6.2f} ({low_r:.2f}-{high_r:.2f})"
            f" {2 * p * r / max(1e-9, p + r):6.2f}"
        )


def labelled_lessons(folder):
    """Return all positive labels with the text and rule that memx gives, where it finds the lesson."""
    reflector = Reflector(ReflectorConfig(min_score=0), Unchanged())
    labels = [x for x in read_lines(os.path.join(folder, "commits.dev.jsonl")) if x["has_knowledge"]]
    for label in labels:
        label["distilled"], label["found_rule"] = "", ""
        for found in reflector.commit(Commit(label["sha"], label["text"])).candidates:
            label["distilled"], label["found_rule"] = found.text, found.rule
    for file, given in session_labels(folder).items():
        golds = [gold | {"distilled": "", "found_rule": ""} for gold in given if gold["has_knowledge"]]
        events = list(read_session(os.path.join(folder, "sessions", file)))
        for found in find_lessons(split_episodes(events)) if golds else ():
            gold = matching_gold(found.text, golds)
            if gold and not gold["distilled"]:
                gold["distilled"], gold["found_rule"] = found.text, found.rule
        labels += golds
    return labels


def report_classes(folder):
    """Print section and type accuracy on what memx distils, cross-validated."""
    labels = labelled_lessons(folder)
    print()
    for field in ("section", "type"):
        hits = {"commits": [], "sessions": []}
        second = []
        for seed in range(SEEDS):
            order = np.random.default_rng(seed).permutation(len(labels))
            for part in np.array_split(order, FOLDS):
                held = set(part.tolist())
                rest = [label for i, label in enumerate(labels) if i not in held]
                weights = train_classes(class_examples(rest, field), field)
                for i in part:
                    label = labels[i]
                    text = label["distilled"] or label.get("gold_local") or label["gold"]
                    kind = "commit" if "text" in label else "session"
                    values = class_values(text, label["found_rule"] or gold_rule(label), label["lang"], kind)
                    ranked = sorted(weights, key=lambda name: -weigh(values, weights[name]))
                    best = ranked[0]
                    second.append(label[field].lower() in ranked[:2])
                    hits["commits" if "text" in label else "sessions"].append(best == label[field].lower())
        both = hits["commits"] + hits["sessions"]
        print(
            f"{field} accuracy: {np.mean(both):.2f}; "
            + ", ".join(f"{k} {np.mean(v):.2f}" for k, v in hits.items())
            + f"; among the first two {np.mean(second):.2f}"
        )


HISTORY_COMMITS = 20_000


def synthetic_messages(folder, count):
    """Return messages as long as those of real histories: 70 % title alone, 20 % up to 300 characters, 10 % whole."""
    rng = random.Random(5)
    texts = [
        x["text"].strip() for x in read_lines(os.path.join(folder, "commits.dev.jsonl")) if x["text"].strip()
    ]
    messages = []
    for number in range(count):
        text, drawn = rng.choice(texts), rng.random()
        if drawn < 0.7:
            messages.append(f"{text.splitlines()[0][:80]} (#{number})")
        else:
            messages.append(f"{text[:300] if drawn < 0.9 else text}\n\nRefs #{number}")
    return messages


SPEED_COMMITS = 3000
SPEED_CHUNK = 150
SPEED_ROUNDS = 4


def cpu_seconds(reflector, commits):
    """Return the CPU seconds for the commits: of each stretch the least of a few rounds, since other load only adds."""
    total = 0.0
    for at in range(0, len(commits), SPEED_CHUNK):
        least = math.inf
        for _ in range(SPEED_ROUNDS):
            start = time.process_time()
            for commit in commits[at : at + SPEED_CHUNK]:
                reflector.commit(commit)
            least = min(least, time.process_time() - start)
        total += least
    return total


def report_speed(folder):
    """Print what a message costs by the share of lessons, and what `memx distill --history` makes of it."""
    messages = synthetic_messages(folder, HISTORY_COMMITS)
    lengths = np.percentile([len(m) for m in messages], (10, 50, 90, 99)).astype(int)
    print(f"\nsynthetic history: length p10, p50, p90, p99 {', '.join(map(str, lengths))} characters")
    reflector = Reflector(ReflectorConfig(), PrivacySanitizer(), explains=False)
    commits = [Commit(f"{i:040x}", text) for i, text in enumerate(messages[: 3 * SPEED_COMMITS])]
    teaching = [commit for commit in commits if reflector.commit(commit).candidates]
    taught = {commit.sha for commit in teaching}
    others = [commit for commit in commits if commit.sha not in taught]
    natural = len(teaching) / len(commits)
    print(
        f"{'messages alone':24} {'n':>6} {'us CPU a commit':>16} {'commits/s a core':>17} {'two cores':>10}"
    )
    for share in (0.0, 0.05, natural):
        lessons = round(share * SPEED_COMMITS)
        chosen = teaching[:lessons] + others[: SPEED_COMMITS - lessons]
        each = cpu_seconds(reflector, chosen) / len(chosen)
        name = f"{lessons / len(chosen):.0%} give a candidate"
        print(f"{name:24} {len(chosen):6} {1e6 * each:16.0f} {1 / each:17.0f} {2 / each:10.0f}")
    with tempfile.TemporaryDirectory() as repository:
        _import_history(repository, messages)
        times, start = os.times(), time.monotonic()
        subprocess.run(
            [sys.executable, "-m", "memx", "distill", "--history", "--dry-run", "-q"],
            cwd=repository,
            env=os.environ | {"PYTHONPATH": os.path.join(HERE, "..")},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        wall, ended = time.monotonic() - start, os.times()
    spent = ended.children_user + ended.children_system - times.children_user - times.children_system
    print(
        f"memx distill --history, n {HISTORY_COMMITS}, reading, ranking and files included:"
        f" {1e6 * spent / HISTORY_COMMITS:.0f} us CPU a commit, {HISTORY_COMMITS / wall:.0f} commits/s by the clock"
        f" on {os.cpu_count()} cores at a load of {os.getloadavg()[0]:.1f}"
    )


def _import_history(folder, messages):
    """Make a repository with these messages by fast-import."""
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", folder], check=True)
    parts = [
        b"commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata %d\n%s\n"
        % (1_500_000_000 + 600 * number, len(message.encode()), message.encode())
        for number, message in enumerate(messages)
    ]
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=b"".join(parts), check=True)


def main():
    """Print everything."""
    arguments = [a for a in sys.argv[1:] if not a.startswith("-")]
    folder = arguments[0] if arguments else EVAL
    if "--speed" in sys.argv:
        report_speed(folder)
        return
    commits, sessions = load_commits(folder), load_sessions(folder)
    outcomes = report_commits(commits)
    outcomes += report_sessions(folder, sessions)
    report_languages(outcomes)
    report_classes(folder)
    report_privacy(folder)
    report_speed(folder)


if __name__ == "__main__":
    main()
