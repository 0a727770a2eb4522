"""`memx inbox` and `memx review`: what was learnt, and what of it is kept."""

from __future__ import annotations

import sys

from memx.amount import amount
from memx.entry.cli.command import INTEGER, Command, flag, option
from memx.errors import EXIT_EXPECTED, EXIT_OK, MemxError, UsageError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.entry.cli.invocation import Invocation
    from memx.model import Candidate, StoredBullet

_HELP = """\
y - accept this candidate
e - edit its text, then accept it
m - merge it into a bullet that you name
n - reject it for good
s - skip it for now
q - quit; the rest stays in the inbox
? - this help"""


def run_inbox(invocation: Invocation, *, max_results: int | None) -> int:
    """List the candidates, the most instructive first."""
    from memx.app.documents import bullet_document, candidate_document
    from memx.app.feedback import disputed
    from memx.app.merge_check import merge_notes, summary
    from memx.app.review import waiting

    candidates = waiting(invocation.project)[:max_results]
    disputes = disputed(invocation.project)
    document = {
        "candidates": [candidate_document(candidate) for candidate in candidates],
        "disputed": [bullet_document(stored) for stored in disputes],
    }
    invocation.emit(document, (*_lines(invocation, candidates), *map(_dispute_line, disputes)))
    if (candidates or disputes) and not invocation.json:
        invocation.notice("memx review walks through them")
    told = "" if invocation.json else summary(merge_notes(invocation.project))
    if told:
        invocation.notice(told)
    return EXIT_OK


def _lines(invocation: Invocation, candidates: list[Candidate]) -> Iterator[str]:
    for candidate in candidates:
        text = show_controls(" ".join(candidate.text.split()))
        score = f"{candidate.score:>3}"
        yield f"{invocation.style(candidate.id, '33')}  {candidate.section:<12} {score}  {text}"


def _dispute_line(stored: StoredBullet) -> str:
    bullet = stored.bullet
    reason = f" ({bullet.disputed_because})" if bullet.disputed_because else ""
    return show_controls(f"{bullet.id}  called wrong{reason}: {' '.join(bullet.text.split())}")


def run_review(
    invocation: Invocation,
    *,
    accept: tuple[str, ...],
    reject: tuple[str, ...],
    keep: tuple[str, ...],
    all_: bool,
) -> int:
    """Walk through the inbox and the disputed bullets, or settle those that are named."""
    from memx.app.review import find_candidate, waiting

    project = invocation.project
    if all_ and (accept or reject or keep):
        raise UsageError("--all goes without --accept, --reject and --keep")
    if keep and not (accept or reject):
        return _keep(invocation, keep)
    if keep:
        raise UsageError("--keep goes without --accept and --reject")
    if accept or reject or all_:
        taken = waiting(project) if all_ else [find_candidate(project, name) for name in accept]
        refused = [find_candidate(project, name) for name in reject]
        return _settle(invocation, taken, refused)
    if not invocation.is_interactive or invocation.json:
        raise UsageError(
            "review needs a terminal", hint="memx review --accept ID, --reject ID, --keep ID or --all"
        )
    return _walk(invocation)


def _keep(invocation: Invocation, references: tuple[str, ...]) -> int:
    """Say that disputed bullets hold."""
    from memx.app.feedback import settle

    kept = [settle(invocation.project, reference) for reference in references]
    results = [{"id": stored.bullet.id, "action": "kept", "path": stored.path} for stored in kept]
    invocation.emit({"results": results}, (f"kept {stored.bullet.id} {stored.path}" for stored in kept))
    return EXIT_OK


def _settle(invocation: Invocation, taken: list[Candidate], refused: list[Candidate]) -> int:
    """Settle one after the other; one that fails is named, stays in the inbox and stops none of the others."""
    from memx.app.review import accept, reject
    from memx.entry.cli.invocation import report_error

    results: list[dict[str, object]] = []
    failures: list[MemxError] = []
    for candidate in taken:
        try:
            added = accept(invocation.project, candidate)
        except MemxError as error:
            failures.append(error)
            results.append({"id": candidate.id, "action": "failed", "path": "", "reason": str(error)})
            continue
        results.append({"id": added.id, "action": added.action, "path": added.path})
    for candidate in refused:
        reject(invocation.project, candidate)
        results.append({"id": candidate.id, "action": "rejected", "path": ""})
    lines = (f"{result['action']} {result['id']} {result['path']}".rstrip() for result in results)
    invocation.emit({"results": results}, lines)
    for failure in failures:
        report_error(failure)
    return EXIT_EXPECTED if failures else EXIT_OK


