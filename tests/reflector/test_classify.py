"""Section and type of what a person writes by hand: no trouble in it, no pitfall made of it, in four languages."""

from __future__ import annotations

import pytest

from memx.reflector.describe import describe

WRITTEN = (
    ("部署前必须先运行数据库迁移", "workflow", "method"),
    ("Run the database migrations before each deploy", "workflow", "method"),
    ("Ejecuta las migraciones antes de desplegar", "workflow", "method"),
    ("np.einsum_path is expensive for repeated calls: cache the result", "patterns", "method"),
    ("np.einsum_path finds the order once; cache the result and pass it on", "patterns", "method"),
    ("La contraseña de la base de datos de pruebas se rota cada lunes", "general", "knowledge"),
    ("The password of the test database is rotated every Monday", "general", "knowledge"),
    ("测试数据库的密码每周一更换", "general", "knowledge"),
    ("テスト用データベースのパスワードは毎週月曜に変わる", "general", "knowledge"),
    ("Run `make lint` before pushing", "commands", "method"),
)
CALM = (
    *(text for text, _, _ in WRITTEN),
    "Orders live in Postgres and events in Kafka.",
    "订单存在 Postgres，事件存在 Kafka。",
    "注文は Postgres に、イベントは Kafka に入る。",
    "Los pedidos están en Postgres y los eventos en Kafka.",
    "デプロイ前に必ずデータベースのマイグレーションを実行する",
)
TROUBLED = (
    "The API returns 500 when the tenant header is missing.",
    "租户头缺失时接口返回 500，服务崩溃。",
    "テナントのヘッダーが抜けると API が 500 エラーを返す。",
    "La API falla con un error 500 si falta la cabecera del inquilino.",
)


@pytest.mark.parametrize(("text", "section", "kind"), WRITTEN, ids=lambda text: text[:24])
def test_lesson_written_by_hand_goes_where_it_belongs(text: str, section: str, kind: str) -> None:
    """What to do in which order is a method of the workflow, a plain fact is knowledge."""
    described = describe(text)
    assert (described.section, described.type) == (section, kind)


@pytest.mark.parametrize("text", CALM, ids=lambda text: text[:24])
def test_lesson_without_trouble_is_no_pitfall(text: str) -> None:
    """Nothing goes wrong in it, so nothing is debugged and nobody is warned."""
    described = describe(text)
    assert described.section != "debugging"
    assert described.type != "pitfall"


@pytest.mark.parametrize("text", TROUBLED, ids=lambda text: text[:24])
def test_lesson_of_trouble_is_a_pitfall(text: str) -> None:
    """What fails is a pitfall whoever writes it down."""
    assert describe(text).type == "pitfall"
