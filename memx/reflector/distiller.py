"""BulletDistiller: from sentences to one self-contained lesson of one to three sentences.

The words stay the source's; what speaks of the commit, the ticket or the
writer goes.
"""

from __future__ import annotations

import re
from collections import Counter

from memx.reflector.features import title_type
from memx.reflector.guards import leans, narrates
from memx.reflector.language import detect_language, is_cjk, weight_of
from memx.reflector.pattern import pattern
from memx.reflector.segment import TITLE
from memx.reflector.subject import known_tools
from memx.reflector.tokens import code_tokens
from memx.reflector.vocabulary import fold, load_stopwords, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from memx.reflector.features import Evidence
    from memx.reflector.segment import Sentence

MAX_SENTENCES = 3
MAX_WEIGHT = 700
"""Latin characters; Han counts three, kana two."""
LEAST_STRENGTH = 0.2
"""How strong a further sentence must be, as a share of the strongest."""
_COMMAND_LIMIT = 200
_SUBJECT = 0.7
_SENTENCE_WEIGHT = 420

_NOISE = pattern(
    r"\s*\((?:#\d+|[a-z]+#\d+|refs? #\d+|see #\d+|closes #\d+|fixes #\d+|PR #?\d+|GHSA-[\w-]+|CVE-\d+-\d+)\)"
    r"|\s*,?\s*(?:refs?|see|closes?|fixes|resolves|issue|per|as discussed in)\s+(?:PR\s+)?#\d+"
    r"|\bPR #?\d+\s*(?:R\d+)?\s*[—:-]\s*|\b(?:Tarea|Task|Issue|Ticket)\s+#?\d+\b[.:,]?|\s*\[patchunicode:#\d+\]",
    re.IGNORECASE,
)
_NOISE_WORDS = ("#", "ghsa-", "cve-", "pr ", "tarea", "task", "issue", "ticket")
"""One of them stands wherever _NOISE matches."""
_LEAD = pattern(
    r"^(?:(?:however|but|so|and|also|apparently|well|ok|okay|good|great|no|yes|right|actually"
    r"|basically|noted|understood|in addition|additionally|furthermore"
    r"|as such|to fix this|to solve this|wrong|not that|not like that|fixed|done|found it|got it|that s it"
    r"|you(?:'|’)re right|you are right|sorry|eso no|así no|perfecto|vale|tienes razón|de acuerdo|entendido|además"
    r"|好的|明白|对|是的|另外|此外|收到|了解|不对|不是这样|错了|違います|違う|いいえ|いや|はい|了解です|了解しました|また|なお|さらに)\s*[,.:;!，。、：；！]+\s*)+",
    re.IGNORECASE,
)
_LEAD_MARKS = tuple(",.:;!，。、：；！")
_LEAD_LENGTH = 40
"""One of the marks stands in so many first characters wherever _LEAD matches."""
_SELF: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    ((" commit", " patch", " pr", " pull request", " change", " mr", " fix", " diff"), pattern(
        r"\b(?:this|the) (?:commit|patch|pr|pull request|change|mr|fix|diff)\s+(?:also\s+"
        r"|now\s+)?(?=(?!(?:is|was|has|does|always|as|needs)\b)[a-z]+s\b)", re.IGNORECASE), ""),
    ((" this ",), pattern(
        r"\b(?:in|with|by|after|before) this (?:commit|patch|pr|pull request|change|fix),?\s*", re.IGNORECASE), ""),
    (("mind", "note", "remember"), pattern(
        r"^one thing to keep in mind(?: for [\w ]+)?:\s*|^(?:please )?(?:note|remember"
        r"|keep in mind) that\s+", re.IGNORECASE), ""),
    ((" decided to",), pattern(r"\b(?:we|I) (?:have decided|decided) to\s+", re.IGNORECASE), ""),
    (("we ", "i "), pattern(
        r"^(?:so |thus |therefore )?(?:we|I) (?=(?:should|must|need to|have to|can|cannot|can't)\b)",
        re.IGNORECASE), ""),
    # Only of a rule: `we always forget it` without `we` would be an order.
    (("we ",), pattern(
        r"^(?:so |thus |therefore )?we (?=(?:use|(?:never|always|only|do not|don't)\s+(?:use|add|call|change"
        r"|check|commit|deploy|edit|hard-?code|import|install|keep|log|merge|mock|pass|pin|push|put|rebase"
        r"|release|rename|run|set|store|tag|test|touch|write)\b)\b)", re.IGNORECASE), ""),
    (("i ", "i'", "i’"), pattern(
        r"(?:^|(?<=[.;] ))I(?: |['’]ll |['’]m going to )(?:will |have to |am going to )?(?=(?:use|stub|call|set|pass"
        r"|add|pick|turn|scale|run|move|replace|switch|put|pin|bind|write|read|give|send|wrap|keep|raise|lower"
        r"|change|fix|make|clear|remove|install|configure|mount|restart|rebuild|escape|quote)\b)"), ""),
    # Inside a sentence the pronoun stays: "you" would make another statement of it.
    (("we ",), pattern(r"(?:^|(?<=[.;!?] ))[Ww]e (?=[a-z]+(?:ed|ew|id|aw|ound|ade|ept|ut|se|ook)\b)"), ""),
    (("our",), pattern(r"\bour\b"), "the"),
    (("our",), pattern(r"\bOur\b"), "The"),
    (("我们",), pattern(r"我们"), ""),
)  # fmt: skip
"""(words of which one must stand in the lower-case text, pattern, replacement)."""
_URL = pattern(r"[A-Za-z][\w+.-]*://[^\s`<>\"')\]]*")
_FIRST_WORD = pattern(
    r"(?P<word>[a-zà-ÿ]+(?:['’][a-z]+)?)(?:,?\s+(?P<verb>-|(?:does|do|did|is|was|has|had|can|cannot|will|must|should|may|might|needs"
    r"|fails|returns|takes|works|ignores|drops|keeps|writes|reads|uses|expects|requires|runs|hangs|prints|exits"
    r"|doesn't|can't|isn't|won't|no|es|falla|tiene|puede|debe|necesita)\b)?|$)"
)
_TOPICS = frozenset(
    (
        "debugging",
        "tools",
        "architecture",
        "workflow",
        "commands",
        "patterns",
        "tool_word",
        "docs_words",
        "measure",
    )
)
"""Groups of cues that hold names of things, commands among them."""
_ARROW_SPACE = pattern(r"\s{2,}")


