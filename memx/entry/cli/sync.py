"""`memx sync`: recall counts shared with the team."""

from __future__ import annotations

from memx.amount import amount
from memx.entry.cli.command import Command, argument
from memx.errors import EXIT_EXPECTED, EXIT_OK
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.entry.cli.invocation import Invocation


def run_sync(invocation: Invocation, *, remotes: tuple[str, ...]) -> int:
    """Exchange counters; exit 1 when a remote could not be reached."""
    from memx.app.sync import sync

    synced = sync(invocation.project, remotes)
    document = {
        "clone": synced.clone,
        "clones": synced.clones,
        "bullets": synced.bullets,
        "remotes": [{"name": name, "problem": problem or None} for name, problem in synced.remotes],
    }
    lines = [f"{amount(synced.bullets, 'bullet')} counted by {amount(synced.clones, 'clone')}"]
    invocation.emit(document, lines)
    if not synced.remotes:
        invocation.notice("there is no remote to share with; the counts are kept here")
    failed = [(name, problem) for name, problem in synced.remotes if problem]
    for name, problem in failed:
        invocation.notice(show_controls(f"{name} was not reached, nothing is lost: {problem}"))
    return EXIT_EXPECTED if failed else EXIT_OK


COMMANDS = (
    Command(
        "sync",
        "Share recall counts with the team through git (off until sync.usage is true).",
        run_sync,
        (argument("remotes", "Remotes (default: sync.remote).", required=False, many=True),),
    ),
)
