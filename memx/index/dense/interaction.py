"""How near the words of a query come to the words of texts: late interaction.

A text's vector is the mean of its tokens' rows and blurs what one word means. Here each token of a query's word
looks for the nearest token of the text, and a word's cosine is the mean of its tokens'. Translations and synonyms
are near: `connect` and 接続. Formula: Khattab and Zaharia 2020 (MaxSim), with the rows of a static model.
"""

from __future__ import annotations

from memx.index.dense.scan import pairs_above

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet

    from memx.index.dense.embedder import TokenRows

LEAST_COSINE = 0.25
"""Tokens that are farther apart have nothing to do with each other and count as 0."""

BLOCK_ROWS = 256
"""Rows compared at once: their memory serves the next ones too, and fresh pages cost more than the products."""


def word_cosines(
    words: Sequence[Sequence[int]], texts: Sequence[AbstractSet[int]], rows: TokenRows
) -> list[list[float]]:
    """Return a row a text: for each word, given by its tokens, how near the text comes to it (0-1).

    Texts are given by the numbers of `unpack_tokens`. Tokens that several texts have are compared once, and only
    what is near is looked at again.
    """
    asked = list(dict.fromkeys(token for word in words for token in word))
    held = set().union(*texts)
    held.discard(0)
    near = _near(asked, held, rows)
    of_word = [[asked.index(token) for token in word] for word in words]
    numbers, found = near.keys(), []
    for text in texts:
        best = [0.0] * len(asked)
        for number in numbers & text:
            for place, cosine in near[number]:
                if cosine > best[place]:  # noqa: PLR1730 (a call of max costs more)
                    best[place] = cosine
        found.append([_mean([best[place] for place in places]) for places in of_word])
    return found


def _near(asked: Sequence[int], held: Collection[int], rows: TokenRows) -> dict[int, list[tuple[int, float]]]:
    """Return {held number: [(place among the asked, cosine)]} of those that are near."""
    near: dict[int, list[tuple[int, float]]] = {}
    query, numbers = rows(asked), list(held)
    for start in range(0, len(numbers) if asked else 0, BLOCK_ROWS):
        block = numbers[start : start + BLOCK_ROWS]
        matrix = rows([number - 1 for number in block])
        for place, at, cosine in pairs_above(query, matrix, rows.dimension, LEAST_COSINE):
            near.setdefault(block[at], []).append((place, cosine))
    return near


def _mean(values: list[float]) -> float:
    if len(values) == 1:
        return values[0]
    return sum(values) / len(values) if values else 0.0
