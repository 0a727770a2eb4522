"""Which state of the code a bullet was written against, read from git for a whole store at once.

Every function starts git once or a fixed number of times, however many paths are asked for.
"""

from __future__ import annotations

import os

from memx.record import record
from memx.repo.discovery import read_head, run_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memx.repo.discovery import Repository

PATHS_PER_CALL = 200
RENAME_HOPS = 5
RECENT_COMMITS = 2000


@record
class PathEvent:
    """What a commit did to one file: git's letter, both paths and both blobs (zeros: no such file)."""

    commit: str
    status: str
    path: str
    old_path: str
    blob: str
    old_blob: str
    mode: str = ""
    """What the file is now: 100644, 100755, 120000 for a link, 160000 for a submodule."""


def path_events(repo: Repository, folders: Sequence[str], *extra: str) -> Iterator[PathEvent]:
    """Yield what each commit did below these folders, the newest first, renames detected."""
    if not read_head(repo).commit:
        return
    command = ["log", "--raw", "-z", "--no-abbrev", "-M", "--format=%H", *extra, "HEAD", "--", *folders]
    yield from parse_events(run_in(repo, command, timeout_s=None))


def parse_events(answer: bytes) -> Iterator[PathEvent]:
    """Read NUL-separated raw entries of git, each group behind the hash of its commit where there is one."""
    commit = ""
    tokens = iter(answer.split(b"\0"))
    for token in tokens:
        meta = token.lstrip(b"\n")
        if not meta.startswith(b":"):
            commit = meta.decode("ascii", "replace") or commit
            continue
        _, mode, old_blob, blob, status = meta.decode("ascii").split(" ")
        path = old_path = os.fsdecode(next(tokens))
        if status[0] in "RC":
            path = os.fsdecode(next(tokens))
        yield PathEvent(commit, status[0], path, old_path, blob, old_blob, mode)


def resolve_objects(repo: Repository, names: Iterable[str]) -> dict[str, str]:
    """Return object name (`REV:path` or a hash) → hash of the blob; what does not exist is left out."""
    asked = [name for name in dict.fromkeys(names) if name.isprintable()]
    if not asked:
        return {}
    feed = "".join(f"{name}\n" for name in asked).encode("utf-8", "replace")
    answer = run_in(repo, ["cat-file", "--batch-check"], stdin=feed, timeout_s=None)
    found = {}
    for name, line in zip(asked, answer.split(b"\n"), strict=False):
        words = line.split(b" ")
        if len(words) == 3 and words[1] == b"blob":  # noqa: PLR2004 (hash, type, size)
            found[name] = words[0].decode("ascii")
    return found


def follow_renames(repo: Repository, paths: Iterable[str], revision: str = "") -> dict[str, str]:
    """Return path → what it is called in a revision (empty: the work tree), for files gone under their old name.

    Git is asked for the commits that removed the paths, then which of these
    were renames; a name that is gone in its turn is followed further.
    """
    names = {path: path for path in paths}
    followed: dict[str, str] = {}
    pending = dict(names)
    for _ in range(RENAME_HOPS):
        if not pending:
            break
        moved = _renames_of(repo, set(pending.values()), revision)
        pending = {path: moved[now] for path, now in pending.items() if now in moved}
        followed.update(pending)
        gone = missing_paths(repo, pending.values(), revision)
        pending = {path: now for path, now in pending.items() if now in gone}
    gone = missing_paths(repo, followed.values(), revision)
    return {path: now for path, now in followed.items() if now not in gone}


def missing_paths(repo: Repository, paths: Iterable[str], revision: str = "") -> set[str]:
    """Return which paths, of files or folders, are not there in a revision (empty: in the work tree)."""
    asked = list(dict.fromkeys(paths))
    if not revision:
        return {path for path in asked if not os.path.lexists(os.path.join(repo.worktree, path))}
    named = [path for path in asked if path.isprintable()]
    feed = "".join(f"{revision}:{path}\n" for path in named).encode("utf-8", "replace")
    answer = run_in(repo, ["cat-file", "--batch-check"], stdin=feed, timeout_s=None) if named else b""
    lines = answer.split(b"\n")
    there = {path for path, line in zip(named, lines, strict=False) if not line.endswith(b" missing")}
    return set(asked) - there


def _renames_of(repo: Repository, paths: set[str], revision: str) -> dict[str, str]:
    """Return old → new name: uncommitted renames first, then the last commit that removed each path."""
    if not revision and not read_head(repo).commit:
        return {}
    found: dict[str, str] = {}
    if not revision:
        staged = run_in(repo, ["diff", "--raw", "-z", "--no-abbrev", "-M", "--diff-filter=R", "HEAD"])
        for event in parse_events(staged):
            found.setdefault(event.old_path, event.path)
    removed: dict[str, str] = {}
    listed = sorted(paths - found.keys())
    for start in range(0, len(listed), PATHS_PER_CALL):
        part = [f":(top,literal){path}" for path in listed[start : start + PATHS_PER_CALL]]
        command = [
            "log",
            "--raw",
            "-z",
            "--no-abbrev",
            "--no-renames",
            "--diff-filter=D",
            "--format=%H",
            revision or "HEAD",
        ]
        for event in parse_events(run_in(repo, [*command, "--", *part], timeout_s=None)):
            removed.setdefault(event.path, event.commit)
    if removed:
        feed = "".join(f"{commit}\n" for commit in dict.fromkeys(removed.values())).encode("ascii")
        command = ["diff-tree", "--stdin", "--raw", "-z", "--no-abbrev", "-r", "-M", "--diff-filter=R"]
        for event in parse_events(run_in(repo, command, stdin=feed, timeout_s=None)):
            if removed.get(event.old_path) == event.commit:
                found.setdefault(event.old_path, event.path)
    return {old: new for old, new in found.items() if old in paths}


def commits_by_time(repo: Repository) -> list[tuple[str, float]]:
    """Return the newest commits of HEAD with their commit times."""
    if not read_head(repo).commit:
        return []
    command = ["log", f"--max-count={RECENT_COMMITS}", "--no-patch", "--format=%H %ct", "HEAD"]
    lines = run_in(repo, command).decode("ascii", "replace").splitlines()
    return [(sha, float(seconds)) for sha, _, seconds in (line.partition(" ") for line in lines)]


def blob_hash(data: bytes, like: str) -> str:
    """Return the hash that git gives these bytes, in the format of another hash (SHA-1 or SHA-256)."""
    from hashlib import new

    name = "sha256" if len(like) == 64 else "sha1"  # noqa: PLR2004 (hex digits of SHA-256)
    return new(name, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def lives(events: Iterable[PathEvent], paths: Iterable[str]) -> dict[str, list[PathEvent]]:
    """Return path → what happened to the file that is now there, the newest first, through its renames."""
    found: dict[str, list[PathEvent]] = {path: [] for path in paths}
    alive = {path: path for path in found}
    for event in events:
        if event.path not in alive or event.status == "D":
            continue
        now = alive[event.path]
        found[now].append(event)
        if event.status == "A":
            del alive[event.path]
        elif event.status in "RC":
            del alive[event.path]
            alive.setdefault(event.old_path, now)
        if not alive:
            break
    return found
