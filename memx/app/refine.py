"""The reflector's mode, and the LLM of one run: what it refines, what it cost, and what fell back to the rules."""

from __future__ import annotations

import os
import threading
from collections import Counter
from functools import cached_property

from memx.amount import amount
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.app.llm import Ledger
    from memx.app.project import Project
    from memx.config import LlmConfig, ReflectorConfig
    from memx.model import Candidate, Event, Rejection
    from memx.reflector import Reflection, Reflector
    from memx.reflector.llm.caller import Caller
    from memx.reflector.llm.extract import Extracted, Turn
    from memx.reflector.llm.port import Prompt
    from memx.reflector.llm.refine import Outcome

RULES, HYBRID, LLM = "rules", "hybrid", "llm"
NO_LLM = "no LLM is configured: distilled by rules alone"
_SAID = "said-rules"


@record
class LlmUse:
    """What a run asked of the LLM; of a dry run, what it would ask at most."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    refused: int = 0
    failed: int = 0
    is_estimate: bool = False


@record
class Queued:
    """What became of the queue: how many ids waited, the candidates that stay, and those that were dropped."""

    waiting: int
    candidates: tuple[Candidate, ...] = ()
    rejected: tuple[Rejection, ...] = ()


class LlmRun:
    """One run of the reflector in the mode that can run here; opens the LLM when there is something to ask."""

    def __init__(self, project: Project, wanted: str = "", *, model: str = "", is_dry: bool = False) -> None:
        """Take the mode and the model wanted; without them, those of the configuration."""
        config = project.config.llm
        self._config: LlmConfig = replace(config, model=model, command=()) if model else config
        self._project = project
        self.is_dry = is_dry
        self._ledger: Ledger | None = None
        self._fallbacks: Counter[str] = Counter()
        self._asked = 0
        self.unasked: set[str] = set()
        """Ids of the candidates about which the LLM could not be asked; a later run may."""
        self._has_extracted = False
        self._estimate = LlmUse(is_estimate=True)
        self._unavailable = ""
        # Rules and sanitizer were not made for threads; the calls are what runs side by side.
        self._lock = threading.RLock()
        self.mode = wanted or project.config.reflector.mode
        if self.is_on and not (self._config.model or self._config.command):
            self.mode = RULES
            self._unavailable = NO_LLM if wanted or _say_once(project) else ""

    @property
    def is_on(self) -> bool:
        """Whether this run asks an LLM."""
        return self.mode != RULES

    @property
    def outcome_mode(self) -> str:
        """The mode as it turned out: an LLM that could not be asked once leaves `rules`."""
        use = self.use()
        is_deaf = use.failed > 0 and use.calls == use.failed and not use.cached
        return RULES if self._unavailable or is_deaf else self.mode

    @property
    def reflector_config(self) -> ReflectorConfig:
        """How the rules run: with an LLM behind them they let through what its score may lift over min_score.

        Four fifths of it: below that the labelled sessions hold false alarms alone
        (benchmarks/llm_cost.py), and each of them would be paid for.
        """
        config = self._project.config.reflector
        return replace(config, min_score=config.min_score * 4 // 5) if self.is_on else config

    @cached_property
    def reflector(self) -> Reflector:
        """The rules in that configuration."""
        if not self.is_on:
            return self._project.reflector
        from memx.reflector import Reflector

        return Reflector(self.reflector_config, self._project.sanitizer)

    def refine(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Rejection]]:
        """Return the candidates judged and rewritten, in order, and those whose final score is below min_score."""
        judged = {outcome.candidate.id: outcome.candidate for outcome in self.judge(candidates)}
        kept: list[Candidate] = []
        rejected: list[Rejection] = []
        for candidate in (judged[c.id] for c in candidates):
            if self.is_kept(candidate):
                kept.append(candidate)
            else:
                rejected.append(self.rejection(candidate))
        return kept, rejected

    def judge(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """Return what became of each candidate, none left out; without an LLM all stand as they are."""
        from memx.reflector.llm.parallel import map_in_order
        from memx.reflector.llm.refine import Outcome, batches_of, judged_apart, prompt_of, refine_batch

        sent, as_written = judged_apart(c for c in candidates if c.rule != LLM or not self.is_on)
        outcomes = [Outcome(c) for c in candidates if c.rule == LLM and self.is_on]
        outcomes += [Outcome(candidate) for candidate in as_written]
        if not self.is_on or not sent:
            return outcomes + [Outcome(candidate) for candidate in sent]
        batches = list(batches_of(sent, self._config.batch_size, self._config.context_tokens))
        if self.is_dry:
            for batch in batches if not self._has_extracted else ():
                self._expect(prompt_of(batch, self._sanitize))
            return outcomes + [Outcome(candidate) for candidate in sent]
        caller = self._caller
        if caller is None:
            self.unasked.update(candidate.id for candidate in sent)
            return outcomes + [
                Outcome(candidate, kept=self._unavailable, is_unasked=True) for candidate in sent
            ]
        judged = map_in_order(
            lambda batch: refine_batch(batch, caller, self._sanitize), batches, self._config.concurrency
        )
        flat = [outcome for part in judged for outcome in part]
        self._asked += len(flat)
        self.unasked.update(outcome.candidate.id for outcome in flat if outcome.is_unasked)
        self._fallbacks.update(outcome.kept for outcome in flat if outcome.kept)
        return outcomes + flat

    def extract(self, events: Sequence[Event], rules: Reflection, source: str) -> Reflection:
        """Return what the LLM finds in events; where it fails, what the rules found is not lost.

        rules: what they found in the same events. Lessons that a person wrote
        down stand in any case.
        """
        from memx.reflector import Reflection
        from memx.reflector.llm.extract import chunk_prompt, chunks_of, extract_chunk, turns_of
        from memx.reflector.llm.parallel import map_in_order
        from memx.reflector.llm.refine import judged_apart

        chunks = list(chunks_of(turns_of(events, self._sanitize), self._config.context_tokens))
        if self.is_dry:
            self._has_extracted = True
            for chunk in chunks:
                self._expect(chunk_prompt(chunk))
            return rules
        caller = self._caller
        if caller is None:
            return rules

        def extract(chunk: Sequence[Turn]) -> Extracted:
            return extract_chunk(chunk, caller, self._sanitize, self._scored, source)

        parts = map_in_order(extract, chunks, self._config.concurrency)
        self._asked += len(parts)
        self._fallbacks.update(part.failed for part in parts if part.failed)
        self._fallbacks.update(f"a found lesson {reason}" for part in parts for reason in part.refused)
        fallen = any(part.failed for part in parts)
        kept = rules.candidates if fallen else tuple(judged_apart(rules.candidates)[1])
        found = {c.id: c for c in (*kept, *(c for part in parts for c in part.candidates))}
        return Reflection(tuple(found.values()), rules.rejected if fallen else ())

    def is_kept(self, candidate: Candidate) -> bool:
        """Tell whether a candidate's final score suffices; a person's own words are never refused for theirs."""
        from memx.reflector.llm.refine import AS_WRITTEN

        return candidate.rule in AS_WRITTEN or candidate.score >= self._project.config.reflector.min_score

    def rejection(self, candidate: Candidate) -> Rejection:
        """Return how a candidate is reported that its final score drops."""
        from memx.model import Rejection

        least = self._project.config.reflector.min_score
        reason = f"score {candidate.score} is below {least}"
        return Rejection(candidate.rule, reason, candidate.source, candidate.text)

    def use(self) -> LlmUse:
        """Return what was asked so far."""
        if self._ledger is None:
            return self._estimate if self.is_dry and self.is_on else LlmUse()
        from memx.app.llm import totals

        sums = totals(self._ledger.lines)
        if not sums:
            return LlmUse()
        t = sums[0]
        return LlmUse(t.calls, t.tokens_in, t.tokens_out, t.cached, t.refused, t.failed)

    def notes(self) -> tuple[str, ...]:
        """Return one line on what did not go as wanted, and one on what a dry run would spend."""
        if not self.is_on or self._unavailable:
            return (self._unavailable,) if self._unavailable else ()
        use = self.use()
        if use.is_estimate:
            cost = f"about {amount(use.tokens_in, 'token')} in, {use.tokens_out:,} out"
            return (f"would ask the LLM at most {amount(use.calls, 'time')}: {cost}",)
        if not self._fallbacks:
            return ()
        count = sum(self._fallbacks.values())
        what = "answers of the LLM were not used" if self.mode == LLM else "candidates kept the rules' word"
        reasons = "; ".join(f"{reason} ({n})" for reason, n in self._fallbacks.most_common(3))
        more = f"; and {amount(len(self._fallbacks) - 3, 'more reason')}" if len(self._fallbacks) > 3 else ""  # noqa: PLR2004
        return (f"{count} of {self._asked} {what}: {reasons}{more}",)

    @cached_property
    def _caller(self) -> Caller | None:
        from memx.app.llm import Ledger, open_caller, open_model
        from memx.errors import LlmError

        try:
            model = open_model(self._project, self._config)
        except LlmError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self._unavailable = f"{error.message}{hint}: distilled by rules alone"
            return None
        self._ledger = Ledger(self._project, self.mode, model.name)
        return open_caller(self._project, self._config, model, self._ledger)

    @cached_property
    def _scorer(self) -> Reflector:
        from memx.reflector import Reflector

        config = replace(self._project.config.reflector, min_score=0)
        return Reflector(config, self._project.sanitizer)

    def _scored(self, text: str) -> Reflection:
        with self._lock:
            return self._scorer.text(text, "session")

    def _sanitize(self, text: str) -> str:
        with self._lock:
            return self._project.sanitizer.sanitize(text).text

    def _expect(self, prompt: Prompt) -> None:
        from memx.reflector.llm.tokens import expected_answer, prompt_tokens

        e = self._estimate
        self._estimate = replace(
            e,
            calls=e.calls + 1,
            tokens_in=e.tokens_in + prompt_tokens(prompt),
            tokens_out=e.tokens_out + expected_answer(prompt),
        )


def refine_queued(project: Project, run: LlmRun) -> Queued:
    """Refine what hooks left in the queue; what the LLM could not be asked about stays there."""
    from memx.app.llm import Queue

    queue = Queue(project.state_dir)
    ids = queue.ids()
    if not ids or not run.is_on:
        return Queued(len(ids))
    here = {candidate.id: candidate for candidate in project.inbox.all()}
    outcomes = run.judge([here[identifier] for identifier in ids if identifier in here])
    judged = [outcome.candidate for outcome in outcomes if outcome.is_judged or not outcome.kept]
    if run.is_dry:
        return Queued(len(ids), tuple(judged))
    kept = [candidate for candidate in judged if _replace_in_inbox(project, run, candidate)]
    queue.remove((set(ids) - here.keys()) | {candidate.id for candidate in judged})
    gone = [candidate for candidate in judged if not run.is_kept(candidate)]
    return Queued(len(ids), tuple(kept), tuple(run.rejection(candidate) for candidate in gone))


def _replace_in_inbox(project: Project, run: LlmRun, candidate: Candidate) -> bool:
    """Write a judged candidate over the rules' one, or take it out for its score; True when it stays."""
    from memx.errors import StoreError

    try:
        if run.is_kept(candidate):
            project.inbox.replace(candidate)
            return True
        project.inbox.remove(candidate.id)
    except StoreError:
        return False  # a person settled it in the meantime
    return False


def _say_once(project: Project) -> bool:
    """Tell whether the default mode's lack of an LLM is still to be said in this clone, and remember it."""
    path = os.path.join(project.state_dir, _SAID)
    if os.path.exists(path):
        return False
    try:
        os.makedirs(project.state_dir, exist_ok=True)
        with open(path, "xb"):
            pass
    except OSError:
        return True
    return True
