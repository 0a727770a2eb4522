"""`memx useful` and `memx wrong`: what a reader thought of a bullet."""

from __future__ import annotations

from memx.entry.cli.command import BULLET, VIEW, Command, option
from memx.errors import EXIT_OK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.feedback import Feedback
    from memx.entry.cli.invocation import Invocation


def run_useful(invocation: Invocation, *, bullet: str, scope: str | None, workspace: str | None) -> int:
    """Count a bullet that helped."""
    from memx.app.feedback import useful

    counted = useful(invocation.project, bullet, scope=scope or "", workspace=workspace or "")
    return _answer(invocation, "useful", counted)


def run_wrong(
    invocation: Invocation, *, bullet: str, because: str | None, scope: str | None, workspace: str | None
) -> int:
    """Dispute a bullet."""
    from memx.app.feedback import wrong

    disputed = wrong(invocation.project, bullet, because or "", scope=scope or "", workspace=workspace or "")
    code = _answer(invocation, "disputed", disputed)
    invocation.notice("it waits in memx review")
    return code


def _answer(invocation: Invocation, action: str, feedback: Feedback) -> int:
    bullet, path = feedback.stored.bullet, feedback.stored.path
    document = {
        "action": action,
        "id": bullet.id,
        "path": path,
        "recall_count": feedback.recall_count,
        "because": bullet.disputed_because,
    }
    invocation.emit(document, [f"{action} {bullet.id} {path}"])
    return EXIT_OK


COMMANDS = (
    Command("useful", "Say that a bullet helped: it counts as a recall.", run_useful, (BULLET, *VIEW)),
    Command(
        "wrong",
        "Say that a bullet is wrong: it waits in the review and is not permanent until then.",
        run_wrong,
        (BULLET, option("because", "Why.", metavar="TEXT", is_stored=True), *VIEW),
    ),
)
