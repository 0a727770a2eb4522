"""What memx does in each git hook.

Nothing here writes git's index, commits, or waits for a lock that a person
holds. Work that takes long goes to a detached process.
"""

from __future__ import annotations

import os
import sys
import time

from memx.app.deadline import say, start_deadline
from memx.repo.discovery import environ_of, is_rebasing, read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memx.app.project import Project
    from memx.model import Candidate, Commit
    from memx.repo.discovery import Repository
    from memx.repo.history import StagedFile

STAGED_FOLDERS = (".memx/bullets", ".memx/archive")
CATCH_UP_LIMIT = 200
"""A merge of more commits than this is a case for `memx distill --history`."""
FOREGROUND_LIMIT = 20
"""Up to so many commits are read while git waits (some 5 ms each), more are read behind its back."""
REMEMBERED_COMMITS = 20_000
_BACKGROUND = "import sys; sys.path.append(sys.argv[1]); from memx.entry.hook import main; main(sys.argv[2:])"


def pre_commit(repository: Repository, environ: Mapping[str, str]) -> int:
    """Check the staged bullets as they will be committed; returns how many of them are refused."""
    from memx.repo.history import list_staged, read_blobs

    values = environ_of(repository, environ, committing=True)
    files = [f for f in list_staged(repository, STAGED_FOLDERS, environ=values) if f.status != "D"]
    links = [file for file in files if not file.mode.startswith("100")]
    staged = {f.blob: f for f in files if f.path.endswith(".md") and f.mode.startswith("100")}
    if not staged and not links:
        return 0
    project = _project(repository, environ, "pre-commit")
    for file in links:
        say(f"memx: a link or a submodule, not a file: {file.path}")
    refused = len(links) if "unsafe-path" in project.config.hooks.block else 0
    for blob, content in read_blobs(repository, list(staged), environ=values):
        refused += _check_staged(project, staged[blob], content or b"")
    if refused:
        say("hint: mend the file and stage it again; `git commit --no-verify` commits it as it is")
    return refused


def _check_staged(project: Project, file: StagedFile, content: bytes) -> bool:
    """Report what is wrong with one staged bullet; True when it may not be committed."""
    from memx.document import find_conflict_marker

    block = project.config.hooks.block
    text = content.decode("utf-8", "replace")
    if line := find_conflict_marker(text):
        say(f"memx: conflict marker: {file.path}:{line}")
        return "conflict-marker" in block
    is_broken = _say_broken(file.path, content)
    secrets = project.sanitizer.secrets(text)
    for finding in secrets:
        say(f"memx: secret ({finding.kind}): {file.path}:{text.count(chr(10), 0, finding.start) + 1}")
    return (bool(secrets) and "secret" in block) or (is_broken and "front-matter" in block)


def _say_broken(path: str, content: bytes) -> bool:
    """Name a bullet that no search will return, because it does not parse; True when it is one."""
    from memx.errors import FrontMatterError
    from memx.store.codec import parse_bullet

    try:
        parse_bullet(content, path=path)
    except FrontMatterError as error:
        say(f"memx: broken front matter, so nobody will find it: {error.message}: {path}:{error.line or 1}")
        return True
    return False


def post_commit(repository: Repository, environ: Mapping[str, str]) -> None:
    """Distil the new commit into the inbox; one line when there is something new."""
    if is_rebasing(repository):
        return  # post-rewrite catches up once, after the last replayed commit
    project = _project(repository, environ, "post-commit")
    if project.config.hooks.distill_on_commit:
        commits = list(_read(repository, [read_head(repository).commit]))
        _report(file_candidates(project, _news(project, repository, commits)))
        _remember(project, [commit.sha for commit in commits])
        if project.config.hooks.distill_on_merge and any(len(c.parents) > 1 for c in commits):
            # A merge that stopped at a conflict ends with a commit: git runs no post-merge after it.
            _catch_up(project, repository, environ, _commits_between(repository, "HEAD^1"))
        for commit in commits:
            if len(commit.parents) > 1:
                spawn_background(repository, environ, "refresh", *commit.parents[:2])
    if project.config.hooks.distill_sessions:
        spawn_background(repository, environ, "sessions")


