"""Installing, removing and explaining memx's git hooks.

memx never owns `core.hooksPath` and never destroys a hook: a foreign one is
renamed to `<name>.memx-legacy` and run first by ours. A hooks folder that the
next commit could hold, that another tool generates or that repositories share
is left alone; the caller gets the lines to add by hand.
"""

from __future__ import annotations

import os
import sys

from memx.errors import GitError
from memx.record import record, replace
from memx.repo.discovery import run_in
from memx.resources import resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memx.repo.discovery import Repository

HOOKS = (
    "pre-commit",
    "post-commit",
    "post-checkout",
    "post-merge",
    "post-rewrite",
    "post-applypatch",
)
"""`git am` runs no post-commit, hence the last."""
LEGACY_SUFFIX = ".memx-legacy"
MARKER = b"# memx hook:"
_GONE = "is gone; run memx hooks install"
# Where other managers put a hook that they found: pre-commit runs it afterwards, lefthook does not.
_DISPLACED = {".legacy": True, ".old": False}
_RUNNERS = (
    (b"husky", "husky"),
    (b"lefthook", "lefthook"),
    (b"pre_commit", "the pre-commit framework"),
    (b"pre-commit.com", "the pre-commit framework"),
    (b"overcommit", "overcommit"),
    (b"simple-git-hooks", "simple-git-hooks"),
)


@record
class HookState:
    """What git finds under one hook's name.

    state: `memx`, `chained` (memx, after the hook that was there before),
    `displaced` (another manager's, which runs memx afterwards), `called` (a
    foreign one with the line that calls memx), `foreign`, `disabled` (not
    executable, so git skips it) or `absent`.
    """

    name: str
    state: str
    path: str
    runner: str = ""
    note: str = ""

    @property
    def runs_memx(self) -> bool:
        """Tell whether git would start memx."""
        return self.state in ("memx", "chained", "displaced", "called")

    @property
    def lacks_interpreter(self) -> bool:
        """Tell whether the interpreter that our hook names is gone."""
        return _GONE in self.note


@record
class HooksReport:
    """What was found or done in the hooks folder that git uses.

    `snippet` is not empty when memx wrote nothing because `reason`; it is what
    to add to the named files by hand.
    """

    hooks_dir: str
    hooks: tuple[HookState, ...]
    hooks_path_setting: str = ""
    reason: str = ""
    snippet: str = ""
    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def messages(self) -> tuple[str, ...]:
        """What to tell a person, a line each."""
        lines = [f"hooks written in {self.hooks_dir}: {', '.join(self.changed)}"] if self.changed else []
        if self.reason:
            lines.append(f"no hooks written: {self.reason}; memx hooks status prints what to add by hand")
        return (*lines, *self.notes)


def find_hooks_dir(repo: Repository) -> str:
    """Return the folder from which git runs hooks here (core.hooksPath, linked worktrees, submodules)."""
    answer = run_in(repo, ["rev-parse", "--git-path", "hooks"]).rstrip(b"\n")
    return os.path.normpath(os.path.join(repo.worktree or repo.git_dir, os.fsdecode(answer)))


def install(repo: Repository, *, python: str = "", names: Iterable[str] = HOOKS) -> HooksReport:
    """Put the dispatchers in place, or say what to add where memx must not write. Safe to repeat.

    `python`: the interpreter to pin, by default the running one. Raises GitError
    when the folder cannot be written.
    """
    report = status(repo)
    if report.snippet:
        return report
    changed: list[str] = []
    notes: list[str] = []
    try:
        os.makedirs(report.hooks_dir, exist_ok=True)
        for state in report.hooks:
            if state.name in names:
                _install_one(state, _dispatcher(state.name, python or sys.executable), changed, notes)
    except OSError as error:
        raise GitError(f"cannot write hooks: {error.strerror}", path=report.hooks_dir) from error
    return replace(status(repo), changed=tuple(changed), notes=tuple(notes))


def uninstall(repo: Repository) -> HooksReport:
    """Take our hooks away and put those that were there before back, with their bytes and modes."""
    report = status(repo)
    changed: list[str] = []
    try:
        for state in report.hooks:
            for suffix in ("", *_DISPLACED):
                if _is_ours(state.path + suffix):
                    os.unlink(state.path + suffix)
                    changed.append(state.name)
                    if os.path.lexists(state.path + LEGACY_SUFFIX):
                        os.rename(state.path + LEGACY_SUFFIX, state.path + suffix)
    except OSError as error:
        raise GitError(f"cannot remove hooks: {error.strerror}", path=report.hooks_dir) from error
    return replace(status(repo), changed=tuple(changed))


def status(repo: Repository) -> HooksReport:
    """Say what git really runs here, through which hook manager, and why memx would not write."""
    hooks_dir = find_hooks_dir(repo)
    answer = run_in(repo, ["config", "--get", "core.hooksPath"], check=False)
    setting = os.fsdecode(answer.rstrip(b"\n"))
    states = tuple(_inspect(hooks_dir, name) for name in HOOKS)
    reason = _reason_to_keep_out(repo, hooks_dir) if setting else ""
    if answer and not setting:
        # git takes this for the root folder, and a path that is joined to it for the work tree.
        reason = "core.hooksPath is empty, so git runs no hooks (git config --unset core.hooksPath)"
    snippet = _snippet(hooks_dir, states) if reason else ""
    return HooksReport(hooks_dir, states, setting, reason, snippet)


