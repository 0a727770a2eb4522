"""A person says no and what is done instead: the same correction in four languages, told from an order to do work."""

from __future__ import annotations

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.reflector import Reflector

CORRECTIONS = (
    ("Not that: never rebase shared branches, use merge.", "Never rebase shared branches, use merge."),
    ("不对：绝不要对共享分支做 rebase，用 merge。", "绝不要对共享分支做 rebase，用 merge。"),
    (
        "違います：共有ブランチは rebase せず、merge を使ってください。",
        "共有ブランチは rebase せず、merge を使ってください。",
    ),
    (
        "Eso no: nunca hagas rebase de ramas compartidas, usa merge.",
        "Nunca hagas rebase de ramas compartidas, usa merge.",
    ),
    (
        "No, migrations are not edited by hand; recreate them with makemigrations.",
        "migrations are not edited by hand; recreate them with makemigrations.",
    ),
    (
        "不对。迁移文件不要手改，用 makemigrations 重新生成。",
        "迁移文件不要手改，用 makemigrations 重新生成。",
    ),
    (
        "違います。migrations は手で編集せず makemigrations で作り直してください。",
        "migrations は手で編集せず makemigrations で作り直してください。",
    ),
    (
        "No, las migraciones no se editan a mano: usa makemigrations para recrearlas.",
        "las migraciones no se editan a mano: usa makemigrations para recrearlas.",
    ),
)
ORDERS = (
    "No, please fix the migration first.",
    "不对，请帮我把迁移修一下。",
    "違います。migration を直してください。",
    "No, por favor corrige la migración.",
)


@pytest.mark.parametrize(("said", "expected"), CORRECTIONS, ids=lambda text: text[:24])
def test_correction_is_proposed_without_its_no(reflector: Reflector, said: str, expected: str) -> None:
    """What is wrong and what is right is a rule, however politely it is put."""
    (candidate,) = reflector.text(said, "session").candidates
    assert (candidate.rule, candidate.text.lower()) == ("correction", expected.lower())


@pytest.mark.parametrize("said", ORDERS)
def test_order_to_do_a_piece_of_work_is_no_correction(reflector: Reflector, said: str) -> None:
    """To mend this once is no rule."""
    assert reflector.text(said, "session").candidates == ()


@pytest.mark.parametrize(
    "text",
    [
        "fix(ui): align the icons\n\nThe icons were two pixels off in the narrow layout of the settings page.",
        "修复图标\n\n设置页面窄布局里的图标偏了两个像素，现在已经对齐，并补了截图。",
        "Ajusta los iconos\n\nLos iconos de la página de ajustes estaban dos píxeles desplazados.",
        "Update the guide",
    ],
)
def test_reason_of_a_rejection_is_in_words(reflector: Reflector, text: str) -> None:
    """A reader of `--rejected` knows no features: a bare number tells nothing."""
    for rejection in reflector.text(text).rejected:
        assert len(rejection.reason.split()) > 3, rejection
        assert not rejection.reason.startswith("worth")
