"""Every bullet of a store against its nearest neighbours: what `dedup` and `conflicts` are made of.

The pairs come from blocks of vector scans, so nothing is quadratic in Python.
Without a model a small store is compared pair by pair, and a large one only
where texts are the same.
"""

from __future__ import annotations

import os

from memx.app.curate import NOMINATE_COSINE, NOMINATE_LIMIT
from memx.errors import IndexUnavailableError, ModelUnavailableError
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memx.app.project import Project
    from memx.config import CuratorConfig
    from memx.curator.groups import JudgedPair
    from memx.model import Bullet

    Report = Callable[[str, int, int], None]

MANY_BULLETS = 20_000
NEIGHBOURS_OF_MANY = 5
"""Above so many bullets fewer neighbours of each are judged: a fifth one says little that the nearest did not."""
PARALLEL_ABOVE = 2000
"""Fewer bullets are judged in this process: starting others would take longer."""
BATCH_PAIRS = 4000
DEMANDS_LIMIT = 20_000
"""Pairs of a text that calls something enough and one that asks for more; above this only near ones are judged."""
ADEQUACY_LIMIT = 4000
"""Texts with a word for one of the two that are read for it: more would form too many pairs in any case."""
FEW_BULLETS = 300
"""Without vectors, up to here every pair is judged."""


def silent(stage: str, done: int, total: int) -> None:
    """Report to nobody."""


@record
class Node:
    """A text that takes part: a live bullet, or one that a live bullet has absorbed."""

    name: str
    bullet: Bullet


