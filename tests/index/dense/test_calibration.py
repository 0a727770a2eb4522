"""The map from cosine to semantic is monotone, and means the same in every language."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memx.errors import ModelUnavailableError
from memx.index.dense.calibration import DEFAULT_TABLE, cosine_of, load_table, parse_table, semantic
from memx.index.dense.scan import cosine
from memx.resources import resource

if TYPE_CHECKING:
    from memx.index.dense.embedder import QueryEmbedder

TABLE = load_table(resource("model"))

SAME_TOPIC = {
    "en": (
        "Postgres runs out of connections",
        "Put pgbouncer before PostgreSQL: each connection costs a process",
    ),
    "es": (
        "Postgres se queda sin conexiones",
        "Pon pgbouncer delante de PostgreSQL: cada conexión es un proceso",
    ),
    "zh": ("Postgres 连接数耗尽", "在 PostgreSQL 前面放 pgbouncer，因为每个连接都是一个进程"),
    "ja": ("Postgres の接続が足りない", "PostgreSQL の前に pgbouncer を置く。接続ごとにプロセスが要る"),
    "en-zh": ("Postgres runs out of connections", "在 PostgreSQL 前面放 pgbouncer，因为每个连接都是一个进程"),
    "ja-es": (
        "Postgres の接続が足りない",
        "Pon pgbouncer delante de PostgreSQL: cada conexión es un proceso",
    ),
}
UNRELATED = {
    "en": "Buttons keep a contrast of 4.5 to 1",
    "es": "Los botones mantienen un contraste de 4,5 a 1",
    "zh": "按钮的颜色对比度不低于 4.5 比 1",
    "ja": "ボタンの色のコントラストは 4.5 対 1 以上にする",
}


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_semantic_never_falls(a: float, b: float) -> None:
    """A higher cosine is never less relevant, and the value stays between 0 and 1."""
    for table in (TABLE, DEFAULT_TABLE):
        low, high = semantic(min(a, b), table), semantic(max(a, b), table)
        assert 0.0 <= low <= high <= 1.0


def test_ends_of_the_scale() -> None:
    """Unrelated and opposite give 0, identical gives 1, not-a-number gives 0."""
    assert [semantic(value, TABLE) for value in (-1.0, 0.0, 1.0, float("nan"))] == [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("names", SAME_TOPIC)
def test_same_topic_is_clearly_more_than_unrelated(names: str, embedder: QueryEmbedder) -> None:
    """Within a language and across two, a same-topic text stands out from an unrelated one."""
    query, answer = SAME_TOPIC[names]
    other = UNRELATED[names.rsplit("-", maxsplit=1)[-1]]
    row = embedder.embed(query) or b""
    near = semantic(cosine(row, embedder.embed(answer) or b""), TABLE)
    far = semantic(cosine(row, embedder.embed(other) or b""), TABLE)
    assert far < 0.1
    assert near > far + 0.2


def test_model_without_table_has_the_default(tmp_path: object) -> None:
    """A model of the user's own gets the common table."""
    assert load_table(str(tmp_path)) == DEFAULT_TABLE


@pytest.mark.parametrize(
    "text", ["", "0 0\n", "0 0\n0.5 x\n", "0 0.5\n1 0.4\n", "0 0\n1 1.5\n", "1 0\n0 1\n"]
)
def test_damaged_table_is_refused(tmp_path: object, text: str) -> None:
    """A table that does not rise from 0 to 1 is an error with a path."""
    with open(os.path.join(str(tmp_path), "calibration.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    with pytest.raises(ModelUnavailableError):
        load_table(str(tmp_path))


def test_remarks_are_skipped() -> None:
    """Remarks and empty lines may stand in a table."""
    assert parse_table(["# remark\n", "\n", "0 0\n", "1 1\n"]) == ((0.0, 0.0), (1.0, 1.0))


@given(st.floats(0.0, 1.0))
def test_cosine_of_undoes_the_table(relevance: float) -> None:
    """The cosine found has the relevance asked for, as far as the table reaches."""
    for table in (TABLE, DEFAULT_TABLE):
        expected = min(max(relevance, table[0][1]), table[-1][1])
        assert semantic(cosine_of(relevance, table), table) == pytest.approx(expected, abs=1e-9)
