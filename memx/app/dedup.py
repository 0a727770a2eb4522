"""`memx dedup`: the whole store at once, as a plan that can be read before it is carried out.

What bullets absorbed before takes part in the comparison, as do the texts that
survivors had before: a group forms only where all of them are the same lesson.
So a second run finds nothing, and the order of the files does not matter.
"""

from __future__ import annotations

import os

from memx.app.curate import compare_texts, reason_apart
from memx.app.merging import finish_merges, interrupted_merges, merge_into
from memx.app.survey import Survey, silent
from memx.errors import MemxError, StoreError
from memx.record import record, replace
from memx.supersession import Supersession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memx.app.project import Project
    from memx.app.survey import Report
    from memx.curator.groups import JudgedPair
    from memx.model import Bullet, Problem, StoredBullet

COMPONENT_LIMIT = 200
"""Larger knots of near-equal texts are judged by their nominated pairs alone."""


@record
class Absorption:
    """A bullet that a group's survivor takes in, and what decided it."""

    stored: StoredBullet
    similarity: float
    reason: str


@record
class Group:
    """Bullets that are one lesson: the one that stays and those that it takes in, in the order of the merges."""

    survivor: StoredBullet
    absorbed: tuple[Absorption, ...]


@record
class Shown:
    """Two bullets that say the same and are merged only on request, and why."""

    a: StoredBullet
    b: StoredBullet
    similarity: float
    reason: str


@record
class Plan:
    """What `dedup` would do; nothing has happened yet. conflicts: how many pairs contradict each other."""

    groups: tuple[Group, ...] = ()
    shown: tuple[Shown, ...] = ()
    conflicts: int = 0
    compared: int = 0
    problems: tuple[Problem, ...] = ()
    degraded: str = ""
    unfinished: tuple[str, ...] = ()
    """Files whose merge a crash stopped before they were removed."""
    misnamed: tuple[StoredBullet, ...] = ()
    """Files that hold another lesson than the one whose id they bear; they get an id of their own."""
    left: tuple[Shown, ...] = ()
    """Pairs that would be merged by themselves but for the company of the two."""


@record
class Applied:
    """What a plan did: the survivors, the merges that a crash had left half done, and what it could not merge."""

    survivors: tuple[StoredBullet, ...]
    finished: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    renamed: tuple[StoredBullet, ...] = ()


def plan(project: Project, report: Report = silent) -> Plan:
    """Find the bullets of the store that are one lesson; nothing is written."""
    bullets, problems = project.store.scan()
    unfinished = {stored.path for stored in interrupted_merges(project, bullets)}
    twins, misnamed, live = _twins(project, [stored for stored in bullets if stored.path not in unfinished])
    absorbed, ghosts = _absorbed(project, live)
    nodes = {name: stored.bullet for name, stored in live.items()} | ghosts
    survey = Survey(project, nodes, report)
    merges: list[JudgedPair] = []
    conflicts = 0
    for pair in survey.pairs():
        if pair.verdict.action == "merge":
            merges.append(pair)
        else:
            conflicts += pair.a in live and pair.b in live
    merges += _within_components(survey, merges)
    decided = project.inbox.decided()
    apart = {(p.a, p.b): reason for p in merges if (reason := _apart(live, p, decided))}
    same = [pair for pair in merges if (pair.a, pair.b) not in apart]
    shown = tuple(
        Shown(live[pair.a], live[pair.b], pair.verdict.similarity, apart[pair.a, pair.b])
        for pair in sorted(merges, key=lambda p: (p.a, p.b))
        if "differ" in apart.get((pair.a, pair.b), "")
    )
    joined = _groups(live, same, absorbed)
    groups = [*twins, *joined]
    problems = [problem for problem in problems if problem.kind != "duplicate-id"]
    return Plan(
        tuple(groups),
        shown,
        conflicts,
        len(live),
        tuple(problems),
        survey.degraded,
        tuple(sorted(unfinished)),
        misnamed,
        tuple(_left(live, same, joined, absorbed)),
    )


