"""`memx compare`: what the Curator thinks of pairs."""

from __future__ import annotations

from memx.entry.cli.command import VIEW, Command, argument, option
from memx.errors import EXIT_OK, MemxError, UsageError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.entry.cli.invocation import Invocation


def run_compare(
    invocation: Invocation,
    *,
    a: str | None,
    b: str | None,
    jsonl: str | None,
    scope: str | None,
    workspace: str | None,
) -> int:
    """Compare two ids or texts, or many pairs of texts."""
    from memx.app.index import missing_layers
    from memx.entry.cli.search import say_missing

    project = invocation.project
    if jsonl:
        from memx.app.judge_corpus import compare_lines

        code = compare_lines(project, jsonl)
        say_missing(invocation, missing_layers(project))
        return code
    if not a or not b:
        raise UsageError("two ids or texts are needed", hint="memx compare A B, or --jsonl FILE")
    from memx.app.curate import compare_texts
    from memx.app.documents import verdict_document

    texts = [_text(invocation, reference, scope or "", workspace or "") for reference in (a, b)]
    verdict = compare_texts(project, [(texts[0], texts[1])])[0]
    lines = [
        f"similarity     {verdict.similarity:.3f}  (cosine {verdict.cosine:.3f})",
        f"action         {verdict.action}",
        f"contradiction  {'yes' if verdict.contradiction else 'no'}",
        *(f"veto           {veto}" for veto in verdict.veto),
        f"reason         {verdict.reason}",
    ]
    degraded = missing_layers(project)
    document = {"pairs": [verdict_document(verdict)], "degraded": list(degraded)}
    invocation.emit(document, map(show_controls, lines))
    say_missing(invocation, degraded)
    return EXIT_OK


def _text(invocation: Invocation, reference: str, scope: str, workspace: str) -> str:
    """Return the text of the bullet with this id, or the words themselves when they are no id.

    Raises StoreError for a bullet that this viewer does not see: its words are not what was asked about.
    """
    from memx.app.browse import require_visible
    from memx.app.stores import find_bullet

    if " " in reference or not reference.isascii():
        return reference
    try:
        place, stored = find_bullet(invocation.project, reference)
    except MemxError:
        return reference
    require_visible(invocation.project, place, stored, scope=scope, workspace=workspace)
    return stored.bullet.text


COMMANDS = (
    Command(
        "compare",
        "Compare two bullets or texts: similarity, what differs, and what would be done.",
        run_compare,
        (
            argument("a", "An id or a text.", required=False),
            argument("b", "An id or a text.", required=False),
            option("jsonl", 'Many pairs, {"a","b"} a line, - for standard input.', metavar="FILE"),
            *VIEW,
        ),
    ),
)