class BulletDistiller:
    """Chooses and words the sentences of a lesson."""

    def choose(
        self,
        evidence: Evidence,
        first: int | None = None,
        last: int | None = None,
        *,
        least: float = LEAST_STRENGTH,
    ) -> list[int]:
        """Return positions of the sentences to keep, in order; those from `first` to `last` are wanted.

        least: as LEAST_STRENGTH.
        """
        usable = evidence.usable
        strengths = _with_subject(evidence)
        if not usable:
            return []
        telling = _telling(evidence)
        span = range(len(usable)) if first is None or last is None else range(first, last + 1)
        # What a person said `no` to is told by the sentence behind it.
        wanted = [i for i in span if i in telling] or [i for i in telling if i > span[-1]][:1] or telling
        best = max(wanted, key=lambda i: (strengths[i], -i))
        kept = set(wanted) if len(wanted) <= MAX_SENTENCES else {best}
        kept |= set(grounds_of(min(kept), evidence)[: MAX_SENTENCES - len(kept)])
        room = MAX_WEIGHT - sum(weight_of(usable[i].text) for i in kept)
        order = sorted(telling, key=lambda i: (-_nearness(strengths[i], i, best, usable), i))
        for i in order:
            if i in kept:
                continue
            if _nearness(strengths[i], i, best, usable) < least * strengths[best]:
                break
            further = {i, *grounds_of(i, evidence)} - kept
            size = sum(weight_of(usable[j].text) for j in further)
            if len(kept) + len(further) > MAX_SENTENCES or size > room:
                continue
            kept |= further
            room -= size
        return sorted(kept)

    def word(self, sentences: Sequence[Sentence]) -> str:
        """Return the sentences as one lesson."""
        parts: list[str] = []
        for sentence in sentences:
            text = reword(sentence.text, is_title=sentence.kind == TITLE)
            if text and not any(_contains(other, text) for other in parts):
                parts = [other for other in parts if not _contains(text, other)]
                parts.append(text)
        joined = ""
        for part in parts:
            ended = _finish(part)
            glue = "" if not joined or is_cjk(joined[-1]) else " "
            joined += glue + ended
        return joined

    def distil(self, evidence: Evidence, first: int | None = None, last: int | None = None) -> str:
        """Choose and word in one step."""
        return self.word([evidence.usable[i] for i in self.choose(evidence, first, last)])


def _telling(evidence: Evidence) -> list[int]:
    """Return the positions of the sentences that say anything beyond the conversation; all where none does."""
    words = vocabulary(evidence.language)
    telling = [
        i
        for i, sentence in enumerate(evidence.usable)
        if not narrates(sentence, words)
        and (sentence.kind == TITLE or " " in sentence.text.strip() or not words.spaced)
    ]
    return telling or list(range(len(evidence.usable)))


def grounds_of(position: int, evidence: Evidence) -> list[int]:
    """Return the positions of what a sentence leans on by its beginning: the one before it, or the title.

    `They`, `otherwise`, `but`, `the reason is` mean nothing without it. Where that
    one leans too, what it leans on follows.
    """
    usable, words = evidence.usable, vocabulary(evidence.language)
    found: list[int] = []
    while len(found) < MAX_SENTENCES - 1 and leans(usable[position], words):
        before = _before(position, evidence)
        if before is None:
            break
        found.append(before)
        position = before
    return found


