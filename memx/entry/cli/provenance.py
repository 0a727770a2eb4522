"""`memx log`, `blame`, `why`, `why-not`: where a bullet comes from and how it counts."""

from __future__ import annotations

from memx.amount import amount
from memx.entry.cli.command import BULLET, VIEW, Command, argument, flag
from memx.errors import EXIT_OK
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.app.provenance import Story
    from memx.entry.cli.invocation import Invocation
    from memx.repo.provenance import BlameLine, Revision


def run_log(invocation: Invocation, *, bullet: str, patch: bool) -> int:
    """Print the commits that made a bullet what it is, through renames and merges."""
    from memx.app.provenance import revisions_of
    from memx.timestamp import format_time

    stored, revisions = revisions_of(invocation.project, bullet)
    document = {
        "id": stored.bullet.id,
        "commits": [
            {
                "sha": revision.commit.sha,
                "author": revision.commit.author,
                "time": format_time(revision.commit.authored),
                "status": revision.status,
                "path": revision.path,
                "old_path": revision.old_path or None,
                "summary": revision.commit.message.split("\n", 1)[0],
                **({"diff": list(revision.diff)} if patch else {}),
            }
            for revision in revisions
        ],
    }
    invocation.emit(document, _log_lines(invocation, revisions, patch=patch))
    if not revisions:
        invocation.notice("not committed yet: git add .memx && git commit")
    return EXIT_OK


def _log_lines(invocation: Invocation, revisions: list[Revision], *, patch: bool) -> Iterator[str]:
    from memx.timestamp import format_time

    for revision in revisions:
        commit = revision.commit
        summary = show_controls(commit.message.split("\n", 1)[0])
        sha = invocation.style(commit.sha[:12], "33")
        day = format_time(commit.authored)[:10]
        yield f"{sha} {revision.status} {day} {show_controls(commit.author)}: {summary}"
        if patch:
            yield from (f"    {show_controls(line)}" for line in revision.diff)


def run_blame(invocation: Invocation, *, bullet: str) -> int:
    """Print who wrote each line of a bullet."""
    from memx.app.provenance import blame_of
    from memx.timestamp import format_time

    stored, lines = blame_of(invocation.project, bullet)
    document = {
        "id": stored.bullet.id,
        "lines": [
            {
                "line": line.line,
                "text": line.text,
                "sha": line.sha,
                "author": line.author,
                "time": format_time(line.authored),
                "summary": line.summary,
            }
            for line in lines
        ],
    }
    invocation.emit(document, map(_blame_line, lines))
    return EXIT_OK


def _blame_line(line: BlameLine) -> str:
    from memx.timestamp import format_time

    who = f"{line.sha[:12]} {format_time(line.authored)[:10]} {show_controls(line.author):<20.20}"
    return f"{who} {line.line:>3}  {show_controls(line.text.rstrip())}"


def run_why(invocation: Invocation, *, bullet: str, scope: str | None, workspace: str | None) -> int:
    """Print where a bullet comes from, what its score is made of, and what it weighs now."""
    from memx.app.provenance import story_of

    story = story_of(invocation.project, bullet, scope=scope or "", workspace=workspace or "")
    invocation.emit(_story_document(story), _story_lines(story))
    return EXIT_OK


def _story_document(story: Story) -> dict[str, object]:
    from memx.app.documents import bullet_document

    return {
        "bullet": bullet_document(story.stored),
        "commit": story.commit or None,
        "score": {"stored": story.stored.bullet.score, "factors": dict(story.factors)},
        "recall_count": story.recall_count,
        "decay": {
            "age_days": story.decay.age_days,
            "base": story.decay.base,
            "weight": story.decay.weight,
            "state": story.decay.state,
        },
    }


def _story_lines(story: Story) -> Iterator[str]:
    bullet = story.stored.bullet
    yield f"{bullet.id}  {story.stored.path}"
    yield f"text      {show_controls(' '.join(bullet.text.split()))}"
    yield f"class     {bullet.section}, {bullet.type}, scope {bullet.scope}"
    yield f"source    {show_controls(bullet.source) or 'unknown'}"
    if story.commit:
        yield f"commit    {show_controls(story.commit)}"
    factors = ", ".join(f"{name} {value:.2f}" for name, value in story.factors)
    yield f"score     {bullet.score}  ({factors})"
    weight = f"{story.decay.weight:.4f} = {story.decay.state}, base {story.decay.base:.4f}"
    yield f"weight    {weight}, age {story.decay.age_days:.1f} days, {amount(story.recall_count, 'recall')}"
    if bullet.merged_from:
        yield f"merged    {', '.join(bullet.merged_from)} (kept in .memx/archive/)"
    if bullet.conflicts_with:
        yield f"conflicts {', '.join(bullet.conflicts_with)}"
    if bullet.disputed is not None:
        because = f": {show_controls(bullet.disputed_because)}" if bullet.disputed_because else ""
        yield f"disputed  called wrong{because} (memx review --keep {bullet.id} or memx rm {bullet.id})"


def run_why_not(invocation: Invocation, *, bullet: str, query: str) -> int:
    """Say why a query did not return a bullet."""
    from memx.app.recall import explain_absence
    from memx.app.search import hit_document

    absence = explain_absence(invocation.project, bullet, query)
    document = {
        "id": absence.hit.id,
        "query": query,
        "rank": absence.rank,
        "reasons": list(absence.reasons),
        "hit": hit_document(absence.hit),
    }
    reasons = absence.reasons or (f"it was returned, at rank {absence.rank}",)
    invocation.emit(document, map(show_controls, reasons))
    return EXIT_OK


COMMANDS = (
    Command(
        "log",
        "Show the commits that made a bullet what it is.",
        run_log,
        (BULLET, flag("patch", "With their diffs.", short="-p")),
    ),
    Command("blame", "Show who wrote each line of a bullet.", run_blame, (BULLET,)),
    Command("why", "Show where a bullet comes from and what it weighs.", run_why, (BULLET, *VIEW)),
    Command(
        "why-not",
        "Say why a query did not return a bullet.",
        run_why_not,
        (BULLET, argument("query", "The query.")),
    ),
)
