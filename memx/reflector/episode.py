"""A session cut into episodes: one request, what was said and done for it, and what came of it."""

from __future__ import annotations

import re

from memx.record import record
from memx.reflector.calls import Call, pair_calls
from memx.reflector.echo import is_injection, is_recall, strip_echo
from memx.reflector.language import detect_language
from memx.reflector.pattern import pattern
from memx.reflector.segment import segment_prose
from memx.reflector.vocabulary import fold, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.model import Event
    from memx.reflector.segment import Passage

_TEXT_LIMIT = 4000
_CONTENT = pattern(r"[A-Za-z_][\w.:/-]{2,}\w|[\u3400-\u9fff]{2}|[\u30a1-\u30fa\u30fc]{3,}")
_RECALLED_SHARE = 0.5
_CITES_MEMORY = pattern(
    r"\b(?:recalled?|remembered)\b|\b(?:the |project |team )?(?:memory|memx"
    r"|notes?)\b[^.]{0,20}\b(?:says?|tells?|asks?|states?|know|mentions?)\b|\bwhat we already know\b"
    r"|\bas the (?:memory|notes?)\b|\bmemx\b"
    r"|\b(?:instructions?|text|note)\b[^.]{0,30}\b(?:aimed at|addressed to|for)\b[^.]{0,12}\b(?:ai"
    r"|language models?|assistants?|agents?)\b"
    r"|记忆(?:里|中|库)|メモリによると|según la memoria",
    re.IGNORECASE,
)


@record
class Turn:
    """Something said, cut into sentences, with its place among the events."""

    role: str
    passage: Passage
    at: int
    key: str
    time: float | None


@record
class Episode:
    """One request with its turns and calls, in order; `request` is the turn that opened it."""

    request: Turn | None
    turns: tuple[Turn, ...]
    calls: tuple[Call, ...]
    language: str
    said: str = ""
    """The person's request as written, without fenced blocks."""


def content_words(text: str) -> set[str]:
    """Return the words of a text that carry meaning, lower case."""
    return {word.lower() for word in _CONTENT.findall(text)}


class Recalled:
    """What memx or another memory told the agent in this session, to know it when it is said again."""

    def __init__(self, events: Sequence[Event]) -> None:
        """Collect fenced blocks and the results of recalls."""
        self._texts: list[set[str]] = []
        recalls = {e.call_id for e in events if e.kind == "call" and _asks_memory(e) and e.call_id}
        previous: Event | None = None
        for event in events:
            if event.kind == "result" and (
                event.call_id in recalls if event.call_id else previous is not None and _asks_memory(previous)
            ):
                self._texts += [content_words(line) for line in re.split(r"[\n{}]", event.text)]
            elif event.kind == "text" and "<" in event.text:
                fenced = _fenced(event.text)
                self._texts += [content_words(line) for line in fenced.splitlines()]
            previous = event
        self._texts = [words for words in self._texts if len(words) > 2]  # noqa: PLR2004

    def holds(self, text: str) -> bool:
        """Tell whether a text says again what was recalled, or says that it comes from memory."""
        if _CITES_MEMORY.search(text):
            return True
        words = content_words(text)
        return any(len(words & known) >= _RECALLED_SHARE * max(3, len(words)) for known in self._texts)


def _asks_memory(event: Event) -> bool:
    return (
        is_recall(event.tool)
        or "memory" in event.tool.lower()
        or (event.action == "shell" and is_recall(event.text))
    )


def _fenced(text: str) -> str:
    kept = strip_echo(text)
    return text if kept != text else ""


def split_episodes(events: Sequence[Event]) -> list[Episode]:
    """Cut a session at the person's turns; sub-agents' turns and summaries are left out."""
    main = [e for e in events if not e.sidechain and e.kind != "summary" and e.role != "system"]
    recalled = Recalled(main)
    calls = pair_calls(main)
    episodes: list[Episode] = []
    request: Turn | None = None
    turns: list[Turn] = []
    start = 0
    said = ""
    for at, event in enumerate(main):
        turn = (
            _turn(event, at, recalled)
            if event.kind == "text" and event.role in ("user", "assistant")
            else None
        )
        if event.role == "user" and event.kind == "text":
            _close(episodes, request, turns, [c for c in calls if start <= c.at < at], said)
            request, turns, start = turn, [], at
            said = strip_echo(event.text[:_TEXT_LIMIT])
        elif turn:
            turns.append(turn)
    _close(episodes, request, turns, [c for c in calls if start <= c.at], said)
    return episodes


def _turn(event: Event, at: int, recalled: Recalled) -> Turn | None:
    text = strip_echo(event.text[:_TEXT_LIMIT])
    passage = segment_prose(text)
    kept = tuple(s for s in passage.sentences if not recalled.holds(s.text) and not is_injection(s.text))
    if not kept:
        return None
    return Turn(
        event.role,
        type(passage)(passage.title, kept, passage.code, passage.explicit),
        at,
        event.key,
        event.time,
    )


def _close(
    episodes: list[Episode], request: Turn | None, turns: list[Turn], calls: list[Call], said: str
) -> None:
    if request is None and not turns:
        return
    spoken = [*([request] if request else []), *turns]
    text = " ".join(s.text for turn in spoken for s in turn.passage.sentences)
    episodes.append(Episode(request, tuple(turns), tuple(calls), detect_language(text), said))


def reports_problem(turn: Turn | None, language: str) -> bool:
    """Tell whether a person says that something fails."""
    if turn is None:
        return False
    words = vocabulary(language)
    return any(words.has("failure", fold(s.text)) for s in turn.passage.sentences)
