"""Commits, histories and sessions into candidates: read, reflect, leave out what is known, keep in the inbox."""

from __future__ import annotations

from memx.errors import MemxError
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from memx.app.project import Project
    from memx.app.refine import LlmRun, LlmUse
    from memx.model import Candidate, Rejection
    from memx.reflector import Reflection
    from memx.repo.discovery import Repository

CONFIG_PATHSPECS = (
    ":(glob)**/*.y*ml",
    ":(glob)**/*.toml",
    ":(glob)**/*.ini",
    ":(glob)**/*.cfg",
    ":(glob)**/*.conf",
    ":(glob)**/*.json",
    ":(glob)**/*.properties",
    ":(glob)**/.env*",
    ":(glob)**/Dockerfile*",
    ":(glob)**/requirements*.txt",
    ":(glob)**/go.mod",
    ":(glob)**/Gemfile",
    ":(glob)**/pom.xml",
    ":(glob)**/*.tf",
)
"""Files whose diffs hold values and tools; reading every diff of a commit would cost more than it teaches."""

FEW_IDS = 50
"""Up to so many are looked for in the bytes of the bullets, which are not parsed then."""


@record
class Distilled:
    """What a run of the reflector found: `new` are the candidates that nobody had seen before."""

    mode: str
    sources: int
    candidates: tuple[Candidate, ...]
    new: frozenset[str]
    rejected: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()
    is_interrupted: bool = False
    llm: LlmUse | None = None


@record
class History:
    """Which commits to read and how much of what they teach to keep (top 0: all).

    Not walked: the revisions themselves and none of their ancestors.
    """

    revisions: tuple[str, ...]
    since: str = ""
    max_count: int | None = None
    top: int = 0
    is_walked: bool = True


@record
class Options:
    """How to distil: the mode wanted, whether to store nothing, whether to propose what was settled before."""

    mode: str = ""
    is_dry: bool = False
    again: bool = False
    llm_model: str = ""


def require_repository(project: Project) -> Repository:
    """Return the repository around the project; raises MemxError outside of one."""
    if project.repository is None:
        raise MemxError("not inside a git repository", path=project.cwd, hint="git init")
    return project.repository


def open_run(project: Project, options: Options) -> LlmRun:
    """Return the reflector of one run in the mode that can run here: without an LLM every mode is `rules`."""
    from memx.app.refine import LlmRun

    return LlmRun(project, options.mode, model=options.llm_model, is_dry=options.is_dry)


def distil_commits(project: Project, history: History, options: Options) -> Distilled:
    """Distil a few commits with the diffs of their configuration files."""
    from memx.repo.history import read_commits
    from memx.repo.squash import split_squash

    commits = read_commits(
        require_repository(project),
        history.revisions,
        max_count=history.max_count,
        since=history.since or None,
        files=True,
        diffs=True,
        paths=CONFIG_PATHSPECS,
        no_walk=not history.is_walked,
    )
    run = open_run(project, options)
    parts = (part for commit in commits for part in split_squash(commit))
    return gather(project, map(run.reflector.commit, parts), options, run, top=history.top)


def distil_text(project: Project, text: str, options: Options) -> Distilled:
    """Distil a text such as a commit message."""
    from memx.model import Commit
    from memx.repo.squash import split_squash

    run = open_run(project, options)
    commit = Commit(sha="", message=text, authored=project.now)
    return gather(project, map(run.reflector.commit, split_squash(commit)), options, run)


def distil_history(
    project: Project, history: History, options: Options, report: Callable[[int], None]
) -> Distilled:
    """Distil a whole history on all cores; `report` hears how many commits are done.

    What was read is remembered, so an interrupted run goes on where it stopped.
    """
    from memx.app.mining import mine

    return mine(project, history, options, report)


def gather(
    project: Project, reflections: Iterable[Reflection], options: Options, run: LlmRun, *, top: int = 0
) -> Distilled:
    """Collect candidates, each lesson once, and put the new ones into the inbox."""
    found: dict[str, Candidate] = {}
    rejected: list[Rejection] = []
    sources = 0
    for reflection in reflections:
        sources += 1
        rejected += reflection.rejected
        for candidate in reflection.candidates:
            known = found.get(candidate.id)
            if known is None or candidate.score > known.score:
                found[candidate.id] = candidate
    distilled = Distilled(run.mode, sources, tuple(found.values()), frozenset(), tuple(rejected))
    return keep(project, distilled, options, top, run=run)


