"""`memx store`: the stores that a search looks at."""

from __future__ import annotations

from memx.amount import amount
from memx.entry.cli.command import Command, argument, flag, option
from memx.errors import EXIT_EXPECTED, EXIT_OK
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.shared import StoreInfo
    from memx.entry.cli.invocation import Invocation


def run_add(invocation: Invocation, *, address: str, name: str | None, writable: bool) -> int:
    """Clone the store of another repository."""
    from memx.app.shared import add_store

    info = add_store(invocation.project, address, name=name, writable=writable)
    invocation.emit({"store": _document(info)}, [_line(info)])
    return EXIT_OK


def run_list(invocation: Invocation) -> int:
    """Name every store that a search here looks at."""
    from memx.app.shared import list_stores

    found = list_stores(invocation.project)
    invocation.emit({"stores": [_document(info) for info in found]}, map(_line, found))
    return EXIT_OK


def run_sync(invocation: Invocation, *, names: tuple[str, ...]) -> int:
    """Fetch what is new; exit 1 when a store could not be synced."""
    from memx.app.shared import sync_stores

    done = sync_stores(invocation.project, names)
    document = {
        "stores": [
            {"name": one.name, "before": one.before, "after": one.after, "error": one.error or None}
            for one in done
        ]
    }
    lines = (
        f"{one.name}  {'unchanged' if one.before == one.after else f'{one.before[:12]}..{one.after[:12]}'}"
        for one in done
        if not one.error
    )
    invocation.emit(document, lines)
    for one in done:
        if one.error:
            invocation.notice(f"{one.name}: {show_controls(one.error)}")
    return EXIT_EXPECTED if any(one.error for one in done) else EXIT_OK


def run_remove(invocation: Invocation, *, name: str, force: bool) -> int:
    """Remove the clone of a shared store."""
    from memx.app.shared import remove_store

    folder = remove_store(invocation.project, name, force=force)
    invocation.emit({"removed": folder}, [f"removed {folder}"])
    return EXIT_OK


def _document(info: StoreInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "root": info.root,
        "url": info.url or None,
        "commit": info.commit or None,
        "bullets": info.bullets,
        "read_only": info.read_only,
    }


def _line(info: StoreInfo) -> str:
    access = "read-only" if info.read_only else "writable"
    return f"{info.name:<12}  {amount(info.bullets, 'bullet'):>14}  {access:<9}  {show_controls(info.url or info.root)}"


COMMANDS = (
    Command(
        "add",
        "Clone the store of another repository; read-only unless told.",
        run_add,
        (
            argument("address", "https://…, ssh://…, user@host:path, or the path of a repository."),
            option("name", "What to call it (default: by its address)."),
            flag("writable", "Let memx write into it and push with sync."),
        ),
    ),
    Command("list", "Name every store that a search here looks at.", run_list),
    Command(
        "sync",
        "Fetch what is new; push what a writable store has.",
        run_sync,
        (argument("names", "Stores (default: all with a remote).", required=False, many=True),),
    ),
    Command(
        "remove",
        "Remove the clone of a shared store.",
        run_remove,
        (
            argument("name", "The store."),
            flag("force", "Even when it holds changes that are nowhere else."),
        ),
    ),
)
