"""What each layer finds, and what it must not confuse."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memx.config import EmbeddingConfig
from memx.generator.exact import EXACT_MAX, WORDS_SHARE
from memx.generator.fuzzy import RELATED_CREDIT, related_credit
from memx.generator.vector import VectorSearcher
from memx.index.vectors import Vectors
from memx.model import Bullet
from memx.record import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.index.packed import PackedBullet
    from tests.generator.conftest import Corpus

CODE = (
    "Set MAX_POOL_SIZE to 50",
    "The max pool size is large enough",
    "git commit --no-verify skips hooks",
    "There is no verify step any more",
    "C++ needs a header guard",
    "C needs a header guard",
    "C# needs a using",
    "Call foo.bar_baz() before use",
    "std::vector<int> grows by doubling",
    "TypeError: cannot unpack",
    "pytest -v prints each test",
    "getUserById caches for a minute",
)


@pytest.mark.parametrize(
    ("query", "first", "others"),
    [
        ("MAX_POOL_SIZE", "b0", {"b1"}),
        ("--no-verify", "b2", {"b3"}),
        ("C++", "b4", {"b5", "b6"}),
        ("C", "b5", {"b4", "b6"}),
        ("C#", "b6", {"b4", "b5"}),
        ("foo.bar_baz()", "b7", set()),
        ("bar_baz", "b7", set()),
        ("std::vector", "b8", set()),
        ("TypeError", "b9", set()),
        ("TypeError:", "b9", set()),
        ("pytest -v", "b10", set()),
        ("getUserById", "b11", set()),
    ],
)
def test_code_token_is_found_exactly(corpus: type[Corpus], query: str, first: str, others: set[str]) -> None:
    """An identifier, flag or error is an exact hit where it stands, and none where only its words stand."""
    found = corpus(*CODE)
    assert found.ids(query)[0] == first
    assert found.score(query, int(first[1:])).l1 == 15.0
    for other in others:
        assert found.score(query, int(other[1:])).l1 == 0.0


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("pytset", "pytest prints each test"),
        ("conection timeout", "The connection has a timeout"),
        ("caching responses", "We cache the response"),
        ("user", "getUserById caches for a minute"),
        ("pool_size", "MAX_POOL_SIZE is 50"),
        ("cafe", "El café está abierto"),
        ("configuraciones", "La configuración está en el repositorio"),
        ("pruebas", "La prueba falla"),
        ("k8s", "Restart the kubernetes node"),
    ],
)
def test_near_word_is_found_by_the_fuzzy_layer(corpus: type[Corpus], query: str, text: str) -> None:
    """Misspelling, inflection, sub-word, accent and alias earn L2 where L1 has nothing."""
    found = corpus(text, "Unrelated words about something else")
    scored = found.score(query)
    assert found.ids(query)[0] == "b0"
    assert 0 < scored.l2 <= 10
    assert scored.l1 < 15


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("remove the directory", "Delete a folder with rm -r"),
        ("eliminar la conexión", "Remove the connection from the pool"),
        ("データベースの接続", "The database closes a connection"),
        ("テストを実行", "Ejecuta las pruebas"),
        ("delete files", "请先移除文件"),
    ],
)
def test_synonym_and_translation_are_found_by_the_fuzzy_layer(
    corpus: type[Corpus], tmp_path: object, query: str, text: str
) -> None:
    """A word that means the same earns L2, at most what the word itself does, and nothing without a model."""
    found = corpus(text, "Unrelated words about something else", query)
    generator = found.generator(found.engines(str(tmp_path)))
    translated, other, itself = generator.weigh(query, found.packed)
    assert 10 * other.l2 < translated.l2 <= itself.l2 == 10
    assert translated.l1 < itself.l1
    assert found.score(query).l2 == 0


class Wordless(VectorSearcher):
    """A semantic layer that cannot compare words."""

    def word_cosines(self, words: Sequence[str], bullets: Sequence[PackedBullet]) -> list[list[float]]:
        """Fail."""
        raise IndexError(words, bullets)


def test_words_that_cannot_be_compared_take_their_credit_alone(
    corpus: type[Corpus], tmp_path: object
) -> None:
    """A search goes on by letters and by meaning then, and names nothing."""
    found = corpus("Delete a folder with rm -r", "Unrelated words about something else")
    engines = found.engines(str(tmp_path))
    whole = found.generator(engines).weigh("remove the directory", found.packed)[0]
    wordless = Wordless([Vectors.open(EmbeddingConfig(), str(tmp_path))])
    generator = found.generator(replace(engines, vector=wordless))
    lost = generator.weigh("remove the directory", found.packed)[0]
    assert lost.l2 == 0 < whole.l2
    assert (lost.l1, lost.semantic, generator.degraded) == (whole.l1, whole.semantic, ())


def test_tokens_that_are_lost_are_cut_again(corpus: type[Corpus], tmp_path: object) -> None:
    """Without the column the few texts of a search are cut on the spot, as those without a vector are embedded."""
    found = corpus("Delete a folder with rm -r", "Unrelated words about something else")
    whole = found.generator(found.engines(str(tmp_path))).weigh("remove the directory", found.packed)[0]
    for folder, _, names in os.walk(str(tmp_path)):
        for name in names:
            if name.startswith("tokens-"):
                os.unlink(os.path.join(folder, name))
    again = found.generator(found.engines(str(tmp_path))).weigh("remove the directory", found.packed)[0]
    assert again.l2 == whole.l2 > 0


def test_score_does_not_depend_on_the_other_bullets(corpus: type[Corpus], tmp_path: object) -> None:
    """What is near is compared together, and each bullet's words come out as if it were alone."""
    texts = (
        "Delete a folder with rm -r",
        "Elimina el directorio",
        "ディレクトリを削除する",
        "kafka offsets lag",
    )
    found = corpus(*texts)
    generator = found.generator(found.engines(str(tmp_path)))
    together = [scored.l2 for scored in generator.weigh("remove the directory", found.packed)]
    alone = [generator.weigh("remove the directory", [bullet])[0].l2 for bullet in found.packed]
    assert together == alone
    assert min(together[:3]) > 0


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_credit_of_a_near_word_grows_within_its_bounds(first: float, second: float) -> None:
    """Nothing for what chance gives, never more than a synonym is worth."""
    low, high = sorted((first, second))
    assert 0 <= related_credit(low) <= related_credit(high) <= RELATED_CREDIT
    assert (related_credit(0.3), related_credit(0.7)) == (0, RELATED_CREDIT)


