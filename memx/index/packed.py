"""A bullet as the index stores it: every field of a hit, and its text analysed once.

A search unpacks about a hundred of these and must not parse anything again, so
they are marshalled tuples in the order of `PackedBullet`, behind a checksum:
tantivy does not notice a flipped byte.
"""

from __future__ import annotations

import marshal
from binascii import crc32
from math import log2

from memx.errors import IndexUnavailableError
from memx.index.aliases import canonical
from memx.index.dense.text import embedding_key, embedding_text
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memx.index.analysis import Analyser
    from memx.model import StoredBullet

PACKED_VERSION = 5

SECONDS_PER_DAY, HALF_LIFE_DAYS, PERMANENT_RECALLS = 86_400.0, 30.0, 15

NO_STAT = (0, 0, 0, 0)


@record
class PackedBullet:
    """All that a search needs to know of one bullet.

    `stat` is (mtime_ns, size, inode, ctime_ns) of the file that was read;
    `vector_key` names the vector of `embedding_text`; the views are those of
    memx.index.analysis and `length` counts the terms of the exact one.
    """

    id: str
    path: str
    store: str
    archived: bool
    stat: tuple[int, int, int, int]
    vector_key: bytes
    exact: str
    stems: str
    meta: str
    length: int
    text: str
    section: str
    type: str
    score: int
    scope: str
    recall_count: int
    title: str
    tags: tuple[str, ...]
    tools: tuple[str, ...]
    entities: tuple[str, ...]
    anchors: tuple[str, ...]
    created: float | None
    updated: float | None
    accepted: float | None
    source: str
    half_life_days: float | None
    pinned: bool
    supersedes: tuple[str, ...]
    conflicts_with: tuple[str, ...]
    disputed: float | None = None

    @property
    def facets(self) -> tuple[str, ...]:
        """Return the terms that filters look for."""
        tags = tuple(f"tag:{tag.casefold()}" for tag in self.tags)
        return (
            "bullet",
            f"id:{self.id}",
            f"section:{self.section}",
            f"type:{self.type}",
            f"scope:{self.scope}",
            *tags,
            *(f"supersedes:{other}" for other in self.supersedes),
            *dict.fromkeys(f"anchor:{place_of(anchor)}" for anchor in self.anchors),
            *(("anchored",) if self.anchors else ()),
            *(("pinned",) if self.pinned else ()),
            *(("archived",) if self.archived else ()),
        )


FIELDS = tuple(PackedBullet.__annotations__)
_STAT = FIELDS.index("stat")


def place_of(anchor: str) -> str:
    """Return the file or folder of an anchor, without the symbol or the lines in it."""
    return anchor.partition("#")[0].partition(":")[0].rstrip("/")


def worth(packed: PackedBullet) -> int:
    """Return what orders bullets by decay weight times instructivity, whatever the time: in millionths.

    weight × score = 2^((begun - now) / half-life) × (1 + 0.1 × recalls) × score, and in its logarithm `now` is the
    same for all. Half-lives and boosts that are not the defaults, and the limits of the weight, are left to
    whoever weighs the few best exactly.
    """
    begun = max((t for t in (packed.created, packed.updated, packed.accepted) if t is not None), default=None)
    days = (packed.stat[0] / 1e9 if begun is None else begun) / SECONDS_PER_DAY
    value = (1 + 0.1 * max(0, packed.recall_count)) * max(1, packed.score)
    return max(0, round(1e6 * (days / (packed.half_life_days or HALF_LIFE_DAYS) + log2(value))))


def proof(packed: PackedBullet) -> int:
    """Return what orders bullets by recalls, and by instructivity those that enough of them have made permanent."""
    return min(max(0, packed.recall_count), PERMANENT_RECALLS) * 101 + packed.score


def pack(stored: StoredBullet, analyser: Analyser, stat: tuple[int, int, int, int] = NO_STAT) -> PackedBullet:
    """Analyse a bullet once for all searches to come."""
    bullet = stored.bullet
    text = embedding_text(bullet)
    names = (*bullet.tags, *bullet.tools, *bullet.entities)
    # A name on the bullet is one of its words: who asks for `redis` means the bullet tagged so, too.
    exact, stems, length = analyser.views(f"{text}\n{' '.join(names)}")
    meta = dict.fromkeys(filter(None, map(canonical, names)))
    return PackedBullet(
        id=bullet.id,
        path=stored.path,
        store=stored.store,
        archived=stored.archived,
        stat=stat,
        vector_key=embedding_key(text),
        exact=exact,
        stems=stems,
        meta=f" {' '.join(meta)} ",
        length=length,
        text=bullet.text,
        section=bullet.section,
        type=bullet.type,
        score=bullet.score,
        scope=bullet.scope,
        recall_count=bullet.recall_count,
        title=bullet.title,
        tags=bullet.tags,
        tools=bullet.tools,
        entities=bullet.entities,
        anchors=bullet.anchors,
        created=bullet.created,
        updated=bullet.updated,
        accepted=bullet.accepted,
        source=bullet.source,
        half_life_days=bullet.half_life_days,
        pinned=bullet.pinned,
        supersedes=bullet.supersedes,
        conflicts_with=bullet.conflicts_with,
        disputed=bullet.disputed,
    )


def dump(packed: PackedBullet) -> bytes:
    """Return the bytes that the index stores."""
    from operator import attrgetter  # not needed by a search

    # Version 2 looks for no repeated objects, of which there are none: a third of the time.
    data = marshal.dumps(attrgetter(*FIELDS)(packed), 2)
    return crc32(data).to_bytes(4, "little") + data


def load(data: bytes) -> PackedBullet:
    """Return what `dump` was given; raises IndexUnavailableError for damaged bytes."""
    return PackedBullet(*_values(data))


def load_moved(data: bytes, stat: tuple[int, int, int, int]) -> PackedBullet:
    """Return the same as of a file with another stat."""
    values = list(_values(data))
    values[_STAT] = stat
    return PackedBullet(*values)


def _values(data: bytes) -> tuple[Any, ...]:
    body = data[4:]
    if crc32(body) != int.from_bytes(data[:4], "little"):
        raise IndexUnavailableError("the index holds damaged bytes", hint="memx reindex")
    values: tuple[Any, ...] = marshal.loads(body)  # noqa: S302 (our own cache, behind a checksum)
    return values
