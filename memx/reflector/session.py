"""Lessons of a session: structural evidence from the calls, words from what was said about them."""

from __future__ import annotations

import math
import re

from memx.record import record, replace
from memx.reflector.calls import Call, is_edit, quoted_error
from memx.reflector.detector import PatternDetector, lead_match
from memx.reflector.distiller import BulletDistiller
from memx.reflector.episode import Episode, Turn, content_words, reports_problem
from memx.reflector.features import NAMES, Evidence, gather
from memx.reflector.paragraphs import separate_lessons
from memx.reflector.pattern import pattern
from memx.reflector.repetition import repeated_steps
from memx.reflector.retry import is_spoken_of, retry_text, symptom_of
from memx.reflector.rules.repetitive_op import repetition_confidence
from memx.reflector.segment import Passage, segment_prose
from memx.reflector.settings import Setting, edit_settings
from memx.reflector.variant import Variant, find_variants, open_failures, shown
from memx.reflector.vocabulary import cue_counts, fold, load_lexicon, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memx.reflector.repetition import Recurring
    from memx.reflector.rules import Match
    from memx.reflector.segment import Sentence

_INSTALL = pattern(
    r"\b(?:npm (?:install|i|add)|pnpm add|yarn add|bun add|pip3? install|uv add|poetry add"
    r"|pipx install|cargo (?:add|install)|go (?:get|install)|brew install"
    r"|apt(?:-get)? install|gem install|composer require|dotnet add package|choco install"
    r"|winget install|scoop install)\s+(?:-\S+\s+)*(?P<name>[@A-Za-z][\w@./-]*)"
)
_IMAGE = pattern(r"^\+\s*image:\s*[\"']?(?:[\w.-]+/)*(?P<name>[\w-]+)", re.MULTILINE)
_NO_OP = pattern(
    r"up to date|already (?:installed|satisfied|up-to-date)|nothing to (?:do|install)", re.IGNORECASE
)
STRUCTURE = (
    "trouble",
    "variant",
    "edited",
    "succeeded",
    "problem",
    "rule_said",
    "setting",
    "tool",
    "repeated",
    "from_user",
    "generality",
)
SESSION_NAMES = (
    "cause", "hazard", "failure", "remedy", "necessity", "contrast", "firm", "condition", "feature", "series",
    "discourse", "negation", "general_fact", "core_discourse",
    "identifiers", "values", "length", "best_sentence", "mean_sentence", "chatter", "hedge", *STRUCTURE,
)  # fmt: skip
_WHOLE_COMMAND = 0.8
_SHORT_COMMAND = 120
_KEY_PART = pattern(r"[A-Za-z]{4,}")


@record
class Finding:
    """A lesson seen in an episode: its rule, its sentences' evidence and what the model weighs."""

    rule: str
    confidence: float
    support: float
    text: str
    evidence: Evidence
    values: dict[str, float]
    key: str
    time: float | None
    spans: tuple[str, ...] = ()
    apart: tuple[Finding, ...] = ()
    """What takes its place where two or more of them are worth keeping: each paragraph taught something else."""


def find_lessons(episodes: Sequence[Episode], repetition_min: int = 3) -> list[Finding]:
    """Return what each episode may teach: at most one lesson of the work, one of the person, one of repetition."""
    finder = _Finder(repetition_min)
    # What was counted comes first: of two lessons in the same words the earlier names the rule.
    found = finder.of_repetition(episodes)
    carried: tuple[Call, ...] = ()
    for episode in episodes:
        calls = (*carried, *episode.calls)
        said = finder.of_person(episode)
        found += said
        found += [f for f in finder.of_work(episode, calls) if not _acknowledges(f, said)]
        unresolved = [] if any(c.succeeded for c in episode.calls[-2:]) else open_failures(calls)
        carried = tuple(unresolved[-2:])
    return found


