"""What a reader hands on: the session's facts, its events, and what was left out.

A session is read as a stream, so `skipped` and `next_offset` are complete only
when `events` is exhausted.
"""

from __future__ import annotations

from memx.model import Event
from memx.record import record
from memx.transcripts import clean, tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypedDict, Unpack

    class Where(TypedDict, total=False):
        """When and where an event took place, as far as its record says."""

        time: float | None
        cwd: object
        branch: object
        sidechain: bool


CALLS_REMEMBERED = 10_000


@record
class Limits:
    """Bounds that keep any log, whatever its size, in little memory."""

    line_bytes: int = 8 * 1024 * 1024
    """A longer line, or a longer message of a JSON array, is skipped and counted."""
    text_chars: int = 8000
    result_chars: int = 4000
    call_chars: int = 4000


@record
class KnownCall:
    """What a result has to know about its call."""

    tool: str
    action: str
    path: str


NO_CALL = KnownCall("", "", "")


def opens_turn(event: Event) -> bool:
    """Tell whether a person begins a turn with this event."""
    return event.role == "user" and event.kind == "text" and not event.sidechain


class SessionRead:
    """One session log being read.

    Public: format, path, session_id, cwd, branch, repository_url, started
    (seconds since the epoch or None), events, skipped (reason to count),
    next_offset, and turn_offset: where the last turn of a person began, to
    read an unfinished turn again whole. The other methods serve the readers.
    """

    def __init__(self, format_name: str, path: str, limits: Limits, seen: set[int] | None = None) -> None:
        """Start with nothing read."""
        self.format = format_name
        self.path = path
        self.limits = limits
        self.session_id = ""
        self.cwd = ""
        self.branch = ""
        self.repository_url = ""
        self.started: float | None = None
        self.sidechain = False
        self.skipped: dict[str, int] = {}
        self.next_offset = 0
        self.turn_offset = 0
        self.events: Iterator[Event] = iter(())
        self._seen: set[int] = set() if seen is None else seen
        self._calls: dict[str, KnownCall] = {}

    def __iter__(self) -> Iterator[Event]:
        """Iterate over the events, once."""
        return self.events

    def finished(self, most: int = 5000) -> Iterator[Event]:
        """Yield the events of turns that a later turn of a person closed, for reading a live session.

        Afterwards `next_offset` stands before the open turn, so that it is read
        whole the next time. A turn of more than `most` events is not held back.
        """
        waiting: list[Event] = []
        for event in self.events:
            if opens_turn(event) or len(waiting) >= most:
                yield from waiting
                waiting = []
            waiting.append(event)
        self.next_offset = self.turn_offset

    def batches(
        self, size: int = 2000, overlap: int = 60, *, finished: bool = False
    ) -> Iterator[list[Event]]:
        """Yield lists of at most `size` events in order, so that rules need no whole session in memory.

        Each list repeats the last `overlap` events of the one before: what spans the seam is seen once whole.
        With `finished` the turn that is still open is left for the next read.
        """
        batch: list[Event] = []
        fresh = 0
        for event in self.finished() if finished else self.events:
            batch.append(event)
            fresh += 1
            if len(batch) >= size:
                yield batch
                batch = batch[-overlap:] if overlap else []
                fresh = 0
        if fresh:
            yield batch

    def skip(self, reason: str) -> None:
        """Count one thing left out."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def is_repeated(self, key: str) -> bool:
        """Tell whether a record with this key was read before, and count it if so."""
        # The 64-bit hash, not the key: half a million records stay below 40 MB.
        digest = hash(key)
        if digest in self._seen:
            self.skip("duplicate")
            return True
        self._seen.add(digest)
        return False

    def learn(
        self,
        *,
        session_id: object = "",
        cwd: object = "",
        branch: object = "",
        repository_url: object = "",
        started: float | None = None,
    ) -> None:
        """Keep the first value that the log gives for each fact; what is not text is ignored."""
        self.session_id = self.session_id or clean.label(session_id)
        self.cwd = self.cwd or clean.label(cwd)
        self.branch = self.branch or clean.label(branch)
        self.repository_url = self.repository_url or clean.label(repository_url)
        if self.started is None:
            self.started = started

    def prose(
        self,
        role: str,
        text: object,
        *,
        key: str,
        kind: str = "text",
        **where: Unpack[Where],
    ) -> list[Event]:
        """Return the event of something said, or nothing when only boilerplate was in it."""
        if not isinstance(text, str):
            return []
        said = clean.user_text(text, self.limits.text_chars) if role == "user" else ""
        said = said if role == "user" else clean.prose(text, self.limits.text_chars)
        if not said:
            return []
        return [self._event(role, kind, said, key=key, **where)]

    def call(
        self,
        name: object,
        arguments: object,
        *,
        call_id: object,
        key: str,
        **where: Unpack[Where],
    ) -> list[Event]:
        """Return the event of a tool call and remember it for its result."""
        label = clean.label(name) or "unknown"
        identifier = clean.label(call_id)
        described = tool.describe_call(label, arguments, self.limits.call_chars)
        known = KnownCall(label, described.action, described.path)
        if identifier:
            if len(self._calls) >= CALLS_REMEMBERED:
                del self._calls[next(iter(self._calls))]
            self._calls[identifier] = known
        return [
            self._event(
                "assistant", "call", described.text, key=key, call_id=identifier, known=known, **where
            )
        ]

    def result(
        self,
        text: object,
        *,
        call_id: object,
        key: str,
        is_error: bool | None = None,
        exit_code: int | None = None,
        name: object = "",
        **where: Unpack[Where],
    ) -> list[Event]:
        """Return the event of what a tool answered, with the name of the tool that was called."""
        identifier = clean.label(call_id)
        known = self._calls.get(identifier)
        if known is None:
            label = clean.label(name)
            known = KnownCall(label, tool.action_of(label), "")
        event = self._event(
            "tool",
            "result",
            clean.result(text if isinstance(text, str) else "", self.limits.result_chars),
            key=key,
            call_id=identifier,
            known=known,
            is_error=is_error,
            exit_code=exit_code,
            **where,
        )
        return [event]

    def _event(
        self,
        role: str,
        kind: str,
        text: str,
        *,
        key: str,
        time: float | None = None,
        cwd: object = "",
        branch: object = "",
        sidechain: bool = False,
        call_id: str = "",
        known: KnownCall = NO_CALL,
        is_error: bool | None = None,
        exit_code: int | None = None,
    ) -> Event:
        if self.started is None:
            self.started = time
        return Event(
            role=role,
            kind=kind,
            text=text,
            tool=known.tool,
            call_id=call_id,
            is_error=is_error,
            exit_code=exit_code,
            time=time,
            cwd=clean.label(cwd) or self.cwd,
            branch=clean.label(branch) or self.branch,
            session_id=self.session_id,
            sidechain=sidechain or self.sidechain,
            key=clean.label(key),
            action=known.action,
            path=known.path,
        )
