"""`memx add`, `show`, `list`, `edit`, `rm`, `mv`: one bullet by hand."""

from __future__ import annotations

import os
import sys

from memx.entry.cli.command import BULLET, INTEGER, VIEW, Command, argument, flag, option
from memx.errors import EXIT_EXPECTED, EXIT_OK, MemxError, UsageError
from memx.escape import show_controls
from memx.model import SECTIONS, TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memx.app.add import Added
    from memx.app.curate import Pair, Settled
    from memx.entry.cli.invocation import Invocation
    from memx.model import StoredBullet

FIELDS = (
    option("title", "A heading.", is_stored=True),
    option("section", "Where it belongs (default: by its text)."),
    option("type", "What it is (default: by its text)."),
    option("scope", "Who may see it: global, project or workspace:NAME.", is_stored=True),
    option("tag", "A tag (may be repeated).", many=True, is_stored=True),
    option("tool", "A tool it is about (may be repeated).", many=True, is_stored=True),
    option("entity", "A name it is about (may be repeated).", many=True, is_stored=True),
    option("anchor", "A file it is about (may be repeated).", many=True, is_stored=True),
    option("score", "How instructive it is, 0 to 100.", kind=INTEGER),
    flag("pin", "Never let it fade."),
)


def run_add(invocation: Invocation, **values: object) -> int:
    """Store one lesson as it is written."""
    from memx.app.add import Draft, add
    from memx.app.anchoring import complete_anchors, missing_anchors
    from memx.app.stores import named_store

    text = str(values["text"])
    if text == "-":
        from memx.entry.cli.text import read_standard_input

        text = read_standard_input()
    score = values["score"]
    if isinstance(score, int) and not 0 <= score <= 100:  # noqa: PLR2004 (a score is a per cent)
        raise UsageError(f"a score is 0 to 100, not {score}")
    place = named_store(invocation.project, str(values["store"] or ""))
    draft = Draft(
        text=text,
        title=str(values["title"] or ""),
        section=choice("section", values["section"], SECTIONS),
        type=choice("type", values["type"], TYPES),
        scope=str(values["scope"] or ""),
        tags=_words(values["tag"]),
        tools=_words(values["tool"]),
        entities=_words(values["entity"]),
        anchors=complete_anchors(invocation.project, _words(values["anchor"])),
        score=score if isinstance(score, int) else None,
        pinned=bool(values["pin"]),
    )
    try:
        added = add(place, draft)
    except MemxError as error:
        return _not_stored(invocation, error, draft.text)
    _report(invocation, added, explains=bool(values.get("explain")))
    for sentence in missing_anchors(invocation.project, draft.anchors):
        invocation.notice(sentence)
    return EXIT_EXPECTED if added.action == "refused" else EXIT_OK


def _report(invocation: Invocation, added: Added, *, explains: bool) -> None:
    """Say what became of a lesson, and what a person may want to do about it."""
    from memx.app.index import missing_layers
    from memx.entry.cli.search import say_missing

    degraded = missing_layers(invocation.project)
    document: dict[str, object] = {
        "action": added.action,
        "id": added.id,
        "path": added.path,
        "conflicts": list(added.conflicts),
        "reason": added.reason,
        "elsewhere": list(added.elsewhere),
        "similar": list(added.similar),
        "hint": added.hint,
        "warning": added.warning,
        "degraded": list(degraded),
    }
    lines = [f"{added.action} {added.id} {added.path}"]
    if explains or added.action in ("flagged", "merged"):
        lines += [f"  {added.reason}"] if added.reason else []
    if explains:
        document["explain"] = [_pair_document(pair) for pair in added.pairs]
        lines += _explain(added.pairs)
    invocation.emit(document, map(show_controls, lines))
    say_missing(invocation, degraded)
    for said in (added.hint, added.warning):
        if said:
            invocation.notice(said)
    _say_conflicts(invocation, added.id, added.conflicts)
    for other in added.similar:
        invocation.notice(f"{other} says the same: memx resolve {added.id} {other} --keep merge")
    for other in added.elsewhere:
        invocation.notice(f"another store says so too: memx show {other}")


