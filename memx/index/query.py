"""What a lexical index is asked for; plain values, so that asking needs no tantivy."""

from __future__ import annotations

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.index.analysis import Term
    from memx.index.packed import PackedBullet


@record
class Filters:
    """Which bullets may be candidates at all: facets that must be there, and that must not."""

    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()

    def admit(self, bullet: PackedBullet) -> bool:
        """Return whether a bullet passes."""
        facets = bullet.facets
        return all(f in facets for f in self.required) and not any(f in facets for f in self.forbidden)


NO_FILTERS = Filters()


@record
class LexicalQuery:
    """Terms, canonical names of things, spellings to try with their edit distances, filters."""

    terms: tuple[Term, ...]
    names: tuple[str, ...] = ()
    fuzzy: tuple[tuple[str, int], ...] = ()
    filters: Filters = NO_FILTERS
