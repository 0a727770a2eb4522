"""A short fix told by its order alone: what was lost, how it came, what to do; no reason word, in four languages."""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector import Reflector

TOLD = (
    "fix(upload): stop losing files over 2 GB\n\nThe length was parsed as int32 and wrapped around. Parse it as int64.",
    "fix: uploads over 2 GB get lost\n\nThe size was held in an int32 and went below zero. Hold it in an int64.",
    "fix: 上传大于 2 GB 的文件会丢\n\n长度之前按 int32 解析，溢出成了负数。改用 int64 解析。",
    "2 GB を超えるファイルが消える問題の修正\n\n長さは int32 で、負の値になっていた。int64 で読むこと。",
    "Corrige la pérdida de archivos de 2 GB\n\nSe leía como int32 y salía negativa. Hay que leerla como int64.",
)
NOTHING = (
    "fix: typo in the guide\n\nIt was wrong. Use the right one.",
    "fix: lint\n\nThe linter was red. Sort the imports.",
    "修复错别字\n\n之前写错了。改为正确的写法。",
    "Corrige una errata\n\nEstaba mal. Usa la correcta.",
)


@pytest.mark.parametrize("message", TOLD, ids=lambda text: text[:24])
def test_trouble_story_and_remedy_are_a_lesson_without_a_reason_word(
    reflector: Reflector, message: str
) -> None:
    """The order of a fix says what `because` would; all three are kept."""
    (candidate,) = reflector.text(message).candidates
    assert candidate.rule == "error_fix"
    assert "int64" in candidate.text
    assert "2 GB" in candidate.text


@pytest.mark.parametrize("message", NOTHING, ids=lambda text: text[:24])
def test_fix_that_names_nothing_is_none(reflector: Reflector, message: str) -> None:
    """A slip, a merge and a mended style have the same order and teach nothing."""
    assert reflector.text(message).candidates == ()
