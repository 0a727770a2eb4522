"""The Reflector: commits, sessions and plain text in, candidates out. Pure but for loading its own data."""

from __future__ import annotations

from functools import lru_cache

from memx.amount import amount
from memx.model import Candidate, Rejection, Span
from memx.record import record, replace
from memx.reflector.classify import classify, classify_written
from memx.reflector.detector import PatternDetector, in_proportion, lead_match
from memx.reflector.distiller import BulletDistiller, entities_of, shown_command
from memx.reflector.echo import is_injection, strip_echo
from memx.reflector.features import Evidence, gather, measure, sift
from memx.reflector.guards import is_release_note
from memx.reflector.language import detect_language, weight_of
from memx.reflector.paragraphs import Lesson, separate_lessons
from memx.reflector.rules import Match
from memx.reflector.rules.statement import LONGEST
from memx.reflector.scorer import Factors, KnowledgeScorer
from memx.reflector.segment import Passage, explicit_lessons, segment, segment_prose
from memx.reflector.subject import anchors_of, known_tools, tags_of, tools_of
from memx.reflector.unsaid import says_nothing
from memx.reflector.vocabulary import vocabulary
from memx.reflector.worth import load_worth
from memx.store.naming import bullet_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from memx.config import ReflectorConfig
    from memx.model import Commit, Event
    from memx.reflector.diff import DiffEvidence
    from memx.reflector.repetition import Recurring
    from memx.reflector.session import Finding
    from memx.reflector.worth import LogisticModel

    class Replaced(Protocol):
        """What a sanitiser found."""

        @property
        def kind(self) -> str:
            """The kind of thing that was replaced."""
            ...

        @property
        def start(self) -> int:
            """Index of its first character in the original."""
            ...

        @property
        def end(self) -> int:
            """Index behind its last character in the original."""
            ...

    class Redaction(Protocol):
        """A sanitiser's answer."""

        @property
        def text(self) -> str:
            """The text without what must not be stored."""
            ...

        @property
        def findings(self) -> tuple[Replaced, ...]:
            """What was replaced."""
            ...

    class Sanitizer(Protocol):
        """Anything that takes secrets and personal data out of text."""

        def sanitize(self, text: str) -> Redaction:
            """Return the text without them."""
            ...

        def breaks_secrets(self, text: str) -> bool:
            """Say cheaply whether a secret may go on in the next line."""
            ...


_SHORTEST = 18
"""Latin characters; nothing shorter holds a lesson."""
_SHORT = 125
"""Latin characters; so little holds a lesson only where a rule's own words stand.

The shortest labelled commit without them has 156.
"""


_BRIEF = 300
"""Characters of a text in which it is said what voided a rule's words; a longer one speaks of many things."""
ECHO = "repeats what memx said"
UNSAID = "says that there is nothing, or nothing yet"
VOIDED = "denied, planned, offered, taken back, asked or quoted"
RELEASE = "lists the changes of a release"


@record
class Reflection:
    """What a source taught, and what was seen but dropped."""

    candidates: tuple[Candidate, ...] = ()
    rejected: tuple[Rejection, ...] = ()


_NOTHING = Reflection()
_TEXTS_KNOWN = 1024
_SHOWN_SUPPORT = 0.8
"""How far a diff that the message speaks of is a lesson by itself."""


@record
class Origin:
    """Where a text comes from: its source line, time, author and files."""

    source: str
    created: float | None = None
    author: str = ""
    paths: tuple[str, ...] = ()


@record
class _Description:
    """What a lesson's text alone says of it."""

    id: str
    text: str
    tags: tuple[str, ...]
    tools: tuple[str, ...]
    entities: tuple[str, ...]
    redacted: tuple[str, ...]