class _Finder:
    def __init__(self, repetition_min: int) -> None:
        self._repetition_min = repetition_min
        self._detector = PatternDetector()
        self._distiller = BulletDistiller()

    def of_person(self, episode: Episode) -> list[Finding]:
        """Return the rule that a person lays down, when one does."""
        turn = episode.request
        if turn is None:
            return []
        evidence = gather(turn.passage, episode.language)
        denied = self._detector.denied(evidence)
        matches = [m for m in self._detector.detect(evidence) if m.first not in denied]
        stated = [m for m in matches if m.support]
        spoken = [m for m in matches if m.rule in ("correction", "statement")]
        structure = {"rule_said": 1.0, "from_user": 1.0}
        apart = self._of_paragraphs(turn.passage, episode.language, structure, turn)
        if not stated and not spoken:
            return list(apart)
        match = stated[0] if stated else spoken[0]
        text = self._distiller.distil(evidence, match.first, match.last)
        structure["generality"] = float("generality" in cue_counts(episode.language, text))
        found = _finding(match.rule, match.confidence, match.support, text, evidence, structure, turn)
        return [replace(found, apart=apart)]

    def _of_paragraphs(
        self, passage: Passage, language: str, structure: Mapping[str, float], turn: Turn
    ) -> tuple[Finding, ...]:
        """Return the lessons of the single paragraphs, where each teaches something of its own."""
        found = []
        for lesson in separate_lessons(passage, language, self._detector):
            match = lead_match(lesson.matches, lesson.evidence)
            text = self._distiller.distil(lesson.evidence, *lesson.span(match))
            found.append(
                _finding(match.rule, match.confidence, match.support, text, lesson.evidence, structure, turn)
            )
        return tuple(found)

    def of_work(self, episode: Episode, calls: Sequence[Call]) -> list[Finding]:
        """Return what the agent's work taught: what was said of it as one lesson, and each retry that it is not of."""
        variants = find_variants(calls)
        found, told = self._of_words(episode, calls, variants)
        return [*found, *_of_retries(episode, calls, [v for v in variants if v not in told], found)]

    def _of_words(
        self, episode: Episode, calls: Sequence[Call], variants: Sequence[Variant]
    ) -> tuple[list[Finding], list[Variant]]:
        """Return the best of cause, variant, setting and tool as one lesson, and the variants that are part of it."""
        turns = episode.turns
        if not turns:
            return [], []
        done = any(c.succeeded and c.action in ("shell", "edit") for c in calls)
        joined, places = _joined(turns)
        evidence = gather(joined, episode.language, plans=done)
        if not evidence.usable:
            return [], []
        kept = self._distiller.choose(evidence)
        text = self._distiller.word([evidence.usable[i] for i in kept])
        said_at = [places.get(evidence.usable[i].block, 0) for i in kept]
        told = [v for v in variants if is_spoken_of(v, text, said_at, calls)]
        settings = [
            s for c in calls if c.action == "edit" and c.succeeded for s in edit_settings(c.path, c.command)
        ]
        tool = _new_tool(calls, evidence)
        # Where something was done, only a rule's own words may name it otherwise than the calls do.
        own = None if not calls else True
        stated = [
            m
            for m in self._detector.detect(evidence, alone=own)
            if m.support and (not calls or (m.rule != "error_fix" and m.support == 1.0))
        ]
        rule, confidence, support = _name_work(episode, calls, told, settings, tool, stated, evidence)
        text = _complete(text, rule, told, settings, tool, evidence, self._distiller)
        if rule in ("error_fix", "retry_success"):
            at = places.get(evidence.usable[max(kept, key=lambda i: evidence.strengths[i])].block, 0)
            apart = [v.failed for v in variants if v not in told]
            error = symptom_of(text, at, [c for c in calls if c not in apart], episode.language)
            text = _with_symptom(text, error or quoted_error(episode.said), episode.language)
        structure = _structure(episode, calls, told, settings, tool)
        found = _finding(rule, confidence, support, text, evidence, structure, turns[-1])
        if told or settings or tool:
            return [found], told  # what the calls show belongs to one lesson
        paragraphs = self._of_paragraphs(joined, episode.language, structure, turns[-1])
        return [replace(found, apart=paragraphs)], told

    def of_repetition(self, episodes: Sequence[Episode]) -> list[Finding]:
        """Return the sequence of steps that was run again and again, navigation, tests and polling excluded."""
        calls = [call for episode in episodes for call in episode.calls]
        counted = repeated_steps(calls)
        often = [step for step, count in counted.items() if count >= self._repetition_min]
        if not often:
            return []
        count = max(counted[step] for step in often)
        said = _said_about(often, episodes)
        if said is None:
            return []
        episode, turn = said
        evidence = gather(turn.passage, episode.language)
        named = [i for i, s in enumerate(evidence.usable) if any(step in s.text for step in often)]
        text = self._distiller.word([evidence.usable[i] for i in named[:2]])
        if not text:
            return []
        confidence = repetition_confidence(count, self._repetition_min)
        return [
            _finding(
                "repetitive_op", confidence, 0.8, text, evidence, {"repeated": 1.0, "succeeded": 1.0}, turn
            )
        ]


