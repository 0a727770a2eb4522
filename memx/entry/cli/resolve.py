"""`memx conflicts` and `memx resolve`: what contradicts what, and what a person decides."""

from __future__ import annotations

import sys

from memx.amount import amount
from memx.entry.cli.command import Command, argument, flag, option
from memx.errors import EXIT_EXPECTED, EXIT_OK, UsageError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memx.app.conflicts import Conflict
    from memx.app.merge_check import MergeNote
    from memx.app.resolve import Mended, Resolved
    from memx.entry.cli.invocation import Invocation
    from memx.model import Span

_ANSWERS = {"a": "a", "b": "b", "o": "both", "m": "merge"}
_HELP = """\
a - a holds; b is superseded and leaves the search
b - b holds; a is superseded
o - both hold, each in its place
m - they are one lesson: merge them
s - skip for now
q - quit"""


def run_conflicts(invocation: Invocation, *, all_: bool, marked: bool, possible: bool) -> int:
    """List the bullets that contradict each other; exit 1 when there are some."""
    from memx.app.conflicts import SURVEY_LIMIT, find_conflicts
    from memx.app.index import missing_layers
    from memx.app.merge_check import merge_notes
    from memx.entry.cli.progress import Progress
    from memx.entry.cli.search import say_missing

    if marked and (all_ or possible):
        raise UsageError("--marked excludes --all and --possible")
    everywhere = True if all_ else False if marked else None
    with Progress(invocation) as progress:
        found = find_conflicts(
            invocation.project, everywhere=everywhere, possible=possible, report=progress.report
        )
    conflicts, is_surveyed = found.conflicts, found.is_surveyed
    listed = {frozenset((conflict.a.bullet.id, conflict.b.bullet.id)) for conflict in conflicts}
    notes = [
        note
        for note in merge_notes(invocation.project)
        if frozenset((note.a.bullet.id, note.b.bullet.id)) not in listed
    ]
    degraded = missing_layers(invocation.project)
    document = {
        "conflicts": [_document(conflict) for conflict in conflicts],
        "compared": is_surveyed,
        "alike": found.alike,
        "possible_duplicates": found.duplicates,
        "merged": [_note_document(note) for note in notes],
        "degraded": list(degraded),
    }
    lines = (line for conflict in conflicts for line in _lines(invocation, conflict))
    invocation.emit(document, (*lines, *(line for note in notes for line in _note_lines(note))))
    say_missing(invocation, degraded)
    invocation.problems(list(found.problems))
    if found.alike + found.duplicates:
        invocation.notice(
            f"not shown: {amount(found.alike, 'pair')} alike without a proven contradiction, "
            f"{found.duplicates} that may be the same lesson; --possible lists them"
        )
    if not is_surveyed and not marked:
        invocation.notice(
            f"only marked pairs: the store has over {SURVEY_LIMIT} bullets; --all compares them"
        )
    is_contrary = conflicts or any(note.kind == "contradiction" for note in notes)
    return EXIT_EXPECTED if is_contrary else EXIT_OK


def _note_document(note: MergeNote) -> dict[str, str]:
    a, b = note.a.bullet, note.b.bullet
    return {
        "kind": note.kind,
        "a": a.id,
        "b": b.id,
        "message": note.message,
        "text_a": a.text,
        "text_b": b.text,
    }


def _note_lines(note: MergeNote) -> Iterator[str]:
    yield f"{note.a.bullet.id} {note.b.bullet.id}  {note.kind}, brought together by a merge"
    for name, stored in (("a", note.a), ("b", note.b)):
        yield f"  {name}: {show_controls(' '.join(stored.bullet.text.split()))}"


def _document(conflict: Conflict) -> dict[str, object]:
    advice = conflict.advice
    return {
        "a": conflict.a.bullet.id,
        "b": conflict.b.bullet.id,
        "similarity": conflict.similarity,
        "contradiction": conflict.is_contradiction,
        "marked": conflict.is_marked,
        "proof": conflict.proof,
        "reason": conflict.reason,
        "recommendation": conflict.recommendation,
        "newer": advice.newer,
        "better_proven": advice.better_proven,
        "keep": advice.keep,
        "reasons": list(advice.reasons),
        "spans_a": [[span.start, span.end] for span in advice.spans_a],
        "spans_b": [[span.start, span.end] for span in advice.spans_b],
        "text_a": conflict.a.bullet.text,
        "text_b": conflict.b.bullet.text,
    }


def _lines(invocation: Invocation, conflict: Conflict) -> Iterator[str]:
    advice = conflict.advice
    kind = "contradiction" if conflict.is_contradiction else "possible conflict"
    yield (f"{conflict.a.bullet.id} {conflict.b.bullet.id}  {kind}, similarity {conflict.similarity:.2f}")
    for name, stored, spans in (("a", conflict.a, advice.spans_a), ("b", conflict.b, advice.spans_b)):
        yield f"  {name}: {_marked(invocation, stored.bullet.text, spans)}"
        yield f"     {show_controls(_evidence(conflict, stored.bullet.id))}"
    yield f"  {show_controls(conflict.reason)}"
    yield f"  {show_controls(conflict.recommendation)}"


def _evidence(conflict: Conflict, name: str) -> str:
    """Return who wrote a side, from where, how often it was recalled, and what leads."""
    bullet = (conflict.a if name == conflict.a.bullet.id else conflict.b).bullet
    parts = [f"score {bullet.score}", f"recalled {amount(bullet.recall_count, 'time')}"]
    parts += [part for part in (bullet.author, bullet.source) if part]
    parts += ["newer"] if conflict.advice.newer == name else []
    parts += ["better proven"] if conflict.advice.better_proven == name else []
    return ", ".join(parts)