def _news(project: Project, repository: Repository, commits: list[Commit]) -> list[Commit]:
    """Return the commits, or what an amended one says that the one before did not."""
    from memx.app.rewritten import amended_from, sort_out

    old = amended_from(repository, commits[0].sha) if commits else ""
    if not old:
        return commits
    left, settled = sort_out(project, repository, [(old, commits[0].sha)], _remembered(project))
    return left if settled else commits


def post_checkout(
    repository: Repository, environ: Mapping[str, str], previous: str, new: str, is_branch: str
) -> None:
    """Refresh the index behind git's back when a checkout may have changed the store."""
    if is_branch == "1" and previous != new and not is_rebasing(repository):
        spawn_background(repository, environ, "refresh")


def post_merge(repository: Repository, environ: Mapping[str, str], is_squash: str) -> None:
    """Distil what the merge or pull brought, since teammates may have no hooks, and refresh the index."""
    project = _project(repository, environ, "post-merge")
    if project.config.hooks.distill_on_merge:
        squashed = is_squash == "1"
        brought = _squashed(repository) if squashed else _commits_between(repository, "ORIG_HEAD")
        _catch_up(project, repository, environ, brought)
    head = read_head(repository).commit
    spawn_background(repository, environ, "refresh", *([f"{head}^1", f"{head}^2"] if head else ()))


def post_rewrite(repository: Repository, environ: Mapping[str, str], command: str, rewritten: bytes) -> None:
    """Catch up once after a rebase or an amend; `rewritten` is git's list of old and new hashes."""
    pairs = [
        line.decode("ascii", "replace").split(" ")[:2] for line in rewritten.splitlines() if b" " in line
    ]
    if command == "amend" and is_rebasing(repository):
        return  # each step of a squash amends the one before; the rebase's own list comes at its end
    project = _project(repository, environ, "post-rewrite")
    commits = [new for _, new in pairs]
    start = _start_of_rebase(repository) if command == "rebase" else ""
    if start and project.config.hooks.distill_on_merge:
        # What a `pull --rebase` brought and what was committed while it stopped is in no pair.
        commits = list(dict.fromkeys([*_commits_between(repository, start), *commits]))
    settled = _replayed(project, repository, pairs)
    settled |= _distil_rewritten(project, repository, [pair for pair in pairs if pair[1] not in settled])
    _remember(project, settled)
    _catch_up(project, repository, environ, [sha for sha in commits if sha not in settled])
    sides = [_commit_of(repository, start), read_head(repository).commit] if start else []
    spawn_background(repository, environ, "refresh", *(sides if all(sides) else ()))


def _distil_rewritten(project: Project, repository: Repository, pairs: Sequence[Sequence[str]]) -> set[str]:
    """Distil what rewritten commits add to their old ones; returns the new hashes that this settles."""
    from memx.app.rewritten import sort_out

    left, settled = sort_out(project, repository, pairs[:CATCH_UP_LIMIT], _remembered(project))
    _report(file_candidates(project, left))
    return settled


def background(repository: Repository, environ: Mapping[str, str], arguments: Sequence[str]) -> None:
    """Do the detached work: `refresh` and the sides of a merge, `embed`, `sessions`, or `distil` and the commits."""
    project = _project(repository, environ, "background")
    if arguments[:1] == ["distil"]:
        _distil(project, arguments[1:])
    elif arguments[:1] == ["sessions"]:
        _distil_sessions(project)
    elif arguments[:1] == ["embed"]:
        refresh(project, is_thorough=True)
    elif arguments[:1] == ["refresh"]:
        refresh(project)
        if len(arguments) == 3:  # noqa: PLR2004 (the word and two sides)
            from memx.app.merge_check import check_merge

            check_merge(project, arguments[1], arguments[2])


def _distil_sessions(project: Project) -> None:
    """Distil what agents wrote in this repository since the last time; one process at a time does it."""
    from memx.app.distil import Options
    from memx.app.sessions import ALL, distil_sessions
    from memx.store.lock import Lock

    lock = Lock(os.path.join(project.state_dir, "sessions.lock"))
    if lock.try_acquire():
        try:
            new = distil_sessions(project, ALL, "", Options(mode="rules")).new
            _leave_for_llm(project, sorted(new))
        finally:
            lock.release()


