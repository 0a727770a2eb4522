"""Whether sentences state a lesson by themselves: what to do or what goes wrong, joined to its reason.

No fixed wording is looked for. A sentence counts by the kinds of words that
stand in it: a reason, a directive, trouble, a remedy, and something concrete.
So a paraphrase counts as the sentence does, in every language with a lexicon.
"""

from __future__ import annotations

import re

from memx.reflector.guards import (
    is_offer,
    is_personal,
    is_plan,
    is_question,
    is_refuted,
    is_request,
    is_slip,
)
from memx.reflector.language import weight_of
from memx.reflector.pattern import pattern
from memx.reflector.segment import TITLE
from memx.reflector.tokens import VALUE_TOKEN, code_tokens
from memx.reflector.vocabulary import cue_counts, fold, load_stopwords, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memx.reflector.segment import Sentence
    from memx.reflector.vocabulary import Vocabulary

LEAST_SHARE = 0.65
"""How much of a text a stated lesson must be; in a longer text the learned score judges."""
_EARLY = 36
"""Characters in which a directive without a reason word stands: `Never …: it …`."""
_REPORTED = 40
"""Characters in which it stands who else says so."""
_TRIVIAL = 24
"""Characters in which it stands that only the writing was mended."""
_SHORTEST = 24
"""Latin characters; less cannot hold a thing and its reason."""
_SIDE = 18
"""Latin characters on each side of a colon that stands for `because`."""
_WORDS = 2
"""Spaces before such a colon; fewer words are a label."""
_REASONED = 45
"""Latin characters of a rule with what follows from it."""
_CLAUSES = pattern(r"\w[)`\"'”»」]*\s?[:;,.—–-]\s+[\w`\"'«“]|[，：；。、].")
_STRONG_CLAUSES = pattern(r"\w[)`\"'”»」]*\s?[:;.—–]\s+[\w`\"'«“]|[：；。，].")
_BECAUSE = pattern(r":\s|\s[—–]\s|[：；;]|[，。、]")
_FOREIGN = pattern(r"[A-Za-z]{2,}|\d")
_NAME = pattern(r"\b[A-Z][A-Za-z]*[A-Z0-9]\w*|(?<=[a-z,;] )[A-Z][a-z]+\b")
_PREFIX = pattern(r"^\s*[\w()/,.*\[\]-]{1,30}:\s+")
"""`fix:`, `core/io:`: what a title is about is no clause."""
_WITHOUT = pattern(r"^\W*(?:without|sin)\b", re.IGNORECASE | re.MULTILINE)
_DENIAL = pattern(r"\b(?:not|no|never|sin|nunca)\s+(\w+(?:\s+\w+)?)", re.IGNORECASE)
_OWN_WORD = 4
"""Letters of a word that may say what a text is about."""
_OWN_WORDS = 2
_TOLD = 24
"""Characters from a reason word to the end; fewer give no reason."""
_VERB = 12
"""Characters in which the verb of a chore stands: at the beginning, in Japanese at the end."""
_SO = pattern(
    r"[,;]\s+so\s+(?!far\b|much\b|many\b|long\b|on\b|called\b)|[,;]\s+or\s+(?:the|it|they|else|you|your|all|every)\b"
    r"|[,;]\s+o\s+(?:el|la|los|las|se|no)\b",
    re.IGNORECASE,
)
"""Words that join a consequence only behind a comma."""
_STATUS = pattern(r"(?<![\d.])[45]\d\d(?![\d.])|(?<![A-Za-z])E[A-Z]{4,}(?![a-z])")
_FULL, _STRONG, _FAIR, _BARE = 1.0, 0.9, 0.8, 0.75
"""Strengths; the last is a reason without trouble, directive or remedy: enough where it is the whole text."""
_PLAIN = 0.9
"""The factor of a sentence that names nothing."""


def stated_support(sentences: Sequence[Sentence], language: str) -> float:
    """Return how far sentences that follow one another state a lesson by themselves, 0 to 1."""
    masked, counts, words = _read(sentences, language)
    support = _support(sentences, masked, counts, words) if counts else 0.0
    return support if support and _is_earnest(sentences, masked, words) else 0.0


def sentence_support(sentence: Sentence, folded: str, counts: Mapping[str, int], words: Vocabulary) -> float:
    """Return `stated_support` of one sentence whose cues are counted already."""
    if _TELLING.isdisjoint(counts) and not _SO.search(sentence.masked):
        return 0.0
    support = _support((sentence,), sentence.masked, counts, words)
    if support <= _BARE * _PLAIN or support == _BARE or weight_of(sentence.masked.strip()) < _SHORTEST:
        return 0.0
    return 0.0 if _is_unreal((sentence,), folded, words) else support


_TELLING = frozenset(("reason", "failure", "hazard", "diagnosis"))


