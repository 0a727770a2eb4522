"""What two sides of a repository differ in: two commits, or a commit and the work tree.

Untracked files belong to the work tree: a bullet that nobody has staged yet is what a review must see.
"""

from __future__ import annotations

import os

from memx.errors import GitError, UsageError
from memx.record import record
from memx.repo.baseline import parse_events
from memx.repo.discovery import default_branch, read_head, run_in
from memx.repo.history import read_blobs, resolve_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memx.repo.baseline import PathEvent
    from memx.repo.discovery import Repository

_USUAL_NAMES = ("main", "master", "trunk", "develop")


@record
class Sides:
    """The base and the head of a comparison as commits; an empty head is the work tree.

    `other` is the tip on the base's side when that has moved on since the base:
    what a merge will bring together with the head. `label` says what the person asked for.
    """

    base: str
    head: str
    label: str
    other: str = ""
    other_label: str = ""


def find_sides(repo: Repository, text: str) -> Sides:
    """Return the sides of `A..B`, `A...B`, `A` or nothing (the default branch and the work tree).

    Two and three dots mean what they mean in `git diff`. Raises GitError for an unknown revision.
    """
    if not text:
        return _default_sides(repo)
    if "..." in text:
        left, _, right = text.partition("...")
        tip, head = resolve_commit(repo, left or "HEAD"), resolve_commit(repo, right or "HEAD")
        base = merge_base(repo, head, [tip])
        other = "" if tip == base else tip
        return Sides(base, head, text, other, left or "HEAD")
    if ".." in text:
        left, _, right = text.partition("..")
        if right.startswith("."):
            raise UsageError(f"not a range: {text}")
        return Sides(resolve_commit(repo, left or "HEAD"), resolve_commit(repo, right or "HEAD"), text)
    return Sides(resolve_commit(repo, text), _present(repo), text)


def _present(repo: Repository) -> str:
    """Return the side that a person stands on: the work tree, in a bare repository its HEAD."""
    return "" if repo.worktree else read_head(repo).commit


def _default_sides(repo: Repository) -> Sides:
    head = read_head(repo)
    if not head.commit:
        tree = empty_tree(repo)
        return Sides(tree, "" if repo.worktree else tree, "nothing")
    tips = _default_tips(repo, head.branch)
    if not tips:
        return Sides(head.commit, _present(repo), "HEAD")
    base = merge_base(repo, head.commit, list(tips.values()))
    label, tip = next(iter(tips.items()))
    return Sides(base, _present(repo), label, "" if tip in (base, head.commit) else tip, label)


def _default_tips(repo: Repository, current: str) -> dict[str, str]:
    """Return name → commit of the branch that others start from, on the remote and here; not the current one."""
    default = default_branch(repo)
    names = [default] if default else list(_USUAL_NAMES)
    wanted = [f"refs/remotes/origin/{name}" for name in names]
    wanted += [f"refs/heads/{name}" for name in names if name != current]
    listed = run_in(repo, ["for-each-ref", "--format=%(objectname) %(refname)", *wanted])
    found = {name: sha for sha, _, name in (line.partition(" ") for line in listed.decode().splitlines())}
    chosen = [name for name in wanted if name in found]
    if default or not chosen:
        return {_short(name): found[name] for name in chosen}
    return {_short(chosen[0]): found[chosen[0]]}


def _short(name: str) -> str:
    return name.removeprefix("refs/heads/").removeprefix("refs/remotes/")


def merge_base(repo: Repository, head: str, tips: Sequence[str]) -> str:
    """Return the best common ancestor; raises GitError for unrelated histories, naming the likely cause."""
    found = run_in(repo, ["merge-base", head, *tips], check=False).split()
    if not found:
        raise GitError(
            "the two sides have no common commit", hint="a shallow clone? git fetch --unshallow, or name A..B"
        )
    return found[0].decode("ascii")


def empty_tree(repo: Repository) -> str:
    """Return the hash of a tree without files."""
    return run_in(repo, ["hash-object", "-t", "tree", "--stdin"], stdin=b"").decode("ascii").strip()


def list_changes(
    repo: Repository, base: str, head: str, pathspecs: Sequence[str], *, renames: bool
) -> list[PathEvent]:
    """Return the files that differ between two commits, or a commit and the work tree (`head` empty)."""
    how = "-M" if renames else "--no-renames"
    shape = ["--raw", "-z", "--no-abbrev", how]
    command = ["diff-tree", "-r", *shape, base, head] if head else ["diff", *shape, base]
    return list(parse_events(run_in(repo, [*command, "--", *pathspecs], timeout_s=None)))


def list_untracked(repo: Repository, folders: Sequence[str]) -> list[str]:
    """Return the files below these folders that git does not know and does not ignore."""
    command = ["ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", *folders]
    return [os.fsdecode(path) for path in run_in(repo, command).split(b"\0") if path]


def read_objects(repo: Repository, blobs: Iterable[str]) -> dict[str, bytes]:
    """Return blob → content through one process; null hashes and missing objects are left out."""
    wanted = [blob for blob in dict.fromkeys(blobs) if set(blob) - {"0"}]
    return {blob: data for blob, data in read_blobs(repo, wanted) if data is not None}
