"""`memx search`: the command that must be instant."""

from __future__ import annotations

import sys

from memx.entry.cli.command import INTEGER, Command, argument, flag, option
from memx.errors import EXIT_OK
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memx.app.search import SearchAnswer
    from memx.entry.cli.invocation import Invocation
    from memx.model import Hit

FORMATS = ("text", "json", "markdown", "xml")


def run(invocation: Invocation, **values: object) -> int:
    """Print the bullets that answer the query, best first."""
    from memx.app.recall import recall, refresh_later

    request = _request(values)
    _announce_build(invocation)
    answer = recall(invocation.project, request, is_counted=not values["no_recall"])
    form = "json" if invocation.json else str(values["format"])
    if form == "json":
        document = answer.document()
        document.pop("version", None)
        invocation.document(document)
    elif form == "text":
        is_tight = request.token_budget is not None
        _print_text(invocation, answer, explains=bool(values["explain"]), is_tight=is_tight)
    else:
        from memx.generator.render import render

        invocation.print(render(answer.query, answer.hits, form, is_weak=answer.is_weak).rstrip("\n"))
    say_paths(invocation, () if request.rev else (request.path,))
    say(invocation, answer)
    invocation.flush()
    refresh_later(invocation.project, answer)
    return EXIT_OK


def _announce_build(invocation: Invocation) -> None:
    """Say on a terminal why the first search of a clone takes a second or more."""
    if invocation.quiet or not sys.stderr.isatty():
        return
    from memx.index.manifest import current_generation

    project = invocation.project
    if project.has_store and current_generation(project.cache_dir) is None:
        invocation.notice("reading and indexing all bullets, for there is no index here yet")
        sys.stderr.flush()


def _request(values: dict[str, object]):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from memx.app.search import SearchRequest

    names = ("scope", "workspace", "section", "type", "path", "rev")
    return SearchRequest(
        query=" ".join(words(values["query"])),
        max_results=number(values["max_results"]),
        token_budget=number(values["token_budget"]),
        tag=words(values["tag"]),
        archived=bool(values["archived"]),
        fresh=bool(values["fresh"]),
        **{name: str(values[name] or "") for name in names},
    )


def words(value: object) -> tuple[str, ...]:
    """Return the values of an option that may be repeated."""
    return tuple(map(str, value)) if isinstance(value, tuple) else ()


def number(value: object) -> int | None:
    """Return a whole number that was given."""
    return value if isinstance(value, int) else None


def _print_text(invocation: Invocation, answer: SearchAnswer, *, explains: bool, is_tight: bool) -> None:
    if answer.is_weak and answer.hits:
        invocation.notice("no bullet is surely about that; the nearest, which chance may have brought near:")
    for hit in answer.hits:
        for line in _hit_lines(invocation, hit, explains=explains):
            invocation.print(line)
    if not answer.hits:
        invocation.notice("no bullet is about that" + (", or none fits the budget" if is_tight else ""))


def _hit_lines(invocation: Invocation, hit: Hit, *, explains: bool) -> Iterator[str]:
    marks = [
        name
        for name, is_set in (
            ("archived", hit.archived),
            ("superseded", hit.superseded),
            ("drifted", hit.drifted),
            (f"conflicts with {', '.join(hit.conflicts_with)}", bool(hit.conflicts_with)),
        )
        if is_set
    ]
    suffix = f"  [{'; '.join(marks)}]" if marks else ""
    place = hit.path if hit.store == "project" else f"{hit.store}:{hit.path}"
    head = f"{hit.score:.3f}  {hit.section}/{hit.type}  {show_controls(place)}{suffix}"
    yield f"{invocation.style(hit.id, '33')}  {head}"
    if hit.title:
        yield "    " + invocation.style(show_controls(" ".join(hit.title.split())), "1")
    for line in hit.text.splitlines() or [""]:
        yield f"    {show_controls(line)}"
    if explains:
        from memx.generator.explain import explain

        yield from explain(hit)


def say_paths(invocation: Invocation, paths: Iterable[str]) -> None:
    """Say which paths no bullet can be anchored at, as after a slip of the hand; the answer is given all the same."""
    from memx.app.recall import path_note

    for note in [path_note(invocation.project, path) for path in paths if path]:
        if note:
            invocation.notice(show_controls(f"--path: {note}"))


def say(invocation: Invocation, answer: SearchAnswer) -> None:
    """Say what was missing and which files are broken."""
    say_missing(invocation, answer.degraded)
    invocation.problems(answer.problems)


def say_missing(invocation: Invocation, degraded: Iterable[str]) -> None:
    """Say which layers were missing, the same way whatever compares or searches."""
    for missing in degraded:
        invocation.notice(_in_words(missing))


def _in_words(missing: str) -> str:
    """Return what is missing for a person: which part of a search, why, and where to look further."""
    name, _, reason = missing.partition(": ")
    kind, colon, words = reason.partition(": ")
    reason = words if colon and kind.isidentifier() and kind.endswith("Error") else reason
    what = f"{name}, {_LAYERS[name]}, is missing" if name in _LAYERS else name
    return f"degraded: {what}: {reason} (see memx doctor)"


_LAYERS = {"l1": "exact words", "l2": "words with slips", "l3": "fields", "l4": "search by meaning"}

COMMANDS = (
    Command(
        "search",
        "Find the bullets that answer a question; any text is plain text.",
        run,
        (
            argument("query", "What you look for.", many=True),
            option("max_results", "At most N hits.", short="-n", kind=INTEGER, metavar="N"),
            option("token_budget", "At most N tokens of text.", kind=INTEGER, metavar="N"),
            option("scope", "Look from this scope: global, project, project:NAME or workspace:NAME."),
            option("workspace", "The current workspace (default: the branch)."),
            option("section", "Only this section."),
            option("type", "Only this type."),
            option("tag", "Only with this tag (may be repeated).", many=True),
            option("path", "Prefer what is anchored at FILE.", metavar="FILE"),
            option("rev", "The store as it was at a revision.", metavar="REV"),
            flag("archived", "Archived bullets too."),
            flag("fresh", "Check every file first."),
            flag("explain", "Show every factor of the score."),
            option("format", "How to print.", choices=FORMATS, default="text"),
            flag("no_recall", "Do not count the hits as recalled."),
        ),
    ),
)
