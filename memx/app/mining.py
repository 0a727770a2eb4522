"""The history miner: messages on all cores, resumable, ranked.

Messages alone are read first, because they say where the lessons are and come
at thousands a second; only the commits that taught something are read again
with their files, for anchors and configuration values.
"""

from __future__ import annotations

import os
import re
from collections import deque
from functools import lru_cache
from itertools import chain, islice

from memx.amount import amount
from memx.app.cores import map_on_cores
from memx.app.distil import (
    CONFIG_PATHSPECS,
    Distilled,
    History,
    Options,
    keep,
    open_run,
    require_repository,
)
from memx.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memx.app.project import Project
    from memx.config import ReflectorConfig
    from memx.model import Candidate, Commit, Rejection
    from memx.redact import PrivacySanitizer
    from memx.reflector import Reflector

    Batch = tuple[bytes, bool]
    """Commits as git printed them, and whether to say why one of them teaches nothing."""
    Worded = tuple[str, Candidate]
    """A candidate behind its wording without references."""
    Outcome = tuple[list[Worded], list[Rejection], bytes]
    """What a batch taught, what was dropped, and the candidates' lines for the spool."""

BATCH_COMMITS = 400
FIRST_COMMITS = 50
"""So many are reflected on before the work is shared: what they need compiled no other process compiles again."""
EXPLAINED_BATCHES = 5
"""Only the first rejections of a history are shown, so the other batches do without."""
SHA_BYTES = 20
PARALLEL_ABOVE = 1500
_REDACTED_TEXTS = 256
"""Names of rules and sections come with every candidate: so many texts are redacted once."""
_NUMBERED = r"\(?(?:\b(?:pr|mr|issues?|bugs?|tickets?|tasks?|refs?|gh|no\.?)[ #:-]*)?#\d+\)?|"
_NAMED = (
    r"\b(?:pr|mr|issue|bug|ticket|task|gh)[ :-]+\d+\b|\b[a-z]{2,10}-\d{2,}\b|\(\d{3,}\)"
    r"|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b"
)
_REFERENCE = re.compile(_NUMBERED + _NAMED)
_REFERENCE_WITHOUT_MARK = re.compile(_NAMED)
"""The same where no `#` stands, in half the time."""
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\d[\w.]*|\w+")
_LEAST_WORDS = 8
_SAME_SHARE = 0.95
_STATED = "trailer"
_COMPARED = 1000
"""So many candidates, the best, are compared with one another."""
_SPACES = re.compile(r"[\s.,;:]+")
KEPT_PER_PLACE = 4
"""With --top N, at most this many times N candidates are held while the history is read."""


class DoneCommits:
    """The commits that were distilled, as an append-only file of their first 20 bytes."""

    def __init__(self, state_dir: str) -> None:
        """Read what is there; a torn tail is cut off."""
        self._path = os.path.join(state_dir, "distilled")
        try:
            with open(self._path, "rb") as stream:
                data = stream.read()
        except OSError:
            data = b""
        self._torn = len(data) % SHA_BYTES
        whole = len(data) - self._torn
        self._known = {data[i : i + SHA_BYTES] for i in range(0, whole, SHA_BYTES)}

    def __bool__(self) -> bool:
        """Say whether any commit was distilled."""
        return bool(self._known)

    def __contains__(self, sha: str) -> bool:
        """Say whether a commit was distilled."""
        return bytes.fromhex(sha[: 2 * SHA_BYTES]) in self._known

    def add(self, shas: Iterable[str]) -> None:
        """Remember commits."""
        new = [bytes.fromhex(sha[: 2 * SHA_BYTES]) for sha in shas]
        self._known.update(new)
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        with open(self._path, "ab") as stream:
            if self._torn:
                stream.truncate(stream.tell() - self._torn)
                self._torn = 0
            stream.write(b"".join(new))


def mine(project: Project, history: History, options: Options, report: Callable[[int], None]) -> Distilled:
    """Distil a history; see `distil_history`."""
    run = open_run(project, options)
    done = DoneCommits(project.state_dir)
    # What a killed run left goes first; nothing counts as done before its candidates are on disk.
    left = [] if options.is_dry else project.spool.all()
    found: dict[str, Candidate] = {}
    _merge(found, _worded(left), history.top)
    seen = {candidate.id for candidate in left}
    rejected: list[Rejection] = []
    sources = 0
    interrupted = False
    try:
        for shas, (worded, refused, lines) in _reflect_all(
            project, run.reflector_config, history, options, done
        ):
            sources += len(shas)
            _merge(found, worded, history.top)
            seen.update(candidate.id for _, candidate in worded)
            rejected += refused if len(rejected) < BATCH_COMMITS else ()
            if not options.is_dry:
                project.spool.append_lines(lines)
                done.add(shas)
            report(sources)
    except KeyboardInterrupt:
        interrupted = True
    notes: tuple[str, ...] = ()
    if interrupted:
        notes = (f"interrupted after {amount(sources, 'commit')}; run it again to go on",)
        run = open_run(project, replace(options, mode="rules"))  # whoever pressed ^C does not wait for an LLM
        found = {key: candidate for key, candidate in found.items() if run.is_kept(candidate)}
    detailed = _with_files(project, run.reflector, found.values(), history)
    distilled = Distilled(run.mode, sources, tuple(detailed), frozenset(), tuple(rejected), notes)
    kept = keep(project, distilled, options, history.top, dropped=len(seen) - len(detailed), run=run)
    if not options.is_dry:
        _settle(project, kept, history, interrupted=interrupted)
    return replace(kept, is_interrupted=interrupted)


