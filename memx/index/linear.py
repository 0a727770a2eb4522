"""The lexical index without tantivy: a plain list that answers the same questions.

It holds the few bullets that changed since the index was written, and it is
the whole index when tantivy cannot be loaded: slower, never wrong.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memx.index.analysis import Term
    from memx.index.packed import PackedBullet
    from memx.index.query import Filters, LexicalQuery


class LinearIndex:
    """Bullets in memory, scanned one after another."""

    def __init__(self, bullets: Iterable[PackedBullet] = ()) -> None:
        """Hold the bullets in a stable order."""
        self._bullets = sorted(bullets, key=lambda bullet: bullet.path)

    @property
    def size(self) -> int:
        """The number of bullets."""
        return len(self._bullets)

    def count(self, view: str, term: str) -> int:
        """Return how many bullets hold a term of a view, or a facet."""
        if not self._bullets:
            return 0
        if view == "facet":
            return sum(term in bullet.facets for bullet in self._bullets)
        needle = f" {term} "
        return sum(needle in getattr(bullet, view) for bullet in self._bullets)

    def candidates(self, query: LexicalQuery, limit: int) -> list[PackedBullet]:
        """Return the bullets that share the most with the query, at most `limit`.

        When few bullets are held, all that pass the filters are candidates: a
        misspelt word has no cheap test.
        """
        admitted = [bullet for bullet in self._bullets if query.filters.admit(bullet)]
        if len(admitted) <= limit:
            return admitted
        ranked = sorted(admitted, key=lambda bullet: (-shared(query, bullet), bullet.path))
        return ranked[:limit]

    def holding(self, terms: Sequence[str], filters: Filters, limit: int) -> list[PackedBullet]:
        """Return bullets that hold all of these exact terms, at most `limit`."""
        needles = [f" {term} " for term in terms]
        found = (b for b in self._bullets if all(needle in b.exact for needle in needles))
        return [bullet for bullet in found if filters.admit(bullet)][:limit]

    def with_keys(self, keys: Sequence[bytes], filters: Filters) -> list[PackedBullet]:
        """Return the bullets whose vectors have these keys."""
        wanted = frozenset(keys)
        return [b for b in self._bullets if b.vector_key in wanted and filters.admit(b)]

    def with_facet(self, facet: str, limit: int = 100) -> list[PackedBullet]:
        """Return bullets that have a facet such as `id:k3v9q2m7xa`."""
        return [bullet for bullet in self._bullets if facet in bullet.facets][:limit]

    def with_paths(self, paths: Sequence[str]) -> list[PackedBullet]:
        """Return the bullets at these paths."""
        wanted = frozenset(paths)
        return [bullet for bullet in self._bullets if bullet.path in wanted]

    def leading(self, limit: int, filters: Filters) -> list[PackedBullet]:  # noqa: ARG002 (the same signature)
        """Return the bullets that may weigh most: here all that pass, for they are in memory already."""
        return [bullet for bullet in self._bullets if filters.admit(bullet)]

    def everything(self) -> list[PackedBullet]:
        """Return all bullets."""
        return list(self._bullets)


def shared(query: LexicalQuery, bullet: PackedBullet) -> float:
    """Return a rough count of what a bullet shares with a query: enough to cut a long list."""
    found = sum(_shared_by_term(term, bullet) for term in query.terms)
    return found + sum(f" {name} " in bullet.meta for name in query.names)


def _shared_by_term(term: Term, bullet: PackedBullet) -> float:
    if f" {term.exact} " in bullet.exact:
        return 1.0
    if any(f" {stem} " in bullet.stems for stem in term.stems):
        return 0.7
    if not term.pieces:
        return 0.0
    found = sum(any(f" {stem} " in bullet.stems for stem in piece) for piece in term.pieces)
    return 0.5 * found / len(term.pieces)
