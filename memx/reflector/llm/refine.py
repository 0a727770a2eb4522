"""`hybrid`: the LLM judges and rewrites what the rules found, in batches; each candidate falls back by itself."""

from __future__ import annotations

from memx.errors import LlmError
from memx.record import record, replace
from memx.reflector.echo import is_injection
from memx.reflector.llm.answer import parse_judgements
from memx.reflector.llm.prompts import judge_prompt
from memx.reflector.llm.tokens import estimate_tokens
from memx.reflector.llm.validate import find_difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memx.model import Candidate
    from memx.reflector.llm.answer import Judgement
    from memx.reflector.llm.caller import Caller
    from memx.reflector.llm.port import Prompt

AS_WRITTEN = frozenset(("trailer",))
"""Rules behind which a person's own words stand: they are neither judged nor rewritten."""


@record
class Outcome:
    """What became of one candidate: `kept` says why the rule's text or score stands, "" when neither does.

    is_judged: an answer was there; the score is the mean of both, save where the answer gave orders.
    is_rewritten: the text is the LLM's. is_unasked: the LLM could not be asked; a later run may.
    """

    candidate: Candidate
    is_judged: bool = False
    is_rewritten: bool = False
    kept: str = ""
    is_unasked: bool = False


def mean_score(rule: int, llm: int) -> int:
    """Return the mean of two scores, halves rounded down: 29.5 does not pass a min_score of 30."""
    return (rule + llm) // 2


def judged_apart(candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Return the candidates for the LLM, and those that stand as a person wrote them."""
    sent: list[Candidate] = []
    kept: list[Candidate] = []
    for candidate in candidates:
        (kept if candidate.rule in AS_WRITTEN else sent).append(candidate)
    return sent, kept


def batches_of(candidates: Sequence[Candidate], size: int, limit_tokens: int) -> Iterator[list[Candidate]]:
    """Yield batches of one language, of at most `size` candidates and about `limit_tokens` tokens."""
    by_language: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_language.setdefault(candidate.lang, []).append(candidate)
    for group in by_language.values():
        batch: list[Candidate] = []
        tokens = 0
        for candidate in group:
            more = estimate_tokens(candidate.text)
            if batch and (len(batch) >= max(1, size) or tokens + more > limit_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(candidate)
            tokens += more
        yield batch


def prompt_of(batch: Sequence[Candidate], sanitize: Callable[[str], str]) -> Prompt:
    """Return the prompt of a batch: nothing but the candidates' own texts, sanitised once more."""
    return judge_prompt([sanitize(candidate.text) for candidate in batch], batch[0].lang)


def refine_batch(batch: Sequence[Candidate], caller: Caller, sanitize: Callable[[str], str]) -> list[Outcome]:
    """Return what became of each candidate, in order; an LLM that fails changes nothing and raises nothing."""
    prompt = prompt_of(batch, sanitize)
    try:
        answer = caller.ask(prompt)
    except LlmError as error:
        return [Outcome(candidate, kept=error.message, is_unasked=True) for candidate in batch]
    try:
        judgements = parse_judgements(answer.text, len(batch))
    except LlmError as error:
        caller.refuse()
        return [Outcome(candidate, kept=error.message) for candidate in batch]
    if len(judgements) == len(batch):
        caller.keep(prompt, answer)
    return [_joined(candidate, judgements.get(number), sanitize) for number, candidate in enumerate(batch, 1)]


def _joined(candidate: Candidate, judgement: Judgement | None, sanitize: Callable[[str], str]) -> Outcome:
    """Join a candidate and its judgement: the score is the mean, the text the LLM's where it says the same.

    The id stays that of the rule's text: what was decided about a lesson holds
    whatever an LLM calls it the next time.
    """
    if judgement is None:
        return Outcome(candidate, kept="the LLM's answer left it out")
    scored = replace(candidate, score=mean_score(candidate.score, judgement.score))
    text = sanitize(judgement.text)
    if judgement.text == candidate.text == text:
        return Outcome(scored, is_judged=True)
    if is_injection(judgement.text) or is_injection(text):
        # Whoever wrote the text that turned the LLM's head wrote its score as well.
        return Outcome(candidate, is_judged=True, kept="the rewritten text gives orders to an agent")
    reason = find_difference(candidate.text, judgement.text) or find_difference(candidate.text, text)
    if reason:
        return Outcome(scored, is_judged=True, kept=f"the rewritten text {reason}")
    return Outcome(replace(scored, text=text), is_judged=True, is_rewritten=True)
