"""Ids, slugs and file names."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.store.naming import bullet_id, file_name, id_of_name, is_id, is_safe_id, replace_surrogates, slug

anything = st.text(st.characters(codec=None), max_size=80)


def test_id_is_pinned() -> None:
    """Ids are a file format: these may never change."""
    assert bullet_id("Redis timeouts") == "zax5ttaa8w"
    assert bullet_id("部署说明") == "pdwh0msy0y"


@given(anything)
@settings(max_examples=200, deadline=None)
def test_id_has_its_form(text: str) -> None:
    """Every text has an id: a letter and nine characters of Crockford's base 32."""
    assert is_id(bullet_id(text))


def test_spellings_of_one_text_share_an_id() -> None:
    """Case, white space and compatibility forms do not make another lesson."""
    assert bullet_id("Use  ＰＮＰＭ\n") == bullet_id("use pnpm")
    assert bullet_id("café") == bullet_id("cafe\u0301")
    assert bullet_id("use pnpm") != bullet_id("use npm")


@given(anything)
@settings(max_examples=300, deadline=None)
def test_file_name_is_portable(text: str) -> None:
    """Names are short, NFC, without case, and of letters, digits, marks and hyphens."""
    name = file_name(text, "k3v9q2m7xa")
    assert len(name.encode()) <= 100
    assert unicodedata.normalize("NFC", name) == name
    assert name[0] not in "-."
    assert all(c in "-." or unicodedata.category(c)[0] in "LNM" for c in name)
    assert id_of_name(f"bullets/general/{name}") == "k3v9q2m7xa"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("部署说明", "部署说明"),
        ("Развёртывание", "развёртывание"),
        ("नमस्ते दुनिया", "नमस्ते-दुनिया"),
        ("🚀", "bullet"),
        ("!!!", "bullet"),
        ("❤\ufe0f", "bullet"),
        ("\u3164", "bullet"),
        ("CON", "con-bullet"),
        ("com1", "com1-bullet"),
        ("..", "bullet"),
        ("a > b: c? ", "a-b-c"),
        ("cafe\u0301", "café"),
    ],
)
def test_slug_keeps_letters_of_every_script(text: str, expected: str) -> None:
    """Letters stay, the rest is cut, reserved names are avoided."""
    assert slug(text) == expected


def test_long_slug_is_cut_at_a_character_and_a_word() -> None:
    """A cut splits neither a character nor, if it can help it, a word."""
    assert slug("가" * 100) == "가" * 20
    assert slug("one two " * 30).endswith(("one", "two"))


def test_names_that_differ_in_case_or_form_do_not_collide() -> None:
    """Distinct ids keep names distinct where file systems fold case and forms."""
    texts = ["API Keys", "api keys!", "café", "cafe\u0301 2", "CAFÉ 2x"]
    names = [file_name(text, bullet_id(text)) for text in texts]
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == len(
        {bullet_id(t) for t in texts}
    )


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    """What JSON may escape becomes text that UTF-8 can hold."""
    assert replace_surrogates("a\ud83d") == "a\ufffd"
    assert replace_surrogates("\ud83d\ude00") == "😀"


@pytest.mark.parametrize("text", ["", "../x", "a/b", "a.b", "a" * 65, "é", "a b", "-"])
def test_unsafe_id_is_refused(text: str) -> None:
    """An id names no path."""
    assert not is_safe_id(text)
