"""The bundled model, opened once, and texts in many scripts."""

from __future__ import annotations

import os

import pytest

from memx.index.dense.embedder import QueryEmbedder
from memx.resources import resource

TEXTS = (
    "Redis timeouts under load come from the pool ceiling: set `MAX_POOL_SIZE` to 50.",
    "git rebase --onto main feature~3 feature",
    "Los tiempos de espera de Redis vienen del límite del pool; súbelo a 50.",
    "数据库连接池太小会在高负载时导致 Redis 超时，把 MAX_POOL_SIZE 调到 50。",
    "負荷が高いとき Redis のタイムアウトはプールの上限が原因。㍿ ㋿ ﾊﾝｶｸ ① Ⅷ",
    "ΑΣ ΟΔΥΣΣΕΥΣ İstanbul STRASSE ﬁle ½ ™ Ⅳ",
    "Ошибка подключения к базе данных",
    "a\x1cb\x1d c\u2028d\u3000e\u00a0f\x85g\ttab",
    "▁already▁marked▁▁words ▁ _",
    "C++ foo.bar() std::vector<int> --no-verify && x -> y",
    "👩‍💻🚀 emoji and 한국어 and العربية and ไทย",
    "e\u0301 combining vs é, ångström A\u030angstrom",
    "x" * 3000,
    "漢" * 3000,
    "word " * 3000,
)


@pytest.fixture(scope="session")
def model_dir() -> str:
    """Return the folder of the bundled model."""
    return resource("model")


@pytest.fixture(scope="session")
def embedder(model_dir: str) -> QueryEmbedder:
    """Return the bundled model's query path."""
    return QueryEmbedder(model_dir)


@pytest.fixture(scope="session")
def corpus() -> list[str]:
    """Return real text at hand: the texts above, and every docstring and comment line of the standard library's top."""
    folder = os.path.dirname(os.__file__)
    lines = list(TEXTS)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                lines += [line.strip() for line in file if line.strip()][:60]
    return lines
