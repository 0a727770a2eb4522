"""Words of nearly the same meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memx.index import related as module
from memx.index.related import NAME, related
from memx.resources import resource

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("connect", "接続"),
        ("接続", "connect"),
        ("テスト", "test"),
        ("文件", "archivo"),
        ("archivo", "file"),
        ("remov", "delet"),
    ],
)
def test_translation_and_synonym_are_related(word: str, other: str) -> None:
    """A stem or a CJK word gives words of its language and of others."""
    assert other in related(word)


@pytest.mark.parametrize("word", ["", " ", "\n", "zzzzzz", "\ud800", "!", "\U0010ffff"])
def test_unknown_word_has_no_relatives(word: str) -> None:
    """Whatever is not a word of the list gives nothing, at both of its ends too."""
    assert related(word) == ()


def test_every_line_is_found() -> None:
    """The binary search reaches each word, so the list is sorted and has no word twice."""
    with open(resource(NAME), encoding="utf-8") as file:
        lines = [line.split() for line in file]
    assert len({words[0] for words in lines}) == len(lines)
    for word, *others in lines:
        assert related(word) == tuple(others)


def test_list_that_is_not_there_is_no_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A search without the list goes on without relatives."""
    monkeypatch.setattr(module, "NAME", str(tmp_path / "none"))
    monkeypatch.setattr(module, "_lines", None)
    assert related("connect") == ()
