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
from memx.index.dense.text import embedding_key
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash as Hash
    from typing import Any

    from memx.index.analysis import Analyser
    from memx.model import StoredBullet

PACKED_VERSION = 6

SECONDS_PER_DAY, HALF_LIFE_DAYS, PERMANENT_RECALLS = 86_400.0, 30.0, 15

NO_STAT = (0, 0, 0, 0)

_ONE_WORD = {ord(char): f"\x1b{number}" for number, char in enumerate("\x1b \t\n\r\f")}
"""What ends a word in the index, and the sign that stands for it."""


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
        return tuple(_facets(values_of(self)))


FIELDS = tuple(PackedBullet.__annotations__)
_ID, _PATH, _ARCHIVED, _STAT = map(FIELDS.index, ("id", "path", "archived", "stat"))
_KEY, _EXACT, _STEMS, _META = map(FIELDS.index, ("vector_key", "exact", "stems", "meta"))
_SECTION, _TYPE, _SCORE, _SCOPE = map(FIELDS.index, ("section", "type", "score", "scope"))
_RECALLS, _TAGS, _ANCHORS = map(FIELDS.index, ("recall_count", "tags", "anchors"))
_CREATED, _UPDATED, _ACCEPTED = map(FIELDS.index, ("created", "updated", "accepted"))
_HALF_LIFE, _PINNED, _SUPERSEDES = map(FIELDS.index, ("half_life_days", "pinned", "supersedes"))
TAKEN = FIELDS[FIELDS.index("text") :]
"""The fields that are those of the bullet itself, as they are."""


def place_of(anchor: str) -> str:
    """Return the file or folder of an anchor, without the symbol or the lines in it."""
    return anchor.partition("#")[0].partition(":")[0].rstrip("/")


def worth(packed: PackedBullet) -> int:
    """Return what orders bullets by decay weight times instructivity, whatever the time: in millionths.

    weight × score = 2^((begun - now) / half-life) × (1 + 0.1 × recalls) × score, and in its logarithm `now` is the
    same for all. Half-lives and boosts that are not the defaults, and the limits of the weight, are left to
    whoever weighs the few best exactly.
    """
    return _worth(values_of(packed))


def pack(stored: StoredBullet, analyser: Analyser, stat: tuple[int, int, int, int] = NO_STAT) -> PackedBullet:
    """Analyse a bullet once for all searches to come."""
    bullet = stored.bullet
    taken = tuple([getattr(bullet, name) for name in TAKEN])
    return PackedBullet(
        *pack_values(bullet.id, taken, stored.path, stored.store, stored.archived, stat, analyser)
    )


def pack_values(
    identifier: str,
    taken: tuple[Any, ...],
    path: str,
    store: str,
    archived: bool,  # noqa: FBT001 (a value among values)
    stat: tuple[int, int, int, int],
    analyser: Analyser,
    sha256: Callable[[bytes], Hash] | None = None,
) -> tuple[Any, ...]:
    """Return the values of a PackedBullet; `taken` are those of TAKEN. A rebuild makes no records of its bullets."""
    text, _, _, _, _, _, title, tags, tools, entities, *_ = taken
    if title:
        text = f"{title}\n{text}"
    names = (*tags, *tools, *entities)
    # A name on the bullet is one of its words: who asks for `redis` means the bullet tagged so, too.
    exact, stems, length = analyser.views(f"{text}\n{' '.join(names)}")
    meta = " ".join(dict.fromkeys(filter(None, map(canonical, names))))
    key = embedding_key(text, sha256)
    return (identifier, path, store, archived, stat, key, exact, stems, f" {meta} ", length, *taken)


def values_of(packed: PackedBullet) -> tuple[Any, ...]:
    """Return the fields of a packed bullet in their order."""
    return tuple([getattr(packed, name) for name in FIELDS])


def dump(packed: PackedBullet) -> bytes:
    """Return the bytes that the index stores."""
    return dump_values(values_of(packed))


def dump_values(values: tuple[Any, ...]) -> bytes:
    """Return the same of the values of a packed bullet."""
    # Version 2 looks for no repeated objects, of which there are none: a third of the time.
    data = marshal.dumps(values, 2)
    return crc32(data).to_bytes(4, "little") + data


def entry(values: tuple[Any, ...]) -> dict[str, Any]:
    """Return what the index is given of a packed bullet, by the names of its fields.

    `proof` orders bullets by recalls, and by instructivity those that enough of them have made permanent.
    """
    recalls = min(max(0, values[_RECALLS]), PERMANENT_RECALLS)
    return {
        "path": values[_PATH],
        "key": key_number(values[_KEY]),
        "facet": _facet_view(_facets(values)),
        "exact": values[_EXACT],
        "stems": values[_STEMS],
        "meta": values[_META],
        "worth": _worth(values),
        "proof": recalls * 101 + values[_SCORE],
        "packed": dump_values(values),
    }


def key_number(key: bytes) -> int:
    """Return the number that stands for the key of a vector in the index: half of it, which is enough to find it by."""
    return int.from_bytes(key[:8], "little")


def facet_term(facet: str) -> str:
    """Return a facet as the index holds it: one word, since there a blank ends one."""
    return facet.translate(_ONE_WORD) if " " in facet or not facet.isprintable() else facet


def _facet_view(facets: list[str]) -> str:
    view = " ".join(facets)
    is_plain = view.count(" ") == len(facets) - 1 and view.isprintable()
    return view if is_plain else " ".join(map(facet_term, facets))


def _facets(values: tuple[Any, ...]) -> list[str]:
    found = [
        "bullet",
        f"id:{values[_ID]}",
        f"section:{values[_SECTION]}",
        f"type:{values[_TYPE]}",
        f"scope:{values[_SCOPE]}",
        *[f"tag:{tag.casefold()}" for tag in values[_TAGS]],
    ]
    anchors = values[_ANCHORS]
    if values[_SUPERSEDES]:
        found += [f"supersedes:{other}" for other in values[_SUPERSEDES]]
    if anchors:
        found += dict.fromkeys([f"anchor:{place_of(anchor)}" for anchor in anchors])
        found.append("anchored")
    if values[_PINNED]:
        found.append("pinned")
    if values[_ARCHIVED]:
        found.append("archived")
    return found


def _worth(values: tuple[Any, ...]) -> int:
    created, updated, accepted = values[_CREATED], values[_UPDATED], values[_ACCEPTED]
    if updated is None and accepted is None:
        begun = created
    else:
        begun = max(time for time in (created, updated, accepted) if time is not None)
    days: float = (values[_STAT][0] / 1e9 if begun is None else begun) / SECONDS_PER_DAY
    value: float = (1 + 0.1 * max(0, values[_RECALLS])) * max(1, values[_SCORE])
    return max(0, round(1e6 * (days / (values[_HALF_LIFE] or HALF_LIFE_DAYS) + log2(value))))


def load(data: bytes) -> PackedBullet:
    """Return what `dump` was given; raises IndexUnavailableError for damaged bytes."""
    return PackedBullet(*_values(data))


def _values(data: bytes) -> tuple[Any, ...]:
    body = data[4:]
    if crc32(body) != int.from_bytes(data[:4], "little"):
        raise IndexUnavailableError("the index holds damaged bytes", hint="memx reindex")
    values: tuple[Any, ...] = marshal.loads(body)  # noqa: S302 (our own cache, behind a checksum)
    return values
