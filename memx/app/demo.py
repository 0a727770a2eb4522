"""`memx demo`: a history distilled into a throw-away store, and asked.

Nothing is written into the repository that is shown: store, inbox and index lie
in a temporary folder.
"""

from __future__ import annotations

import os
import re

from memx.app.add import add
from memx.app.distil import History, Options, distil_history
from memx.app.project import Project
from memx.app.review import draft_of
from memx.errors import MemxError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memx.app.search import SearchAnswer
    from memx.model import Candidate

OWN_HISTORY_MIN = 500
"""A repository with fewer commits shows less than the embedded sample does."""
DEMO_TOP = 40
QUERIES = 2
QUERY_WORDS = (4, 8)
NEW_SHARE = 0.6
"""A sentence makes a question when the lesson says at most two fifths of its words."""
TRIED = 40
UNANSWERABLE = (
    "how do whales sleep under arctic ice",
    "which grapes make a dry white wine",
    "when did the pyramids get their limestone",
    "how long should sourdough bread prove",
    "who painted the ceiling of the chapel",
)
"""Questions about anything but software; the first of which no word is in the store is asked."""

_TRAILER = re.compile(r"[A-Z][\w-]*: ")
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3040-\u30ff\u4e00-\u9fff]{2,}")


@record
class Answered:
    """A query, where its words come from, the lesson that should come back, and what did."""

    query: str
    origin: str
    expected: str
    answer: SearchAnswer


@record
class Demo:
    """Everything that the demo shows."""

    repository: str
    is_sample: bool
    sources: int
    candidates: tuple[Candidate, ...]
    stored: int
    merged: int
    answers: tuple[Answered, ...]
    notes: tuple[str, ...] = ()


def choose_repository(cwd: str, environ: Mapping[str, str], path: str) -> str:
    """Return the work tree to show: the one asked for, the one around when it is long enough, or an empty string."""
    from memx.repo.discovery import discover
    from memx.repo.history import count_commits

    start = os.path.join(cwd, path) if path else cwd
    repository = discover(start, environ) if os.path.isdir(start) else None
    if repository is None or not repository.worktree:
        if path:
            raise MemxError("no git work tree here", path=path)
        return ""
    if path or count_commits(repository, "HEAD") >= OWN_HISTORY_MIN:
        return repository.worktree
    return ""


def run_demo(
    scratch: str,
    path: str,
    environ: Mapping[str, str],
    now: float,
    report: Callable[[int], None],
) -> Demo:
    """Distil the repository at `path` (empty: the sample) with everything below `scratch`, and ask it."""
    from memx.app.initialise import copy_template
    from memx.app.sample import build_sample

    is_sample = not path
    repository = build_sample(scratch, now) if is_sample else path
    project = Project(repository, environ, now, scratch=os.path.join(scratch, "memx"))
    copy_template(project.store_root)
    options = Options(mode="rules")
    distilled = distil_history(project, History(("HEAD",), top=DEMO_TOP), options, report)
    candidates = list(distilled.candidates)
    if is_sample:
        candidates += _sample_sessions(project, options)
    actions = [add(project, draft_of(candidate, accepted=now)).action for candidate in candidates]
    return Demo(
        repository,
        is_sample,
        distilled.sources,
        tuple(candidates),
        sum(action in ("written", "flagged") for action in actions),
        actions.count("merged"),
        tuple(_ask(project, candidates)),
        distilled.notes,
    )


def _sample_sessions(project: Project, options: Options) -> list[Candidate]:
    from memx.app.sample import SAMPLE_SESSIONS
    from memx.app.sessions import distil_sessions
    from memx.resources import resource

    found: list[Candidate] = []
    for name in SAMPLE_SESSIONS:
        found += distil_sessions(project, resource(f"demo/{name}"), "", options).candidates
    return found


def _ask(project: Project, candidates: Iterable[Candidate]) -> list[Answered]:
    """Ask two questions in words of the sources that the bullets do not use, and one about something else."""
    asked = [
        Answered(query, sentence, candidate.id, _search(project, query))
        for candidate, sentence, query in _questions(project, candidates)[:TRIED]
    ]
    answered = sorted(asked, key=_rank)[:QUERIES]
    return [*answered, _ask_in_vain(project, candidates)]


def _ask_in_vain(project: Project, candidates: Iterable[Candidate]) -> Answered:
    """Ask about something that no lesson speaks of."""
    said = {word for candidate in candidates for word in _WORD.findall(candidate.text.casefold())}
    strange = [query for query in UNANSWERABLE if not said.intersection(query.split())]
    asked = [Answered(query, "", "", _search(project, query)) for query in strange or UNANSWERABLE]
    return min(asked, key=lambda one: len(one.answer.hits))


def _rank(asked: Answered) -> int:
    """Return the place of the expected lesson among the hits; after all of them when it is not there."""
    ids = [hit.id for hit in asked.answer.hits]
    return ids.index(asked.expected) if asked.expected in ids else len(ids) + 1


def _questions(project: Project, candidates: Iterable[Candidate]) -> list[tuple[Candidate, str, str]]:
    """Return (lesson, sentence of its commit, words of it that the lesson does not use), the most telling first."""
    from memx.repo.history import read_commits

    by_commit = {c.source.removeprefix("commit "): c for c in candidates if c.source.startswith("commit ")}
    if not by_commit or project.repository is None:
        return []
    found: list[tuple[Candidate, str, str]] = []
    for commit in read_commits(project.repository, list(by_commit), no_walk=True):
        candidate = by_commit[commit.sha]
        said = set(_WORD.findall(candidate.text.casefold()))
        for sentence in _sentences(commit.message):
            words = list(dict.fromkeys(_WORD.findall(sentence.casefold())))
            new = [word for word in words if not _is_said(word, said)]
            if len(new) >= QUERY_WORDS[0] and len(new) >= NEW_SHARE * len(words):
                found.append((candidate, sentence, " ".join(new[: QUERY_WORDS[1]])))
    found.sort(key=lambda item: (-item[0].score, -len(item[2]), item[2]))
    best: dict[str, tuple[Candidate, str, str]] = {}
    for question in found:
        best.setdefault(question[0].id, question)
    return list(best.values())


def _sentences(message: str) -> list[str]:
    paragraphs = message.split("\n\n")[1:]
    text = " ".join(" ".join(part for part in paragraphs if not _TRAILER.match(part)).split())
    return [part.strip() for part in re.split(r"(?<=[.!?;])\s+|(?<=[。！？])", text) if part.strip()]


def _is_said(word: str, said: set[str]) -> bool:
    return any(word.startswith(other[:5]) or other.startswith(word[:5]) for other in said)


def _search(project: Project, query: str) -> SearchAnswer:
    from memx.app.recall import recall
    from memx.app.search import SearchRequest

    return recall(project, SearchRequest(query), is_counted=False)