def _left(
    live: Mapping[str, StoredBullet],
    same: Iterable[JudgedPair],
    groups: Iterable[Group],
    absorbed: Mapping[str, tuple[str, ...]],
) -> Iterator[Shown]:
    """Yield the pairs of live bullets that are the same and in no group together, and why."""
    group_of: dict[str, str] = {}
    for group in groups:
        for stored in (group.survivor, *(taken.stored for taken in group.absorbed)):
            group_of[stored.bullet.id] = group.survivor.bullet.id
    for pair in sorted(same, key=lambda p: (p.a, p.b)):
        if pair.a not in live or pair.b not in live:
            continue
        if group_of.get(pair.a, pair.a) != group_of.get(pair.b, pair.b):
            holder = next((name for name in (pair.a, pair.b) if absorbed.get(name)), "")
            reason = (
                f"brought together by a merge: not all that {holder} absorbed says the same"
                if holder
                else "they are alike through a third one that says something else"
            )
            yield Shown(live[pair.a], live[pair.b], pair.verdict.similarity, reason)


def _twins(
    project: Project, bullets: Sequence[StoredBullet]
) -> tuple[list[Group], tuple[StoredBullet, ...], dict[str, StoredBullet]]:
    """Return the groups of files of one lesson that share an id, the files of another one, and one bullet an id."""
    by_id: dict[str, list[StoredBullet]] = {}
    for stored in bullets:
        by_id.setdefault(stored.bullet.id, []).append(stored)
    groups, misnamed, live = [], [], {}
    for name in sorted(by_id):
        first, *others = sorted(by_id[name], key=_rank)
        live[name] = first
        same = [other for other in others if _is_one_lesson(project, first.bullet, other.bullet)]
        misnamed += [other for other in others if other not in same]
        if same:
            reason = f"two files hold the id {name}"
            groups.append(Group(first, tuple(Absorption(other, 1.0, reason) for other in same)))
    superseded = Supersession.of(stored.bullet for stored in live.values()).superseded
    return groups, tuple(misnamed), {name: stored for name, stored in live.items() if name not in superseded}


def _is_one_lesson(project: Project, a: Bullet, b: Bullet) -> bool:
    """Tell whether two files of one id may be merged: an id that was copied by hand proves nothing."""
    from memx.curator.judge import is_edit

    if a.text == b.text:
        return a.scope == b.scope
    if reason_apart(a, b, {}):
        return False
    return is_edit(a.text, b.text) or compare_texts(project, [(a.text, b.text)])[0].action == "merge"


def _rank(stored: StoredBullet) -> tuple[int, float, str, str]:
    bullet = stored.bullet
    created = bullet.created if bullet.created is not None else float("inf")
    return -bullet.score, created, bullet.id, stored.path


def _absorbed(
    project: Project, live: Mapping[str, StoredBullet]
) -> tuple[dict[str, tuple[str, ...]], dict[str, Bullet]]:
    """Return survivor → names of what it absorbed and of its own earlier texts, and those bullets by name."""
    wanted = {name for stored in live.values() for name in stored.bullet.merged_from}
    if not wanted:
        return {}, {}
    store = project.store
    archived = {s.bullet.id: s.bullet for s in store.scan(archived=True)[0] if s.bullet.id in wanted}
    ghosts: dict[str, Bullet] = {name: bullet for name, bullet in archived.items() if name not in live}
    absorbed: dict[str, tuple[str, ...]] = {}
    for name, stored in live.items():
        members = [other for other in stored.bullet.merged_from if other in ghosts]
        for other in stored.bullet.merged_from:
            before = _before(project, stored, other)
            if before is not None and before.text != stored.bullet.text:
                ghosts[f"{name}<{other}"] = before
                members.append(f"{name}<{other}")
        if members:
            absorbed[name] = tuple(members)
    return absorbed, ghosts


def _before(project: Project, survivor: StoredBullet, other: str) -> Bullet | None:
    """Return the survivor as it was before it absorbed a bullet, None when that was not kept."""
    from memx.curator.merge import Merge

    path = Merge(survivor.bullet, replace(survivor.bullet, id=other)).prior_path(survivor.path)
    if not os.path.isfile(os.path.join(project.store.root, path)):
        return None
    stored = project.store.read_or_none(path)
    return None if stored is None else stored.bullet


def _apart(live: Mapping[str, StoredBullet], pair: JudgedPair, decided: Mapping[str, str]) -> str:
    """Return why a pair of live bullets is not merged by itself, empty when it may be."""
    if pair.a not in live or pair.b not in live:
        return ""
    a, b = live[pair.a].bullet, live[pair.b].bullet
    if a.id in b.conflicts_with or b.id in a.conflicts_with:
        return "they are marked as conflicting"
    return reason_apart(a, b, decided)


