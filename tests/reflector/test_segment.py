"""Segmenting: trailers, items, code, quotations."""

from __future__ import annotations

import pytest

from memx.reflector.segment import mask_quotations, segment


def test_kinds_of_lines_are_told_apart() -> None:
    """Trailers, code and quotations are no prose; items stand alone."""
    passage = segment(
        "Fix: the title\n\nFirst sentence, e.g. this one. Second\nsentence.\n\n- one item\n  goes on\n- another\n\n"
        "> quoted\n\n```\ncode\n```\n\nSigned-off-by: A <a@example.org>\nFixes #12\n"
    )
    assert [(s.kind, s.text) for s in passage.sentences] == [
        ("title", "Fix: the title"),
        ("prose", "First sentence, e.g. this one."),
        ("prose", "Second sentence."),
        ("item", "one item goes on"),
        ("item", "another"),
    ]
    assert passage.code == ("code",)


def test_long_quotation_is_masked_at_equal_length() -> None:
    """What is quoted says nothing by itself, and positions stay."""
    text = 'The page says "changed x from 1 to 2" about `MAX`.'
    masked = mask_quotations(text)
    assert len(masked) == len(text)
    assert "changed" not in masked
    assert "MAX" in masked


def test_chinese_lines_join_without_space() -> None:
    """Wrapped lines of a script without spaces are joined without one."""
    assert segment("标题\n\n第一行\n第二行。").sentences[1].text == "第一行第二行。"


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        ("Fix the failing upload. The signature had expired before it began.", ["title", "prose"]),
        ("修复上传失败。签名在开始之前就已经过期。", ["title", "prose"]),
        ("アップロードの失敗を修正。署名の期限が切れていた。", ["title", "prose"]),
        ("Corrige la subida. La firma caducaba antes de empezar.", ["title", "prose"]),
        ("Fix the deletion of the store command. (#9032)", ["title"]),
        ("Support e.g. Python 3.12", ["title"]),
    ],
)
def test_first_line_of_several_sentences_is_a_title_and_prose(message: str, kinds: list[str]) -> None:
    """A whole message in one line is no title: its sentences are judged one by one."""
    assert [sentence.kind for sentence in segment(message).sentences] == kinds


@pytest.mark.parametrize(
    "mark", ["- ", "* ", "• ", "1. ", "1) ", "・", "1、", "2．", "３．", "①", "● ", "－"]
)
def test_mark_of_an_item_is_known(mark: str) -> None:
    """Lists are marked in many ways, full-width and without a blank among them."""
    assert [(s.kind, s.text) for s in segment(f"标题\n\n{mark}缓存过期").sentences[1:]] == [
        ("item", "缓存过期")
    ]


@pytest.mark.parametrize("line", ["1.5 seconds are enough", "-n is needed", "2026年の変更"])
def test_number_or_option_at_a_line_s_beginning_marks_no_item(line: str) -> None:
    """A decimal, an option and a year begin prose."""
    assert [s.kind for s in segment(f"Title\n\n{line}").sentences[1:]] == ["prose"]
