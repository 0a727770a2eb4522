"""Agent sessions of this repository into candidates, each turn once."""

from __future__ import annotations

import contextlib
import os

from memx.app.distil import Distilled, Options, gather, open_run
from memx.app.habits import Habits
from memx.app.places import home
from memx.app.refine import LLM
from memx.errors import GitError, MemxError
from memx.record import record, replace
from memx.reflector.language import detect_language
from memx.reflector.reflector import Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.app.project import Project
    from memx.app.refine import LlmRun
    from memx.model import Event
    from memx.reflector import Reflection
    from memx.transcripts import SessionRead
    from memx.transcripts.discovery import SessionFile
    from memx.transcripts.offsets import Offsets

LATEST, ALL = "latest", "all"
_OVERLAP = 60
"""Events that two batches of a long session share, so that rules see whole what spans the seam."""


@record
class _Log:
    """One log to read, from an offset on."""

    path: str
    format: str = ""
    session_id: str = ""
    offset: int = 0


def distil_sessions(project: Project, which: str, format_name: str, options: Options) -> Distilled:
    """Distil one log by its path, or this repository's `latest` or `all`, from where the last run stopped.

    Raises MemxError when there is no session of this repository, and
    TranscriptError for a file that is no session log.
    """
    from memx.transcripts.offsets import Offsets

    offsets = Offsets(project.state_dir)
    if which in (LATEST, ALL):
        logs = [_continued(session, offsets, options) for session in find_sessions(project)]
        if not logs:
            raise MemxError(
                "no agent session of this repository was found", hint="memx distill --session FILE"
            )
        logs = logs[:1] if which == LATEST else logs
    else:
        path = os.path.join(project.cwd, which)
        logs = [_Log(path, format_name)]
    run = open_run(project, options)
    habits = Habits(project.state_dir)
    reading = _Reading(run, logs, habits)
    distilled = gather(project, reading, options, run)
    if not options.is_dry:
        for log, session in reading.read:
            offsets.advance(log.path, session.next_offset, log.session_id, turn_offset=session.turn_offset)
        offsets.save()
        _save(habits)
    sources = distilled.sources - reading.has_habits  # which are of all sources, and none of their own
    return replace(distilled, sources=sources, notes=(*distilled.notes, *reading.notes()))


def find_sessions(project: Project) -> list[SessionFile]:
    """Return the session logs of this repository, the latest first, over all its work trees and remotes."""
    from memx.repo.discovery import list_worktrees, run_in
    from memx.transcripts.discovery import discover_sessions

    roots, remotes = [project.root], []
    if project.repository is not None:
        roots += [worktree.path for worktree in list_worktrees(project.repository)]
        try:
            listed = run_in(project.repository, ["config", "--get-regexp", r"^remote\..*\.url$"], check=False)
            remotes = [line.split(" ", 1)[-1] for line in listed.decode("utf-8", "replace").splitlines()]
        except GitError:
            remotes = []
    return discover_sessions(home(project.environ), project.environ, roots, remotes)


def _save(habits: Habits) -> None:
    # What is lost is a count, which the next sessions make up for: no reason to fail after all was distilled.
    with contextlib.suppress(OSError):
        habits.save()


def _continued(session: SessionFile, offsets: Offsets, options: Options) -> _Log:
    offset = 0 if options.again else offsets.offset_of(session.path, session.session_id)
    return _Log(session.path, session.format, session.session_id, offset)


class _Reading:
    """The logs as one stream of reflections; remembers how far each was read and what was skipped."""

    def __init__(self, run: LlmRun, logs: list[_Log], habits: Habits) -> None:
        self._run = run
        self._habits = habits
        self.has_habits = False
        self._last = Origin("")
        self._language = ""
        self._logs = logs
        self._skipped: dict[str, int] = {}
        self._failed: list[str] = []
        self.read: list[tuple[_Log, SessionRead]] = []

    def __iter__(self) -> Iterator[Reflection]:
        from memx.errors import TranscriptError
        from memx.transcripts import read_session

        seen: set[int] = set()
        for log in self._logs:
            try:
                session = read_session(
                    log.path,
                    format=log.format or None,
                    offset=log.offset,
                    session_id=log.session_id,
                    seen=seen,
                )
                yield from self._reflect(session, log.path)
            except TranscriptError as error:
                if len(self._logs) == 1:
                    raise
                self._failed.append(str(error))
                continue
            self.read.append((log, session))
            for reason, count in session.skipped.items():
                self._skipped[reason] = self._skipped.get(reason, 0) + count

        if self._language:
            steps = self._habits.of_run()
            self.has_habits = True
            yield self._run.reflector.habits(steps.counted, steps.sessions, self._language, self._last)

    def _reflect(self, session: SessionRead, path: str) -> Iterator[Reflection]:
        source = f"session {session.format} {session.session_id}".rstrip()
        overlap = 0 if self._run.mode == LLM else _OVERLAP  # no turn is paid for twice
        for events in session.batches(overlap=overlap):
            source = f"session {session.format} {session.session_id}".rstrip()
            self._note(events, session.session_id or path, source)
            rules = self._run.reflector.session(events, source=source)
            yield self._run.extract(events, rules, source) if self._run.mode == LLM else rules

    def _note(self, events: list[Event], session: str, source: str) -> None:
        """Count the steps of a session, and remember where and in which language the last of them was run."""
        counted = self._run.reflector.steps(events)
        if not counted:
            return
        self._habits.note(session, counted)
        self._last = Origin(source, next((e.time for e in reversed(events) if e.time), None))
        said = " ".join(event.text for event in events if event.role == "user" and event.kind == "text")
        self._language = (detect_language(said) if said else "") or self._language or "en"

    def notes(self) -> tuple[str, ...]:
        """Say what was left out."""
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(self._skipped.items()))
        return (*self._failed, *((f"skipped: {counts}",) if counts else ()))
