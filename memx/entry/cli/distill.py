"""`memx distill`: lessons from commits, histories, sessions and plain text."""

from __future__ import annotations

import sys

from memx.amount import amount
from memx.entry.cli.command import INTEGER, Command, flag, option
from memx.errors import EXIT_INTERRUPTED, EXIT_OK, UsageError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from memx.app.distil import Distilled, History
    from memx.entry.cli.invocation import Invocation
    from memx.model import Candidate

_SOURCES = ("commit", "range", "history", "session", "stdin", "jsonl", "queued")
HISTORY_TOP = 100
"""How many lessons of a whole history go into the inbox unless told otherwise: what a person can review."""


def run_distill(invocation: Invocation, **values: object) -> int:
    """Distil what the options name; without one, the commit that is checked out."""
    chosen = [name for name in _SOURCES if values[name]]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other")
    if values["jsonl"]:
        from memx.app.judge_corpus import distil_lines

        return distil_lines(invocation.project, str(values["jsonl"]))
    distilled = _distil(invocation, chosen[0] if chosen else "commit", values)
    accepted = _accept(invocation, distilled) if values["accept"] and not values["dry_run"] else {}
    if invocation.json:
        invocation.document(_document(distilled, accepted))
    else:
        for line in _lines(invocation, distilled, values):
            invocation.print(line)
    for note in distilled.notes:
        invocation.notice(note)
    if distilled.new and not accepted and not values["dry_run"]:
        invocation.notice(f"{len(distilled.new)} new in the inbox; memx review walks through them")
    return EXIT_INTERRUPTED if distilled.is_interrupted else EXIT_OK


def _distil(invocation: Invocation, source: str, values: dict[str, object]) -> Distilled:
    from memx.app import distil

    project = invocation.project
    options = distil.Options(
        str(values["mode"] or ""),
        bool(values["dry_run"]),
        bool(values["again"]),
        str(values["llm_model"] or ""),
    )
    if source == "queued":
        return distil.distil_queued(project, options)
    if source == "stdin":
        from memx.entry.cli.text import read_standard_input

        return distil.distil_text(project, read_standard_input(), options)
    if source == "session":
        from memx.app.sessions import distil_sessions

        return distil_sessions(project, str(values["session"]), str(values["format"] or ""), options)
    history = _history(source, values)
    if source == "history":
        with _Progress(invocation, history) as progress:
            return distil.distil_history(project, history, options, progress.advance)
    return distil.distil_commits(project, history, options)


def _history(source: str, values: dict[str, object]) -> History:
    from memx.app.distil import History

    top, count = values["top"], values["max_count"]
    for name, number in (("top", top), ("max-count", count)):
        if isinstance(number, int) and number < 0:
            raise UsageError(f"--{name} must be zero or more")
    since = str(values["since"] or "")
    if values["since"] is not None:
        from memx.repo.git_date import is_git_date

        if not is_git_date(since):
            raise UsageError(f"not a date: {since!r}", hint="use 2026-11-30, or words such as 2.weeks.ago")
    limit = top if isinstance(top, int) else HISTORY_TOP if source == "history" else 0
    return History(
        revisions=_revisions(source, values),
        since=since,
        max_count=count if isinstance(count, int) else None,
        top=limit,
        is_walked=source != "commit",
    )


def _revisions(source: str, values: dict[str, object]) -> tuple[str, ...]:
    if source == "history":
        return ("HEAD",)
    if source == "range":
        return (str(values["range"]),)
    return (str(values["commit"] or "HEAD"),)


def _accept(invocation: Invocation, distilled: Distilled) -> dict[str, str]:
    """Accept the new candidates; return what became of each."""
    from memx.app.review import accept

    new = [candidate for candidate in distilled.candidates if candidate.id in distilled.new]
    return {candidate.id: accept(invocation.project, candidate).action for candidate in new}


def _document(distilled: Distilled, accepted: dict[str, str]) -> dict[str, object]:
    from memx.app.documents import candidate_document, rejection_document

    return {
        "mode": distilled.mode,
        "sources": distilled.sources,
        "candidates": [
            {**candidate_document(c, accepted=c.id in accepted), "new": c.id in distilled.new}
            for c in distilled.candidates
        ],
        "rejected": [rejection_document(rejection) for rejection in distilled.rejected],
        "llm": _llm_document(distilled),
    }