@pytest.mark.parametrize("query", ["数据库", "连接", "超时"])
def test_part_of_a_cjk_text_is_found_by_words_alone(corpus: type[Corpus], query: str) -> None:
    """Faults 42: Chinese is not one giant token."""
    assert corpus("数据库连接池要设置超时", "缓存要预热").ids(query) == ["b0"]


@pytest.mark.parametrize(
    ("query", "text"),
    [("検索", "日本語の検索"), ("しりとり", "しりとりのルール"), ("검색", "한국어 검색 기능")],
)
def test_japanese_and_korean_are_found_by_words_alone(corpus: type[Corpus], query: str, text: str) -> None:
    """Kana, Han and Hangul are cut into pairs of characters."""
    assert corpus(text, "something else").ids(query) == ["b0"]


def test_single_character_is_found(corpus: type[Corpus]) -> None:
    """A query of one Han character finds the texts that hold it."""
    assert corpus("数据库", "缓存").ids("库") == ["b0"]


@pytest.mark.parametrize(
    "query",
    ["knowledge about Redis", "Redis に関する知識", "conocimiento sobre Redis", "关于 Redis 的知识", "redis"],
)
def test_tag_alone_is_found_by_the_metadata_layer(corpus: type[Corpus], query: str) -> None:
    """L3 needs no word of the text, in any language."""
    found = corpus(
        Bullet(id="b0", text="Set the ceiling to 50", tags=("redis",)),
        Bullet(id="b1", text="Rebase before you push", tags=("git",)),
    )
    assert found.ids(query) == ["b0"]
    assert found.score(query).l3 == 10.0


def test_tag_counts_less_among_more_words(corpus: type[Corpus]) -> None:
    """A name in a question of many words hardly tells one bullet of that tag from another."""
    found = corpus(Bullet(id="b0", text="Set the ceiling to 50", tags=("git",)), "another")
    assert found.score("git").l3 == 10.0
    assert found.score("git bisect remembers regressions").l3 == 2.5


def test_metadata_layer_is_a_jaccard_index(corpus: type[Corpus]) -> None:
    """One of two names shared with two on the bullet is a third, or a half where it is the only one of its kind."""
    for kinds, score in (
        ({"tags": ("redis", "docker")}, 10 / 3),
        ({"tags": ("redis",), "tools": ("docker",)}, 5),
    ):
        found = corpus(Bullet(id="b0", text="x", **kinds), Bullet(id="b1", text="y", tags=("kafka",)))
        assert round(found.score("redis kafka").l3, 3) == round(score, 3)


@pytest.mark.parametrize(
    ("path", "score"),
    [("src/cache/pool.py", 10.0), ("src/cache/other.py", 5.0), ("src/web/app.py", 0.0), ("", 0.0)],
)
def test_anchor_counts_when_a_file_is_given(corpus: type[Corpus], path: str, score: float) -> None:
    """`--path` compares the file with the bullet's anchors: itself, its folder, elsewhere."""
    found = corpus(Bullet(id="b0", text="x", anchors=("src/cache/pool.py",)))
    generator = found.generator()
    assert generator.score(generator.query("ceiling", path=path), found.packed)[0].l3 == score


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cafe", "El café está abierto"),
        ("café", "The cafe is open"),
        ("configuracion", "La configuración manda"),
    ],
)
def test_word_without_its_accent_is_nearly_exact(corpus: type[Corpus], query: str, text: str) -> None:
    """Folded equality is worth nine tenths of the word itself, and more than a stem or a slip."""
    found = corpus(
        text, text.replace("café", "cafe").replace("configuración", "configuracion"), "cafes cafeteria"
    )
    assert 0.7 * WORDS_SHARE * EXACT_MAX < found.score(query, 0).l1 < WORDS_SHARE * EXACT_MAX
    assert found.score(query, 2).l1 == 0


