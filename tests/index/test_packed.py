"""What the index stores of a bullet comes back whole, or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.errors import IndexUnavailableError
from memx.index.aliases import canonical, parse_aliases, synonyms
from memx.index.analysis import Analyser
from memx.index.lexical import BLOCK_BYTES, LexicalIndex
from memx.index.packed import dump, entry, facet_term, load, pack, values_of
from memx.model import Bullet, StoredBullet

if TYPE_CHECKING:
    from pathlib import Path

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


def test_stored_bullets_lie_in_small_blocks(tmp_path: Path) -> None:
    """A search unpacks a block for nearly every bullet that it looks at."""
    index = LexicalIndex.create(str(tmp_path))
    index.apply([pack(StoredBullet(Bullet(id="x", text="alpha"), "p"), ANALYSER)], bulk=True)
    settings = json.loads((tmp_path / "meta.json").read_text())["index_settings"]
    assert settings["docstore_blocksize"] == BLOCK_BYTES
    assert [bullet.text for bullet in LexicalIndex.open(str(tmp_path)).everything()] == ["alpha"]


@given(st.text(max_size=6), st.text(max_size=6))
def test_facet_is_one_word_of_the_index_and_no_other(first: str, second: str) -> None:
    """Whatever a tag or the name of a file holds: a blank ends a word there."""
    terms = facet_term(first), facet_term(second)
    assert (first == second) == (terms[0] == terms[1])
    assert not any(blank in term for blank in " \t\n\r\f" for term in terms)


def test_facets_with_blanks_are_found() -> None:
    """Filters ask for them as the bullet has them, and parts of them are no facets."""
    index = LexicalIndex.in_memory()
    bullet = Bullet(
        id="x", text="alpha", tags=("two words", "tab\tbed"), anchors=("my file.py#f",), supersedes=("old",)
    )
    packed = pack(StoredBullet(bullet, "p"), ANALYSER)
    index.apply([packed], bulk=True)
    assert all(index.with_facet(facet) == [packed] for facet in packed.facets)
    assert [index.count("facet", facet) for facet in packed.facets] == [1] * len(packed.facets)
    assert index.with_facet("words") == index.with_facet("tag:two") == []


def test_bullets_are_found_by_the_keys_of_their_vectors() -> None:
    """Few keys and many are looked for in different ways; what shares half a key with another is not it."""
    index = LexicalIndex.in_memory()
    packed = [pack(StoredBullet(Bullet(id="x", text=f"alpha {n}"), f"p{n}"), ANALYSER) for n in range(300)]
    index.fill(entry(values_of(bullet)) for bullet in packed)
    keys = [bullet.vector_key for bullet in packed]
    assert [bullet.path for bullet in index.with_keys(keys[7:8])] == ["p7"]
    assert len(index.with_keys(keys)) == 300
    assert index.with_keys([keys[7][:8] + keys[8][8:]]) == []
