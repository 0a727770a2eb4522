"""What two texts have to share before they can contradict each other."""

from __future__ import annotations

import pytest

from memx.config import CuratorConfig
from memx.curator.features import compare
from memx.curator.gate import evidence
from memx.curator.judge import judge_texts
from memx.curator.subject import is_series, no_shared_subject
from memx.curator.tokens import analyse

CONFIG = CuratorConfig()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Run `pytest -v` to see which fixture hangs.", "pytest runs in random order here."),
        ("Run `docker ps` to list containers.", "docker runs as root here."),
        ("运行 `docker stats` 查看内存占用。", "docker 在这台服务器上不使用代理。"),
        ("`nginx -t` で設定を確認する。", "nginxはrootで動いている。"),
        ("Usa `nginx -t` para revisar la configuración.", "nginx corre como root aquí."),
    ],
)
def test_one_shared_name_is_independent(a: str, b: str) -> None:
    """The name of a tool alone is no subject on which two lessons could contradict each other."""
    for cosine in (0.4, 0.6, 0.8):
        assert judge_texts(a, b, cosine, CONFIG).action == "independent"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("docker runs as root on the builders.", "docker does not run as root on the builders."),
        ("The sampler is deterministic.", "The sampler is nondeterministic."),
        ("Run pytest in random order.", "Never run pytest in random order."),
    ],
)
def test_same_statement_about_one_name_is_contradiction(a: str, b: str) -> None:
    """What fills the same form of words about one name, or says the rest of it as well, still contradicts."""
    assert judge_texts(a, b, 0.9, CONFIG).contradiction


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Back up the database before the migration.", "Rebuild the search index after the migration."),
        ("部署前必须运行迁移", "部署后必须清除缓存"),
        ("デプロイの前にバックアップを取る。", "デプロイの後にキャッシュを消す。"),
        ("Haz una copia antes de actualizar.", "Reconstruye el índice después de actualizar."),
    ],
)
def test_other_action_after_event_is_independent(a: str, b: str) -> None:
    """What is done before an event and something else that is done after it are two steps, in each language."""
    assert no_shared_subject(compare(analyse(a), analyse(b)))
    assert judge_texts(a, b, 0.7, CONFIG).action == "independent"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Run the migrations before the deploy.", "Run the migrations after the deploy."),
        ("部署前必须清除缓存", "部署后必须清除缓存"),
        ("デプロイの前にキャッシュを消す。", "デプロイの後にキャッシュを消す。"),
        ("Limpia la caché antes del despliegue.", "Limpia la caché después del despliegue."),
    ],
)
def test_same_action_before_and_after_is_contradiction(a: str, b: str) -> None:
    """One action cannot have to come before and after the same event, in each language."""
    assert judge_texts(a, b, 0.8, CONFIG).contradiction


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Quagga lesson number 1 about herd 1", "Quagga lesson number 2 about herd 2"),
        ("第1条经验:关于集群1", "第2条经验:关于集群2"),
        ("教訓その1:クラスタ1について", "教訓その2:クラスタ2について"),
        ("Lección número 1 sobre el rebaño 1", "Lección número 2 sobre el rebaño 2"),
    ],
)
def test_items_of_series_are_independent(a: str, b: str) -> None:
    """A number that a text repeats behind what it numbers is a name: two of them are two subjects."""
    for cosine in (0.6, 0.95):
        assert judge_texts(a, b, cosine, CONFIG).action == "independent"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Keep 3 replicas of the queue.", "Keep 5 replicas of the queue."),
        ("Keep 3 replicas in 3 zones.", "Keep 5 replicas in 5 zones."),
        ("El número de reintentos es 3.", "El número de reintentos es 5."),
    ],
)
def test_counted_things_are_no_series(a: str, b: str) -> None:
    """A figure that counts what follows it is a value: another one contradicts it."""
    assert not is_series(compare(analyse(a), analyse(b)))
    assert judge_texts(a, b, 0.9, CONFIG).contradiction


def test_value_that_other_text_has_once_is_difference() -> None:
    """Three of three and five of three differ, although the other text has a three as well."""
    pair = (
        "The worker pool needs 3 threads for each of 3 queues.",
        "The worker pool needs 5 threads for each of 3 queues.",
    )
    assert any(veto.kind == "value" for veto in evidence(compare(*map(analyse, pair))))
    assert judge_texts(*pair, 0.97, CONFIG).contradiction


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Enable the flag before the deploy.", "Disable the flag after the deploy."),
        ("升级前停止服务", "升级后启动服务"),
        ("アップグレードの前にワーカーを止める。", "アップグレードの後にワーカーを起動する。"),
        ("Desactiva las alertas antes de la migración.", "Activa las alertas después de la migración."),
    ],
)
def test_opposite_action_at_opposite_time_is_independent(a: str, b: str) -> None:
    """What is stopped before an event is started after it, and nothing contradicts, in each language."""
    assert judge_texts(a, b, 0.85, CONFIG).action == "independent"


def test_opposite_action_at_same_time_is_contradiction() -> None:
    """Before one event nothing can be stopped and started."""
    pair = ("Stop the worker before the upgrade.", "Start the worker before the upgrade.")
    assert judge_texts(*pair, 0.9, CONFIG).contradiction