def _settle(project: Project, kept: Distilled, history: History, *, interrupted: bool) -> None:
    """Let the inbox hold the best of the whole history, not the best of every run that was interrupted."""
    if history.top:
        project.inbox.remove_all(project.spool.proposed() - {candidate.id for candidate in kept.candidates})
    if interrupted:
        # Until the end is reached the weaker ones stay: the next run ranks them among all.
        project.spool.propose(kept.new)
    else:
        project.spool.clear()


def _worded(candidates: Iterable[Candidate]) -> list[Worded]:
    return [(without_references(candidate.text), candidate) for candidate in candidates]


def _merge(found: dict[str, Candidate], worded: Iterable[Worded], top: int) -> None:
    """Add candidates by their wording, each lesson once; with a limit, drop the weakest now and then."""
    for wording, candidate in worded:
        known = found.get(wording)
        if known is None or candidate.score > known.score:
            found[wording] = candidate
    limit = max(top, 100) * KEPT_PER_PLACE
    if top and len(found) > 2 * limit:
        best = sorted(found.items(), key=lambda item: (-item[1].score, item[1].id))[:limit]
        found.clear()
        found.update(best)


def without_references(text: str) -> str:
    """Return a lesson's wording without ticket numbers and hashes: backports differ in nothing else."""
    lowered = text.lower()
    if _DIGIT.search(lowered):
        lowered = (_REFERENCE if "#" in lowered else _REFERENCE_WITHOUT_MARK).sub("", lowered)
    return _SPACES.sub(" ", lowered).strip()


def distinct(ranked: Iterable[Candidate], limit: int = 0) -> list[Candidate]:
    """Return candidates without those that say what a better one says already; with a limit, the first so many.

    That is so when a better one holds nearly all of a candidate's words and all
    of its numbers and identifiers: a backport, or the same message with one
    paragraph more. What a person stated in so many words always stays.
    """
    kept: list[tuple[Candidate, set[str]]] = []
    for candidate in ranked:
        words = set(_WORD.findall(without_references(candidate.text)))
        if candidate.rule == _STATED or not any(_says_the_same(words, known) for _, known in kept):
            kept.append((candidate, words))
            if len(kept) == limit:
                break
    return [candidate for candidate, _ in kept]


def _says_the_same(words: set[str], known: set[str]) -> bool:
    fewer, more = (words, known) if len(words) <= len(known) else (known, words)
    if len(fewer) < _LEAST_WORDS or len(fewer & more) < _SAME_SHARE * len(fewer):
        return False
    return all(map(str.isalpha, fewer - more))


