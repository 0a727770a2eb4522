"""Writing this clone's git configuration, one key at a time and only when it differs.

Through `git config`: GitPython's writer dropped the file's comments and broke a
value with a semicolon over two lines when it was tried.
"""

from __future__ import annotations

import os

from memx.errors import GitError
from memx.repo.discovery import run_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memx.repo.discovery import Repository


def read_option(repo: Repository, key: str) -> str:
    """Return the value that git would use, whatever file it comes from; '' when it is not set."""
    return os.fsdecode(run_in(repo, ["config", "--get", key], check=False).removesuffix(b"\n"))


def set_options(repo: Repository, options: Mapping[str, str]) -> bool:
    """Set keys such as `merge.memx.driver` in the clone's own config; True when something changed.

    Raises GitError when the file cannot be written.
    """
    changed = False
    for key, value in options.items():
        if _local_values(repo, key) != [value]:
            run_in(repo, ["config", "--local", "--replace-all", key, value])
            changed = True
    return changed


def unset_options(repo: Repository, keys: Iterable[str]) -> bool:
    """Remove keys, and the sections that this leaves empty; True when something changed."""
    changed = False
    for key in keys:
        if not _local_values(repo, key):
            continue
        run_in(repo, ["config", "--local", "--unset-all", key])
        changed = True
        section = key.rpartition(".")[0]
        try:
            # Newer git removes an empty section itself, and says so with an error.
            if not run_in(repo, ["config", "--local", "--get-regexp", f"^{section}\\."], check=False):
                run_in(repo, ["config", "--local", "--remove-section", section])
        except GitError:
            continue
    return changed


def _local_values(repo: Repository, key: str) -> list[str]:
    answer = run_in(repo, ["config", "--local", "-z", "--get-all", key], check=False)
    return [os.fsdecode(value) for value in answer.split(b"\0")[:-1]]
