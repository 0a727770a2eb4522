"""`memx promote`: what a branch has learnt becomes the project's."""

from __future__ import annotations

from memx.entry.cli.command import Command, argument, flag, option
from memx.errors import EXIT_OK, MemxError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.entry.cli.invocation import Invocation
    from memx.model import StoredBullet


def run_promote(
    invocation: Invocation, *, bullets: tuple[str, ...], workspace: str | None, dry_run: bool, yes: bool
) -> int:
    """Offer the bullets of workspaces that are over, and give those the project's scope."""
    from memx.app.promote import find_promotable, promote

    project = invocation.project
    found = find_promotable(project, bullets, workspace=workspace or "")
    if not found:
        _report(invocation, found, is_done=False)
        invocation.notice("no workspace has been merged or given up that holds bullets")
        return EXIT_OK
    if not dry_run and not yes:
        for line in _lines(found, "offers"):
            invocation.notice(line)
        if not invocation.confirm(f"make {len(found)} the project's?"):
            raise MemxError("nothing was promoted", hint="memx promote --yes, or --dry-run to see")
    if not dry_run:
        found_before, found = found, promote(project, found)
        for before, after in zip(found_before, found, strict=True):
            invocation.notice(f"{after.bullet.id}: {before.bullet.scope} to {after.bullet.scope}")
    _report(invocation, found, is_done=not dry_run)
    return EXIT_OK


def _report(invocation: Invocation, found: Sequence[StoredBullet], *, is_done: bool) -> None:
    listed = [{"id": s.bullet.id, "path": s.path, "scope": s.bullet.scope} for s in found]
    document = {"promoted": listed if is_done else [], "offered": [] if is_done else listed}
    invocation.emit(document, _lines(found, "promoted" if is_done else "would promote"))


def _lines(found: Sequence[StoredBullet], verb: str) -> list[str]:
    return [
        show_controls(f"{verb} {s.bullet.id}  {s.bullet.scope}  {' '.join(s.bullet.text.split())[:80]}")
        for s in found
    ]


COMMANDS = (
    Command(
        "promote",
        "Make the bullets of merged or given-up workspaces the project's.",
        run_promote,
        (
            argument(
                "bullets", "Ids, prefixes or paths (default: all that are ready).", required=False, many=True
            ),
            option("workspace", "Those of this workspace, merged or not.", metavar="NAME"),
            flag("dry_run", "Change nothing."),
            flag("yes", "Do not ask.", short="-y"),
        ),
    ),
)
