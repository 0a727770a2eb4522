"""`memx sync`: the team's recalls, shared through git and only when somebody asked for it."""

from __future__ import annotations

import os

from memx.errors import ConfigError, GitError, UsageError
from memx.record import record
from memx.store.usage import USAGE_FILE, add_usage, format_usage, merge_usage, parse_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memx.app.project import Project
    from memx.repo.discovery import Repository
    from memx.store.usage import Usage

    State = tuple[str, Usage]

_CLONE_FILE = "clone-id"


@record
class Synced:
    """This clone's id, how many clones are known, and what each remote answered (empty: all well)."""

    clone: str
    clones: int
    bullets: int
    remotes: tuple[tuple[str, str], ...] = ()


def sync(project: Project, names: Sequence[str] = ()) -> Synced:
    """Exchange recall counters with these remotes, or the configured one; raise MemxError.

    A remote out of reach is reported and nothing is lost: this clone's counter
    is in its ref, and what was learnt before stays.
    """
    from memx.store.lock import Lock

    if not project.config.sync.usage:
        raise ConfigError("sharing of counts is off", hint="memx config set sync.usage true")
    if project.repository is None:
        raise UsageError("counts are shared through git, and there is no repository here")
    remotes = _choose_remotes(project, project.repository, names)
    with Lock(os.path.join(project.state_dir, "sync.lock")):
        return _exchange(project, project.repository, remotes)


def _choose_remotes(project: Project, repository: Repository, names: Sequence[str]) -> list[str]:
    """Return the remotes to ask; only names that this clone has given, so that no file can name an address."""
    from memx.repo.usage_refs import list_remotes

    known = list_remotes(repository)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"there is no remote {unknown[0]!r}", hint="git remote")
    return list(names) or [name for name in known if name == project.config.sync.remote]


def _exchange(project: Project, repository: Repository, remotes: Iterable[str]) -> Synced:
    from memx.repo.usage_refs import fetch_counters, push_counter

    answers: dict[str, str] = {}
    fetched: list[tuple[str, str, bytes]] = []
    for remote in remotes:
        try:
            fetched += fetch_counters(repository, remote)
            answers[remote] = ""
        except GitError as error:
            answers[remote] = str(error)
    clone, counters = _merge(project, repository, fetched)
    for remote in (name for name, answer in answers.items() if not answer and clone in counters):
        try:
            push_counter(repository, remote, clone)
        except GitError as error:
            answers[remote] = str(error)
    bullets = len(add_usage(counters.values()))
    return Synced(clone, len(counters), bullets, tuple(answers.items()))


def _merge(
    project: Project, repository: Repository, fetched: Iterable[tuple[str, str, bytes]]
) -> tuple[str, dict[str, Usage]]:
    """Bring every clone's ref to the maximum of what is known; return this clone's id and all counters."""
    from memx.repo.usage_refs import point_counter, read_counters, write_counter
    from memx.store.atomic import write_atomically

    states: dict[str, list[State]] = {}
    for name, (commit, text) in read_counters(repository).items():
        states.setdefault(name, []).append((commit, parse_usage(text)))
    here = {name: found[0][0] for name, found in states.items()}
    for name, commit, text in fetched:
        states.setdefault(name, []).append((commit, parse_usage(text)))
    totals = project.journal.totals()
    clone = _own_id(project, totals, states)
    if totals:
        # A clone that counts nothing only reads: a weekly job must not leave a ref a week.
        states.setdefault(clone, [])
    counters: dict[str, Usage] = {}
    for name, found in states.items():
        own = [totals] if name == clone else []
        merged = counters[name] = merge_usage([*(usage for _, usage in found), *own])
        same = [commit for commit, usage in found if usage == merged]
        commits = [commit for commit, _ in found]
        # This clone's ref must lie upon what the remote has of it, or the push is refused.
        if not same or (name == clone and len(set(commits)) > 1):
            write_counter(repository, name, format_usage(merged), commits)
        elif here.get(name) not in same:
            point_counter(repository, name, same[0])
    write_atomically(
        os.path.join(project.state_dir, USAGE_FILE), format_usage(_for_readers(project, clone, counters))
    )
    return clone, counters


def _for_readers(project: Project, clone: str, counters: dict[str, Usage]) -> Usage:
    """Return what readers add to this clone's own recalls: those of others, and what was in the file before.

    A file may hold counts of clones that do not share. They are found now, when
    all folds are known: later a pulled fold would be taken for one of them.
    """
    others = add_usage(usage for name, usage in counters.items() if name != clone)
    folded = add_usage(counters.values())
    files = {s.bullet.id: s.bullet.recall_count for s in project.store.with_ids(set(others))}
    return {
        name: (recalled, max(0, files.get(name, 0) - folded[name][1]))
        for name, (recalled, _) in others.items()
    }


def _own_id(project: Project, totals: Usage, states: dict[str, list[State]]) -> str:
    """Return this clone's id, a random name that says nothing about who or where.

    When a counter is ahead of the journal that feeds it, the journal was lost,
    or another copy of this clone counts under the same name: a new name then,
    or recalls would hide behind the larger number.
    """
    from memx.store.atomic import write_atomically

    path = os.path.join(project.state_dir, _CLONE_FILE)
    try:
        with open(path, encoding="ascii") as stream:
            clone = stream.read().strip()
    except (OSError, UnicodeError):
        clone = ""
    shared = merge_usage(usage for _, usage in states.get(clone, ()))
    is_ahead = any(totals.get(name, (0, 0))[0] < recalled for name, (recalled, _) in shared.items())
    if clone.isalnum() and not is_ahead:
        return clone
    clone = os.urandom(16).hex()
    write_atomically(path, (clone + "\n").encode())
    return clone