def _walk(invocation: Invocation) -> int:
    from memx.app.feedback import disputed
    from memx.app.review import waiting

    _refine_queued(invocation)
    candidates = waiting(invocation.project)
    disputes = disputed(invocation.project)
    if not candidates and not disputes:
        invocation.notice("the inbox is empty")
    for number, candidate in enumerate(candidates, 1):
        invocation.print(f"\n({number}/{len(candidates)}) {candidate.section} {candidate.type}")
        invocation.print(f"rule {candidate.rule}, score {candidate.score}, {candidate.source}")
        invocation.print(invocation.style(show_controls(candidate.text), "1"))
        while True:
            answer = _ask("accept, edit, merge, reject, skip, quit [y,e,m,n,s,q,?]? ")
            if answer in ("q", ""):
                return EXIT_OK
            if answer == "?":
                invocation.print(_HELP)
            elif _answer(invocation, candidate, answer):
                break
    return _walk_disputes(invocation, disputes)


def _refine_queued(invocation: Invocation) -> None:
    """Have the LLM, if there is one, see first what hooks left for it; whatever comes of it, the review goes on."""
    from memx.app.distil import Options, distil_queued
    from memx.app.llm import Queue, is_configured

    count = len(Queue(invocation.project.state_dir).ids())
    if not count or not is_configured(invocation.project.config.llm):
        return
    invocation.notice(f"asking the LLM about {amount(count, 'queued candidate')}; Ctrl-C goes on without")
    try:
        notes = distil_queued(invocation.project, Options()).notes
    except KeyboardInterrupt:
        notes = ("not asked; they stay queued",)
    except MemxError as error:
        notes = (f"not asked: {error}",)
    for note in notes:
        invocation.notice(note)


def _walk_disputes(invocation: Invocation, disputes: list[StoredBullet]) -> int:
    """Ask about each bullet that somebody called wrong."""
    for number, stored in enumerate(disputes, 1):
        invocation.print(f"\n({number}/{len(disputes)}) disputed: {stored.path}")
        invocation.print(show_controls(f"because: {stored.bullet.disputed_because or 'no reason was given'}"))
        invocation.print(invocation.style(show_controls(stored.bullet.text), "1"))
        answer = ""
        while answer not in ("k", "e", "a", "s"):
            answer = _ask("it holds, edit, archive, skip, quit [k,e,a,s,q]? ")
            if answer in ("q", ""):
                return EXIT_OK
        _answer_dispute(invocation, stored, answer)
    return EXIT_OK


def _answer_dispute(invocation: Invocation, stored: StoredBullet, answer: str) -> None:
    from memx.app.feedback import settle

    project = invocation.project
    if answer == "e":
        from memx.app.edit import edit_in_editor
        from memx.entry.cli.bullet import say_settled

        edited = edit_in_editor(project, stored.path)
        stored = edited.stored
        if edited.settled is not None:
            say_settled(invocation, edited.settled)
    if answer in ("k", "e"):
        settle(project, stored.path)
        invocation.print(f"kept {stored.bullet.id} {stored.path}")
    elif answer == "a":
        moved = project.store.archive(stored.path)
        invocation.print(f"archived {moved.bullet.id} {moved.path}")


def _ask(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    return line.strip().lower()[:1] or ("s" if line else "")


def _answer(invocation: Invocation, candidate: Candidate, answer: str) -> bool:
    """Do what the reviewer said; False when it has to be asked again."""
    from memx.app import review
    from memx.entry.cli.invocation import report_error, report_lesson

    project = invocation.project
    if answer == "s":
        return True
    if answer == "n":
        review.reject(project, candidate)
        return True
    if answer == "m":
        return _merge_into(invocation, candidate)
    if answer not in ("y", "e"):
        return False
    text = ""
    try:
        if answer == "e":
            from memx.app.edit import edit_text

            text = edit_text(project, candidate.text)
        added = review.accept(project, candidate, text=text)
    except MemxError as error:
        report_error(error)
        report_lesson(text)
        return False
    invocation.print(f"{added.action} {added.id} {added.path}")
    return True


def _merge_into(invocation: Invocation, candidate: Candidate) -> bool:
    from memx.app.curate import merge_candidate
    from memx.errors import MemxError

    sys.stderr.write("merge into which bullet? ")
    sys.stderr.flush()
    reference = sys.stdin.readline().strip()
    if not reference:
        return False
    try:
        merged = merge_candidate(invocation.project, candidate, reference)
    except MemxError as error:
        invocation.notice(str(error))
        return False
    invocation.print(f"merged {merged.id} {merged.path}")
    return True


COMMANDS = (
    Command(
        "inbox",
        "List the candidates that commits and sessions taught, and the bullets that somebody called wrong.",
        run_inbox,
        (option("max_results", "At most N.", short="-n", kind=INTEGER, metavar="N"),),
    ),
    Command(
        "review",
        "Walk through the candidates as `git add -p` does.",
        run_review,
        (
            option("accept", "Accept this candidate (may be repeated).", many=True, metavar="ID"),
            option("reject", "Reject this candidate (may be repeated).", many=True, metavar="ID"),
            option("keep", "Say that this disputed bullet holds (may be repeated).", many=True, metavar="ID"),
            flag("all_", "Accept every candidate."),
        ),
    ),
)