def _not_stored(invocation: Invocation, error: MemxError, text: str) -> int:
    """Report the error and print the lesson, for it may be nowhere else."""
    from memx.entry.cli.invocation import error_document, report_error, report_lesson

    lesson = invocation.project.sanitizer.sanitize(text.strip()).text
    if invocation.json:
        invocation.document({**error_document(error), "text": lesson})
    else:
        report_error(error)
        report_lesson(lesson)
    return error.exit_code


def _say_conflicts(invocation: Invocation, identifier: str, others: Sequence[str]) -> None:
    for other in others:
        invocation.notice(f"may conflict with {other}: memx resolve {identifier} {other}")


def _pair_document(pair: Pair) -> dict[str, object]:
    from memx.app.documents import verdict_document

    return {
        "id": pair.stored.bullet.id,
        **verdict_document(pair.verdict),
        "kept_apart": pair.kept_apart,
    }


def _explain(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield what decided for each bullet that was compared: the tier, a rule or the gate."""
    if not pairs:
        yield "  nothing in the store is near"
    for pair in pairs:
        verdict = pair.verdict
        yield f"  {pair.stored.bullet.id}  {verdict.action:<11}  {verdict.reason} (cosine {verdict.cosine:.2f})"
        yield from (f"    gate: {veto}" for veto in verdict.veto)
        if pair.kept_apart and verdict.action != "independent":
            yield f"    kept apart: {pair.kept_apart}"


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return a section or type in lower case, empty when none was given."""
    if value is None:
        return ""
    text = str(value).lower()
    if text not in allowed:
        raise UsageError(f"unknown {name} {text!r}", hint=f"one of {', '.join(allowed)}")
    return text


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()


def run_show(invocation: Invocation, *, bullet: str, scope: str | None, workspace: str | None) -> int:
    """Print one bullet file as it is."""
    from memx.app.browse import find_visible
    from memx.app.count import with_recalls
    from memx.app.documents import bullet_document

    place, stored = find_visible(invocation.project, bullet, scope=scope or "", workspace=workspace or "")
    if invocation.json:
        invocation.document({"bullet": bullet_document(*with_recalls(place, [stored]))})
        return EXIT_OK
    if place is not invocation.project:
        invocation.notice(f"from the store {place.store_name}")
    with open(os.path.join(place.store_root, stored.path), encoding="utf-8", errors="replace") as stream:
        text = stream.read()
    invocation.print(show_controls(text.rstrip("\n")))
    return EXIT_OK


def run_list(invocation: Invocation, **values: object) -> int:
    """Print one line a bullet."""
    from memx.app.browse import browse
    from memx.app.documents import bullet_document, problem_documents

    listing = browse(
        invocation.project,
        section=choice("section", values["section"], SECTIONS),
        type=choice("type", values["type"], TYPES),
        tag=str(values["tag"] or ""),
        scope=str(values["scope"] or ""),
        workspace=str(values["workspace"] or ""),
        archived=bool(values["archived"]),
        store=str(values["store"] or ""),
    )
    document = {
        "bullets": [
            {**bullet_document(stored), "superseded": (stored.store, stored.bullet.id) in listing.superseded}
            for stored in listing.bullets
        ],
        "problems": problem_documents(listing.problems),
    }
    lines = (
        _line(invocation, stored, is_superseded=(stored.store, stored.bullet.id) in listing.superseded)
        for stored in listing.bullets
    )
    invocation.emit(document, lines)
    invocation.problems(listing.problems)
    return EXIT_OK


def _line(invocation: Invocation, stored: StoredBullet, *, is_superseded: bool) -> str:
    bullet = stored.bullet
    text = show_controls(" ".join((bullet.title or bullet.text).split()))
    shown = text if len(text) <= 100 else text[:99] + "…"  # noqa: PLR2004 (a line of a terminal)
    mark = " (archived)" if stored.archived else ""
    mark += " (superseded)" if is_superseded else ""
    mark += f" [{stored.store}]" if stored.store != "project" else ""
    return f"{invocation.style(bullet.id, '33')}  {bullet.section:<12} {bullet.score:>3}  {shown}{mark}"


def run_edit(invocation: Invocation, *, bullet: str) -> int:
    """Open a bullet in the editor and take it back only when it is valid."""
    from memx.app.edit import edit_in_editor, named_editor
    from memx.app.stores import find_own

    has_screen = invocation.is_interactive and sys.stdout.isatty() and not invocation.json
    if not named_editor(invocation.project) and not has_screen:
        find_own(invocation.project, bullet)  # what is wrong with the store or the name comes first
        raise UsageError(
            "edit needs a terminal or an editor of yours",
            hint="set EDITOR, or change the file and run memx fmt",
        )
    edited = edit_in_editor(invocation.project, bullet)
    stored = edited.stored
    settled = edited.settled
    is_merged = settled is not None and settled.is_merged
    verb = "merged" if is_merged else "edited" if edited.is_changed else "unchanged"
    document = {"action": verb, "id": stored.bullet.id, "path": stored.path}
    invocation.emit(document, [f"{verb} {stored.bullet.id} {stored.path}"])
    if settled is not None:
        say_settled(invocation, settled)
    return EXIT_OK


def say_settled(invocation: Invocation, settled: Settled) -> None:
    """Say what the Curator did with a text that was edited or new: what it merged, why, and how to take that back."""
    bullet, comparison = settled.stored.bullet, settled.comparison
    if not settled.is_merged:
        _say_conflicts(invocation, bullet.id, comparison.conflicts)
        return
    why = f" ({show_controls(comparison.reason)})" if comparison.reason else ""
    undo = f"memx unmerge {bullet.id} takes it back"
    invocation.notice(f"the Curator merged {settled.absorbed} into {bullet.id}{why}; {undo}")


def run_rm(invocation: Invocation, *, bullets: tuple[str, ...]) -> int:
    """Remove bullets from the store; git keeps them in history."""
    from memx.app.stores import find_own

    store = invocation.project.store
    found = [find_own(invocation.project, reference) for reference in bullets]
    for stored in found:
        store.remove(stored.path)
        invocation.project.inbox.decide(stored.bullet.id, "removed")
    document = {"removed": [{"id": stored.bullet.id, "path": stored.path} for stored in found]}
    invocation.emit(document, (f"removed {stored.bullet.id} {stored.path}" for stored in found))
    return EXIT_OK


def run_mv(invocation: Invocation, *, bullet: str, section: str) -> int:
    """Move a bullet to another section."""
    from memx.app.stores import find_own

    project = invocation.project
    chosen = choice("section", section, SECTIONS)
    moved = project.store.move(find_own(project, bullet).path, chosen)
    invocation.emit({"id": moved.bullet.id, "path": moved.path}, [f"moved {moved.bullet.id} {moved.path}"])
    return EXIT_OK


FILTERS = (
    option("section", "Only this section."),
    option("type", "Only this type."),
    option("tag", "Only with this tag."),
    *VIEW,
    option("store", "Only this store: project, user or a shared one."),
    flag("archived", "Archived bullets too."),
)
"""Which bullets: what `list` shows and `export` takes along."""

COMMANDS = (
    Command(
        "add",
        "Add one lesson; `-` reads it from standard input.",
        run_add,
        (
            argument("text", "The lesson, or - for standard input.", is_stored=True),
            *FIELDS,
            option("store", "Write to this store: user, or a shared one that is writable."),
            flag("explain", "Say what the curator decided and why."),
        ),
    ),
    Command(
        "show",
        "Print one bullet.",
        run_show,
        (BULLET, *VIEW),
    ),
    Command(
        "list",
        "List the bullets, one a line.",
        run_list,
        FILTERS,
    ),
    Command("edit", "Open a bullet in $EDITOR and validate it.", run_edit, (BULLET,)),
    Command(
        "rm",
        "Remove bullets (git keeps their history).",
        run_rm,
        (argument("bullets", "Ids, prefixes or paths.", many=True),),
    ),
    Command(
        "mv",
        "Move a bullet to another section.",
        run_mv,
        (BULLET, argument("section", "The new section.")),
    ),
)
