"""Agent sessions of this repository into candidates, each turn once."""

from __future__ import annotations

import os

from memx.app.distil import Distilled, Options, gather, open_run
from memx.app.places import home
from memx.app.refine import LLM
from memx.errors import GitError, MemxError
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.app.project import Project
    from memx.app.refine import LlmRun
    from memx.reflector import Reflection
    from memx.transcripts import SessionRead
    from memx.transcripts.discovery import SessionFile
    from memx.transcripts.offsets import Offsets

LATEST, ALL = "latest", "all"


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
    reading = _Reading(run, logs)
    distilled = gather(project, reading, options, run)
    if not options.is_dry:
        for log, session in reading.read:
            offsets.advance(log.path, session.next_offset, log.session_id, turn_offset=session.turn_offset)
        offsets.save()
    return replace(distilled, notes=(*distilled.notes, *reading.notes()))


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


def _continued(session: SessionFile, offsets: Offsets, options: Options) -> _Log:
    offset = 0 if options.again else offsets.offset_of(session.path, session.session_id)
    return _Log(session.path, session.format, session.session_id, offset)


class _Reading:
    """The logs as one stream of reflections; remembers how far each was read and what was skipped."""

    def __init__(self, run: LlmRun, logs: list[_Log]) -> None:
        self._run = run
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
                yield from self._reflect(session)
            except TranscriptError as error:
                if len(self._logs) == 1:
                    raise
                self._failed.append(str(error))
                continue
            self.read.append((log, session))
            for reason, count in session.skipped.items():
                self._skipped[reason] = self._skipped.get(reason, 0) + count

    def _reflect(self, session: SessionRead) -> Iterator[Reflection]:
        source = f"session {session.format} {session.session_id}".rstrip()
        if self._run.mode != LLM:
            for events in session.batches():
                yield self._run.reflector.session(events, source=source)
            return
        for events in session.batches(overlap=0):  # no turn is paid for twice
            rules = self._run.reflector.session(events, source=source)
            yield self._run.extract(events, rules, source)

    def notes(self) -> tuple[str, ...]:
        """Say what was left out."""
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(self._skipped.items()))
        return (*self._failed, *((f"skipped: {counts}",) if counts else ()))