def _llm_document(distilled: Distilled) -> dict[str, object]:
    use = distilled.llm
    if use is None:
        return {"calls": 0, "tokens_in": 0, "tokens_out": 0}
    return {name: getattr(use, name) for name in type(use).__slots__}  # type: ignore[attr-defined]


def _lines(invocation: Invocation, distilled: Distilled, values: dict[str, object]) -> Iterator[str]:
    for candidate in distilled.candidates:
        known = "" if candidate.id in distilled.new or values["dry_run"] else " (known)"
        text = show_controls(" ".join(candidate.text.split()))
        mark = invocation.style(candidate.id, "33")
        yield f"{mark}  {candidate.section:<12} {candidate.score:>3}  {text}{known}"
        if values["explain"]:
            yield from _explain(candidate)
    if values["rejected"]:
        for rejection in distilled.rejected:
            text = show_controls(" ".join(rejection.text.split()))[:90]
            yield f"-  {rejection.rule or 'no rule'}: {rejection.reason}  {rejection.source[:20]}  {text}"


def _explain(candidate: Candidate) -> Iterator[str]:
    yield f"    rule {candidate.rule}, confidence {candidate.confidence:.2f}, {candidate.type}, {candidate.source}"
    for span in candidate.evidence:
        yield f"    {span.label or 'saw'}: {show_controls(' '.join(span.text.split()))[:160]}"
    if candidate.redacted:
        yield f"    redacted: {', '.join(candidate.redacted)}"


class _Progress:
    """A bar on standard error for a history that takes over a second; nothing when piped or quiet."""

    def __init__(self, invocation: Invocation, history: History) -> None:
        self._total = 0
        self._started = 0.0
        self._shown = False
        self._is_on = sys.stderr.isatty() and not invocation.quiet
        if self._is_on:
            self._total = _count(invocation, history)

    def __enter__(self) -> Self:
        import time

        self._clock = time.monotonic
        self._started = self._clock()
        return self

    def advance(self, done: int) -> None:
        """Show how many commits are done."""
        if not self._is_on or self._clock() - self._started < 1.0:
            return
        self._shown = True
        share = min(1.0, done / self._total) if self._total else 0.0
        bar = "█" * round(30 * share)
        sys.stderr.write(f"\r{bar:<30} {done:,} of {amount(self._total, 'commit')}")
        sys.stderr.flush()

    def __exit__(self, *exception: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")


def _count(invocation: Invocation, history: History) -> int:
    from memx.app.distil import require_repository
    from memx.repo.history import count_commits

    total = count_commits(require_repository(invocation.project), history.revisions)
    return min(total, history.max_count) if history.max_count else total


COMMANDS = (
    Command(
        "distill",
        "Distil lessons from commits, sessions or text into the inbox.",
        run_distill,
        (
            option("commit", "One commit (default: HEAD).", metavar="REV"),
            option("range", "A range such as main..topic.", metavar="A..B"),
            flag("history", "The whole history, the best lessons of it."),
            option("since", "With --history or --range: only commits after DATE.", metavar="DATE"),
            option("max_count", "Read at most N commits.", kind=INTEGER, metavar="N"),
            option("top", "Keep the best N (with --history: 100; 0 keeps all).", kind=INTEGER, metavar="N"),
            option("session", "A session log: FILE, latest or all.", metavar="FILE"),
            option("format", "The session log's format, if it is not recognised."),
            flag("stdin", "Text from standard input, such as a commit message."),
            option("jsonl", "Many texts, one JSON object a line, - for standard input.", metavar="FILE"),
            flag("queued", "Let the LLM refine what hooks left for it in the inbox."),
            option("mode", "How.", choices=("rules", "hybrid", "llm")),
            option("llm_model", "The LLM to use, as `llm models` lists it.", metavar="MODEL"),
            flag("accept", "Accept what is new at once."),
            flag("dry_run", "Store nothing and ask no LLM; say what it would cost."),
            flag("again", "Propose what was distilled, rejected or removed before."),
            flag("explain", "Show rule, spans and score of each candidate."),
            flag("rejected", "Show what was dropped, and why."),
        ),
    ),
)