def _reflect_all(
    project: Project, config: ReflectorConfig, history: History, options: Options, done: DoneCommits
) -> Iterator[tuple[list[str], Outcome]]:
    """Yield batches' hashes and what they taught: from this process for a short history, from all cores for a long one.

    How long it is shows in its first batches; counting commits would walk it once more.
    """
    batches = _unread(project, history, options, done)
    cores = os.cpu_count() or 1
    first = list(islice(batches, PARALLEL_ABOVE // BATCH_COMMITS + 2))
    is_long = sum(len(shas) for shas, _ in first) > PARALLEL_ABOVE
    miner = _Miner(config, project.sanitizer, spools=not options.is_dry)
    reading: deque[list[str]] = deque()

    def unparsed() -> Iterator[Batch]:
        for number, (shas, data) in enumerate(chain(first, batches)):
            reading.append(shas)
            yield data, number < EXPLAINED_BATCHES

    waiting = unparsed()
    shared = is_long and cores > 1
    here = islice(waiting, 1) if shared else waiting
    outcomes: Iterator[Outcome] = map(miner.reflect, here)
    if shared:
        start = (config, project.sanitizer, not options.is_dry)
        elsewhere = map_on_cores(_reflect, waiting, cores=cores, prepare=_begin, prepared=start)
        outcomes = chain(outcomes, elsewhere)
    for outcome in outcomes:
        yield reading.popleft(), outcome


def _unread(
    project: Project, history: History, options: Options, done: DoneCommits
) -> Iterator[tuple[list[str], bytes]]:
    """Yield batches of the commits that are not done yet: their hashes, and all of them as git printed them."""
    from memx.repo.history import FIELDS_A_COMMIT, read_unparsed

    stream = read_unparsed(
        require_repository(project),
        history.revisions,
        max_count=history.max_count,
        since=history.since or None,
        no_merges=True,
    )
    skips = bool(done) and not options.again
    size = FIRST_COMMITS * FIELDS_A_COMMIT
    waiting: list[bytes] = []
    for fields in stream:
        waiting += _without(done, fields, FIELDS_A_COMMIT) if skips else fields
        while len(waiting) >= size:
            yield _batch(waiting[:size], FIELDS_A_COMMIT)
            del waiting[:size]
            size = BATCH_COMMITS * FIELDS_A_COMMIT
    if waiting:
        yield _batch(waiting, FIELDS_A_COMMIT)


def _without(done: DoneCommits, fields: list[bytes], each: int) -> list[bytes]:
    new: list[bytes] = []
    for at in range(0, len(fields), each):
        if fields[at].decode("ascii") not in done:
            new += fields[at : at + each]
    return new


def _batch(fields: list[bytes], each: int) -> tuple[list[str], bytes]:
    return [sha.decode("ascii") for sha in fields[::each]], b"\0".join(fields)


class _Miner:
    """Reflects on batches, with all that costs time a candidate; a long history has one in each process."""

    def __init__(self, config: ReflectorConfig, sanitizer: PrivacySanitizer, *, spools: bool) -> None:
        from memx.reflector import Reflector

        self._explaining, self._plain = (Reflector(config, sanitizer, explains=e) for e in (True, False))
        self._redact = lru_cache(_REDACTED_TEXTS)(lambda text: sanitizer.sanitize(text).text)
        self._spools = spools

    def reflect(self, batch: Batch) -> Outcome:
        """Reflect on one batch."""
        from memx.repo.history import parse_commits
        from memx.repo.squash import split_squash
        from memx.store.inbox import format_candidate

        unparsed, explains = batch
        reflector = self._explaining if explains else self._plain
        candidates: list[Candidate] = []
        rejected: list[Rejection] = []
        for commit in parse_commits(unparsed):
            for part in split_squash(commit):
                reflection = reflector.commit(part)
                candidates += reflection.candidates
                rejected += reflection.rejected
        lines = (format_candidate(candidate, self._redact) for candidate in candidates if self._spools)
        return _worded(candidates), rejected, b"".join(lines)


_of_process: list[_Miner] = []
"""The miner of a process that works for another one."""


def _begin(config: ReflectorConfig, sanitizer: PrivacySanitizer, spools: bool) -> None:  # noqa: FBT001 (pools pass by position)
    _of_process[:] = [_Miner(config, sanitizer, spools=spools)]


def _reflect(batch: Batch) -> Outcome:
    return _of_process[0].reflect(batch)


def _with_files(
    project: Project, reflector: Reflector, candidates: Iterable[Candidate], history: History
) -> list[Candidate]:
    """Read the commits behind the best candidates again with their files, for anchors and what the diffs add."""
    from memx.repo.history import read_commits

    ranked = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.id))
    ranked = [*distinct(ranked[:_COMPARED], 2 * history.top), *ranked[_COMPARED:]]
    if history.top:
        ranked = ranked[: history.top * 2]
    of_commit: dict[str, list[Candidate]] = {}
    for candidate in ranked:
        if candidate.source.startswith("commit "):
            of_commit.setdefault(candidate.source.removeprefix("commit "), []).append(candidate)
    if not of_commit:
        return ranked
    by_id = {candidate.id: candidate for candidate in ranked}
    shas = sorted(of_commit)
    repository = require_repository(project)
    for start in range(0, len(shas), BATCH_COMMITS):
        commits = read_commits(
            repository,
            shas[start : start + BATCH_COMMITS],
            files=True,
            diffs=True,
            paths=CONFIG_PATHSPECS,
            no_walk=True,
        )
        for commit in commits:
            old = of_commit.get(commit.sha, [])
            new = _renewed(reflector, commit, old)
            for candidate in old:
                if any(candidate.text in other.text for other in new):
                    by_id.pop(candidate.id, None)
            by_id.update({candidate.id: candidate for candidate in new})
    return list(by_id.values())


def _renewed(reflector: Reflector, commit: Commit, known: list[Candidate]) -> list[Candidate]:
    """Return a commit's candidates with its files; only where these say more it is reflected on anew."""
    from memx.repo.squash import split_squash

    parts = split_squash(commit)
    if parts == [commit] and not reflector.shows_more(commit):
        return [reflector.anchored(candidate, commit) for candidate in known]
    return [candidate for part in parts for candidate in reflector.commit(part).candidates]
