"""How a bullet came to be: its commits through renames, and who wrote each line.

The only user of GitPython, whose objects read well here; it costs 80 ms to
import, so it is loaded when a person asks for a bullet's history. It reads
what our own funnel found: alone it returns quoted paths and mis-decodes
declared encodings.
"""

from __future__ import annotations

import os

from memx.errors import GitError
from memx.record import record
from memx.repo.discovery import environ_of, read_head
from memx.repo.git import stream_git
from memx.repo.history import _FIELDS, _commit, _read_raw, _Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from git import Repo

    from memx.model import Commit
    from memx.repo.discovery import Repository


@record
class Revision:
    """One commit in the life of a file: its name then, git's status letter and the diff as text lines."""

    commit: Commit
    path: str
    status: str
    old_path: str = ""
    diff: tuple[str, ...] = ()


@record
class BlameLine:
    """A line of a file, and the commit, author and time (epoch seconds) that wrote it."""

    line: int
    text: str
    sha: str
    author: str
    authored: float
    summary: str


def read_revisions(repo: Repository, path: str, *, revision: str = "HEAD") -> Iterator[Revision]:
    """Yield the commits that touched a file, the newest first, following it through renames.

    `path` is relative to the top. Diffs come without their file header.
    """
    if revision == "HEAD" and not read_head(repo).commit:
        return
    form = "--format=" + "%x00".join(_FIELDS)
    options = ["--follow", "--raw", "--no-abbrev", "-M", "--encoding=UTF-8", "--no-color", "--no-decorate"]
    command = ["log", "-z", form, *options, revision, "--", path]
    reader = _Reader(stream_git(command, cwd=repo.worktree or repo.git_dir, env=environ_of(repo, os.environ)))
    opened = _open(repo)
    try:
        while not reader.is_at_end():
            header = [reader.until(b"\0") for _ in _FIELDS]
            changes = _read_raw(reader) if reader.take(b"\n") else ()
            commit = _commit(header, ())
            for change in changes:
                diff = _diff(opened, commit, change.path, change.old_path or change.path)
                yield Revision(commit, change.path, change.status, change.old_path, diff)
    finally:
        opened.close()


def _open(repo: Repository) -> Repo:
    from git import Repo
    from git.exc import GitError as LibraryError

    try:
        return Repo(repo.worktree or repo.git_dir, search_parent_directories=False)
    except (LibraryError, OSError, ValueError) as error:
        raise GitError(f"cannot open the repository: {error}", path=repo.git_dir) from error


def _diff(opened: Repo, commit: Commit, path: str, old_path: str) -> tuple[str, ...]:
    """Return the hunks of one file in one commit as lines."""
    from git import NULL_TREE

    made = opened.commit(commit.sha)
    older, newer = (made.parents[0], made) if made.parents else (made, NULL_TREE)
    # Against the empty tree the library compares the other way round.
    found = older.diff(newer, paths=[path, old_path], create_patch=True)
    for diff in found:
        if path in (diff.b_path, diff.a_path):
            text = diff.diff.decode("utf-8", "replace") if isinstance(diff.diff, bytes) else str(diff.diff)
            return tuple(line for line in text.splitlines() if not line.startswith(("--- ", "+++ ")))
    return ()


def read_blame(repo: Repository, path: str, *, revision: str = "HEAD") -> list[BlameLine]:
    """Return who wrote each line of a file, moved and copied lines included. Raises GitError."""
    from git.exc import GitError as LibraryError

    opened = _open(repo)
    found: list[BlameLine] = []
    try:
        entries: Any = opened.blame(revision, path, rev_opts=["-w", "-M", "--encoding=UTF-8"]) or ()
        for commit, lines in entries:
            for line in lines:
                text = line.decode("utf-8", "replace") if isinstance(line, bytes) else str(line)
                summary = str(commit.summary)
                author = commit.author.name or ""
                found.append(
                    BlameLine(
                        len(found) + 1, text, commit.hexsha, author, float(commit.authored_date), summary
                    )
                )
    except (LibraryError, ValueError, OSError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise GitError(f"git blame: {str(said).strip()[:200]}", path=path) from error
    finally:
        opened.close()
    return found
