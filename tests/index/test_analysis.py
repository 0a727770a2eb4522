"""One scanner for bullets and queries: what becomes a term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.index.analysis import MAX_QUERY_TERMS, MAX_TERM_CHARS, Analyser, fold, subwords
from memx.index.index import make_analyser

PLAIN = Analyser(lambda word: (word,))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("MAX_POOL_SIZE=50", ["max_pool_size", "50"]),
        ("git commit --no-verify", ["git", "commit", "--no-verify"]),
        ("C++, C# and C.", ["c++", "c#", "and", "c"]),
        ("foo.bar_baz()", ["foo.bar_baz", "foo", "bar_baz"]),
        ("std::vector<int>", ["std::vector", "std", "vector", "int"]),
        ("src/cache/pool.py:12", ["src/cache/pool.py", "src", "cache", "pool", "py", "12"]),
        ("don't 'it", ["don't", "it"]),
        ("x >= 5 && y", ["x", ">=", "5", "&&", "y"]),
        ("v3.11", ["v3.11", "v3"]),
        ("数据库 pool", ["数据", "据库", "pool"]),
        ("pytestのテスト", ["pytest", "のテ", "テス", "スト"]),
        ("Ｃａｆé", ["café"]),
        ("", []),
        (" \0 😀 ", []),
    ],
)
def test_terms_are_code_words_and_pairs(text: str, terms: list[str]) -> None:
    """Code tokens stay whole, their dotted pieces follow, CJK runs become pairs."""
    assert [term.exact for term in PLAIN.terms(text)] == terms


@pytest.mark.parametrize(
    ("token", "parts"),
    [
        ("getUserById", ["get", "User", "By", "Id"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("snake_case-and.dots", ["snake", "case", "and", "dots"]),
        ("plain", ["plain"]),
        ("__init__", ["init"]),
    ],
)
def test_subwords_split_compounds(token: str, parts: list[str]) -> None:
    """Camel, snake, dotted and hyphenated tokens fall into words."""
    assert subwords(token) == parts


def test_stems_meet_across_inflections() -> None:
    """English and Spanish words share a stem with their forms."""
    analyser = make_analyser()
    for first, second in (
        ("running", "run"),
        ("caches", "caching"),
        ("pruebas", "prueba"),
        ("errores", "error"),
    ):
        stems = [set(analyser.terms(word)[0].stems) for word in (first, second)]
        assert stems[0] & stems[1], (first, second)


@given(st.text(max_size=120))
def test_any_text_is_analysed_and_finds_itself(text: str) -> None:
    """No text fails; the terms of a text are in its own views, so a bullet always finds itself."""
    exact, stems, length = PLAIN.views(text)
    terms = PLAIN.terms(text)
    assert exact.encode()
    assert stems.encode()
    assert len(terms) <= MAX_QUERY_TERMS
    assert length >= len(terms)
    for term in terms:
        assert f" {term.exact} " in exact
        assert len(term.exact) <= MAX_TERM_CHARS + 40
        assert " " not in term.exact


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_part_of_a_text_between_blanks_is_a_phrase_of_it(first: str, second: str) -> None:
    """Analysis does not look across blanks, so a query is found word for word in a text that holds it."""
    part, _, _ = PLAIN.views(first)
    whole, _, _ = PLAIN.views(f"{second} {first} {second}")
    assert part.strip() == "" or part in whole


def test_fold_drops_accents_and_case() -> None:
    """`Café` and `CAFE` are one word to the fuzzy layer."""
    assert fold("Café") == fold("CAFE") == "cafe"
    assert fold("Straße") == "strasse"


@given(st.text("aAzZ019.,;:!?)(-_+#$@/ é日本ñßİ'`\t", max_size=24))
def test_views_hold_the_terms_of_the_same_text(text: str) -> None:
    """Bullets are analysed without the records that a query needs; both ways see the same."""
    analyser = make_analyser()
    exact, stems, _ = analyser.views(text)
    terms = analyser.terms(text)
    assert set(exact.split()) == {term.exact for term in terms} or len(terms) == MAX_QUERY_TERMS
    for term in terms:
        assert f" {term.exact} " in exact
        for stem in (*term.stems, *(stem for piece in term.pieces for stem in piece)):
            assert f" {stem} " in stems


@given(st.text("aAbB09_-.@", max_size=10))
def test_plain_compounds_split_as_mixed_ones_do(token: str) -> None:
    """The short way for tokens of one case and the walk along the characters agree."""
    assert subwords(token) == [part for part in subwords(f"{token} é") if part != "é"]