def _before(position: int, evidence: Evidence) -> int | None:
    """Return the position of the usable sentence right before one, else of the title; None where neither helps."""
    usable, every = evidence.usable, evidence.passage.sentences
    words = vocabulary(evidence.language)
    at = next((at for at, sentence in enumerate(every) if sentence is usable[position]), 0)
    before = usable[position - 1]
    if (
        at
        and position
        and before is every[at - 1]
        and not _is_routine(before)
        and not narrates(before, words)
    ):
        return position - 1
    is_titled = position > 0 and usable[0].kind == TITLE and not _is_routine(usable[0])
    return 0 if is_titled else None


def _is_routine(sentence: Sentence) -> bool:
    """Tell whether a sentence says only what git did."""
    return sentence.text.startswith("Merge " if sentence.kind == TITLE else "This reverts commit")


def _with_subject(evidence: Evidence) -> list[float]:
    """Return the sentences' strengths, more for those that name what the text names first or most often."""
    tokens = [set(code_tokens(sentence.text)) for sentence in evidence.usable]
    counted = Counter(token for names in tokens for token in names)
    title = evidence.usable[0].text if evidence.usable else ""
    subject = {name for name, count in counted.items() if count > 1 or name.strip("`") in title}
    return [
        strength + (_SUBJECT if names & subject else 0.0)
        for strength, names in zip(evidence.strengths, tokens, strict=True)
    ]


def _nearness(strength: float, position: int, best: int, usable: Sequence[Sentence]) -> float:
    """Return a sentence's strength, more beside the strongest one and for the title."""
    if usable[position].kind == TITLE:
        return strength + 0.6
    distance = abs(position - best)
    return strength + (0.5 if distance == 1 else 0.0)


def _contains(longer: str, shorter: str) -> bool:
    return fold(shorter).strip() in fold(longer)


def reword(text: str, *, is_title: bool = False) -> str:
    """Take out who wrote it and where: prefixes, ticket numbers, greetings, `we`, `this commit`."""
    if is_title:
        _, text = title_type(text)
        text = re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", text)
    if any(map(text.lower().__contains__, _NOISE_WORDS)):
        text = _NOISE.sub("", text)
    text = text.strip()
    lead = _LEAD.match(text) if any(map(text[:_LEAD_LENGTH].__contains__, _LEAD_MARKS)) else None
    text = _without_self(text[lead.end() :] if lead else text)
    text = _ARROW_SPACE.sub(" ", text).strip(" \t;,:—-–，：；")
    if weight_of(text) > _SENTENCE_WEIGHT * 1.5:
        text = _shorten(text)
    return text[:1].upper() + text[1:] if _begins_plainly(text) else text


def _begins_plainly(text: str) -> bool:
    """Tell whether a text begins with an ordinary word, which a capital suits; a command's name stays as it is."""
    begun = _FIRST_WORD.match(text)
    if begun is None or any(map(is_cjk, text)):
        return False
    word = begun["word"]
    if any(word in stopwords for stopwords in load_stopwords().values()):
        return True
    if word in known_tools() or begun["verb"]:
        return False
    return not _TOPICS.issuperset(vocabulary(detect_language(text)).tally(fold(word)))


def _without_self(text: str) -> str:
    """Take the writer out; lower-casing once is cheaper than a dozen searches."""
    lowered = text.lower()
    for needles, self_words, replacement in _SELF:
        if any(map(lowered.__contains__, needles)):
            text = self_words.sub(replacement, text)
    return text


def _shorten(text: str) -> str:
    """Cut an overlong sentence at the last clause that fits."""
    cut = _SENTENCE_WEIGHT if text.isascii() else _SENTENCE_WEIGHT // 2
    clause = max(text.rfind(mark, 0, cut) for mark in (";", ", ", "，", "、", "；", "。", ". "))
    return text[: clause if clause > cut // 2 else cut].rstrip(" ,;，、；")


def _finish(text: str) -> str:
    if text.endswith((".", "!", "?", "。", "！", "？", ":", "`", ")", "）", "…")) and not text.endswith(
        ("`", ")", "）")
    ):
        return text.rstrip(":") + ("." if text.endswith(":") else "")
    return text + ("。" if any(map(is_cjk, text[-2:])) else ".")


def shown_command(code: Sequence[str], tools: Container[str]) -> str:
    """Return the last code block that is a command of a known tool, on one line; '' without one."""
    for block in reversed(code):
        line = " ".join(part.strip().rstrip("\\").strip() for part in block.splitlines()).removeprefix("$ ")
        if line.split(" ", 1)[0].lower() in tools and len(line) <= _COMMAND_LIMIT and "`" not in line:
            return line
    return ""


def entities_of(text: str, limit: int = 8) -> tuple[str, ...]:
    """Return the identifiers, flags, paths and names in code marks, in order of appearance; no pieces of addresses."""
    found: list[str] = []
    for token in code_tokens(_URL.sub(" ", text) if "://" in text else text):
        name = token.strip("`").strip()
        if name and " " not in name and len(name) > 1 and name not in found:
            found.append(name)
    return tuple(found[:limit])
