"""The process behind every git hook: it starts fast, has a deadline and never stops git.

Exit 0 whatever happens, save BLOCKED when pre-commit refuses: a code of its
own, so that a crash (1) or a missing program (127) is never taken for a refusal.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memx.repo.discovery import Repository

BLOCKED = 10
BUNDLED = {"post-commit": "post-commit", "post-applypatch": "post-commit"}
"""Hooks that read commits, and the bundle of their modules and regular expressions."""

MANY_NEW = 8
"""So many regular expressions and modules that the bundle lacked are worth another one."""

GUARD = "MEMX_HOOK"
FIRST_DEADLINE_S = 5.0
"""Holds until the configuration was read, which has a deadline of its own."""


def main(argv: Sequence[str]) -> int:
    """Run one hook: its name, then git's own arguments for it; returns the exit code."""
    from memx.app.deadline import say, start_deadline

    name = argv[0] if argv else ""
    try:
        if name != "background":
            start_deadline(name, FIRST_DEADLINE_S)
        return _run(name, list(argv[1:]), os.environ)
    except KeyboardInterrupt:
        return 0
    except Exception as error:  # noqa: BLE001 (one of the entry points: a hook must not stop git)
        say(f"memx: {name} skipped: {str(error) or type(error).__name__}")
        return 0


def _run(name: str, arguments: list[str], environ: Mapping[str, str]) -> int:
    known: int | None = None
    if name in BUNDLED:
        from memx.entry.start import load

        known = _count_patterns() if load(BUNDLED[name]) else None
    from memx.repo.discovery import discover

    repository = discover(os.getcwd(), environ)
    if repository is None:
        return 0
    store = os.path.join(repository.worktree, ".memx")
    if not os.path.isdir(store) or os.path.islink(store):
        return 0
    os.environ[GUARD] = name
    code = _dispatch(name, arguments, repository, environ)
    if name in BUNDLED:
        _keep_bundle(BUNDLED[name], known)
    return code


def _count_patterns() -> int:
    re = sys.modules.get("re")
    return len(getattr(re, "_cache", ()))


def _keep_bundle(command: str, known: int | None) -> None:
    """Write a bundle where there was none, or where the last one came from a commit that needed less than this one."""
    from memx.entry.start import held_parts

    held = held_parts()
    new = sum(name.startswith("memx.") and name not in held for name in sys.modules)
    if known is None or _count_patterns() - known + new >= MANY_NEW:
        from memx.entry.bundle_writer import save

        save(command, ("numpy",), sparing=True)


def _dispatch(name: str, arguments: list[str], repository: Repository, environ: Mapping[str, str]) -> int:
    from memx.app import hooks

    first, second, third = (*arguments, "", "", "")[:3]
    if name == "pre-commit":
        return BLOCKED if hooks.pre_commit(repository, environ) else 0
    if name in ("post-commit", "post-applypatch"):
        hooks.post_commit(repository, environ)
    elif name == "post-checkout":
        hooks.post_checkout(repository, environ, first, second, third)
    elif name == "post-merge":
        hooks.post_merge(repository, environ, first)
    elif name == "post-rewrite":
        hooks.post_rewrite(repository, environ, first, sys.stdin.buffer.read())
    elif name == "background":
        hooks.background(repository, environ, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