def test_repeated_word_counts_more_and_a_long_text_less(corpus: type[Corpus]) -> None:
    """Both word layers know how often a word stands among how many, within their bounds."""
    once, twice, long = "pool of alpha", "pool alpha pool", "pool alpha " + "filler words " * 100
    found = corpus(once, twice, long)
    for layer in ("l1", "l2"):
        first, second, third = (getattr(found.score("pool missing", i), layer) for i in range(3))
        assert third < first < second


def test_misspelt_rare_word_brings_its_bullet_among_the_candidates(corpus: type[Corpus]) -> None:
    """However many bullets hold the common word of the query, the one that its slip means is looked at."""
    found = corpus("the ubuntu release is old", *(f"check version {i}" for i in range(200)))
    assert found.ids("check uuntu version")[0] == "b0"


def test_rare_word_counts_more_than_a_common_one(corpus: type[Corpus]) -> None:
    """Of two half matches the one with the rarer word leads."""
    found = corpus("deploy alpha", "deploy beta", "deploy gamma", "zookeeper delta", "deploy epsilon")
    assert found.ids("deploy zookeeper")[0] == "b3"


def test_whole_phrase_beats_the_same_words_apart(corpus: type[Corpus]) -> None:
    """Adjacent words count."""
    found = corpus("pool the connection into a lake", "use a connection pool")
    assert found.score("connection pool", 1).l1 == 15.0 > found.score("connection pool", 0).l1


words = st.lists(st.text("abcdefghij", min_size=4, max_size=9), min_size=1, max_size=5, unique=True)


@given(words, words)
@example(["aaaa", "aaab"], ["aaaa"])
@settings(max_examples=40, deadline=None)
def test_layers_are_bounded_and_growing(query: list[str], text: list[str]) -> None:
    """Every layer stays in its range, and holding more of the query never lowers L1 or L2."""
    from tests.generator.conftest import Corpus

    found = Corpus(" ".join(text), " ".join([*text, *query]))
    asked = " ".join(query)
    less, more = found.score(asked, 0), found.score(asked, 1)
    for scored in (less, more):
        assert 0 <= scored.l1 <= 15
        assert 0 <= scored.l2 <= 10
        assert 0 <= scored.l3 <= 10
    assert more.l1 >= less.l1
    assert more.l2 >= less.l2
    assert (more.l1, more.l2) == (15.0, 10.0)


@given(words, words, st.data())
@settings(max_examples=40, deadline=None)
def test_exact_holder_is_never_below_one_that_resembles(
    query: list[str], filler: list[str], data: st.DataObject
) -> None:
    """Before boosts, holding the whole query beats misspelling each of its words, at any semantic score."""
    from memx.generator.generator import Engines, default_engines
    from memx.model import Bullet
    from tests.generator.conftest import Corpus

    misspelt = " ".join(word[:1] + word[2:] + "x" for word in query)
    found = Corpus(Bullet(id="b0", text=" ".join([*filler, *query, *filler])), Bullet(id="b1", text=misspelt))
    scores = {"b0": data.draw(st.floats(0, 1)), "b1": data.draw(st.floats(0, 1))}

    class Oracle:
        def prepare(self, _text: str) -> bool:
            return False

        def knows(self, _word: str) -> bool:
            return True

        def score(self, bullet: object) -> float:
            return scores[bullet.id]  # type: ignore[attr-defined]

    plain = default_engines()
    generator = found.generator(Engines(plain.exact, plain.fuzzy, plain.metadata, Oracle()))  # type: ignore[arg-type]
    holder, other = generator.score(generator.query(" ".join(query)), found.packed)
    if other.l1 == 0:
        assert holder.blended >= other.blended


@given(words, st.lists(words, min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_bullets_scored_together_score_as_each_alone(query: list[str], texts: list[list[str]]) -> None:
    """What resembles a word is sought in all candidates at once, and found in none that has it not."""
    from memx.generator.fuzzy import FuzzyMatcher
    from tests.generator.conftest import Corpus

    found = Corpus(*(" ".join(text) for text in texts), " ".join(f"{word}x" for word in query))
    asked = found.generator().query(" ".join(word[:-2] + word[-1:] for word in query))
    together, alone = FuzzyMatcher(), FuzzyMatcher()
    together.prepare(found.packed)
    for bullet in found.packed:
        assert together.score(asked, bullet) == alone.score(asked, bullet)