def refresh(project: Project, *, is_thorough: bool = False) -> None:
    """Bring the index of this worktree, and those of the stores beside it, up to date; one process at a time.

    is_thorough: look every vector up.
    """
    from memx.app.index import open_index, refresh_index
    from memx.errors import MemxError
    from memx.store.lock import Lock

    # Beside the cache, which anybody may remove at any time.
    lock = Lock(f"{project.cache_dir}.lock")
    os.makedirs(os.path.dirname(project.cache_dir), exist_ok=True)
    if not lock.try_acquire():
        return
    try:
        if project.has_store:
            refresh_index(project, is_thorough=is_thorough)
        for other in project.others:
            try:
                open_index(other)[0].refresh(wait=False, is_thorough=is_thorough)
            except (MemxError, OSError):
                continue  # a store that cannot be read is reported by the search itself
    finally:
        lock.release()


def spawn_background(repository: Repository, environ: Mapping[str, str], *arguments: str) -> None:
    """Start a detached process in a session of its own, with nothing of ours held open.

    A child that keeps git's pipe open makes its caller wait for it.
    """
    from memx.repo.hooks import package_root

    command = [sys.executable, "-EPc", _BACKGROUND, package_root(), "background", *arguments]
    values = environ_of(repository, environ)
    folder = repository.worktree
    if hasattr(os, "posix_spawn"):
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        os.chdir(folder)
        try:
            os.posix_spawn(sys.executable, command, values, file_actions=actions, setsid=True)
        except NotImplementedError:  # an older C library: a process group will have to do
            os.posix_spawn(sys.executable, command, values, file_actions=actions, setpgroup=0)
        return
    import subprocess

    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
    null = subprocess.DEVNULL
    subprocess.Popen(
        command, cwd=folder, env=values, stdin=null, stdout=null, stderr=null, creationflags=flags
    )


def register_merge_driver(repository: Repository) -> bool:
    """Enter the merge driver in this clone's configuration; True when something changed."""
    from memx.repo.config_writer import set_options
    from memx.repo.merge_driver import driver_options

    return set_options(repository, driver_options(sys.executable))


def unregister_merge_driver(repository: Repository) -> bool:
    """Take the merge driver out of this clone's configuration; True when it was there."""
    from memx.repo.config_writer import unset_options
    from memx.repo.merge_driver import driver_options

    return unset_options(repository, driver_options(sys.executable))


def _project(repository: Repository, environ: Mapping[str, str], name: str) -> Project:
    """Return the project with its configuration read, and put its own deadline in force."""
    from memx.app.project import Project

    project = Project(repository.worktree, environ, time.time())
    project.__dict__["repository"] = repository  # found already; a cached_property keeps its value there
    if name != "background":
        start_deadline(name, project.config.hooks.deadline_seconds)
    return project


def _distil(project: Project, shas: Sequence[str]) -> list[Candidate]:
    """Distil commits in rules mode into the inbox; returns what is new there."""
    if project.repository is None:
        return []
    new = file_candidates(project, _read(project.repository, shas))
    _remember(project, shas)
    return new


def _read(repository: Repository, shas: Sequence[str]) -> Iterator[Commit]:
    """Read these commits with what the rules look at."""
    from memx.app.distil import CONFIG_PATHSPECS
    from memx.repo.history import read_commits

    wanted = [sha for sha in shas if sha]
    return read_commits(repository, wanted, no_walk=True, files=True, diffs=True, paths=CONFIG_PATHSPECS)


def file_candidates(project: Project, commits: Iterable[Commit]) -> list[Candidate]:
    """Put the lessons of commits into the inbox, without an LLM; returns the new ones."""
    from memx.app.distil import Distilled, Options, keep
    from memx.repo.squash import split_squash

    found: dict[str, Candidate] = {}
    for commit in commits:
        for part in split_squash(commit):
            for candidate in project.reflector.commit(part).candidates:
                found.setdefault(candidate.id, candidate)
    # What is in the inbox or decided goes first: asking the store and its history costs far more.
    for known in (project.inbox.ids(), project.inbox.decided()) if found else ():
        for identifier in known:
            found.pop(identifier, None)
    if not found:
        return []
    distilled = Distilled("rules", len(found), tuple(found.values()), frozenset())
    new = keep(project, distilled, Options()).new
    _leave_for_llm(project, sorted(new))
    return [candidate for candidate in found.values() if candidate.id in new]