def _marked(invocation: Invocation, text: str, spans: Sequence[Span]) -> str:
    """Return a text on one line with what differs in bold, or in brackets where there are no colours."""
    pieces, at = [], 0
    for span in spans:
        if span.start < at:
            continue
        words = show_controls(text[span.start : span.end])
        marked = invocation.style(words, "1") if invocation.is_coloured else f"[{words}]"
        pieces += [show_controls(text[at : span.start]), marked]
        at = span.end
    pieces.append(show_controls(text[at:]))
    return " ".join("".join(pieces).replace("\\n", " ").split())


def run_resolve(invocation: Invocation, *, a: str | None, b: str | None, keep: str | None) -> int:
    """Settle a conflict of two bullets, or mend git's conflict markers in bullet files."""
    if a and b:
        return _resolve_pair(invocation, a, b, keep)
    if keep:
        raise UsageError("--keep needs two bullets", hint="memx resolve A B --keep A")
    from memx.app.resolve import mend

    mended = mend(invocation.project, [a] if a else [])
    code = _say_mended(invocation, mended)
    if a or invocation.json or not invocation.is_interactive:
        return code
    return max(code, _walk(invocation))


def _say_mended(invocation: Invocation, mended: Mended) -> int:
    from memx.app.documents import problem_documents

    document = {"mended": list(mended.paths), "problems": problem_documents(mended.left)}
    invocation.emit(document, (f"mended {show_controls(path)}" for path in mended.paths))
    invocation.problems(mended.left)
    if mended.paths:
        invocation.notice("git add them to mark the conflict as resolved")
    elif not mended.left and not invocation.is_interactive:
        invocation.notice("no bullet file has conflict markers; memx conflicts lists contradictions")
    return EXIT_EXPECTED if mended.left else EXIT_OK


def _resolve_pair(invocation: Invocation, a: str, b: str, keep: str | None) -> int:
    from memx.app.resolve import resolve

    if keep is None:
        if not invocation.is_interactive or invocation.json:
            raise UsageError("say what to keep", hint=f"memx resolve {a} {b} --keep {a}, {b}, both or merge")
        return _ask_about(invocation, a, b)
    _say_resolved(invocation, resolve(invocation.project, a, b, keep))
    return EXIT_OK


def _say_resolved(invocation: Invocation, done: Resolved) -> None:
    document = {
        "action": done.action,
        "kept": [stored.bullet.id for stored in done.kept],
        "paths": [stored.path for stored in done.kept],
        "other": done.other,
    }
    kept = " and ".join(stored.bullet.id for stored in done.kept)
    said = {
        "superseded": f"kept {kept}, which supersedes {done.other}",
        "both": f"kept {kept}",
        "merged": f"merged {done.other} into {kept}",
    }
    invocation.emit(document, [said[done.action]])


def _ask_about(invocation: Invocation, a: str, b: str) -> int:
    from memx.app.conflicts import conflict_of
    from memx.app.stores import find_own

    project = invocation.project
    _ask(invocation, conflict_of(project, find_own(project, a), find_own(project, b)))
    return EXIT_OK


def _walk(invocation: Invocation) -> int:
    """Ask about each conflict of the store; exit 1 when some are left."""
    from memx.app.conflicts import find_conflicts

    conflicts = find_conflicts(invocation.project).conflicts
    settled: set[str] = set()
    for number, conflict in enumerate(conflicts, 1):
        names = {conflict.a.bullet.id, conflict.b.bullet.id}
        if names & settled:
            continue
        invocation.print(f"\n({number}/{len(conflicts)})")
        answer = _ask(invocation, conflict)
        if answer == "q":
            break
        if answer in ("a", "b", "merge"):
            settled |= names
    return EXIT_EXPECTED if find_conflicts(invocation.project).conflicts else EXIT_OK


def _ask(invocation: Invocation, conflict: Conflict) -> str:
    """Show a conflict, ask until the answer is understood, and do it; returns what was chosen, s or q."""
    from memx.app.resolve import resolve

    for line in _lines(invocation, conflict):
        invocation.print(line)
    while True:
        sys.stderr.write("keep a, keep b, both, merge, skip, quit [a,b,o,m,s,q,?]? ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1] or ("?" if line else "q")
        if answer in ("s", "q"):
            return answer
        if answer in _ANSWERS:
            choice = _ANSWERS[answer]
            _say_resolved(invocation, resolve(invocation.project, conflict.a.path, conflict.b.path, choice))
            return choice
        invocation.print(_HELP)


COMMANDS = (
    Command(
        "conflicts",
        "List the bullets that contradict each other; exit 1 when some do.",
        run_conflicts,
        (
            flag("all_", "Compare the whole store, however large."),
            flag("marked", "Only the pairs that are marked already."),
            flag("possible", "Also pairs alike without a proven contradiction, and possible duplicates."),
        ),
    ),
    Command(
        "resolve",
        "Settle two bullets that contradict each other, or mend git's conflict markers in bullet files.",
        run_resolve,
        (
            argument(
                "a",
                "A bullet; alone, a file with conflict markers (default: all such files).",
                required=False,
            ),
            argument("b", "The other bullet.", required=False),
            option("keep", "What holds: one of the two ids, a, b, both, or merge.", metavar="WHICH"),
        ),
    ),
)
