"""Recall counters in git: one ref a clone, each a chain of commits with one small file.

`refs/memx/usage/<clone id>` is written by that clone alone, so no two clones
ever contend for a ref, every push is a fast-forward, and `git gc` keeps what
the refs reach. Commits carry no person's name and no time.
"""

from __future__ import annotations

import os

from memx.repo.discovery import environ_of, run_in
from memx.repo.history import read_blobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.repo.discovery import Repository

USAGE_PREFIX = "refs/memx/usage/"
NETWORK_TIMEOUT_S = 120.0

_FETCHED_PREFIX = "refs/memx/fetched/"
_FILE = "usage"
_NOBODY = {
    "GIT_AUTHOR_NAME": "memx",
    "GIT_AUTHOR_EMAIL": "memx@localhost",
    "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "memx",
    "GIT_COMMITTER_EMAIL": "memx@localhost",
    "GIT_COMMITTER_DATE": "@0 +0000",
}


def list_remotes(repo: Repository) -> list[str]:
    """Return the names of the configured remotes."""
    return [os.fsdecode(name) for name in run_in(repo, ["remote"]).split(b"\n") if name]


def read_counters(repo: Repository) -> dict[str, tuple[str, bytes]]:
    """Return clone id → (commit, the counter's text) of every counter known here."""
    return _read(repo, USAGE_PREFIX)


def fetch_counters(repo: Repository, remote: str) -> list[tuple[str, str, bytes]]:
    """Return (clone id, commit, text) of every counter that a remote has; raises GitError when it is out of reach.

    The remote's refs are taken aside first: a remote that was reset to an older
    state must not take back what is known here.
    """
    aside = f"{_FETCHED_PREFIX}{os.getpid()}/"
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
    try:
        run_in(
            repo,
            ["fetch", *options, "--", remote, f"+{USAGE_PREFIX}*:{aside}*"],
            timeout_s=NETWORK_TIMEOUT_S,
        )
        return [(clone, commit, text) for clone, (commit, text) in _read(repo, aside).items()]
    finally:
        _delete(repo, aside)


def write_counter(repo: Repository, clone: str, text: bytes, parents: Sequence[str]) -> str:
    """Write a state of a clone's counter upon earlier ones and return the commit."""
    environ = {**environ_of(repo, os.environ), **_NOBODY}
    blob = run_in(repo, ["hash-object", "-w", "--stdin"], stdin=text).decode("ascii").strip()
    tree = run_in(repo, ["mktree"], stdin=f"100644 blob {blob}\t{_FILE}\n".encode()).decode("ascii").strip()
    onto = [word for parent in dict.fromkeys(parents) for word in ("-p", parent)]
    command = ["commit-tree", tree, *onto, "-m", "Count recalls"]
    commit = run_in(repo, command, environ=environ).decode("ascii").strip()
    point_counter(repo, clone, commit)
    return commit


def point_counter(repo: Repository, clone: str, commit: str) -> None:
    """Let a clone's ref name this commit."""
    run_in(repo, ["update-ref", "--", USAGE_PREFIX + clone, commit])


def push_counter(repo: Repository, remote: str, clone: str) -> None:
    """Send one clone's counter; raises GitError when the remote is out of reach or refuses."""
    ref = USAGE_PREFIX + clone
    options = ["--quiet", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"]
    run_in(repo, ["push", *options, "--", remote, f"{ref}:{ref}"], timeout_s=NETWORK_TIMEOUT_S)


def _read(repo: Repository, prefix: str) -> dict[str, tuple[str, bytes]]:
    listed = run_in(repo, ["for-each-ref", "--format=%(objectname) %(refname)", prefix])
    commits: dict[str, str] = {}
    for line in listed.decode("utf-8", "replace").split("\n"):
        commit, _, name = line.partition(" ")
        if name.removeprefix(prefix).isalnum():
            commits[name.removeprefix(prefix)] = commit
    blobs = dict(read_blobs(repo, [f"{commit}:{_FILE}" for commit in set(commits.values())]))
    texts = {clone: blobs.get(f"{commit}:{_FILE}") for clone, commit in commits.items()}
    # Whatever else somebody put under these names is no counter.
    return {clone: (commits[clone], text) for clone, text in texts.items() if text is not None}


def _delete(repo: Repository, prefix: str) -> None:
    listed = run_in(repo, ["for-each-ref", "--format=delete %(refname)", prefix])
    if listed:
        run_in(repo, ["update-ref", "--stdin"], stdin=listed)
