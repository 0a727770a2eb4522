"""Texts that judge a quantity to be too little."""

from __future__ import annotations

import pytest

from memx.config import CuratorConfig
from memx.curator.features import compare
from memx.curator.inadequate import too_little
from memx.curator.judge import judge_texts
from memx.curator.tokens import analyse

CONFIG = CuratorConfig()
AGREEING = [
    (
        "Redis timeouts under load: MAX_POOL_SIZE 10 is too small, 50 is stable",
        (
            "Fix Redis timeouts under load. The pool ceiling was 10, which is not enough: "
            "set MAX_POOL_SIZE to 50, because each worker holds two connections."
        ),
    ),
    (
        "Kafka consumers lag: 4 partitions are not enough, use 12.",
        (
            "Consumers of Kafka lag at peak. The topic had 4 partitions, which is too few: "
            "give it 12, because each consumer reads one."
        ),
    ),
    ("线程池 8 太小,32 才稳定", "线程池之前是 8,不够用:改成 32,因为每个请求占用两个线程"),
    (
        "接続プールは10では小さすぎる。50なら安定する。",
        "接続プールの上限は10だったが足りない。ワーカーごとに2本使うので50に設定する。",
    ),
    (
        "El pool de 10 conexiones es demasiado pequeño; con 50 es estable.",
        "El pool tenía 10 conexiones, que no son suficientes: ponlo en 50, porque cada worker usa dos.",
    ),
]


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("The pool was 10, which is not enough: set it to 50.", 10),
        ("It is not enough with 10 of them, 50 work.", 10),
        ("超时 30 秒太短,改成 90 秒", 30),
        ("上限は10だったが足りない。50にする。", 10),
        ("Con 10 conexiones no basta; pon 50.", 10),
    ],
)
def test_quantity_before_judgement_is_too_little(text: str, figure: float) -> None:
    """The quantity that stands before the judgement in its sentence is meant, else the first after it."""
    assert [unit.raw for unit in too_little(analyse(text))] == [figure]


@pytest.mark.parametrize(("a", "b"), AGREEING)
def test_same_value_turned_down_is_no_contradiction(a: str, b: str) -> None:
    """Two texts that turn down one value and advise one other value agree, whatever words they judge it by."""
    comparison = compare(analyse(a), analyse(b))
    assert comparison.agreed
    assert not comparison.turned
    for cosine in (0.5, 0.7, 0.9):
        assert not judge_texts(a, b, cosine, CONFIG).contradiction


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("A gateway timeout of 30 s is enough.", "The gateway timeout of 30 s is too short, 90 s works."),
        ("线程池设为 8 就够了", "线程池 8 太小,至少需要 32"),
        ("接続プールは10で十分。", "接続プールは10では足りない。50にする。"),
        (
            "Un pool de 10 conexiones es suficiente.",
            "Un pool de 10 conexiones no es suficiente, hacen falta 50.",
        ),
        (
            "Redis timeouts under load: MAX_POOL_SIZE 10 is too small, 50 is stable",
            "Redis timeouts under load: MAX_POOL_SIZE 10 is too small, 200 is stable",
        ),
        (
            "A heap of 512 MB is too small for the indexer, 2 GB works.",
            "The indexer ran out of memory: 512 MB is not enough, give it 8 GB.",
        ),
    ],
)
def test_other_judgement_or_value_is_contradiction(a: str, b: str) -> None:
    """Who calls the value enough, or advises another one, contradicts."""
    assert judge_texts(a, b, 0.8, CONFIG).contradiction