def _install_one(state: HookState, content: bytes, changed: list[str], notes: list[str]) -> None:
    legacy = state.path + LEGACY_SUFFIX
    if state.state == "displaced":
        notes.append(f"{state.name}: {state.runner or 'another manager'} runs memx already")
        _rewrite(state.path + ".legacy", content, state.name, changed)
    elif state.state == "called":
        notes.append(f"{state.name}: the hook there calls memx already")
    elif state.state in ("memx", "chained", "absent"):
        _rewrite(state.path, content, state.name, changed)
    elif os.path.lexists(legacy):
        notes.append(f"{state.name}: both {state.path} and {legacy} exist; join them by hand")
    else:
        _write(state.path + ".memx-new", content)
        os.rename(state.path, legacy)
        os.replace(state.path + ".memx-new", state.path)
        changed.append(state.name)


def _rewrite(path: str, content: bytes, name: str, changed: list[str]) -> None:
    if _read(path) != content or not os.access(path, os.X_OK):
        _write(path + ".memx-new", content)
        os.replace(path + ".memx-new", path)
        changed.append(name)


def _write(path: str, content: bytes) -> None:
    # Binary, so that no platform turns LF into CRLF: `bad interpreter ^M`.
    with open(path, "wb") as stream:
        stream.write(content)
    os.chmod(path, 0o755)  # noqa: S103 (git runs only what is executable)


def package_root() -> str:
    """Return the folder that holds the package: site-packages, or the checkout."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _dispatcher(name: str, python: str) -> bytes:
    """Return the shell script with the interpreter and the package pinned by absolute path."""
    with open(resource("hooks/dispatch.sh"), "rb") as stream:
        template = stream.read().replace(b"\r\n", b"\n")
    values = {
        b"@HOOK@": name,
        b"@PYTHON@": os.path.abspath(python),
        b"@ROOT@": package_root(),
    }
    for key, value in values.items():
        quoted = value.replace("\\", "/") if os.sep == "\\" else value
        template = template.replace(key, os.fsencode(quoted.replace("'", "'\\''")))
    return template


def _inspect(hooks_dir: str, name: str) -> HookState:
    path = os.path.join(hooks_dir, name)
    if not os.path.lexists(path):
        return HookState(name, "absent", path)
    return _inspect_ours(path, name) if _is_ours(path) else _inspect_foreign(path, name)


def _inspect_ours(path: str, name: str) -> HookState:
    if not os.access(path, os.X_OK):
        return HookState(name, "disabled", path, note="not executable: git skips it")
    chained = os.path.lexists(path + LEGACY_SUFFIX)
    runner = _runner(path + LEGACY_SUFFIX) if chained else ""
    return HookState(name, "chained" if chained else "memx", path, runner, _interpreter_note(path))


def _inspect_foreign(path: str, name: str) -> HookState:
    runner = _runner(path)
    for suffix, runs in _DISPLACED.items():
        if _is_ours(path + suffix):
            kind = "displaced" if runs else "foreign"
            verb = "runs it afterwards" if runs else "does not run it"
            note = f"{runner or 'another manager'} moved memx to {name}{suffix} and {verb}"
            return HookState(name, kind, path, runner, note)
    if not os.access(path, os.X_OK):
        return HookState(name, "disabled", path, runner, "not executable: git skips it")
    if f"memx hooks run {name}".encode() in _read(_edited_by_people(path)):
        return HookState(name, "called", path, runner, "calls memx")
    return HookState(name, "foreign", path, runner, "does not run memx")


def _edited_by_people(path: str) -> str:
    """Return the file that belongs to the team: husky generates `_` anew and runs the files beside it."""
    folder, name = os.path.split(path)
    above, last = os.path.split(folder)
    return os.path.join(above, name) if last == "_" and os.path.basename(above) == ".husky" else path


def _interpreter_note(path: str) -> str:
    for line in _read(path).splitlines():
        if line.startswith(b"python='"):
            python = os.fsdecode(line[len(b"python='") : -1].replace(b"'\\''", b"'"))
            if not os.access(python, os.X_OK):
                return f"its interpreter {python} {_GONE}"
    return ""


def _runner(path: str) -> str:
    content = _read(path)[:4096]
    return next((name for word, name in _RUNNERS if word in content or word in os.fsencode(path)), "")


def _reason_to_keep_out(repo: Repository, hooks_dir: str) -> str:
    """Return why a folder named by core.hooksPath is not ours to write in, '' when it is."""
    real = os.path.realpath(hooks_dir)
    if _is_below(real, os.path.realpath(repo.common_dir)):
        return ""
    if not repo.worktree or not _is_below(real, os.path.realpath(repo.worktree)):
        return "core.hooksPath lies outside the repository"
    if os.path.basename(os.path.dirname(real)) == ".husky" or os.path.basename(real) == ".husky":
        return "husky owns core.hooksPath"
    relative = os.path.relpath(real, os.path.realpath(repo.worktree))
    if run_in(repo, ["ls-files", "-z", "--", relative]):
        return "core.hooksPath is tracked in the work tree"
    # The folder may not be there yet, and a pattern that ends in a slash fits only what is inside.
    if not run_in(repo, ["check-ignore", "--", os.path.join(relative, HOOKS[0])], check=False):
        return "core.hooksPath lies in the work tree and is not ignored"
    return ""


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _snippet(hooks_dir: str, states: Iterable[HookState]) -> str:
    """Return the shell line to add to each hook file; 10 is memx's refusal, all else is no matter."""
    lines = []
    for state in states:
        name = state.name
        lines.append(f"# {_edited_by_people(os.path.join(hooks_dir, name))}")
        run = f'memx hooks run {name} "$@"'
        end = "; [ $? -ne 10 ] || exit 1" if name == "pre-commit" else " || true"
        lines.append(f"if command -v memx >/dev/null 2>&1; then {run}{end}; fi")
    return "\n".join(lines) + "\n"


def _is_ours(path: str) -> bool:
    return MARKER in _read(path)[:200]


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(1 << 16)
    except OSError:
        return b""
