"""Order, cuts, filters and failures of a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memx.config import GeneratorConfig
from memx.generator.generator import Engines, default_engines
from memx.generator.scopes import Viewer
from memx.index.query import Filters
from memx.model import Bullet

if TYPE_CHECKING:
    from pathlib import Path

    from memx.index.packed import PackedBullet
    from tests.generator.conftest import Corpus

TEXTS = ("redis pool size", "redis pool timeout", "kafka offsets lag")


class Broken:
    """A layer that fails whenever it is asked."""

    def knows(self, _word: str) -> bool:
        """Fail."""
        raise RuntimeError("out of order")

    def prepare(self, _text: str) -> bool:
        """Fail."""
        raise RuntimeError("out of order")

    def score(self, *_values: object) -> float:
        """Fail."""
        raise RuntimeError("out of order")


class Constant:
    """A semantic layer that likes everything equally."""

    def prepare(self, _text: str) -> bool:
        """Know nothing to look for."""
        return False

    def knows(self, _word: str) -> bool:
        """Know every word."""
        return True

    def score(self, _bullet: object) -> float:
        """Return the same for all."""
        return 0.7


LAYERS = ("exact", "fuzzy", "metadata", "vector")


@pytest.mark.parametrize("broken", [(name,) for name in LAYERS] + [LAYERS[:3], LAYERS])
def test_broken_layers_are_named_and_the_others_answer(corpus: type[Corpus], broken: tuple[str, ...]) -> None:
    """One at a time and together: no exception, `degraded` names each, others count as the formula says."""
    found = corpus(*TEXTS)
    plain = default_engines()
    parts = {"exact": plain.exact, "fuzzy": plain.fuzzy, "metadata": plain.metadata, "vector": Constant()}
    parts.update(dict.fromkeys(broken, Broken()))
    ranking = found.generator(Engines(**parts)).rank("redis pool size")  # type: ignore[arg-type]
    named = {entry.split(":")[0] for entry in ranking.degraded}
    assert named == {f"l{LAYERS.index(name) + 1}" for name in broken}
    if broken != LAYERS:
        assert ranking.hits[0].bullet.id == "b0"


def test_failing_layer_weighs_as_the_formula_says(corpus: type[Corpus]) -> None:
    """Without L4 the keyword side weighs 1, without L1-L3 the semantic side does."""
    found = corpus(*TEXTS)
    plain = default_engines()
    words = found.generator(Engines(plain.exact, plain.fuzzy, plain.metadata, Broken())).rank(
        "redis pool size"
    )  # type: ignore[arg-type]
    assert words.hits[0].blended == words.hits[0].keyword == pytest.approx(25 / 35)
    meaning = found.generator(Engines(Broken(), Broken(), Broken(), Constant())).rank("redis pool size")  # type: ignore[arg-type]
    assert meaning.hits[0].blended == 0.7


def test_factors_multiply_out(corpus: type[Corpus]) -> None:
    """Every printed factor leads to the printed score."""
    found = corpus(Bullet(id="b0", text="redis pool size", created=0.0), "kafka")
    scored = found.generator(decay=lambda _b: 0.25).rank("redis pool").hits[0]
    assert scored.keyword == pytest.approx((scored.l1 + scored.l2 + scored.l3) / 35)
    assert scored.blended == pytest.approx(scored.keyword)
    assert scored.score == pytest.approx(scored.blended * 0.25 * scored.recency_boost * scored.scope_boost)


def test_age_cannot_bury_the_only_answer(corpus: type[Corpus]) -> None:
    """Bullets are cut by relevance before decay is applied."""
    fresh = [Bullet(id=f"f{i}", text=f"redis note number {i} on something") for i in range(30)]
    found = corpus(Bullet(id="old", text="redis pool size is fifty"), *fresh)
    ranking = found.generator(decay=lambda b: 1e-9 if b.id == "old" else 1.0).rank("redis pool size")
    assert "old" in [scored.bullet.id for scored in ranking.hits]


def test_decay_orders_equally_relevant_bullets(corpus: type[Corpus]) -> None:
    """Among equals, however many, the fresher ones are returned."""
    bullets = [Bullet(id=f"b{i}", text="redis pool size is fifty") for i in range(9)]
    found = corpus(*bullets)
    ranking = found.generator(decay=lambda b: 1 - int(b.id[1:]) / 10).rank("redis pool size", limit=5)
    assert [scored.bullet.id for scored in ranking.hits] == ["b0", "b1", "b2", "b3", "b4"]


def test_hidden_scopes_take_no_place_of_a_candidate(corpus: type[Corpus]) -> None:
    """A hundred bullets of a sibling workspace do not crowd out the one that may be seen."""
    hidden = [Bullet(id=f"h{i}", text="redis pool size", scope="workspace:other") for i in range(100)]
    found = corpus(*hidden, Bullet(id="seen", text="redis pool size in a longer text"))
    assert [s.bullet.id for s in found.generator(viewer=Viewer()).rank("redis pool size").hits] == ["seen"]


def test_filters_hold(corpus: type[Corpus]) -> None:
    """Section, type and tag are required, archived bullets are left out."""
    found = corpus(
        Bullet(id="b0", text="redis pool", section="tools", tags=("Cache",)),
        Bullet(id="b1", text="redis pool"),
    )
    ranking = found.generator(filters=Filters(("section:tools", "tag:cache"))).rank("redis pool")
    assert [s.bullet.id for s in ranking.hits] == ["b0"]


@pytest.mark.parametrize(
    "changes",
    [
        {"keyword_weight": 0.1},
        {"max_results": 1},
        {"recency_boost": 2.0},
        {"recency_days": 99_999.0},
        {"scope_boost": 3.0},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_config_key_changes_the_result(corpus: type[Corpus], changes: dict[str, float]) -> None:
    """Each key of the ranking has an effect (the others are tested where they act)."""
    found = corpus(
        *[Bullet(id=f"b{i}", text=text, created=900_000_000.0) for i, text in enumerate(TEXTS)],
        Bullet(id="new", text="redis pools", created=999_999_000.0),
    )
    plain = default_engines()
    engines = Engines(plain.exact, plain.fuzzy, plain.metadata, Constant())  # type: ignore[arg-type]
    before = found.generator(engines).rank("redis pool size")
    after = found.generator(engines, config=GeneratorConfig(**changes)).rank("redis pool size")  # type: ignore[arg-type]
    assert [(s.bullet.id, s.score) for s in before.hits] != [(s.bullet.id, s.score) for s in after.hits]


def test_semantic_weight_changes_the_result(corpus: type[Corpus]) -> None:
    """The weight of the semantic side counts."""
    found = corpus(*TEXTS)
    plain = default_engines()
    engines = Engines(plain.exact, plain.fuzzy, plain.metadata, Constant())  # type: ignore[arg-type]
    more = found.generator(engines, config=GeneratorConfig(semantic_weight=0.9)).rank("redis pool size")
    assert more.hits[0].score > found.generator(engines).rank("redis pool size").hits[0].score


def test_ranking_is_deterministic(corpus: type[Corpus]) -> None:
    """Same bullets, query and time give the same hits."""
    assert corpus(*TEXTS).rank("redis pool").hits == corpus(*TEXTS).rank("redis pool").hits


def test_unrelated_query_finds_nothing(corpus: type[Corpus]) -> None:
    """No shared word and no meaning is no hit."""
    assert corpus(*TEXTS).ids("sourdough bread") == []


class Uneven(Constant):
    """A semantic layer that hardly knows any bullet, and one a little."""

    def score(self, bullet: object) -> float:
        """Return more for the first bullet."""
        return 0.5 if bullet.id == "b0" else 0.1  # type: ignore[attr-defined]


class Distant(Constant):
    """A semantic layer that sees hardly any relation."""

    def score(self, _bullet: object) -> float:
        """Return what unrelated texts score by chance."""
        return 0.05


def test_weak_hit_is_shown_beside_one_that_answers_only(corpus: type[Corpus]) -> None:
    """Where the best one is no better than chance nothing is shown; beside a good one the least is enough."""
    texts = [f"word{i} other{i}" for i in range(600)]
    plain = default_engines()

    found = corpus(*texts)
    for layer, count in ((Uneven(), 5), (Distant(), 0)):
        engines = Engines(plain.exact, plain.fuzzy, plain.metadata, layer)  # type: ignore[arg-type]
        generator = found.generator(engines)
        query = generator.query("sourdough bread")
        scored = generator.score(query, found.packed[:5])
        assert len(generator.answers(scored)) == count


class Near(Constant):
    """A semantic layer that thinks every bullet a little related."""

    def score(self, _bullet: object) -> float:
        """Return what is more than chance gives, and less than twice of it."""
        return 0.3


@pytest.mark.parametrize(("query", "is_answered"), [("sourdough bread", False), ("remove other7", True)])
def test_nearness_without_a_word_is_no_answer(corpus: type[Corpus], query: str, *, is_answered: bool) -> None:
    """Where no hit holds a word of the query in any form, it must be nearer than where one does."""
    found = corpus(*(f"word{i} other{i}" for i in range(600)))
    plain = default_engines()
    engines = Engines(plain.exact, plain.fuzzy, plain.metadata, Near())  # type: ignore[arg-type]
    generator = found.generator(engines)
    asked = generator.query(query)
    scored = generator.score(asked, found.packed[5:10])
    assert generator.is_weak(asked, generator.answers(scored)) != is_answered


@pytest.mark.parametrize(
    ("query", "is_answered"),
    [
        ("how do whales sleep under arctic ice", False),  # whales ~ while
        ("while", True),
        ("whlie workers wait", True),
    ],
)
def test_word_that_only_resembles_is_no_answer(
    corpus: type[Corpus], query: str, *, is_answered: bool
) -> None:
    """One slip-like word in a question about something else is a coincidence; a misspelt query is not."""
    found = corpus("connections block while all workers wait for the schema lock", "kafka offsets lag")
    plain = default_engines()
    engines = Engines(plain.exact, plain.fuzzy, plain.metadata, Distant())  # type: ignore[arg-type]
    assert bool(found.generator(engines).rank(query).hits) == is_answered


class HalfDead:
    """A vector layer in whose file every second row belongs to a bullet of another branch."""

    def __init__(self, live: list[bytes]) -> None:
        """Take the keys of the bullets that there are."""
        dead = [bytes([255, i]) + bytes(14) for i in range(len(live))]
        self._keys = [key for pair in zip(dead, live, strict=True) for key in pair]

    def prepare(self, text: str) -> bool:
        """Know every query."""
        return bool(text)

    def knows(self, word: str) -> bool:
        """Know every word."""
        return bool(word)

    def nearest(self, limit: int) -> list[bytes]:
        """Return live and dead rows in turn."""
        return self._keys[:limit]

    def score(self, bullet: PackedBullet) -> float:
        """Give a bullet more the later it comes."""
        return 0.4 + int(bullet.id[1:]) / 100


def test_dead_vectors_take_no_place_of_a_candidate(corpus: type[Corpus]) -> None:
    """However many rows of the vector file are nobody's here, as many candidates come from it as without them."""
    made = corpus(*(f"Lesson number {i}" for i in range(39)))
    vector = HalfDead([bullet.vector_key for bullet in made.packed])
    engines = Engines(None, None, None, vector)  # type: ignore[arg-type]
    assert [s.bullet.id for s in made.generator(engines).rank("zebra", limit=2).hits] == ["b38", "b37"]


