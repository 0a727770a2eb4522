"""`memx demo`: the main job on real input, before your eyes."""

from __future__ import annotations

import sys

from memx.amount import amount
from memx.entry.cli.command import Command, option
from memx.errors import EXIT_OK
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.app.demo import Answered, Demo
    from memx.entry.cli.invocation import Invocation
    from memx.model import Candidate

PER_SECTION = 3
LINE_CHARS = 150


def run(invocation: Invocation, *, path: str | None) -> int:
    """Distil a history into a throw-away store, show what it taught, and ask it three questions."""
    import tempfile

    from memx.app.demo import choose_repository, run_demo

    repository = choose_repository(invocation.directory, invocation.environ, path or "")
    shows_progress = sys.stderr.isatty() and not invocation.quiet

    def report(done: int) -> None:
        if shows_progress:
            sys.stderr.write(f"\r{amount(done, 'commit')} read")
            sys.stderr.flush()

    with tempfile.TemporaryDirectory(prefix="memx-demo-") as scratch:
        demo = run_demo(scratch, repository, invocation.environ, invocation.now, report)
    if shows_progress:
        sys.stderr.write("\r\x1b[K")
    if invocation.json:
        invocation.document(_document(demo))
    else:
        for line in _lines(invocation, demo):
            invocation.print(line)
    for note in demo.notes:
        invocation.notice(note)
    return EXIT_OK


def _document(demo: Demo) -> dict[str, object]:
    from memx.app.documents import candidate_document

    return {
        "repository": "sample" if demo.is_sample else demo.repository,
        "sources": demo.sources,
        "candidates": [candidate_document(candidate) for candidate in demo.candidates],
        "stored": demo.stored,
        "merged": demo.merged,
        "queries": [
            {
                "query": asked.query,
                "from": asked.origin,
                "expected": asked.expected,
                "hits": [{"id": hit.id, "score": hit.score, "text": hit.text} for hit in asked.answer.hits],
            }
            for asked in demo.answers
        ],
    }


def _lines(invocation: Invocation, demo: Demo) -> Iterator[str]:
    where = (
        "the embedded sample: invented commits and two agent sessions in four languages"
        if demo.is_sample
        else demo.repository
    )
    yield f"Distilled {where}"
    found = amount(len(demo.candidates), "lesson")
    yield f"{amount(demo.sources, 'commit')} read, {found} found, by rules, without an LLM"
    yield ""
    for section in dict.fromkeys(candidate.section for candidate in _ranked(demo)):
        members = [candidate for candidate in _ranked(demo) if candidate.section == section]
        yield invocation.style(f"{section}  ({len(members)})", "1")
        for candidate in members[:PER_SECTION]:
            yield f"  {candidate.score:>3}  {_short(candidate.text)}"
        if len(members) > PER_SECTION:
            yield f"       … and {len(members) - PER_SECTION} more"
    yield ""
    yield (
        f"All {len(demo.candidates)} went into a throw-away store for this demo "
        f"({demo.stored} written, {demo.merged} merged)."
    )
    yield "In your own repository they wait in the inbox until you say yes to each: memx review."
    for asked in demo.answers:
        yield ""
        yield from _answer(invocation, asked)
    yield ""
    yield "Next: cd your-repository && memx init && memx distill --history && memx review"


def _ranked(demo: Demo) -> list[Candidate]:
    return sorted(demo.candidates, key=lambda candidate: (-candidate.score, candidate.id))


def _answer(invocation: Invocation, asked: Answered) -> Iterator[str]:
    yield invocation.style(f'$ memx search "{show_controls(asked.query)}"', "1")
    if asked.origin:
        yield f"  (words of its source that the lesson does not use: {_short(asked.origin)})"
    for rank, hit in enumerate(asked.answer.hits[:PER_SECTION], 1):
        mark = "  <- the lesson from there" if hit.id == asked.expected else ""
        yield f"  {rank}. {hit.score:.3f}  {_short(hit.text)}{mark}"
    if not asked.answer.hits:
        yield "  nothing: no bullet of this store is about that"
    elif asked.expected and asked.expected not in [hit.id for hit in asked.answer.hits]:
        yield "  (the lesson from there is not among the hits)"


def _short(text: str) -> str:
    line = show_controls(" ".join(text.split()))
    return line if len(line) <= LINE_CHARS else line[: LINE_CHARS - 1] + "…"


COMMANDS = (
    Command(
        "demo",
        "Distil a history into a throw-away store and ask it; writes nothing into the repository.",
        run,
        (
            option(
                "path", "The repository to show (default: this one, or an embedded sample).", metavar="REPO"
            ),
        ),
    ),
)