def _support(
    sentences: Sequence[Sentence], masked: str, counts: Mapping[str, int], words: Vocabulary
) -> float:
    strength = _strength(counts, masked, words)
    if not strength or is_concrete(sentences, words):
        return strength
    if words.spaced and _is_empty(masked, words):
        return 0.0
    reasoned = "reason" in counts or bool(_SO.search(masked))
    if not reasoned and ("chatter" in counts or not _STRONG_CLAUSES.search(masked)):
        return 0.0
    return strength * _PLAIN


def _is_empty(masked: str, words: Vocabulary) -> bool:
    """Tell whether a text has next to no word of its own: `It was wrong. Use the right one.`."""
    common = load_stopwords().get(words.language, frozenset())
    own = {word for word in fold(masked).split() if len(word) >= _OWN_WORD} - common
    told = 0
    for word in own:
        told += not words.tally(f" {word} ")
        if told == _OWN_WORDS:
            return False
    return True


def diagnosed_support(sentences: Sequence[Sentence], language: str) -> float:
    """Return how far sentences say what trouble came from, 0 to 1."""
    masked, counts, words = _read(sentences, language)
    if "diagnosis" not in counts or not _is_trouble(counts, masked):
        return 0.0
    if not _is_earnest(sentences, masked, words):
        return 0.0
    return _STRONG if is_concrete(sentences, words) else _STRONG * _PLAIN


def retried_support(sentences: Sequence[Sentence], language: str) -> float:
    """Return how far sentences tell of attempts that failed and of what worked in the end, 0 to 1."""
    masked, counts, words = _read(sentences, language)
    attempt = "futile" if "futile" in counts else "failure" if "success" in counts else ""
    if attempt not in counts or "finally" not in counts or not _is_earnest(sentences, masked, words):
        return 0.0
    folded = fold(masked)
    at = words.first(attempt, folded)
    return _STRONG if words.has("finally", folded[at + 1 :]) else 0.0


def reasoned_support(sentences: Sequence[Sentence], language: str) -> float:
    """Return how far a rule that somebody lays down goes on to what follows from it, 0 to 1."""
    masked = " ".join([sentence.masked for sentence in sentences])
    counts, words = cue_counts(language, masked), vocabulary(language)
    if not _CLAUSES.search(masked) or weight_of(masked) < _REASONED:
        return 0.0
    if not _is_earnest(sentences, masked, words):
        return 0.0
    return _FAIR if is_concrete(sentences, words) or "reason" in counts else _FAIR * _PLAIN


def share_of(sentences: Sequence[Sentence], first: int, last: int) -> float:
    """Return how much of a text some of its sentences are; a title counts only where it is one of them."""
    mine = others = 0
    for at, sentence in enumerate(sentences):
        if first <= at <= last:
            mine += weight_of(sentence.text)
        elif sentence.kind != TITLE:
            others += weight_of(sentence.text)
    return mine / max(1, mine + others)


def may_state(text: str, words: Vocabulary) -> bool:
    """Tell cheaply whether a short text may state a lesson."""
    folded = fold(text)
    counts = words.tally(folded)  # the groups that are not in it need no search then

    def has(name: str) -> bool:
        return name in counts and words.has(name, folded)

    if has("reason") or has("finally") or _SO.search(text):
        return True
    speaks = has("directive") or has("failure")
    warns = has("hazard") or (("without" in folded or "sin" in folded) and bool(_WITHOUT.search(text)))
    if not speaks and not warns:
        return False  # before the search for clauses, which costs more than all of the above
    if _CLAUSES.search(text):
        return speaks
    return warns and any(words.first("directive", fold(line)) == 0 for line in text.splitlines())


def is_concrete(sentences: Sequence[Sentence], words: Vocabulary) -> bool:
    """Tell whether sentences name something: an identifier, a value, a proper name."""
    text = " ".join(sentence.text for sentence in sentences)
    if code_tokens(text) or VALUE_TOKEN.search(text):
        return True
    return bool((_NAME if words.spaced else _FOREIGN).search(text))


_SILENT: Mapping[str, int] = {}


def _read(sentences: Sequence[Sentence], language: str) -> tuple[str, Mapping[str, int], Vocabulary]:
    """Return (masked text, cues, vocabulary); no cues where one of the sentences adds nothing."""
    words = vocabulary(language)
    if len(sentences) == 1:
        masked = sentences[0].masked
    elif all(_speaks(sentence, language) for sentence in sentences):
        masked = " ".join([sentence.masked for sentence in sentences])
    else:
        return "", _SILENT, words
    return masked, cue_counts(language, masked), words


