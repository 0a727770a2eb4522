"""Make the list of words that mean nearly the same, in a language and across, from the model's own rows.

    python tools/embedding/related.py [--write]

A word that is one token has a vector of its own, and the tokens nearest to it are its other forms, its
synonyms and its translations. Only whole words of Latin, Han and kana letters are taken, without those that
say nothing of their own. Latin words stand under their first stem, because it is stems that a search compares;
what shares a stem with the word is left out, since a search finds that anyway.

memx/data/related.txt, which `memx.index.related` reads: a line a word, in the order of its UTF-8 bytes, the
word first and its relatives behind it, the nearest first. `--write` replaces it; otherwise it is only described.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict

import numpy as np
from safetensors.numpy import load_file

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

from memx.generator.stopwords import STOPWORDS  # noqa: E402
from memx.index.analysis import fold, is_cjk  # noqa: E402
from memx.index.lexical import make_stem  # noqa: E402
from memx.index.related import LONGEST_CJK, NAME  # noqa: E402
from memx.resources import resource  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST_COSINE = 0.6
MOST_RELATIVES = 8
LOOKED_AT = 32
"""Nearest tokens of which relatives are taken: several of them are forms of one word."""

SHORTEST_LATIN, SHORTEST_CJK = 3, 2
FIRST_LATIN_EXTENDED, LAST_LATIN_EXTENDED = "\u00c0", "\u024f"
FIRST_KATAKANA, LAST_KATAKANA = "\u30a1", "\u30fc"
WORD_MARK = "▁"
BLOCK_ROWS = 256

Row = tuple[int, str]
"""A token's number, and the word that it is."""


def words_of(tokens: list[str]) -> list[Row]:
    """Return the tokens that are whole words, Latin ones by their first stem."""
    stem = make_stem()
    found = []
    for number, token in enumerate(tokens):
        word = token.removeprefix(WORD_MARK)
        if word in STOPWORDS:
            continue
        if is_cjk_word(word):
            found.append((number, word))
        elif token != word and is_latin_word(word):
            found.append((number, stem(fold(word))[0]))
    return found


def is_cjk_word(word: str) -> bool:
    """Return whether a token is a word of Han or katakana, with no particle before or behind it."""
    return (
        SHORTEST_CJK <= len(word) <= LONGEST_CJK
        and all(is_cjk(char) and (char >= FIRST_KATAKANA) for char in word)
        and not {word[0], word[-1]} & STOPWORDS
    )


def is_latin_word(word: str) -> bool:
    """Return whether a token is a word of Latin letters."""
    return (
        len(word) >= SHORTEST_LATIN
        and word.isalpha()
        and all(char.isascii() or FIRST_LATIN_EXTENDED <= char <= LAST_LATIN_EXTENDED for char in word)
    )


def near_words(words: list[Row], rows: np.ndarray) -> Iterator[tuple[str, str, float]]:
    """Yield (word, other word, cosine) of the nearest ones."""
    unit = rows[[number for number, _ in words]].astype(np.float32)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-9)
    for start in range(0, len(words), BLOCK_ROWS):
        cosines = unit[start : start + BLOCK_ROWS] @ unit.T
        nearest = np.argpartition(-cosines, LOOKED_AT, axis=1)[:, :LOOKED_AT]
        for at, places in enumerate(nearest):
            for place in places:
                if cosines[at, place] >= LEAST_COSINE:
                    yield words[start + at][1], words[place][1], float(cosines[at, place])


def relatives(near: Iterator[tuple[str, str, float]]) -> dict[str, list[str]]:
    """Return each word's nearest others, best first; the cosine of two words is that of their nearest forms."""
    cosines: dict[str, dict[str, float]] = defaultdict(dict)
    for word, other, cosine in near:
        if word != other:
            cosines[word][other] = max(cosine, cosines[word].get(other, 0.0))
    return {
        word: sorted(others, key=lambda other: (-others[other], other))[:MOST_RELATIVES]
        for word, others in cosines.items()
    }


def main() -> None:
    """Make the list, describe it, and write it when that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the list of the package")
    is_written = parser.parse_args().write
    with open(resource("model/tokenizer.json"), encoding="utf-8") as file:
        tokens = [token for token, _ in json.load(file)["model"]["vocab"]]
    words = words_of(tokens)
    found = relatives(near_words(words, load_file(resource("model/model.safetensors"))["embeddings"]))
    lines = sorted(" ".join((word, *others)).encode() + b"\n" for word, others in found.items())
    print(
        f"{len(words)} words of {len(tokens)} tokens, {len(lines)} with relatives, {sum(map(len, lines))} bytes"
    )
    if is_written:
        with open(resource(NAME), "wb") as file:
            file.writelines(lines)


if __name__ == "__main__":
    main()