class Reflector:
    """Distils lessons in `rules` mode; the LLM of the other modes is joined to it by the caller."""

    def __init__(
        self,
        config: ReflectorConfig,
        sanitizer: Sanitizer,
        worth: Mapping[str, LogisticModel] | None = None,
        *,
        explains: bool = True,
    ) -> None:
        """Take the configuration and what redacts every text before it leaves.

        worth: models for `commit` and `session` in place of the packaged ones.
        explains: whether to say why a text was rejected.
        """
        self._explains = explains
        self._worth = worth or {}
        self._config = config
        self._sanitizer = sanitizer
        self._detector = PatternDetector()
        self._scorer = KnowledgeScorer()
        self._distiller = BulletDistiller()
        # Backports tell a lesson again, and spans are a rule's few words: each is looked through once.
        self._redacted = lru_cache(_TEXTS_KNOWN)(sanitizer.sanitize)
        self._described = lru_cache(_TEXTS_KNOWN)(self._describe)

    def commit(self, commit: Commit) -> Reflection:
        """Distil a commit's message, with its files where they were read."""
        own = strip_echo(commit.message)
        if own != commit.message:
            found = self.commit(replace(commit, message=own)) if own.strip() else _NOTHING
            return self._merge(found, self._echoed(commit.message, f"commit {commit.sha}"))
        found = self._commit(commit)
        message = self._without_broken_secrets(commit.message) if found.candidates else commit.message
        return found if message is commit.message else self._commit(replace(commit, message=message))

    def shows_more(self, commit: Commit) -> bool:
        """Tell whether a commit's diff, where it was read, adds something to what the message says."""
        return _shown_by(commit) is not None

    def anchored(self, candidate: Candidate, commit: Commit) -> Candidate:
        """Return a commit's candidate that was distilled without its files, anchored to them."""
        return replace(candidate, anchors=self._anchors(candidate.text, _paths_of(commit)))

    def _without_broken_secrets(self, text: str) -> str:
        """Redact secrets that go on in the next line: once lines are joined by a blank nothing knows them."""
        if "\n" not in text or not self._sanitizer.breaks_secrets(text):
            return text
        redaction = self._sanitizer.sanitize(text)
        broken = any("\n" in text[finding.start : finding.end] for finding in redaction.findings)
        return redaction.text if broken else text

    def _commit(self, commit: Commit) -> Reflection:
        message = commit.message
        shown = _shown_by(commit)
        if shown is None and self._is_hopeless(message):
            return self._voided(message, f"commit {commit.sha}")
        origin = Origin(
            source=f"commit {commit.sha}",
            created=commit.authored,
            author=commit.author,
            paths=_paths_of(commit),
        )
        stated = explicit_lessons(message)
        if stated:
            return self._merge(
                *(self._explicit(key, text, origin) for key, text in stated),
                self._lessons(segment(message), "commit", origin, shown),
            )
        return self._lessons(segment(message), "commit", origin, shown)

    def _echoed(self, text: str, source: str) -> Reflection:
        """Say that a text holds what memx printed or a tool injected."""
        if not self._explains:
            return _NOTHING
        own = set(strip_echo(text).splitlines())
        printed = next((line.strip() for line in text.splitlines() if line.strip() and line not in own), "")
        safe = self._sanitizer.sanitize(printed).text
        return Reflection(rejected=(Rejection("echo", ECHO, source, safe),))

    def _voided(self, text: str, source: str) -> Reflection:
        """Say which rule's words stand in a short text, but denied, planned, asked or quoted."""
        if not self._explains or len(text) > _BRIEF:
            return _NOTHING
        return self._void(segment_prose(text), source)

    def _void(self, passage: Passage, source: str) -> Reflection:
        seen = self._detector.voided(passage.sentences) if self._explains else None
        if seen is None:
            return _NOTHING
        rule, sentence = seen
        safe = self._sanitizer.sanitize(sentence.text).text
        return Reflection(rejected=(Rejection(rule, VOIDED, source, safe),))

    def _refused(self, rule: str, reason: str, source: str, text: str = "") -> Reflection:
        if not self._explains:
            return _NOTHING
        return Reflection(rejected=(Rejection(rule, reason, source, self._sanitizer.sanitize(text).text),))

    def _is_slight(self, evidence: Evidence) -> bool:
        """Tell whether so little is said that only a rule's own words could carry a lesson."""
        if self._config.min_score <= 0:
            return False
        room = _SHORT
        for sentence in evidence.usable:
            room -= weight_of(sentence.text)
            if room < 0:
                return False
        return True

    def _is_hopeless(self, message: str) -> bool:
        """Tell cheaply whether a message comes from a bot, or is short and holds no rule's own words."""
        if len(message) > _SHORT:
            return "Bumps [" in message or "updated-dependencies:" in message
        weight = weight_of(message)
        if weight < _SHORTEST:
            return True
        if weight > _SHORT or self._config.min_score <= 0 or explicit_lessons(message):
            return False
        if self._detector.may_state(message):
            return False
        return not (self._detector.may_match(message) and self._detector.has_match(segment(message)))

    def text(
        self, text: str, kind: str = "commit", *, source: str = "", created: float | None = None
    ) -> Reflection:
        """Distil a text by itself: a commit message (`commit`) or a turn of a conversation (`session`)."""
        origin = Origin(source=source or kind, created=created)
        text = self._without_broken_secrets(strip_echo(text))
        stated = explicit_lessons(text)
        passage = segment(text) if kind == "commit" else segment_prose(text)
        return self._merge(
            *(self._explicit(key, lesson, origin) for key, lesson in stated),
            self._lessons(passage, kind, origin),
        )

    def session(self, events: Sequence[Event], *, source: str) -> Reflection:
        """Distil a session's events.

        source: `session <format> <id>`; each lesson's own key is added.
        """
        # A commit's hook has no use for this half.
        from memx.reflector.episode import split_episodes
        from memx.reflector.session import find_lessons

        events = [self._whole(event) for event in events]
        episodes = split_episodes(events)
        parts = [self._finding(f, source) for f in find_lessons(episodes, self._config.repetition_min)]
        return self._merge(*self._stated_in(events, source), *parts, *self._voided_in(events, source))

    def steps(self, events: Sequence[Event]) -> Mapping[str, int]:
        """Count the steps that were run in a session, for `habits`; see `count_steps`."""
        from memx.reflector.calls import pair_calls
        from memx.reflector.repetition import count_steps

        return count_steps(pair_calls([event for event in events if not event.sidechain]))

    def habits(
        self, counted: Mapping[str, int], sessions: Mapping[str, int], language: str, origin: Origin
    ) -> Reflection:
        """Return what is run by hand in session after session.

        counted: the most runs in one session of each step. sessions: in how many each was seen.
        """
        from memx.reflector.repetition import recurring, repeated_within
        from memx.reflector.session import recurring_finding

        least = self._config.repetition_min
        found = [
            self._found(recurring_finding(habit, language, least), origin)
            for habit in recurring(counted, sessions, least)
        ]
        few = repeated_within(counted, sessions, least) if self._explains else []
        rejected = tuple(
            Rejection(
                "repetitive_op",
                _too_few(habit, least),
                origin.source,
                self._sanitizer.sanitize(habit.command).text,
            )
            for habit in few
        )
        return self._merge(*found, Reflection(rejected=rejected))

    def _voided_in(self, events: Sequence[Event], source: str) -> list[Reflection]:
        """Return what was said in few words that a rule knows, but denied, planned, asked or quoted."""
        if not self._explains:
            return []
        return [
            self._voided(strip_echo(event.text), f"{source} {event.key}".strip())
            for event in events
            if event.kind == "text" and event.role in ("user", "assistant") and not event.sidechain
            if len(event.text) <= _BRIEF
        ]

    def _whole(self, event: Event) -> Event:
        """Return an event without secrets that go on in the next line."""
        text = self._without_broken_secrets(event.text)
        return event if text is event.text else replace(event, text=text)

    def _stated_in(self, events: Sequence[Event], source: str) -> list[Reflection]:
        """Return what a person noted in a session by `Learned:` and the like."""
        return [
            self._explicit(key, text, Origin(f"{source} {event.key}".strip(), event.time))
            for event in events
            if event.role == "user" and event.kind == "text" and not event.sidechain and ":" in event.text
            for key, text in explicit_lessons(strip_echo(event.text))
        ]

    def _finding(self, finding: Finding, source: str) -> Reflection:
        whole = self._found(finding, _origin_of(finding, source))
        if not whole.candidates or not finding.apart:
            return whole
        apart = self._merge(*(self._found(part, _origin_of(part, source)) for part in finding.apart))
        return apart if len(apart.candidates) > 1 else whole

    def _found(self, finding: Finding, origin: Origin) -> Reflection:
        match = Match(finding.rule, finding.confidence, finding.support, 0, 0, spans=())
        worth = self._model("session").probability(finding.values)
        return self._weigh(finding.text, match, finding.evidence.language, worth, "session", origin)

    def classify(self, text: str) -> tuple[str, str]:
        """Return (section, type) for a lesson that a person wrote."""
        evidence = gather(segment_prose(text))
        rule = lead_match(self._detector.detect(evidence), evidence).rule
        return classify_written(text, rule, evidence)

    def _merge(self, *parts: Reflection) -> Reflection:
        seen: dict[str, Candidate] = {}
        for part in parts:
            for candidate in part.candidates:
                seen.setdefault(candidate.id, candidate)
        return Reflection(tuple(seen.values()), tuple(r for part in parts for r in part.rejected))

    def _explicit(self, key: str, text: str, origin: Origin) -> Reflection:
        """Return a lesson given in so many words: as written, never refused for its score."""
        if is_injection(text):
            return Reflection(rejected=(Rejection(key, "gives orders to an agent", origin.source),))
        language = detect_language(text)
        words = vocabulary(language)
        if says_nothing(text, words):
            safe = self._sanitizer.sanitize(text).text
            return Reflection(rejected=(Rejection(key, UNSAID, origin.source, safe),))
        factors = Factors(
            1.0, self._scorer.specificity(text, words), self._scorer.cause(text, words), 1.0, 1.0
        )
        match = lead_match(self._detector.detect(evidence := gather(segment_prose(text), language)), evidence)
        section, kind = classify_written(text, match.rule, evidence)
        return Reflection(
            (self._candidate(text, match, 1.0, factors, (section, kind), language, origin, rule="trailer"),)
        )

    def _lessons(
        self, passage: Passage, kind: str, origin: Origin, shown: DiffEvidence | None = None
    ) -> Reflection:
        """Distil a text: one lesson, or one for each of its paragraphs where these are lessons of their own."""
        whole = self._passage(passage, kind, origin, shown)
        if not whole.candidates or shown:
            return whole
        apart = self._merge(
            *(
                self._paragraph(lesson, kind, origin)
                for lesson in separate_lessons(passage, whole.candidates[0].lang, self._detector)
            )
        )
        return apart if len(apart.candidates) > 1 else whole

    def _paragraph(self, lesson: Lesson, kind: str, origin: Origin) -> Reflection:
        """Weigh one of several lessons of a text."""
        match = lead_match(lesson.matches, lesson.evidence)
        text = self._distiller.distil(lesson.evidence, *lesson.span(match))
        worth = self._model(kind).probability(lesson.evidence.values)
        return self._weigh(text, match, lesson.evidence.language, worth, kind, origin)

    def _passage(
        self, passage: Passage, kind: str, origin: Origin, shown: DiffEvidence | None = None
    ) -> Reflection:
        if is_release_note(passage.sentences):
            return self._refused("", RELEASE, origin.source, passage.sentences[0].text)
        evidence = sift(passage)
        if not evidence.usable:
            named = self._void(passage, origin.source)
            said = passage.sentences[0].text if passage.sentences else ""
            return named if named.rejected or not said else self._refused("", VOIDED, origin.source, said)
        brief = len(evidence.usable) <= LONGEST
        found = self._detector.detect(evidence, alone=None if brief else True)
        matches = [in_proportion(match, evidence) for match in found if match.support]
        if shown:
            matches.append(
                Match(shown.rule, shown.confidence, _SHOWN_SUPPORT, 0, len(evidence.usable) - 1, ())
            )
        if not matches and not self._explains and self._is_slight(evidence):
            return _NOTHING
        evidence = measure(evidence)
        worth = self._model(kind).probability(evidence.values)
        if not matches and (100 * worth < self._config.min_score or self._is_slight(evidence)):
            # No score can exceed 100 × worth without a match: the costly rest is not needed.
            return self._unworthy(evidence, worth, origin, found if brief else None)
        matches += [match for match in found if not match.support]
        if not brief:
            matches += self._detector.detect(evidence, alone=False)
        match = lead_match(matches, evidence)
        span = (match.first, match.last) if match.support else (None, None)
        text = self._distiller.distil(evidence, *span)
        if shown and shown.text and not all(word in text for word in shown.needs):
            text = f"{shown.text} {text}"
        command = shown_command(passage.code, known_tools())
        if command and command not in text:
            text = f"{text} `{command}`"
        return self._weigh(text, match, evidence.language, worth, kind, origin)

    def _unworthy(
        self, evidence: Evidence, worth: float, origin: Origin, found: Sequence[Match] | None
    ) -> Reflection:
        """Say what a rule saw in a text that is too little of a lesson; most texts hold nothing to name."""
        if not self._explains:
            return _NOTHING
        rule, text, reason = "", evidence.usable[0].text, self._lack(worth)
        if found:
            rule, text = found[0].rule, evidence.usable[found[0].first].text
        elif found is not None and (seen := self._detector.voided(evidence.passage.sentences)):
            rule, text, reason = seen[0], seen[1].text, VOIDED
        safe = self._sanitizer.sanitize(text).text if text else ""
        return Reflection(rejected=(Rejection(rule, reason, origin.source, safe),))

    def _lack(self, worth: float) -> str:
        """Say in words what a text lacks that no rule's words carry."""
        least = self._config.min_score
        if 100 * worth < least:
            return f"too little in it teaches anything: {round(100 * worth)} of 100, {least} are needed"
        return "short, and no sentence joins a trouble or a rule to its reason"

    def _weigh(
        self, text: str, match: Match, language: str, worth: float, kind: str, origin: Origin
    ) -> Reflection:
        factors = self._factors(text, language, worth, match)
        score = self._scorer.score(factors)
        reason = ""
        if score < self._config.min_score:
            reason = f"score {score} is below {self._config.min_score}"
        elif is_injection(text) or strip_echo(text) != text:
            reason = "gives orders to an agent, or repeats what memx said"
        elif weight_of(text) < _SHORTEST:
            reason = "too short"
        if reason and not self._explains:
            return _NOTHING
        if reason:
            safe = self._sanitizer.sanitize(text).text
            return Reflection(rejected=(Rejection(match.rule, reason, origin.source, safe),))
        classes = classify(text, match.rule, language, kind)
        return Reflection(
            (self._candidate(text, match, match.confidence, factors, classes, language, origin),)
        )

    def _model(self, kind: str) -> LogisticModel:
        return self._worth.get(kind) or load_worth(kind)

    def _factors(self, text: str, language: str, worth: float, match: Match) -> Factors:
        words = vocabulary(language)
        return Factors(
            confidence=match.confidence,
            specificity=self._scorer.specificity(text, words),
            cause=self._scorer.cause(text, words),
            worth=worth,
            support=match.support,
        )

    def _candidate(
        self,
        text: str,
        match: Match,
        confidence: float,
        factors: Factors,
        classes: tuple[str, str],
        language: str,
        origin: Origin,
        rule: str = "",
    ) -> Candidate:
        known = self._described(text)
        return Candidate(
            id=known.id,
            text=known.text,
            rule=rule or match.rule,
            confidence=confidence,
            score=self._scorer.score(factors),
            section=classes[0],
            type=classes[1],
            tags=known.tags,
            tools=known.tools,
            entities=known.entities,
            anchors=self._anchors(known.text, origin.paths),
            source=origin.source,
            created=origin.created,
            evidence=tuple(
                Span(span.start, span.end, self._redacted(span.text).text, span.label) for span in match.spans
            ),
            redacted=known.redacted,
            lang=language,
            author=origin.author,
        )

    def _anchors(self, text: str, paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._redacted(path).text for path in anchors_of(text, paths))

    def _describe(self, text: str) -> _Description:
        redaction = self._sanitizer.sanitize(text)
        safe = redaction.text
        tools = tools_of(safe)
        return _Description(
            bullet_id(safe),
            safe,
            tags_of(safe, tools),
            tools,
            entities_of(safe),
            tuple(finding.kind for finding in redaction.findings),
        )


def _origin_of(finding: Finding, source: str) -> Origin:
    return Origin(f"{source} {finding.key}".strip(), finding.time)


def _too_few(habit: Recurring, least: int) -> str:
    times = f"run {amount(habit.runs, 'time')}, but in {amount(habit.sessions, 'session')}"
    return f"{times}: counted from {least} sessions on"


def _paths_of(commit: Commit) -> tuple[str, ...]:
    return tuple(change.path for change in commit.files)


def _shown_by(commit: Commit) -> DiffEvidence | None:
    if not any(change.added for change in commit.files):
        return None
    from memx.reflector.diff import diff_evidence

    return diff_evidence(commit)
