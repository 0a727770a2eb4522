"""Keep the evaluation's texts out of training: no equal text, and no run of words in common.

A text is refused when its letters and digits equal those of an evaluation
text, or when eight words in a row (a CJK character counts as a word) stand in
one. Both are compared by hash.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RUN = 8
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


class Evaluation:
    """What no training text may share with the evaluation data."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Remember every text and every run of words."""
        self._whole: set[int] = set()
        self._runs: set[int] = set()
        for text in texts:
            words = _words(text)
            if words:
                self._whole.add(hash(tuple(words)))
            self._runs.update(_runs(words))

    def reason(self, text: str) -> str:
        """Return `equal`, `run`, or nothing when the text may be trained on."""
        words = _words(text)
        if hash(tuple(words)) in self._whole:
            return "equal"
        return "run" if any(run in self._runs for run in _runs(words)) else ""


def evaluation_texts(folder: str) -> Iterator[str]:
    """Yield every string of the evaluation data; raises FileNotFoundError when there is none."""
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(".jsonl")]
    if not names:
        raise FileNotFoundError(f"no evaluation data in {folder}")
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for line in file:
                yield from (value for value in json.loads(line).values() if isinstance(value, str))


def _words(text: str) -> list[str]:
    return WORD.findall(unicodedata.normalize("NFKC", text).lower())


def _runs(words: list[str]) -> Iterator[int]:
    return (hash(tuple(words[at : at + RUN])) for at in range(len(words) - RUN + 1))
