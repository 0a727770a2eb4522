"""One store as a search sees it: the index, with changed files laid over it."""

from __future__ import annotations

from memx.index.linear import LinearIndex
from memx.index.query import NO_FILTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memx.index.freshness import Stat
    from memx.index.lexical import LexicalIndex
    from memx.index.packed import PackedBullet
    from memx.index.query import Filters, LexicalQuery
    from memx.model import Problem

    Source = LexicalIndex | LinearIndex

_NOTHING = LinearIndex()


class Snapshot:
    """Bullets of one store that answer a search; what changed since the index was written hides its old form.

    `check_due`: somebody should refresh the index after this search.
    `checks_hits`: not every file was checked, so the hits' own files must be; `stat_of` says what state of a
    file the index was last compared with.
    `degraded`: what is missing, empty when nothing is.
    """

    def __init__(
        self,
        base: Source,
        scopes: tuple[str, ...] = (),
        problems: tuple[Problem, ...] = (),
        *,
        overlay: Source = _NOTHING,
        masked: tuple[str, ...] = (),
        check_due: bool = False,
        checks_hits: bool = False,
        stat_of: Callable[[str], Stat | None] | None = None,
        degraded: str = "",
    ) -> None:
        """Lay `overlay` over `base`, of which the paths `masked` no longer hold."""
        self._base = base
        self._overlay = overlay
        self._masked = frozenset(masked)
        self._hidden = LinearIndex(base.with_paths(masked)) if masked else _NOTHING
        self.scopes = scopes
        self.problems = problems
        self.check_due = check_due
        self.checks_hits = checks_hits
        self._stat_of = stat_of
        self.degraded = degraded

    @property
    def is_linear(self) -> bool:
        """Whether it answers without tantivy."""
        return isinstance(self._base, LinearIndex)

    def is_current(self, bullet: PackedBullet, state: Stat | None) -> bool:
        """Return whether a bullet is what its file says, which is in this state now; None: which is gone.

        Where every file was checked, a bullet may still have no file: another process found it before it went
        away, and wrote the index after our check.
        """
        if state is None:
            return False
        if not self.checks_hits or state == bullet.stat:
            return True
        # What came back with its branch was indexed from another file of the same content, and what was touched
        # from the same file in another state.
        return self._stat_of is not None and self._stat_of(bullet.path) == state

    @property
    def size(self) -> int:
        """The number of bullets."""
        return self._base.size - self._hidden.size + self._overlay.size

    def count(self, view: str, term: str) -> int:
        """Return how many bullets hold a term."""
        hidden = self._hidden.count(view, term)
        return self._base.count(view, term) - hidden + self._overlay.count(view, term)

    def candidates(self, query: LexicalQuery, limit: int) -> list[PackedBullet]:
        """Return candidates for a query, at most `limit` of the index and `limit` of the changed files."""
        base = self._base.candidates(query, limit + len(self._masked))
        return self._visible(base) + self._overlay.candidates(query, limit)

    def holding(self, terms: Sequence[str], filters: Filters, limit: int) -> list[PackedBullet]:
        """Return bullets that hold all of these exact terms, at most `limit` of the index and of the changed files."""
        base = self._base.holding(terms, filters, limit + len(self._masked))
        return self._visible(base) + self._overlay.holding(terms, filters, limit)

    def with_keys(self, keys: Sequence[bytes], filters: Filters = NO_FILTERS) -> list[PackedBullet]:
        """Return the bullets whose vectors have these keys."""
        return self._visible(self._base.with_keys(keys, filters)) + self._overlay.with_keys(keys, filters)

    def with_facet(self, facet: str, limit: int = 100) -> list[PackedBullet]:
        """Return bullets that have a facet such as `id:k3v9q2m7xa`."""
        base = self._base.with_facet(facet, limit + len(self._masked))
        return self._visible(base) + self._overlay.with_facet(facet, limit)

    def leading(self, limit: int, filters: Filters = NO_FILTERS) -> list[PackedBullet]:
        """Return the bullets that may weigh most, whatever the question: about `limit`, in no particular order.

        Among them are all pinned ones, and the best by instructivity and age and by recalls in their files.
        """
        base = self._base.leading(limit + len(self._masked), filters)
        return self._visible(base) + self._overlay.leading(limit, filters)

    def everything(self) -> list[PackedBullet]:
        """Return all bullets."""
        return self._visible(self._base.everything()) + self._overlay.everything()

    def _visible(self, bullets: list[PackedBullet]) -> list[PackedBullet]:
        if not self._masked:
            return bullets
        return [bullet for bullet in bullets if bullet.path not in self._masked]