def _is_earnest(sentences: Sequence[Sentence], masked: str, words: Vocabulary) -> bool:
    """Tell whether there is room for a lesson, and it is neither denied nor asked nor only planned."""
    return weight_of(masked.strip()) >= _SHORTEST and not _is_unreal(sentences, fold(masked), words)


_SPEAKING = frozenset(("reason", "directive", "failure", "hazard", "finally", "negation"))


def _speaks(sentence: Sentence, language: str) -> bool:
    """Tell whether a sentence adds anything to a lesson of two."""
    return not _SPEAKING.isdisjoint(cue_counts(language, sentence.masked))


def _is_trouble(counts: Mapping[str, int], masked: str) -> bool:
    return "failure" in counts or "hazard" in counts or bool(_STATUS.search(masked))


def _strength(counts: Mapping[str, int], masked: str, words: Vocabulary) -> float:
    if _is_trouble_denied(counts, masked, words):
        return 0.0
    trouble = _is_trouble(counts, masked) or "diagnosis" in counts
    directive = "directive" in counts
    if "reason" in counts or _SO.search(masked):
        return _reasoned(counts, masked, words, trouble=trouble, directive=directive)
    at = words.first("directive", fold(masked)) if directive else -1
    if (
        directive
        and trouble
        and _CLAUSES.search(_PREFIX.sub("", masked))
        and (not words.spaced or at < _EARLY)
    ):
        return _FAIR
    if at == 0 and ("hazard" in counts or _WITHOUT.match(masked)):
        return _FAIR
    return _FAIR if trouble and _is_explained(masked, words) else 0.0


def _reasoned(
    counts: Mapping[str, int], masked: str, words: Vocabulary, *, trouble: bool, directive: bool
) -> float:
    remedy = any(name in counts for name in ("remedy", "decision", "success", "measure"))
    if _is_chore(masked, words):
        return _FAIR if trouble else 0.0
    if trouble:
        return _FULL if directive or remedy else _STRONG
    if directive:
        return _STRONG if remedy or "negation" in counts else _FAIR
    if remedy:
        return _FAIR if "maintenance" not in counts else 0.0
    if "reason" not in counts or "chatter" in counts:
        return 0.0
    folded = fold(masked)
    told = len(folded) - words.first("reason", folded)
    return _BARE if not words.spaced or told > _TOLD or told == len(folded) else 0.0


def _is_chore(masked: str, words: Vocabulary) -> bool:
    """Tell whether a sentence's verb is that of a chore or a feature: its reason is only why that was done."""
    folded = fold(_PREFIX.sub("", masked)).rstrip(" 。")
    return words.has("chore", folded[-_VERB:] if words.language == "ja" else f"{folded[:_VERB]} ")


def _is_trouble_denied(counts: Mapping[str, int], masked: str, words: Vocabulary) -> bool:
    """Tell whether all trouble in a sentence stands right behind a negation: `was not empty`."""
    if "failure" not in counts or "hazard" in counts or "diagnosis" in counts:
        return False
    denied = 0
    for found in _DENIAL.finditer(masked):
        alone = cue_counts(words.language, found.group(1))
        whole = cue_counts(words.language, found.group())
        denied += "failure" in alone and whole.get("failure", 0) <= alone["failure"]
    return denied >= counts["failure"]


def _is_explained(masked: str, words: Vocabulary) -> bool:
    """Tell whether a colon or the like stands for `because`: trouble before it, what was amiss after it."""
    mark = _BECAUSE.search(masked)
    if mark is None:
        return False
    before, after = masked[: mark.start()], masked[mark.end() :]
    if min(weight_of(before), weight_of(after)) < _SIDE or (words.spaced and before.count(" ") < _WORDS):
        return False
    cues_before, cues_after = cue_counts(words.language, before), cue_counts(words.language, after)
    return "failure" in cues_before and any(name in cues_after for name in ("lack", "necessity"))


def _reported_room(words: Vocabulary) -> int:
    return _REPORTED if words.spaced else _REPORTED // 3


def _is_unreal(sentences: Sequence[Sentence], folded: str, words: Vocabulary) -> bool:
    """Tell whether it is denied, asked, only meant to be done, or somebody else's saying."""
    if words.has("unreal", folded) or 0 <= words.first("reported", folded) < _reported_room(words):
        return True
    if is_refuted(folded, words) or is_offer(folded, words):
        return True
    text = " ".join([sentence.text for sentence in sentences])
    if is_personal(text, folded, words) or is_slip(text, folded, words):
        return True
    if 0 <= words.first("trivial", folded) < (_TRIVIAL if words.spaced else _TRIVIAL // 3):
        return True
    for sentence in sentences:
        own = folded if len(sentences) == 1 else fold(sentence.masked)
        if is_question(sentence.text, own, words) or is_request(own, words):
            return True
    return is_plan(folded, words) or (not words.spaced and words.has("planned", folded))
