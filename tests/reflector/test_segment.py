"""Segmenting: trailers, items, code, quotations."""

from __future__ import annotations

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