def _within_components(survey: Survey, merges: Sequence[JudgedPair]) -> list[JudgedPair]:
    """Judge the pairs inside each knot of equal bullets that were too many to be among the nearest."""
    knot: dict[str, set[str]] = {}
    for pair in merges:
        joined = knot.get(pair.a, {pair.a}) | knot.get(pair.b, {pair.b})
        for name in joined:
            knot[name] = joined
    known = {(pair.a, pair.b) for pair in merges}
    found: list[JudgedPair] = []
    for members in {min(names): names for names in knot.values()}.values():
        if not 2 < len(members) <= COMPONENT_LIMIT:  # noqa: PLR2004 (a pair has no missing pair)
            continue
        names = sorted(members)
        missing = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :] if (a, b) not in known]
        found += [pair for pair in survey.judge(missing) if pair.verdict.action == "merge"]
    return found


def _groups(
    live: Mapping[str, StoredBullet],
    same: Iterable[JudgedPair],
    absorbed: Mapping[str, tuple[str, ...]],
) -> list[Group]:
    from memx.curator.groups import complete_link

    verdicts = {(pair.a, pair.b): pair.verdict for pair in same}
    linked = complete_link(((a, b, v.similarity) for (a, b), v in verdicts.items()), absorbed)
    groups = []
    for names in linked:
        first, *others = sorted((live[name] for name in names), key=_rank)
        taken = []
        for other in others:
            a, b = sorted((first.bullet.id, other.bullet.id))
            verdict = verdicts[a, b]
            taken.append(Absorption(other, verdict.similarity, verdict.reason))
        groups.append(Group(first, tuple(taken)))
    return groups


def apply(project: Project, planned: Plan, report: Report = silent) -> Applied:
    """Carry a plan out; a bullet that was changed since is left alone and named.

    The change lies in the work tree, to be reviewed and committed as one.
    """
    finished = finish_merges(project, project.store.scan()[0])
    survivors: dict[str, StoredBullet] = {}
    skipped: list[str] = []
    renamed: list[StoredBullet] = []
    for stored in planned.misnamed:
        try:
            renamed.append(_give_own_id(project, stored))
        except MemxError as error:
            skipped.append(f"{stored.path}: {error}")
    for done, group in enumerate(planned.groups, 1):
        survivor = group.survivor
        for absorption in group.absorbed:
            other = absorption.stored
            if not (_is_unchanged(project, survivor) and _is_unchanged(project, other)):
                skipped.append(f"{other.bullet.id} was changed meanwhile")
                continue
            try:
                survivor = merge_into(project, survivor, other.bullet, other.path)
            except MemxError as error:
                skipped.append(f"{other.bullet.id}: {error}")
        if survivor is not group.survivor:
            survivors[survivor.path] = survivor
        report("merged", done, len(planned.groups))
    return Applied(tuple(survivors.values()), tuple(finished), tuple(skipped), tuple(renamed))


def _give_own_id(project: Project, stored: StoredBullet) -> StoredBullet:
    """Write a lesson that bears another one's id under the id of its own text; only that line changes."""
    from memx.store.codec import edit_bullet
    from memx.store.naming import bullet_id, bullet_path

    store = project.store
    with store.lock():
        if not _is_unchanged(project, stored):
            raise StoreError("it was changed meanwhile", path=stored.path)
        named = replace(stored.bullet, id=bullet_id(stored.bullet.text))
        if named.id == stored.bullet.id:
            named = replace(named, id=bullet_id(stored.bullet.text, stored.bullet.scope or stored.path))
        taken = [*store.find_by_name(named.id, archived=False), *store.find_by_name(named.id, archived=True)]
        if taken:
            raise StoreError(f"its own id, {named.id}, is that of {taken[0].path}", path=stored.path)
        data = edit_bullet(store.read_bytes(stored.path), {"id": named.id}, path=stored.path)
        home = bullet_path(named)
        written = store.put_back(data, home)
        if home != stored.path:
            store.remove(stored.path)
        return written


def _is_unchanged(project: Project, stored: StoredBullet) -> bool:
    now = project.store.read_or_none(stored.path)
    return now is not None and (now.bullet.id, now.bullet.text) == (stored.bullet.id, stored.bullet.text)