class Survey:
    """The pairs of near nodes, judged; names are unique and sorted, so the outcome knows no order."""

    def __init__(self, project: Project, nodes: Mapping[str, Bullet], report: Report = silent) -> None:
        """Embed what has no vector yet; `degraded` says why the vectors are missing, if they are."""
        self._project = project
        self._report = report
        self._texts = {name: nodes[name].text for name in sorted(nodes)}
        self.degraded = ""
        try:
            self._rows = _rows_of(project, {name: nodes[name] for name in self._texts})
        except (ModelUnavailableError, IndexUnavailableError) as error:
            self._rows = {}
            self.degraded = str(error)

    def pairs(self) -> Iterator[JudgedPair]:
        """Yield what is not independent among the nominated pairs."""
        cores = os.cpu_count() or 1
        config = self._project.config.curator
        nominated = self._nominated()
        batches = _batched(nominated)
        if cores < 2 or len(self._texts) <= PARALLEL_ABOVE:  # noqa: PLR2004 (one core cannot share)
            judged: Iterator[list[JudgedPair]] = (_judge(batch, config, self._texts) for batch in batches)
        else:
            from memx.app.cores import map_on_cores

            judged = map_on_cores(
                _judge, batches, config, cores=cores, prepare=_share_texts, prepared=(self._texts,)
            )
        done = 0
        for batch in judged:
            done += BATCH_PAIRS
            self._report("judged", min(done, len(nominated)), len(nominated))
            yield from batch

    def judge(self, pairs: list[tuple[str, str]]) -> Iterator[JudgedPair]:
        """Judge pairs that were not nominated, with their exact cosines."""
        from memx.curator.groups import judge_pairs

        near = ((a, b, self._cosine(a, b)) for a, b in pairs)
        return judge_pairs(self._texts, near, self._project.config.curator)

    def _cosine(self, a: str, b: str) -> float:
        from memx.index.dense.scan import cosine

        left, right = self._rows.get(a), self._rows.get(b)
        return cosine(left, right) if left is not None and right is not None else 0.0

    def _nominated(self) -> list[tuple[str, str, float]]:
        """Return each pair once; those of one text come close together, so that texts read last are remembered."""
        names = list(self._texts)
        count = len(names)
        place = {name: at for at, name in enumerate(names)}
        cosines: dict[int, float] = {}
        for a, b, cosine in self._candidates():
            low, high = sorted((place[a], place[b]))
            cosines.setdefault(low * count + high, cosine)
        return [(names[at // count], names[at % count], cosines[at]) for at in walk(cosines, count)]

    def _candidates(self) -> Iterator[tuple[str, str, float]]:
        from memx.store.naming import bullet_id

        by_text: dict[str, str] = {}
        for name, text in self._texts.items():
            first = by_text.setdefault(bullet_id(text), name)
            if first != name:
                yield first, name, 1.0
        if self._rows:
            yield from self._near()
            yield from self._demands()
        elif len(self._texts) <= FEW_BULLETS:
            names = list(self._texts)
            yield from ((a, b, 0.0) for at, a in enumerate(names) for b in names[at + 1 :])

    def _demands(self) -> Iterator[tuple[str, str, float]]:
        """Yield what calls a quantity enough with what demands more: fragments that no vector brings together."""
        from memx.curator.contradiction import adequacy, asks_for_more, may_speak_of_adequacy

        sides: dict[int, list[str]] = {1: [], -1: []}
        speaking = [name for name, text in self._texts.items() if may_speak_of_adequacy(text)]
        if len(speaking) > ADEQUACY_LIMIT:
            return
        for name in speaking:
            side = adequacy(self._texts[name])
            if side:
                sides[side].append(name)
        if len(sides[1]) * len(sides[-1]) > DEMANDS_LIMIT:
            return
        for a in sides[1]:
            for b in sides[-1]:
                if asks_for_more(self._texts[a], self._texts[b]):
                    yield a, b, self._cosine(a, b)

    def _near(self) -> Iterator[tuple[str, str, float]]:
        from memx.index.dense.neighbours import near_pairs

        names = list(self._rows)
        rows = [self._rows[name] for name in names]
        total = len(names)
        limit = NOMINATE_LIMIT if total <= MANY_BULLETS else NEIGHBOURS_OF_MANY

        def advance(done: int) -> None:
            self._report("compared", done, total)

        for i, j, cosine in near_pairs(rows, limit, NOMINATE_COSINE, advance):
            yield names[i], names[j], cosine


def _rows_of(project: Project, bullets: Mapping[str, Bullet]) -> dict[str, bytes]:
    """Return the vectors by name, in the order given; a text that the model knows nothing of has none."""
    from memx.app.index import open_vectors
    from memx.index.dense.text import embedding_key, embedding_text

    vectors = open_vectors(project)
    texts = {name: embedding_text(bullet) for name, bullet in bullets.items()}
    keys = {name: embedding_key(text) for name, text in texts.items()}
    wanted = {keys[name]: text for name, text in texts.items()}
    for key in vectors.store.has(wanted):
        del wanted[key]
    if wanted:
        vectors.add(wanted)
    rows = vectors.store.get_many(set(keys.values()))
    return {name: rows[key] for name, key in keys.items() if key in rows}


_shared: dict[str, str] = {}


def _share_texts(texts: dict[str, str]) -> None:
    """Give a worker the texts once, not with every batch."""
    _shared.update(texts)


def _judge(
    batch: list[tuple[str, str, float]], config: CuratorConfig, texts: Mapping[str, str] | None = None
) -> list[JudgedPair]:
    """Judge a batch of pairs and return what is not independent."""
    from memx.curator.groups import judge_pairs

    judged = judge_pairs(_shared if texts is None else texts, batch, config)
    return [pair for pair in judged if pair.verdict.action != "independent"]


def walk(pairs: Iterable[int], count: int) -> Iterator[int]:
    """Yield pairs of nodes (low × count + high) along the graph that they form, each once.

    A node's pairs follow one another, and those of the neighbour met last come next: of 13,788 pairs of 4,477
    texts this reads each text 1.7 times with a memory for 8 % of them, breadth first 2.2 times.
    """
    edges: dict[int, list[int]] = {}
    for pair in pairs:
        for node in divmod(pair, count):
            edges.setdefault(node, []).append(pair)
    done: set[int] = set()
    for start in sorted(edges):
        waiting = [start]
        while waiting:
            node = waiting.pop()
            for pair in edges.pop(node, ()):
                if pair not in done:
                    done.add(pair)
                    yield pair
                    low, high = divmod(pair, count)
                    waiting.append(high if low == node else low)


def _batched(pairs: Iterable[tuple[str, str, float]]) -> Iterator[list[tuple[str, str, float]]]:
    batch: list[tuple[str, str, float]] = []
    for pair in pairs:
        batch.append(pair)
        if len(batch) == BATCH_PAIRS:
            yield batch
            batch = []
    if batch:
        yield batch
