"""`llm`: whole sessions, sanitised and cut into chunks, and the lessons that the LLM finds in them."""

from __future__ import annotations

from memx.errors import LlmError
from memx.record import record, replace
from memx.reflector.echo import strip_echo
from memx.reflector.language import detect_language
from memx.reflector.llm.answer import parse_lessons
from memx.reflector.llm.prompts import extract_prompt
from memx.reflector.llm.refine import mean_score
from memx.reflector.llm.tokens import estimate_tokens
from memx.reflector.llm.validate import find_invention
from memx.store.naming import bullet_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memx.model import Candidate, Event
    from memx.reflector.llm.answer import Lesson
    from memx.reflector.llm.caller import Caller
    from memx.reflector.llm.port import Prompt
    from memx.reflector.reflector import Reflection

    Scored = Callable[[str], Reflection]

_LONGEST_TURN = 2400
"""Characters; of a longer turn the head and the tail are sent, where a tool says what it did and how it ended."""
_SEED = 18
"""Latin characters; a chunk with less in it is not sent."""


@record
class Turn:
    """One turn as it is sent: its number in the session, who speaks, sanitised text, and its event's key and time."""

    number: int
    role: str
    text: str
    key: str = ""
    time: float | None = None


@record
class Extracted:
    """The candidates of a chunk, the lessons refused and why, and why the whole chunk failed ("" when it did not)."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[str, ...] = ()
    failed: str = ""


def turns_of(events: Sequence[Event], sanitize: Callable[[str], str]) -> list[Turn]:
    """Return what may be sent of a session: no echo of recalled memory, no side chain, nothing unsanitised."""
    turns = []
    for number, event in enumerate(events, 1):
        if event.sidechain or event.role == "system":
            continue
        text = _shortened(sanitize(strip_echo(event.text)).strip())
        if text:
            turns.append(Turn(number, event.tool or event.role, text, event.key, event.time))
    return turns


def chunks_of(turns: Sequence[Turn], limit_tokens: int) -> Iterator[list[Turn]]:
    """Yield runs of turns of about `limit_tokens` tokens; a turn longer than that stands alone, cut to fit."""
    chunk: list[Turn] = []
    tokens = 0
    for turn in turns:
        more = estimate_tokens(turn.text) + 12
        if more > limit_tokens:
            turn = replace(turn, text=turn.text[: int(len(turn.text) * limit_tokens / more)])  # noqa: PLW2901
            more = limit_tokens
        if chunk and tokens + more > limit_tokens:
            yield chunk
            chunk, tokens = [], 0
        chunk.append(turn)
        tokens += more
    if sum(len(turn.text) for turn in chunk) >= _SEED:
        yield chunk


def chunk_prompt(chunk: Sequence[Turn]) -> Prompt:
    """Return the prompt of one chunk, in its own language."""
    language = detect_language(" ".join(turn.text for turn in chunk if turn.role in ("user", "assistant")))
    return extract_prompt([(turn.number, turn.role, turn.text) for turn in chunk], language)


def extract_chunk(
    chunk: Sequence[Turn], caller: Caller, sanitize: Callable[[str], str], score: Scored, source: str
) -> Extracted:
    """Return the lessons of one chunk; an LLM that fails gives none and raises nothing.

    score: reflects on a text by rules alone, whatever its score.
    """
    prompt = chunk_prompt(chunk)
    try:
        answer = caller.ask(prompt)
    except LlmError as error:
        return Extracted(failed=error.message)
    try:
        lessons = parse_lessons(answer.text, {turn.number for turn in chunk})
    except LlmError as error:
        caller.refuse()
        return Extracted(failed=error.message)
    caller.keep(prompt, answer)
    found: dict[str, Candidate] = {}
    refused: list[str] = []
    for lesson in lessons:
        candidate, reason = _candidate(lesson, chunk, sanitize, score, source)
        if candidate is None:
            refused.append(reason)
        elif candidate.id not in found or found[candidate.id].score < candidate.score:
            found[candidate.id] = candidate
    return Extracted(tuple(found.values()), tuple(refused))


def _candidate(
    lesson: Lesson, chunk: Sequence[Turn], sanitize: Callable[[str], str], score: Scored, source: str
) -> tuple[Candidate | None, str]:
    """Return a lesson as a candidate with the mean of both scores, or why it may not be one."""
    text = " ".join(sanitize(lesson.text).split())
    shown = [turn for turn in chunk if turn.number in lesson.turns]
    evidence = "\n".join(turn.text for turn in shown)
    # As it was answered, too: the sanitiser takes out just what may have been added.
    reason = find_invention(evidence, " ".join(lesson.text.split())) or find_invention(evidence, text)
    if reason:
        return None, reason
    reflected = score(text).candidates
    if not reflected:
        return None, "the rules see no lesson in it"
    rule = reflected[0]

    return (
        replace(
            rule,
            id=bullet_id(text),
            text=text,
            rule="llm",
            score=mean_score(rule.score, lesson.score),
            source=f"{source} {shown[0].key}".strip(),
            created=shown[0].time,
        ),
        "",
    )


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_TURN:
        return text
    return f"{text[: _LONGEST_TURN * 2 // 3]}\n[…]\n{text[-_LONGEST_TURN // 3 :]}"
