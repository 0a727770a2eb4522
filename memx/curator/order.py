"""Where things come from and go to, and what is told to come first."""

from __future__ import annotations

import re

from memx.curator import words

_SENTENCE = re.compile(r"[;；。！？!?\n]|\.(?=\s|$)")
_ORIGIN = re.compile(r"\b(?:from|desde)\s(?:(?:the|an?|our|its|el|las?|los|un|una)\s)?`?(?=[^\s`])")
_GOAL = re.compile(r"\b(?:to|into|onto|hacia)\s(?:(?:the|an?|our|its|el|las?|los|un|una)\s)?`?(?=[^\s`])")
_ROUTE = re.compile(
    r"\bde\s(?:el\s|las?\s|los\s)?`?(?P<origin>[\w./-]+)`?\sa(?:l?\s|\slas?\s|\slos\s)`?(?P<goal>[\w./-]+)"
    r"|从\s?(?P<zh_origin>[^，。；,;]{1,20}?)(?:同步|复制|拷贝|导入|迁移|写|推送?)?(?:到|至|向|往)\s?(?P<zh_goal>\S)"
    r"|(?P<ja_origin>[^\s、。；ぁ-ん]+)から\s?(?P<ja_goal>[^\s、。；ぁ-ん]+)(?:へ|に|まで)"
)
_WHY = re.compile(r",?\s(?:because|since|so that|so|or|otherwise|or else|porque|ya que|pues|o)\s")
"""Where a sentence turns from what to do to why: the steps that follow are not advice."""


def read_phases(text: str, lang: str) -> list[tuple[int, int, int]]:
    """Return (start, end, side) of what each sentence of a folded text tells to come earlier (-1) and later (1)."""
    found: list[tuple[int, int, int]] = []
    at = 0
    for end in [*(m.end() for m in _SENTENCE.finditer(text)), len(text)]:
        reason = _WHY.search(text, at, end)
        stop = reason.start() if reason else end
        for pattern in words.orders(lang):
            match = (
                pattern.match(text[at:stop]) if pattern.pattern[0] == "^" else pattern.search(text[at:stop])
            )
            if match:
                found += [(at + match.start("early"), at + match.end("early"), -1)]
                found += [(at + match.start("late"), at + match.end("late"), 1)]
                break
        at = end
    return found


def read_roles(text: str) -> dict[int, int]:
    """Map the offsets at which a folded text names where something comes from (-1) and goes to (1)."""
    found = {m.end(): -1 for m in _ORIGIN.finditer(text)} | {m.end(): 1 for m in _GOAL.finditer(text)}
    for match in _ROUTE.finditer(text):
        for name, at in match.re.groupindex.items():
            if match.group(at) is not None:
                found[match.start(at)] = -1 if name.endswith("origin") else 1
    return found
