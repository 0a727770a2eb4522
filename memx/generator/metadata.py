"""L3: what the bullet is about by its metadata: tools, entities, tags and anchors (0-10)."""

from __future__ import annotations

from memx.index.aliases import canonical
from memx.index.packed import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.generator.query import Query
    from memx.index.packed import PackedBullet

METADATA_MAX = 10.0

FILE_CREDIT = 1.0
FOLDER_CREDIT = 0.5
"""Credit of an anchor that is the given file, or that lies in its folder or names the folder."""


class MetadataMatcher:
    """Scores the overlap of the names in the query with the names on the bullet."""

    def score(self, query: Query, bullet: PackedBullet) -> float:
        """Return 0-10: the larger of the names' Jaccard index and the anchors' nearness."""
        return METADATA_MAX * max(jaccard(query, bullet), nearness(query.path, bullet.anchors))


def jaccard(query: Query, bullet: PackedBullet) -> float:
    """Return the Jaccard index of a query's names and a bullet's: of all of them, or of the kind where it is larger.

    |names of both| / |telling words of the query or names of the bullet|. A
    word of the query counts whether or not some bullet has it for a name:
    `git` alone asks for what is tagged so, in a question of eight words it
    hardly tells one such bullet from another. And a bullet that names five
    tools is tagged `dns` no less than one that names none.
    """
    mentioned = frozenset(query.names)
    if not any(f" {name} " in bullet.meta for name in mentioned):
        return 0.0
    others = max(0, query.telling - len(mentioned))
    kinds = (
        frozenset(filter(None, map(canonical, names)))
        for names in (bullet.tags, bullet.tools, bullet.entities)
    )
    return max(_overlap(mentioned, names, others) for names in (frozenset(bullet.meta.split()), *kinds))


def _overlap(mentioned: frozenset[str], names: frozenset[str], others: int) -> float:
    both = len(names & mentioned)
    return both / (len(names | mentioned) + others) if both else 0.0


def nearness(path: str, anchors: tuple[str, ...]) -> float:
    """Return 1 when an anchor names the file, a half when it names its folder or a neighbour, else 0."""
    if not path:
        return 0.0
    folder = path.rpartition("/")[0]
    best = 0.0
    for anchor in anchors:
        place = place_of(anchor)
        if place == path:
            return FILE_CREDIT
        if folder and (place.rpartition("/")[0] == folder or path.startswith(f"{place}/")):
            best = FOLDER_CREDIT
    return best
