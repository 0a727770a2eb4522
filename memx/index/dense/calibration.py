"""From a model's cosine to `semantic` in 0–1, comparable between queries and languages.

Formula: the expected relevance of a text at that cosine, where a text is
unrelated (0), on the same topic (½) or says the same (1):
semantic(c) = ½·P(at least the same topic | c) + ½·P(the same | c), each a
logistic curve fitted with equal weight for every grade, source of texts and
pair of languages (tools/embedding/calibrate.py), shifted so that a cosine of
0 gives 0. It is kept as a table of points beside the model and read by linear
interpolation, so it is monotone by construction.
"""

from __future__ import annotations

import os

from memx.errors import ModelUnavailableError
from memx.index.dense.model import CALIBRATION_FILE

# For a model without a table: what static sentence models have in common.
DEFAULT_TABLE = ((0.1, 0.0), (0.3, 0.25), (0.5, 0.6), (0.8, 0.95), (1.0, 1.0))

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Table = Sequence[tuple[float, float]]


def semantic(cosine: float, table: Table) -> float:
    """Return the calibrated relevance, 0–1; never falls when the cosine rises, 0 for NaN."""
    low, value = table[0]
    if not cosine > low:
        return value if cosine == cosine else 0.0  # noqa: PLR0124 (NaN)
    for high, next_value in table[1:]:
        if cosine <= high:
            return value + (next_value - value) * (cosine - low) / (high - low)
        low, value = high, next_value
    return value


def cosine_of(relevance: float, table: Table) -> float:
    """Return the smallest cosine with this calibrated relevance: what `semantic` undoes."""
    low, value = table[0]
    for high, next_value in table[1:]:
        if next_value >= relevance > value:
            return low + (high - low) * (relevance - value) / (next_value - value)
        low, value = high, next_value
    return table[0][0] if relevance <= table[0][1] else low


def load_table(model_dir: str) -> Table:
    """Return the table beside the model, or the default one; ModelUnavailableError when damaged."""
    path = os.path.join(model_dir, CALIBRATION_FILE)
    try:
        with open(path, encoding="utf-8") as file:
            return parse_table(file)
    except FileNotFoundError:
        return DEFAULT_TABLE
    except (OSError, ValueError) as error:
        raise ModelUnavailableError(f"model calibration is damaged ({error})", path=path) from error


def parse_table(lines: Iterable[str]) -> Table:
    """Read `cosine semantic` a line, `#` for remarks; raises ValueError unless both columns rise."""
    points = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            cosine, value = map(float, line.split())
            points.append((cosine, value))
    rises = len(points) > 1
    for earlier, later in zip(points, points[1:], strict=False):  # noqa: RUF007 (itertools stays unloaded)
        rises = rises and earlier[0] < later[0] and earlier[1] <= later[1]
    if not rises or points[0][1] < 0 or points[-1][1] > 1:
        raise ValueError("not a rising table from 0 to 1")
    return tuple(points)
