"""`memx stats`: what the store holds, what waits, and what an LLM cost."""

from __future__ import annotations

from collections import Counter

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.app.project import Project


@record
class Stats:
    """Counts of bullets, of what waits for a person (inbox) and for the LLM (queued)."""

    bullets: int
    archived: int
    sections: tuple[tuple[str, int], ...]
    types: tuple[tuple[str, int], ...]
    inbox: int
    queued: int


def count(project: Project) -> Stats:
    """Count; a repository without a store has none."""
    from memx.app.llm import Queue

    has_store = project.has_store
    live, archived = (
        [s.bullet for s in project.store.scan(a)[0]] if has_store else [] for a in (False, True)
    )
    return Stats(
        len(live),
        len(archived),
        _ranked(Counter(bullet.section for bullet in live)),
        _ranked(Counter(bullet.type for bullet in live)),
        len(project.inbox.ids()),
        len(Queue(project.state_dir).ids()),
    )


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