def _leave_for_llm(project: Project, ids: Sequence[str]) -> None:
    """Queue new candidates for the LLM, where one is configured: a hook never asks it."""
    config = project.config
    if ids and config.reflector.mode != "rules" and (config.llm.model or config.llm.command):
        from memx.app.llm import Queue

        Queue(project.state_dir).add(ids)


def _report(new: Sequence[Candidate]) -> None:
    if new:
        more = f" (and {len(new) - 1} more)" if len(new) > 1 else ""
        lesson = " ".join(new[0].text.split())
        say(f"memx: learnt{more}: {lesson[:100]}{'…' if len(lesson) > 100 else ''} (memx review)")  # noqa: PLR2004


def _catch_up(
    project: Project, repository: Repository, environ: Mapping[str, str], shas: Sequence[str]
) -> None:
    seen = _remembered(project)
    todo = [sha for sha in shas if sha not in seen][:CATCH_UP_LIMIT]
    if len(todo) > FOREGROUND_LIMIT:
        spawn_background(repository, environ, "distil", *todo)
    else:
        _report(_distil(project, todo))


def _commits_between(repository: Repository, start: str) -> list[str]:
    """Return the newest commits of HEAD that `start` does not have, merges left out."""
    from memx.errors import GitError
    from memx.repo.history import list_commits

    try:
        return list_commits(repository, f"{start}..HEAD", max_count=CATCH_UP_LIMIT, no_merges=True)
    except GitError:
        return []  # no ORIG_HEAD: nothing was merged here


def _squashed(repository: Repository) -> list[str]:
    """Return the commits whose messages git has put together for a squash merge."""
    try:
        with open(os.path.join(repository.git_dir, "SQUASH_MSG"), "rb") as stream:
            lines = stream.read().splitlines()
    except OSError:
        return []
    return [line[7:47].decode("ascii", "replace") for line in lines if line.startswith(b"commit ")]


def _start_of_rebase(repository: Repository) -> str:
    """Return where the branch stood before the rebase that is just ending."""
    try:
        with open(os.path.join(repository.git_dir, "rebase-merge", "orig-head"), encoding="ascii") as stream:
            return stream.read(64).strip()
    except (OSError, UnicodeError):
        return "ORIG_HEAD"  # `rebase --apply` keeps it there alone


def _commit_of(repository: Repository, revision: str) -> str:
    """Return the hash of a revision, '' when there is none: ORIG_HEAD will soon mean another one."""
    from memx.errors import GitError
    from memx.repo.history import resolve_commit

    try:
        return resolve_commit(repository, revision)
    except GitError:
        return ""


def _replayed(project: Project, repository: Repository, pairs: Sequence[Sequence[str]]) -> set[str]:
    """Return the new hashes whose old commit was distilled already and says and does the same."""
    from memx.repo.history import patch_ids, read_commits

    seen = _remembered(project)
    known = [(old, new) for old, new in pairs[:CATCH_UP_LIMIT] if old in seen and new not in seen]
    if not known:
        return set()
    shas = [sha for pair in known for sha in pair]
    patches = patch_ids(repository, shas)
    messages = {commit.sha: commit.message for commit in read_commits(repository, shas, no_walk=True)}
    return {
        new
        for old, new in known
        if patches.get(old) == patches.get(new) and messages.get(old) == messages.get(new)
    }


def _memory_path(project: Project) -> str:
    return os.path.join(project.state_dir, "distilled-by-hooks")


def _remembered(project: Project) -> frozenset[str]:
    """Return the hashes of commits that hooks distilled here; it saves work, the ids of lessons decide."""
    try:
        with open(_memory_path(project), encoding="ascii", errors="replace") as stream:
            return frozenset(stream.read().split())
    except OSError:
        return frozenset()


def _remember(project: Project, shas: Iterable[str]) -> None:
    lines = "".join(f"{sha}\n" for sha in shas).encode("ascii")
    path = _memory_path(project)
    try:
        os.makedirs(project.state_dir, exist_ok=True)
        size = os.stat(path).st_size if os.path.exists(path) else 0
        if size > REMEMBERED_COMMITS * 41 * 2:
            with open(path, "rb") as stream:
                lines = b"".join(stream.readlines()[-REMEMBERED_COMMITS:]) + lines
            os.unlink(path)
        with open(path, "ab") as stream:
            stream.write(lines)
    except OSError:
        return  # a read-only git folder: the lessons' ids still keep them apart