def keep(
    project: Project,
    distilled: Distilled,
    options: Options,
    top: int = 0,
    *,
    dropped: int = 0,
    run: LlmRun | None = None,
) -> Distilled:
    """Rank the candidates, drop what the store knows or someone decided, and add the rest to the inbox.

    `dropped` counts weaker candidates that are not among these any more. With a
    run that has an LLM, what is new is refined before it is added.
    """
    ranked = sorted(distilled.candidates, key=lambda candidate: (-candidate.score, candidate.id))
    settled = frozenset() if options.again else settled_ids(project, {c.id for c in ranked})
    fresh = [candidate for candidate in ranked if candidate.id not in settled]
    if len(fresh) <= FEW_IDS and not options.again:
        fresh = _unsaid(project, fresh)
    notes = distilled.notes
    if top and len(fresh) > top:
        notes = (*notes, f"kept the best {top} of {len(fresh) + dropped:,} candidates; --top 0 keeps all")
        fresh = fresh[:top]
    kept = fresh if top else ranked
    if run is not None and run.is_on:
        fresh, kept, rejected = _refined(project, run, fresh, kept)
        distilled = replace(distilled, rejected=(*distilled.rejected, *rejected))
    new = fresh if options.is_dry else project.inbox.add(fresh, again=options.again)
    if run is not None:
        notes = (*notes, *run.notes(), *_leave_unasked(project, run, new))
        distilled = replace(distilled, llm=run.use(), mode=run.outcome_mode)
    return replace(distilled, candidates=tuple(kept), new=frozenset(c.id for c in new), notes=notes)


def _leave_unasked(project: Project, run: LlmRun, new: Sequence[Candidate]) -> tuple[str, ...]:
    """Queue the new candidates about which the LLM could not be asked; return what to say of it."""
    ids = [] if run.is_dry else [candidate.id for candidate in new if candidate.id in run.unasked]
    if not ids:
        return ()
    from memx.app.llm import Queue

    Queue(project.state_dir).add(ids)
    return (f"{len(ids)} of them wait for the LLM: memx distill --queued",)


def _unsaid(project: Project, fresh: list[Candidate]) -> list[Candidate]:
    """Leave out what candidates that wait say already, such as a forge's `(#12)` behind a subject."""
    from memx.app.wording import said_already, sentences

    waiting = {candidate.id: candidate.text for candidate in project.inbox.all()} if fresh else {}
    known = [sentences(text) for text in waiting.values()]
    return [c for c in fresh if c.id in waiting or not said_already(c.text, known)]


def _refined(
    project: Project, run: LlmRun, fresh: list[Candidate], shown: list[Candidate]
) -> tuple[list[Candidate], list[Candidate], list[Rejection]]:
    """Return the new candidates refined, the list to show with them in it, and what the LLM's score dropped.

    What lies in the inbox already is not asked about again.
    """
    waiting = {candidate.id: candidate for candidate in project.inbox.all()}
    refined, rejected = run.refine([c for c in fresh if c.id not in waiting])
    current = waiting | {candidate.id: candidate for candidate in refined}
    dropped = {candidate.id for candidate in fresh} - current.keys()
    listed = [current.get(c.id, c) for c in shown if c.id not in dropped]
    listed = [candidate for candidate in listed if candidate.id in waiting or run.is_kept(candidate)]
    listed.sort(key=lambda candidate: (-candidate.score, candidate.id))
    return refined, listed, rejected


def distil_queued(project: Project, options: Options) -> Distilled:
    """Refine what hooks left for the LLM; the candidates stay in the inbox, save those that its score drops."""
    from memx.app.refine import NO_LLM, refine_queued

    run = open_run(project, options)
    judged = refine_queued(project, run)
    notes = run.notes() or (NO_LLM,) * (not run.is_on)
    if not judged.waiting:
        notes = ("nothing is queued for the LLM",)
    return Distilled(
        run.outcome_mode,
        judged.waiting,
        judged.candidates,
        frozenset(),
        judged.rejected,
        notes,
        llm=run.use(),
    )


def settled_ids(project: Project, ids: AbstractSet[str]) -> frozenset[str]:
    """Return which of these ids are or ever were in the store, or were decided: they are not proposed again."""
    known: set[str] = set(project.inbox.decided())
    if ids - known and project.has_store:
        known.update(_ids_in_store(project, ids))
        known |= _ids_in_history(project)
    return frozenset(ids & known)


def _ids_in_store(project: Project, ids: AbstractSet[str]) -> Iterator[str]:
    """Yield the ids of the bullets, and those that were merged into them; of many bullets those that can hold `ids`."""
    from memx.store.mentions import find_mentions

    if len(ids) > FEW_IDS:
        for archived in (False, True):
            for stored in project.store.scan(archived)[0]:
                yield stored.bullet.id
                yield from stored.bullet.merged_from
        return
    for path in find_mentions(project.store_root, ids):
        stored_or_none = project.store.read_or_none(path)
        if stored_or_none is not None:
            yield stored_or_none.bullet.id
            yield from stored_or_none.bullet.merged_from


def _ids_in_history(project: Project) -> set[str]:
    """Return the ids in the names of bullet files that some commit of any branch added."""
    from memx.errors import GitError
    from memx.repo.discovery import run_in
    from memx.store.naming import id_of_name

    repository = project.repository
    if repository is None or not repository.worktree:
        return set()
    arguments = ["log", "--all", "--diff-filter=A", "--format=", "--name-only", "--no-renames", "-z", "--"]
    try:
        listed = run_in(repository, [*arguments, ":(top).memx/bullets", ":(top).memx/archive"])
    except GitError:
        return set()
    names = listed.decode("utf-8", "replace").split("\0")
    return {identifier for name in names if (identifier := id_of_name(name))}
