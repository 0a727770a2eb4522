"""`memx sync`: the team's recalls, shared through git and only when somebody asked for it."""

from __future__ import annotations

import os

from memx.errors import ConfigError, GitError, UsageError
from memx.record import record, replace
from memx.store.usage import USAGE_FILE, add_usage, format_usage, merge_usage, parse_usage, subtract_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

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
    journal = project.journal.totals()
    own = _own_name(project, repository, journal, states, set(here))
    clone, totals = own.name, subtract_usage(journal, own.base)
    if totals:
        # A clone that counts nothing only reads: a weekly job must not leave a ref a week.
        states.setdefault(clone, [])
    counters: dict[str, Usage] = {}
    for name, found in states.items():
        mine = [totals] if name == clone else []
        merged = counters[name] = merge_usage([*(usage for _, usage in found), *mine])
        same = [commit for commit, usage in found if usage == merged]
        commits = [commit for commit, _ in found]
        # This clone's ref must lie upon what the remote has of it, or the push is refused.
        if not same or (name == clone and len(set(commits)) > 1):
            write_counter(repository, name, format_usage(merged), commits)
        elif here.get(name) not in same:
            point_counter(repository, name, same[0])
    write_atomically(
        os.path.join(project.state_dir, USAGE_FILE), format_usage(_for_readers(project, own, counters))
    )
    return clone, counters


def _for_readers(project: Project, own: _Own, counters: dict[str, Usage]) -> Usage:
    """Return what readers add to this clone's own recalls: those of others, and what was in the file before.

    A file may hold counts of clones that do not share. They are found now, when
    all folds are known: later a pulled fold would be taken for one of them. What was counted before this clone
    was copied from another is in its own journal, and so no other's.
    """
    others = subtract_usage(add_usage(c for name, c in counters.items() if name != own.name), own.base)
    folded = add_usage(counters.values())
    files = {s.bullet.id: s.bullet.recall_count for s in project.store.with_ids(set(others))}
    return {
        name: (recalled, max(0, files.get(name, 0) - folded[name][1]))
        for name, (recalled, _) in others.items()
    }


@record
class _Own:
    """What this clone calls itself, where it lay then, and what other copies of it have shared already.

    place: inode and path of git's folder; empty in files of older versions.
    base: counts in this clone's journal that stand under an earlier name: the clone that it was copied from
    shares them.
    """

    name: str = ""
    place: tuple[str, str] = ("", "")
    base: Usage = {}  # noqa: RUF012 (a record's default, never changed)


def _own_name(
    project: Project,
    repository: Repository,
    journal: Usage,
    states: dict[str, list[State]],
    here: AbstractSet[str],
) -> _Own:
    """Return this clone's name, random and silent about who or where, and what it is not to share.

    A folder that was copied holds the name of the one it is a copy of, and that one's journal: both would count
    under one name and hide behind each other. It is a copy when path and inode have changed (a clone that was
    moved or restored keeps one of them), or when others know more of it than its own journal. What the old name
    had shared by then, as its own ref says, stays that one's alone. `here` are the names that have a ref here,
    which is the first of their `states`.
    """
    own = _read_own(project)
    place = _place(repository.common_dir)
    shared = states[own.name][0][1] if own.name in here else {}
    totals = subtract_usage(journal, own.base)
    if _is_ahead(shared, totals):
        own = _Own("", place)  # The journal was lost: what it counted stays where it was shared.
    is_copy = all(own.place) and all(old != new for old, new in zip(own.place, place, strict=True))
    known = merge_usage(usage for _, usage in states.get(own.name, ()))
    if not own.name or is_copy or _is_ahead(known, totals):
        base = add_usage((own.base, shared)) if own.name else {}
        own = _Own(os.urandom(16).hex(), place, base)
        _write_own(project, own)
    elif own.place != place:
        own = replace(own, place=place)
        _write_own(project, own)
    return own


def _place(folder: str) -> tuple[str, str]:
    from memx.digest import sha256

    path = os.path.realpath(folder).encode("utf-8", "surrogateescape")
    return str(os.stat(folder).st_ino), sha256(path).hexdigest()[:16]


def _read_own(project: Project) -> _Own:
    try:
        with open(os.path.join(project.state_dir, _CLONE_FILE), "rb") as stream:
            name, place, *rest = [*stream.read().split(b"\n"), b"", b""]
    except OSError:
        return _Own()
    if not (name.isalnum() and name.isascii()):
        return _Own()
    inode, _, path = place.decode("ascii", "replace").partition(" ")
    return _Own(name.decode(), (inode, path), parse_usage(b"\n".join(rest)))


def _write_own(project: Project, own: _Own) -> None:
    """Write name, place and base as one file, so that a crash leaves no name without its base."""
    from memx.store.atomic import write_atomically

    head = f"{own.name}\n{' '.join(own.place)}\n".encode()
    write_atomically(os.path.join(project.state_dir, _CLONE_FILE), head + format_usage(own.base))


def _is_ahead(counter: Usage, journal: Usage) -> bool:
    """Tell whether a counter knows more than the journal that feeds it."""
    return any(journal.get(name, (0, 0))[0] < recalled for name, (recalled, _) in counter.items())
