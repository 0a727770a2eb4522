"""The one place that starts git: list arguments, bytes out, a timeout, no optional locks.

`subprocess` costs as much to import as the interpreter costs to start, and the
hooks run hundreds of times a day: where the platform has `posix_spawn`, git is
started with it. Callers cannot tell the difference.
"""

from __future__ import annotations

import os
import time

from memx.errors import GitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    import threading
    from collections.abc import Generator, Iterator, Mapping, Sequence

DEFAULT_TIMEOUT_S = 30.0
CHUNK_BYTES = 1 << 16
STDERR_LIMIT_BYTES = 1 << 14

# What `git rev-parse --local-env-vars` prints: they say which repository, index and objects are meant.
LOCAL_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_COUNT",
        "GIT_OBJECT_DIRECTORY",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_REPLACE_REF_BASE",
        "GIT_PREFIX",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_COMMON_DIR",
    }
)

# A user's settings for reading at a terminal must not change what a program reads.
_GLOBAL_OPTIONS = (
    "--no-optional-locks",
    "-c",
    "core.quotePath=false",
    "-c",
    "color.ui=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "log.follow=false",
)
_OPTIONS_WITH_VALUE = frozenset({"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_DIFF_COMMANDS = frozenset({"diff", "diff-tree", "diff-index", "diff-files", "log", "show"})

# Python ignores SIGPIPE and SIGXFSZ; a child that inherits this writes into closed pipes for ever.
_RESTORED_SIGNALS = (13, 25)
_SIGKILL = 9


def foreign_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables that point git at the calling repository.

    Inside a hook GIT_INDEX_FILE and GIT_DIR name the committing repository; a
    `git -C OTHER` that inherits them lists the wrong repository's files.
    """
    return {key: value for key, value in environ.items() if key not in LOCAL_VARIABLES}


def run_git(
    args: Sequence[str | bytes],
    *,
    cwd: str,
    timeout_s: float | None = DEFAULT_TIMEOUT_S,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
) -> bytes:
    """Run git in `cwd` and return its standard output.

    `env` None: the own environment as for a foreign repository; pass a mapping
    to keep GIT_INDEX_FILE and the like. With `check` a non-zero exit raises
    GitError (git's own words, its exit code in `status`); a missing git or a
    timeout always does.
    """
    return b"".join(stream_git(args, cwd=cwd, timeout_s=timeout_s, stdin=stdin, env=env, check=check))


def stream_git(
    args: Sequence[str | bytes],
    *,
    cwd: str,
    timeout_s: float | None = None,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
) -> Iterator[bytes]:
    """Yield git's standard output in chunks as it arrives; closing the iterator ends git.

    `timeout_s` None: as long as it takes. Errors as in `run_git`, raised after
    the last chunk.
    """
    argv = _argv(args, cwd)
    environ = dict(foreign_environ(os.environ) if env is None else env)
    run = _stream_spawned if hasattr(os, "posix_spawnp") else _stream_subprocess
    errors = bytearray()
    status = yield from run(argv, environ, stdin, timeout_s, errors)
    if check and status != 0:
        raise git_error(args, status, bytes(errors))


def _argv(args: Sequence[str | bytes], cwd: str) -> list[str | bytes]:
    """Return the whole command line; the working directory is given to git, since a spawn has none."""
    argv: list[str | bytes] = ["git", *(("-C", cwd) if cwd else ()), *_GLOBAL_OPTIONS, *args]
    at = argv.index(args[0], len(argv) - len(args))
    if args[0] in _DIFF_COMMANDS:
        argv[at + 1 : at + 1] = ["--no-ext-diff", "--no-textconv"]
    return argv


def git_error(args: Sequence[str | bytes], status: int | None, stderr: bytes) -> GitError:
    """Return a GitError in git's own words, with the remedy when there is a known one."""
    text = stderr.decode("utf-8", "replace").strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "usage:"))]
    said = (fatal or lines or [f"exit code {status}"])[0]
    for prefix in ("fatal: ", "error: "):
        said = said.removeprefix(prefix)
    error = GitError(f"git {subcommand(args)}: {said}", hint=_hint(lines))
    error.status = status
    return error


def subcommand(args: Sequence[str | bytes]) -> str:
    """Return the first of git's arguments that is neither an option nor the value of one."""
    words = iter(map(os.fsdecode, args))
    for word in words:
        if word in _OPTIONS_WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return os.fsdecode(args[0]) if args else "git"


def _hint(lines: Sequence[str]) -> str | None:
    for line in lines:
        if "--add safe.directory" in line:
            return line
    text = "\n".join(lines)
    if "safe.directory" in text or "dubious ownership" in text:
        return "git config --global --add safe.directory PATH"
    if "not a git repository" in text:
        return "git init, or run memx inside a repository"
    return None


def _missing(error: OSError) -> GitError:
    if isinstance(error, FileNotFoundError):
        return GitError("git is not installed or not on PATH", hint="install git, or put it on PATH")
    return GitError(f"git cannot be started: {error.strerror}")


