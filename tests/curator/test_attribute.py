"""Two values of one attribute of one subject exclude each other; two subjects, or what can hold twice, do not."""

from __future__ import annotations

import pytest

from memx.config import CuratorConfig
from memx.curator.attribute import excludes, other_subject
from memx.curator.features import compare
from memx.curator.judge import judge_texts
from memx.curator.tokens import analyse

EXCLUSIVE = [
    ("Log timestamps are written in UTC.", "Log timestamps are written in local time."),
    ("Store log timestamps in UTC.", "Log timestamps are stored in local time."),
    ("The search team maintains the indexer.", "The indexer is maintained by the data team."),
    ("The cleanup job runs on Tuesdays.", "The cleanup job runs on Fridays."),
    ("Backups live in Ireland.", "Backups live in Virginia."),
    ("The partner API is REST.", "The partner API is GraphQL."),
    ("日志时间使用 UTC。", "日志时间使用本地时间。"),
    ("索引服务由搜索组维护。", "索引服务由数据组维护。"),
    ("备份存放在广州。", "备份存放在成都。"),
    ("ログの時刻は UTC で記録する。", "ログの時刻はローカル時間で記録する。"),
    ("設定ファイルの形式は TOML だ。", "設定ファイルの形式は YAML だ。"),
    ("一覧は日付で並べる。", "一覧は名前で並べる。"),
    ("Las horas del log se escriben en UTC.", "Las horas del log se escriben en hora local."),
    ("El equipo de búsqueda mantiene el indexador.", "El equipo de datos mantiene el indexador."),
    ("Los ids de usuario son aleatorios.", "Los ids de usuario son correlativos."),
]
COMPATIBLE = [
    ("The orders table has an index on status.", "The orders table has an index on region."),
    ("The mailer listens on port 25.", "The proxy listens on port 3128."),
    ("Service A listens on 8080.", "Service B listens on 8081."),
    ("The users table has an index on email.", "The users table has an index on name."),
    ("users テーブルはメールアドレスに索引がある。", "users テーブルは氏名に索引がある。"),
    ("The parser accepts JSON.", "The parser accepts YAML."),
    ("The search team maintains the indexer.", "The search team maintains the crawler."),
    ("Image uploads are limited to 10 MB.", "Video uploads are limited to 500 MB."),
    ("The export job runs on Tuesdays.", "The import job runs on Fridays."),
    ("订单表在状态字段上有索引。", "订单表在地区字段上有索引。"),
    ("导出任务每周二执行。", "导入任务每周五执行。"),
    ("パーサーは JSON を受け付ける。", "パーサーは YAML を受け付ける。"),
    ("画像の上限は 10 MB だ。", "動画の上限は 500 MB だ。"),
    (
        "La tabla de pedidos tiene un índice en el estado.",
        "La tabla de pedidos tiene un índice en la región.",
    ),
    ("La exportación se ejecuta cada martes.", "La importación se ejecuta cada viernes."),
    ("This command is an alias of `gzip -d`.", "This command is an alias of `zstd -d`."),
]


@pytest.mark.parametrize(("a", "b"), EXCLUSIVE)
def test_another_value_of_one_attribute_is_a_contradiction(a: str, b: str) -> None:
    """However near or far the vectors are."""
    for cosine in (0.0, 0.9):
        verdict = judge_texts(a, b, cosine, CuratorConfig())
        assert (verdict.action, verdict.contradiction) == ("conflict", True)
        assert judge_texts(b, a, cosine, CuratorConfig()) == verdict


@pytest.mark.parametrize(("a", "b"), COMPATIBLE)
def test_two_subjects_or_what_can_hold_twice_are_independent(a: str, b: str) -> None:
    """Looking alike is no contradiction."""
    assert judge_texts(a, b, 0.75, CuratorConfig()).action == "independent"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Never indent with tabs.", "Indent with spaces."),
        ("Indent with spaces, not tabs.", "Tabs are out, indent with spaces."),
        ("金额字段用 BIGINT 存分，不要用 DOUBLE。", "金额一律以分为单位存成 BIGINT，禁止使用 DOUBLE。"),
        ("The config is YAML.", "The config is YAML."),
    ],
)
def test_value_that_is_turned_down_or_shared_excludes_nothing(a: str, b: str) -> None:
    """What both agree on, or one only warns of, is no other value."""
    assert excludes(compare(analyse(a), analyse(b))) == ""


def test_reasons_name_both_values_and_both_subjects() -> None:
    """Whoever reads the verdict sees what it rests on."""
    told = excludes(compare(analyse("Backups live in Ireland."), analyse("Backups live in Virginia.")))
    assert "Ireland" in told
    assert "Virginia" in told
    other = other_subject(
        compare(analyse("The mailer listens on port 25."), analyse("The proxy listens on port 3128."))
    )
    assert "mailer" in other
    assert "proxy" in other


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("At least 50 for stability.", "The linter is fast enough with 4 workers."),
        ("为了稳定至少要 50。", "代码检查用 4 个进程就足够快了。"),
        ("安定させるには最低でも 50 必要。", "リンターは 4 並列で十分速い。"),
        ("Al menos 50 para que sea estable.", "El linter es bastante rápido con 4 procesos."),
    ],
)
def test_quality_that_is_enough_calls_no_quantity_enough(a: str, b: str) -> None:
    """A fragment without a subject meets quantities that are called enough, and no other subject's speed."""
    assert judge_texts(a, b, 0.1, CuratorConfig()).action == "independent"
