"""What the index stores of a bullet comes back whole, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.errors import IndexUnavailableError
from memx.index.aliases import canonical, parse_aliases, synonyms
from memx.index.analysis import Analyser
from memx.index.packed import dump, load, pack
from memx.model import Bullet, StoredBullet

ANALYSER = Analyser(lambda word: (word,))
names = st.tuples(st.text(max_size=8), st.text(max_size=8))


@given(st.text(max_size=80), names, st.none() | st.floats(-1e9, 1e11))
def test_dump_and_load_are_inverse(text: str, tags: tuple[str, ...], created: float | None) -> None:
    """Every field survives."""
    bullet = Bullet(id="x", text=text, tags=tags, created=created, supersedes=("y",))
    packed = pack(StoredBullet(bullet, "bullets/general/x.md"), ANALYSER, (1, 2, 3, 4))
    assert load(dump(packed)) == packed


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_flipped_byte_is_noticed(at: int, flip: int) -> None:
    """Tantivy does not notice one, so the checksum must."""
    data = bytearray(dump(pack(StoredBullet(Bullet(id="x", text="alpha beta"), "p"), ANALYSER)))
    data[at % len(data)] ^= flip
    with pytest.raises(IndexUnavailableError):
        load(bytes(data))


def test_facets_name_what_filters_ask_for() -> None:
    """Section, type, scope, tags without case, what it supersedes, and whether it is archived."""
    bullet = Bullet(id="x", text="t", section="tools", tags=("Redis",), supersedes=("old",))
    facets = pack(StoredBullet(bullet, "p", archived=True), ANALYSER).facets
    assert {"id:x", "section:tools", "scope:project", "tag:redis", "supersedes:old", "archived"} <= set(
        facets
    )


def test_aliases_lead_to_one_name() -> None:
    """k8s and Kubernetes are one; blanks in names become hyphens."""
    assert canonical("K8s") == canonical("kubernetes") == "kubernetes"
    assert canonical("GitHub Actions") == canonical("gha")
    assert canonical("Redis Cluster") == "redis-cluster"
    assert "kubernetes" in synonyms("k8s")
    assert synonyms("unheard-of") == ()
    assert parse_aliases("# no\n\na b\n") == {"a": "a", "b": "a"}