def _timed_out(argv: Sequence[str | bytes], timeout_s: float) -> GitError:
    return GitError(f"git {subcommand(argv[1:])}: no answer within {timeout_s:g} s")


def _stream_spawned(
    argv: list[str | bytes],
    environ: dict[str, str],
    stdin: bytes | None,
    timeout_s: float | None,
    errors: bytearray,
) -> Generator[bytes, None, int]:
    """Run by `posix_spawn` and poll the pipes; returns git's exit code."""
    pid, to_git, from_git, errors_of_git = _spawn(argv, environ, has_input=stdin is not None)
    pipes = [fd for fd in (to_git, from_git, errors_of_git) if fd >= 0]
    status: int | None = None
    try:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        for ready in _poll(pipes, to_git, deadline):
            if ready < 0:
                raise _timed_out(argv, timeout_s or 0.0)
            if ready == to_git:
                stdin = _feed(to_git, stdin or b"", pipes)
                continue
            chunk = os.read(ready, CHUNK_BYTES)
            if not chunk:
                pipes.remove(ready)
                os.close(ready)
            elif ready == from_git:
                yield chunk
            elif len(errors) < STDERR_LIMIT_BYTES:
                errors += chunk
        status = _wait(pid)
        return status
    finally:
        for fd in pipes:
            os.close(fd)
        if status is None:
            os.kill(pid, _SIGKILL)
            _wait(pid)


def _spawn(argv: list[str | bytes], environ: dict[str, str], *, has_input: bool) -> tuple[int, int, int, int]:
    """Start git; returns its process id and our ends of the pipes, -1 for a closed standard input."""
    from_git, out = os.pipe()
    errors_of_git, err = os.pipe()
    source, to_git = os.pipe() if has_input else (os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), -1)
    actions = [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate((source, out, err))]
    try:
        pid = os.posix_spawnp("git", argv, environ, file_actions=actions, setsigdef=_RESTORED_SIGNALS)
    except OSError as error:
        for fd in (from_git, errors_of_git, *((to_git,) if has_input else ())):
            os.close(fd)
        raise _missing(error) from error
    finally:
        for fd in (source, out, err):
            os.close(fd)
    if has_input:
        os.set_blocking(to_git, False)
    return pid, to_git, from_git, errors_of_git


def _poll(pipes: list[int], to_git: int, deadline: float | None) -> Iterator[int]:
    """Yield each descriptor that can be read or written until `pipes` is empty; -1 when time is up."""
    import select

    while pipes:
        waiter = select.poll()
        for fd in pipes:
            waiter.register(fd, select.POLLOUT if fd == to_git else select.POLLIN)
        left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        ready = waiter.poll(left)
        if not ready:
            yield -1
        for fd, _ in ready:
            if fd in pipes:
                yield fd


def _feed(fd: int, data: bytes, pipes: list[int]) -> bytes:
    """Write what the pipe takes; close it after the last byte or when git stopped reading."""
    try:
        written = os.write(fd, data[:CHUNK_BYTES]) if data else 0
    except BlockingIOError:
        return data
    except BrokenPipeError:
        written = len(data)
    rest = data[written:]
    if not rest:
        pipes.remove(fd)
        os.close(fd)
    return rest


def _wait(pid: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        # A parent that ignores SIGCHLD has the kernel reap our children: the exit code is lost.
        return 0


def _stream_subprocess(
    argv: list[str | bytes],
    environ: dict[str, str],
    stdin: bytes | None,
    timeout_s: float | None,
    errors: bytearray,
) -> Generator[bytes, None, int]:
    """Do the same through `subprocess`, where there is no `posix_spawn` (Windows)."""
    import subprocess
    import tempfile
    import threading

    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as err:
        source.write(stdin or b"")
        source.seek(0)
        try:
            child = subprocess.Popen(
                [os.fsdecode(word) for word in argv],
                env=environ,
                stdin=subprocess.DEVNULL if stdin is None else source,
                stdout=subprocess.PIPE,
                stderr=err,
            )
        except OSError as error:
            raise _missing(error) from error
        late = threading.Event()
        timer = None
        if timeout_s is not None:
            timer = threading.Timer(timeout_s, _end, (late, child))
            timer.start()
        try:
            stream = child.stdout
            while stream is not None and (chunk := stream.read1(CHUNK_BYTES)):  # type: ignore[attr-defined]
                yield chunk
            status = child.wait()
        finally:
            if timer is not None:
                timer.cancel()
            child.kill()
            child.wait()
            if child.stdout is not None:
                child.stdout.close()
        if late.is_set():
            raise _timed_out(argv, timeout_s or 0.0)
        err.seek(0)
        errors += err.read(STDERR_LIMIT_BYTES)
        return status


def _end(late: threading.Event, child: subprocess.Popen[bytes]) -> None:
    late.set()
    child.kill()
