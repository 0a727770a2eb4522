"""Which language a text is written in, by script and by the commonest words."""

from __future__ import annotations

from functools import lru_cache

from memx.reflector.pattern import pattern
from memx.reflector.vocabulary import load_stopwords

_KANA = pattern(r"[\u3041-\u309f\u30a1-\u30fa\u30fc]")
_HAN = pattern(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_CJK = pattern(r"[\u3041-\u30ff\u3400-\u9fff]")
_SAMPLE = 600


@lru_cache(maxsize=64)
def detect_language(text: str) -> str:
    """Return a language code: `ja` and `zh` by script, others by their stop words, `en` when in doubt."""
    if not text.isascii():
        if len(_KANA.findall(text)) >= 2:  # noqa: PLR2004 (a lone kana is a symbol)
            return "ja"
        if len(_HAN.findall(text)) >= 2:  # noqa: PLR2004
            return "zh"
    words = text[:_SAMPLE].lower().split()
    best, best_hits = "en", 0
    for language, stopwords in load_stopwords().items():
        hits = sum(map(stopwords.__contains__, words))
        hits += language == "es" and not text.isascii() and any(c in text for c in "ñ¿¡")
        if hits > best_hits:
            best, best_hits = language, hits
    return best


def is_cjk(character: str) -> bool:
    """Tell whether a character is Han, kana, or their punctuation."""
    return (
        "\u3000" <= character <= "\u30ff"
        or "\u3400" <= character <= "\u9fff"
        or "\uff00" <= character <= "\uffef"
    )


def weight_of(text: str) -> int:
    """Return the length in Latin characters: a Han or kana character says as much as three."""
    return len(text) if text.isascii() else _weight_of(text)


@lru_cache(maxsize=1024)
def _weight_of(text: str) -> int:
    if not _CJK.search(text):
        return len(text)
    return len(text) + 2 * len(_HAN.findall(text)) + len(_KANA.findall(text))