def recurring_finding(habit: Recurring, language: str, minimum: int) -> Finding:
    """Return what was run in many sessions as a lesson; nobody need have spoken of it."""
    text = load_lexicon(language).templates["repeat"].format(command=habit.command)
    evidence = gather(segment_prose(text), language)
    confidence = repetition_confidence(habit.sessions, minimum)
    structure = {"repeated": 1.0, "succeeded": 1.0}
    return _finding("repetitive_op", confidence, 0.8, text, evidence, structure, None)


def _finding(
    rule: str,
    confidence: float,
    support: float,
    text: str,
    evidence: Evidence,
    structure: Mapping[str, float],
    turn: Turn | Call | None,
) -> Finding:
    own = gather(segment_prose(text), evidence.language)
    values = {name: own.values.get(name, 0.0) for name in NAMES}
    counts = cue_counts(evidence.language, text)
    for name in ("chatter", "hedge"):
        values[name] = math.log1p(counts.get(name, 0))
    values |= {name: float(structure.get(name, 0.0)) for name in STRUCTURE}
    key, time = (turn.key, turn.time) if turn else ("", None)
    return Finding(rule, confidence, support, text, own, values, key, time)


def _acknowledges(work: Finding, said: Sequence[Finding]) -> bool:
    """Tell whether the agent only says again what the person just said."""
    words = content_words(work.text)
    return any(2 * len(words & content_words(person.text)) >= len(words) for person in said)


def _of_retries(
    episode: Episode, calls: Sequence[Call], variants: Sequence[Variant], work: Sequence[Finding]
) -> list[Finding]:
    """Return each retry that nobody spoke of: the two commands are the lesson."""
    structure = {"trouble": 1.0, "variant": 1.0, "succeeded": 1.0}
    found: dict[str, Finding] = {}
    for variant in variants:
        text = retry_text(variant, episode.language)
        if not text or _edited_between(calls, variant) or any(_gives(f.text, variant) for f in work):
            continue
        evidence = gather(segment_prose(text), episode.language)
        finding = _finding("retry_success", 0.7, 0.4, text, evidence, structure, variant.worked)
        found.setdefault(variant.worked.command, finding)
    return list(found.values())


def _gives(text: str, variant: Variant) -> bool:
    worked = shown(variant.worked.command)
    return bool(worked) and _is_told(variant, worked, text)


def _joined(turns: Sequence[Turn]) -> tuple[Passage, dict[int, int]]:
    """Return what was said in several turns as one text, and which paragraph stands where among the events.

    No paragraph goes over two turns.
    """
    sentences: list[Sentence] = []
    places: dict[int, int] = {}
    for turn in turns:
        before = sentences[-1].block if sentences else 0
        sentences += [replace(s, block=before + s.block) if before else s for s in turn.passage.sentences]
        places |= {before + s.block: turn.at for s in turn.passage.sentences}
    return Passage("", tuple(sentences)), places


def _structure(
    episode: Episode,
    calls: Sequence[Call],
    variants: Sequence[Variant],
    settings: Sequence[Setting],
    tool: str,
) -> dict[str, float]:
    return {
        "trouble": float(any(c.failed for c in calls)),
        "variant": float(bool(variants)),
        "edited": float(any(c.action == "edit" and c.succeeded for c in calls)),
        "succeeded": float(any(c.succeeded and c.action == "shell" for c in calls[-3:])),
        "problem": float(reports_problem(episode.request, episode.language)),
        "setting": float(bool(settings)),
        "tool": float(bool(tool)),
    }


