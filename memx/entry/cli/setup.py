"""`memx init`, `trust`, `doctor`, `reindex`: making and mending."""

from __future__ import annotations

from memx.amount import amount
from memx.entry.cli.command import Command, flag
from memx.errors import EXIT_EXPECTED, EXIT_OK, MemxError
from memx.escape import show_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.entry.cli.invocation import Invocation


def run_init(invocation: Invocation, *, user: bool, no_hooks: bool) -> int:
    """Create the store, hooks and merge driver; safe to repeat."""
    from memx.app.initialise import initialise, initialise_user_store

    done = (
        initialise_user_store(invocation.environ)
        if user
        else initialise(invocation.project, hooks=not no_hooks)
    )
    document = {"root": done.root, "created": list(done.created), "notes": list(done.notes)}
    verb = "created" if done.created else "already there:"
    invocation.emit(document, [f"{verb} {done.root}"])
    for note in done.notes:
        invocation.notice(note)
    return EXIT_OK


def run_trust(invocation: Invocation, *, yes: bool, download: bool) -> int:
    """Approve the committed configuration as it is now, on this machine, and fetch the model it names if asked."""
    from memx.app.trust import config_digest, trust

    digest = config_digest(invocation.project)
    if digest:
        _approve(invocation, yes=yes)
        trust(invocation.project)
    elif not download:
        raise MemxError("there is no committed configuration to trust", path=invocation.project.store_root)
    folder = _fetch_model(invocation, wanted=download)
    lines = [f"trusted {digest[:12]}"] if digest else []
    lines += [f"downloaded {folder}"] if folder else []
    invocation.emit({"digest": digest, "model": folder}, lines)
    return EXIT_OK


def _approve(invocation: Invocation, *, yes: bool) -> None:
    from memx.config import NEEDS_TRUST

    invocation.notice(
        f"{invocation.project.store_root}/config.yml may then set {', '.join(sorted(NEEDS_TRUST))}"
    )
    if not (yes or invocation.confirm("trust it as it is now?")):
        raise MemxError("nothing was trusted", hint="memx trust --yes")


def _fetch_model(invocation: Invocation, *, wanted: bool) -> str:
    """Return the folder of the model that was fetched; only say so where one is missing and was not asked for."""
    from memx.app.embedding_model import download, missing_model

    name = missing_model(invocation.project)
    if not name:
        return ""
    if not wanted:
        invocation.notice(f"embedding model {name} is not on this machine: memx trust --download fetches it")
        return ""
    return download(invocation.project, name)


def _one_line(text: str) -> str:
    """Return text from the repository so that it cannot pass for a line of its own."""
    return show_controls(text.replace("\n", "\\n"))


def run_doctor(invocation: Invocation, *, llm: bool) -> int:
    """Check everything that memx needs; exit 1 when something is wrong."""
    from memx.app.doctor import examine

    checks = examine(invocation.project)
    if llm:
        from memx.app.llm_check import check_llm

        checks.append(check_llm(invocation.project))
    document = {
        "checks": [
            {"name": check.name, "ok": check.is_ok, "detail": check.detail, "hint": check.hint}
            for check in checks
        ]
    }
    lines = (
        f"{'ok  ' if check.is_ok else 'FAIL'}  {check.name:<14} {_one_line(check.detail)}"
        + (f"\n      hint: {check.hint}" if check.hint and not check.is_ok else "")
        for check in checks
    )
    invocation.emit(document, lines)
    return EXIT_OK if all(check.is_ok for check in checks) else EXIT_EXPECTED


def run_reindex(invocation: Invocation, *, rebuild: bool) -> int:
    """Bring the index up to the files, or build it anew."""
    from memx.app.index import missing_layers, refresh_index
    from memx.entry.cli.search import say_missing

    done = refresh_index(invocation.project, rebuild=rebuild, is_thorough=True)
    degraded = missing_layers(invocation.project)
    document = {"bullets": done.bullets, "embedded": done.embedded, "degraded": list(degraded)}
    invocation.emit(document, [f"{amount(done.bullets, 'bullet')}, {done.embedded} embedded anew"])
    say_missing(invocation, degraded)
    invocation.problems(done.problems)
    return EXIT_OK


COMMANDS = (
    Command(
        "init",
        "Create the store here, with hooks and merge driver.",
        run_init,
        (
            flag("user", "The user's own store, for lessons of every project."),
            flag("no_hooks", "Install no git hooks."),
        ),
    ),
    Command(
        "trust",
        "Approve this repository's committed configuration on this machine.",
        run_trust,
        (
            flag("yes", "Do not ask.", short="-y"),
            flag("download", "Fetch the embedding model that the configuration names."),
        ),
    ),
    Command(
        "doctor",
        "Check the store, git, hooks, index and model.",
        run_doctor,
        (flag("llm", "Ask the configured LLM one tiny thing too."),),
    ),
    Command(
        "reindex",
        "Bring the index up to the files.",
        run_reindex,
        (flag("rebuild", "Build it anew."),),
    ),
)
