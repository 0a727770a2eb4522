"""Secrets of several words: passphrases, and the phrases that wallets are restored from."""

from __future__ import annotations

from memx.redact.finding import Match, secret
from memx.redact.pattern import Pattern, has_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = (
    "phrase",
    "mnemonic",
    "password",
    "passwd",
    "passcode",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "パスフレーズ",
)
_PHRASE = r"(?P<phrase>[a-z]{3,12}(?:[ ][a-z]{3,12}){3,23})(?=[.,;!\"'`)\]。，、）」』]|[ \t]*(?:\n|\Z))"
_STATED = Pattern(
    r"(?:(?:pass|seed|recovery|backup|wallet)[ -]?phrase|mnemonic)s?\b"
    r"(?:[ \t]+(?:for|of|to)[ \t]+[\w -]{1,40}?)?[\"'`*]{0,2}[ \t]*(?:[:=]|\b(?:is|was|are)\b:?)[ \t]*"
    rf"\n?[ \t]*{_PHRASE}"
)
_SIGNED = Pattern(
    r"(?:password|passwd|passcode)\b[\"'`*]{0,2}[ \t]*[:=][ \t]*" + _PHRASE + r"|"
    r"(?:密码|密碼|口令|パスワード|パスフレーズ)(?:是|为|為|は|：|:)[ \t]*"
    + _PHRASE.replace("phrase>", "other>")
)
_PROSE = frozenset(
    """
    the this that these those its your our their his her you they she who what which how why when where while
    are was were has have had been being does did not nor but and for from with without into onto over under after
    before than then because since until unless also only just even still already again too very more most less
    any all each every some none both either one two must should shall can cannot could may might will would need
    needs use uses used using set sets get gets got see give given take please enter type choose pick put add
    minimum maximum least length long short character characters letter letters digit digits symbol symbols
    field fields form prompt input hash hashes hashing reset resets change login logout user users email name
    policy validation check checks manager protected required optional empty missing wrong invalid incorrect expired
    """.split()  # noqa: SIM905 (a word list reads better than quoted strings)
)
"""Words of sentences about a password; a phrase that was drawn by lot has hardly one of them."""
_LEAST_WORDS = 4
_SHORTEST = 3
_SHORT = 6
_ENDINGS = ("ed", "ing", "able", "ible", "less", "ly", "tion")


def is_passphrase(value: str) -> bool:
    """Return whether so many words in a row are no sentence: four or more, none that joins or describes."""
    words = value.split()
    if len(words) < _LEAST_WORDS or min(map(len, words)) < _SHORTEST:
        return False
    if not all(word.isascii() and word.isalpha() for word in words):
        return False
    return not any(
        word in _PROSE or (len(word) > _SHORT and word.endswith(_ENDINGS)) for word in map(str.lower, words)
    )


def passphrases(text: str, lowered: str) -> Iterator[Match]:
    """Yield phrases without quotation marks; what is quoted is found like any other value."""
    if not has_any(lowered, _NAMES):
        return
    for pattern in (_STATED, _SIGNED):
        for match in pattern.finditer(lowered):
            group = "phrase" if match["phrase"] else "other"
            start, end = match.span(group)
            # What is written with capitals is a sentence or a name.
            if text[start:end] == match[group] and is_passphrase(match[group]):
                yield secret("password", start, end)
