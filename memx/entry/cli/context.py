"""`memx context`: the block for a prompt, as instant as a search."""

from __future__ import annotations

from memx.entry.cli.command import INTEGER, Command, argument, flag, option
from memx.errors import EXIT_OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.entry.cli.invocation import Invocation

FORMATS = ("markdown", "xml", "json")


def run_context(invocation: Invocation, **values: object) -> int:
    """Print what is worth knowing here, or what answers the query, as a block for a prompt."""
    from memx.app.context import ContextRequest, context
    from memx.app.recall import refresh_later
    from memx.entry.cli.search import number, say, say_paths, words

    request = ContextRequest(
        query=" ".join(words(values["query"])),
        path=words(values["path"]),
        max_results=number(values["max_results"]),
        token_budget=number(values["token_budget"]),
        scope=str(values["scope"] or ""),
        workspace=str(values["workspace"] or ""),
    )
    form = "json" if invocation.json else str(values["format"])
    found = context(
        invocation.project,
        request,
        "markdown" if form == "json" else form,
        is_counted=not values["no_recall"],
    )
    if form == "json":
        document = found.answer.document()
        document.pop("version", None)
        invocation.document({**document, "block": found.block})
    elif found.block:
        invocation.print(found.block.rstrip("\n"))
    else:
        invocation.notice("no bullet is worth a word here, or none fits the budget")
    say_paths(invocation, request.path)
    say(invocation, found.answer)
    invocation.flush()
    refresh_later(invocation.project, found.answer)
    return EXIT_OK


COMMANDS = (
    Command(
        "context",
        "Print the block for a prompt: what answers a question, or without one what is worth most here.",
        run_context,
        (
            argument("query", "What the prompt is about.", required=False, many=True),
            option(
                "path",
                "A file at hand (may be repeated; default: the changed ones).",
                many=True,
                metavar="FILE",
            ),
            option("max_results", "At most N bullets.", short="-n", kind=INTEGER, metavar="N"),
            option("token_budget", "At most N tokens for the whole block.", kind=INTEGER, metavar="N"),
            option("scope", "Look from this scope: global, project, project:NAME or workspace:NAME."),
            option("workspace", "The current workspace (default: the branch)."),
            option("format", "How to print.", choices=FORMATS, default="markdown"),
            flag("no_recall", "Do not count the bullets as shown."),
        ),
    ),
)