def test_bullet_with_the_whole_query_is_found_among_many_with_its_words(corpus: type[Corpus]) -> None:
    """BM25 prefers short bullets with the words scattered; the one that holds the phrase is a candidate too."""
    scattered = [f"a file {i} that was not there is found" for i in range(90)]
    words = " ".join(f"filler{i} and more" for i in range(60))
    found = corpus(*scattered, f"{words} file not found {words}")
    first = found.generator().rank("file not found").hits[0]
    assert first.bullet.id == "b90"
    assert first.l1 == 15.0


def test_as_many_hits_as_are_asked_for_are_found(corpus: type[Corpus]) -> None:
    """A limit above the usual number of candidates widens the search for them."""
    found = corpus(*(f"the file number {i} is kept" for i in range(300)), "something else entirely")
    assert len(found.generator().rank("file", limit=1_000).hits) == 300


def test_hits_that_chance_may_have_brought_near_are_weak_and_no_hits_are_not(corpus: type[Corpus]) -> None:
    """What is near without a shared word is shown, and said to be weak; where nothing is shown, nothing is weak."""
    found = corpus(*(f"word{i} other{i}" for i in range(600)))
    plain = default_engines()
    generator = found.generator(Engines(plain.exact, plain.fuzzy, plain.metadata, Near()))  # type: ignore[arg-type]
    asked = generator.query("sourdough bread")
    shown = generator.answers(generator.score(asked, found.packed[:5]))
    assert (len(shown), generator.is_weak(asked, shown)) == (5, True)
    assert not generator.is_weak(asked, [])
    assert not found.generator().rank("word7 other7").is_weak


def test_vectors_of_other_branches_change_no_answer(corpus: type[Corpus], tmp_path: Path) -> None:
    """The rows of texts that are not here lie between those that are; long lists are the same without them."""
    things, verbs, causes = ("cache", "pool", "queue", "lock"), ("grows", "stalls", "leaks"), range(40)
    texts = [f"The {thing} {verb} in case {cause}" for cause in causes for thing in things for verb in verbs]
    here, elsewhere = corpus(*texts[::2]), corpus(*texts)
    elsewhere.engines(str(tmp_path / "switched"))
    for query in ("cache lock", "what makes memory grow", "kernel timeout"):
        alone, after = (
            here.generator(here.engines(str(tmp_path / name))).rank(query, limit=50)
            for name in ("alone", "switched")
        )
        assert [(s.bullet.id, s.score) for s in alone.hits] == [(s.bullet.id, s.score) for s in after.hits]