def _name_work(
    episode: Episode,
    calls: Sequence[Call],
    variants: Sequence[Variant],
    settings: Sequence[Setting],
    tool: str,
    stated: Sequence[Match],
    evidence: Evidence,
) -> tuple[str, float, float]:
    """Return (rule, confidence, support) of an episode's work; whether it teaches anything is the score's matter."""
    if tool:
        return "new_tool", 0.65, 0.4
    said = " ".join(s.text for s in evidence.usable)
    if settings and any(
        s.new in said or any(part in said for part in _KEY_PART.findall(s.key)) for s in settings
    ):
        return "config_change", 0.6, 0.4
    direct = [v for v in variants if not _edited_between(calls, v)]
    if direct:
        return "retry_success", 0.7, 0.4
    words = vocabulary(evidence.language)
    if stated:
        # Where nothing was done, the words are all there is: they are judged as a commit's are.
        return stated[0].rule, stated[0].confidence, 0.3 if calls else 1.0
    if (
        any(c.failed for c in calls)
        or reports_problem(episode.request, episode.language)
        or (
            any(c.action == "edit" for c in calls) and any(words.has("diagnosis", f) for f in evidence.folded)
        )
    ):
        return "error_fix", 0.8, 0.0
    return "statement", 0.55, 0.0


def _edited_between(calls: Sequence[Call], variant: Variant) -> bool:
    return any(variant.failed.at < c.at < variant.worked.at and is_edit(c) for c in calls)


def _new_tool(calls: Sequence[Call], evidence: Evidence) -> str:
    """Return a tool that was installed or added as an image, and that is spoken of."""
    said = fold(" ".join(s.text for s in evidence.usable))
    for call in calls:
        names = [m["name"] for m in _INSTALL.finditer(call.command)] if call.action == "shell" else []
        names += [m["name"] for m in _IMAGE.finditer(call.command)] if call.action == "edit" else []
        if _NO_OP.search(call.result):
            continue
        for name in names:
            short = re.sub(r"^@[\w-]+/|[-_](?:cli|core|js|py)$|@.*$", "", name).lower()
            if len(short) > 2 and fold(short).strip() in said:  # noqa: PLR2004
                return short
    return ""


def _complete(
    text: str,
    rule: str,
    variants: Sequence[Variant],
    settings: Sequence[Setting],
    tool: str,
    evidence: Evidence,
    distiller: BulletDistiller,
) -> str:
    """Add what the calls know and the words leave out: the command that worked, the value that was set."""
    templates = load_lexicon(evidence.language).templates
    if rule == "retry_success" and variants and not _gives(text, variants[0]):
        text = f"{retry_text(variants[0], evidence.language)} {text}"
    if rule == "config_change":
        for setting in settings[:2]:
            if setting.new not in text or setting.key not in text:
                name = re.split(r"[/\\]", setting.path)[-1]
                change = templates["config"].format(
                    key=setting.key, path=name, old=setting.old, new=setting.new
                )
                text = f"{change} {text}"
    if rule == "new_tool" and tool and fold(tool).strip() not in fold(text):
        named = [s for s in evidence.usable if fold(tool).strip() in fold(s.text)]
        text = f"{distiller.word(named[:1])} {text}"
    return text.strip()


def _is_told(variant: Variant, worked: str, text: str) -> bool:
    """Tell whether the words give the command that worked already; of a long one its new words do."""
    if variant.steps:
        return all(step in text for step in variant.steps)
    if len(worked) > _SHORT_COMMAND:
        return any(word in text for word in variant.added if len(word) > 1)
    words = worked.split()
    return sum(word in text for word in words) >= _WHOLE_COMMAND * len(words)


def _with_symptom(text: str, error: str, language: str) -> str:
    """Add the error as it was shown, by which the next one who sees it will search."""
    known = content_words(text)
    if not error or len(content_words(error) - known) < 2 or error[:60] in text:  # noqa: PLR2004
        return text
    return f"{text} {load_lexicon(language).templates['symptom'].format(error=error.rstrip('.。'))}"


def _said_about(steps: Sequence[str], episodes: Sequence[Episode]) -> tuple[Episode, Turn] | None:
    """Return the last turn of an assistant that names one of the steps."""
    for episode in reversed(episodes):
        for turn in reversed(episode.turns):
            if any(step in sentence.text for sentence in turn.passage.sentences for step in steps):
                return episode, turn
    return None
