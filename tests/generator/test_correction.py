"""A slip is read as what the candidates hold; what the model or the store knows stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memx.generator.correction import correct

if TYPE_CHECKING:
    from tests.generator.conftest import Corpus

TEXTS = (
    "The connection has a timeout",
    "Every connection is pooled",
    "A convection oven",
    "La conexión falla",
)


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("Conection timeout", (), "connection timeout"),
        ("conection, timeout!", (), "connection, timeout!"),
        ("connection timeout", (), "connection timeout"),
        ("conection timeout", ("conection",), "conection timeout"),
        ("zebra timeout", (), "zebra timeout"),
        ("conexion", (), "conexion"),
        ("cnncton", (), "cnncton"),
        ("数据库 conection", (), "数据库 connection"),
    ],
)
def test_correct_reads_one_slip_as_the_commonest_near_word(
    corpus: type[Corpus], text: str, known: tuple[str, ...], expected: str
) -> None:
    """One edit, a word that nothing knows, and the word that most of the candidates hold."""
    found = corpus(*TEXTS)
    query = found.generator().query(text)
    assert correct(query, found.packed, known.__contains__) == expected
