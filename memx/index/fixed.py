"""An index of bullets that do not change: a store as it was at a revision."""

from __future__ import annotations

from memx.index.index import make_analyser, make_snapshot
from memx.index.linear import LinearIndex
from memx.index.packed import pack
from memx.index.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.index.vectors import Vectors
    from memx.model import Problem, StoredBullet


class FixedIndex:
    """Answers as `Index` does, from memory; nothing is written but vectors, which are kept by content."""

    follows_files = False
    """Whether its bullets are the state of the files now."""

    def __init__(
        self,
        bullets: Sequence[StoredBullet],
        vectors: Vectors | None = None,
        *,
        store: str = "project",
        problems: tuple[Problem, ...] = (),
    ) -> None:
        """Analyse the bullets."""
        self.store = store
        self.vectors = vectors
        self.analyser = make_analyser()
        packed = tuple(pack(stored, self.analyser) for stored in bullets)
        if vectors is not None:
            vectors.ensure(packed)
        self._snapshot = make_snapshot(packed, problems)

    def snapshot(self, *, fresh: bool = False, changed: Sequence[str] = ()) -> Snapshot:  # noqa: ARG002 (as Index)
        """Return the bullets; there is nothing to check."""
        return self._snapshot

    def linear(self, reason: str) -> Snapshot:
        """Return the same bullets without tantivy."""
        bullets = LinearIndex(self._snapshot.everything())
        return Snapshot(bullets, self._snapshot.scopes, self._snapshot.problems, degraded=f"index: {reason}")

    def recover(self) -> Snapshot:
        """Return the same: nothing on disk can be damaged."""
        return self._snapshot
