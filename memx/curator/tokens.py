"""What a lesson's text says: its content words, names, facts, and which side it takes.

`analyse` reads a text once into an `Analysis`; a pair of them is compared in
align.py. Pure, bounded memory of recent texts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memx.curator import words
from memx.curator.clauses import AGREEING, cut_clauses
from memx.curator.order import read_phases, read_roles
from memx.record import record, replace

HARD = frozenset({"ident", "path", "flag", "hash", "label", "version", "code", "family"})
"""Kinds of unit that name one particular thing: two different ones are two things."""

_WEIGHT = {"ident": 2.0, "path": 2.0, "flag": 2.0, "hash": 2.0, "label": 2.0, "version": 1.6, "code": 1.5,
           "name": 1.4, "number": 1.2, "clock": 1.2, "word": 1.0}  # fmt: skip
_LIGHT_WEIGHT = 0.35
_HAN_CHARACTER_WEIGHT = 0.45
_PREFIX = 5
_CACHE_TEXTS = 8192
_RIGHT_BEFORE = 2  # characters between a turning word and the number it turns
_KANA_TAIL = 6  # kana of a word after its last Han character that a search may read
_LONGEST_TEXT = 4000  # characters looked at; a lesson is a few sentences
_ONE_SIGN = str.maketrans({"’": "'", "ʼ": "'", "‛": "'", "−": "-", "‐": "-", "‑": "-", "﹣": "-"})
"""One sign for an apostrophe and one for a minus; the length stays the same."""
_PLACEHOLDER = re.compile(r"<(?:redacted:[\w-]{1,40}|email|ip|host|user)>")

_L = "A-Za-zÀ-ÖØ-öø-ÿ"
_TOKEN = re.compile(
    rf"""
    (?P<url>https?://[^\s`)，。]+)
  | (?P<date>\b\d{{4}}-\d{{2}}-\d{{2}}\b)
  | (?P<flag>(?<![\w\-])--?[A-Za-z][A-Za-z0-9\-_:+]*)
  | (?P<ticket>\#\d+|\b[A-Z]{{2,8}}-\d+\b)
  | (?P<hash>\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{{7,40}}\b)
  | (?P<ip>\b\d+\.\d+\.\d+\.\d+(?::\d+)?)
  | (?P<path>(?:[A-Za-z0-9_.@~$%{{}}\-]*[/\\])+[A-Za-z0-9_.@*{{}}\-]+/?)
  | (?P<clock>(?<![\d:])\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?![\d:])|(?:午前|午後|上午|下午|凌晨|朝)\d{{1,2}}[時点])
  | (?P<version>\bv\d+(?:\.\w+)*|(?<![\d.])\d+\.\d+\.\d[\w.\-+]*|(?<![\d.])\d+\.[xX]\b)
  | (?P<number>(?<![{_L}_])[<>≤≥]?\d+(?:[.,]\d+)*)
  | (?P<word>[{_L}_$@][{_L}0-9_$]*(?:(?:::|[.\-:'’])[{_L}0-9_$]+)*(?:\(\))?)
  | (?P<kata>[ァ-ヺー]+)
  | (?P<han>[㐀-䶿一-鿿々]+)
    """,
    re.VERBOSE,
)
_UNIT = re.compile(
    r"\s?(%|[A-Za-zµ]+(?:/[a-z]+)?|ミリ秒|毫秒|秒钟?|分钟|分間|小时|个小时|時間|日間|週間|星期|个月|[かヶヵ]月|年間|[秒分天日周月年次个個台条层回件倍])"
)
_ACCENTED_PRONOUN = re.compile(r"\w+[áéíóú]\w{1,4}?(?:l[aoe]s?|se|me|nos)$")
_PRONOUN = re.compile(r"(?:l[aoe]s?|se|me|nos)$")
"""The pronoun of an imperative such as "comprímelas"; only then the accent stands so far from the end."""
_QUOTED = re.compile(r'"[^"\n]{2,80}"|“[^”\n]{2,80}”|「[^」\n]{2,80}」')
"""A message that is quoted; nobody advises or turns down its words."""
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_NAME_MARK = re.compile(r"[_$@.\d]|::")
_APOSTROPHE = re.compile(r"['’]")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_TORN = frozenset({"don", "doesn", "isn", "wasn", "won", "ll", "ve", "re"})
_POSSESSIVE = re.compile(r"['’]s$")
_SWITCHED = re.compile(
    r"\b(?:turn\w*|switch\w*|stays?|remains?|keep|kept|leave|be|defaults? to)\s(?:\w+\s)?$"
)
_SPANISH = re.compile(r"\b(?:el|la|los|las|de|que|en|con|para|una?|se|del|al|por|y|es|lo|su)\b")
_ENGLISH = re.compile(r"\b(?:the|of|and|is|are|to|for|in|on|with|it|an|be|must|not|from|that|this)\b")
_IS_ADVERB = re.compile(r"\s*(?:$|[.,;:!?)—–]|and\b|y\b|then\b)")
_KANJI_COUNT = re.compile(
    r"(?:[一二两三四五六七八九十百千万]{2,}|[二两三四五六七八九十])(?=[个次分天小台层条周年月秒回個件日時つ倍])"
)


@record
class Unit:
    """One piece of content. `keys` are what it can match by; `stance` is 1 said, -1 turned down, 0 open.

    start and end are character offsets into `Analysis.text`. dimension and
    value are set for numbers (value in the dimension's base unit).
    """

    kind: str
    keys: tuple[str, ...]
    start: int
    end: int
    clause: int
    stance: int
    weight: float
    dimension: str = ""
    value: float = 0.0
    family: str = ""
    raw: float = 0.0
    """The figure as written, before its unit."""
    is_rounded: bool = False
    """A hedge such as "about" stands before it."""
    parts: tuple[str, ...] = ()
    """Stems of an identifier's parts."""
    sides: tuple[tuple[str, int], ...] = ()
    """Axes of opposites and the side of each on which the unit stands."""
    role: int = 0
    """-1 where something comes from, 1 where it goes to, 0 neither."""
    phase: int = 0
    """-1 what is told to come earlier, 1 what comes later, 0 neither."""


@record
class Analysis:
    """What was read from one text (NFKC)."""

    text: str
    lang: str
    units: tuple[Unit, ...]
    index: dict[str, int]
    prefixes: dict[str, int]
    parts: frozenset[str]
    bigrams: frozenset[str]
    axes: dict[str, int]
    weight: float
    stances: dict[str, int]
    """First key of a unit to the side the text takes of it; 0 when it is open or both."""
    turns_down: bool
    tells_sequence: bool
    initials: str
    """First letters of the Latin content words, for acronyms."""
    has_change: bool
    facts: dict[str, frozenset[str]]


def detect_language(text: str) -> str:
    """Tell en, zh, ja and es apart: kana, Han characters, then common words."""
    if re.search(r"[ぁ-ゖァ-ヺ]", text):
        return "ja"
    if re.search(r"[㐀-䶿一-鿿]", text):
        return "zh"
    low = text.lower()
    spanish = len(_SPANISH.findall(low)) + 2 * len(re.findall(r"[ñ¿¡áéíóú]", low))
    english = len(_ENGLISH.findall(low))
    if spanish == english:
        found = re.findall(r"[a-z]+", words.fold(text))
        spanish, english = (
            sum(words.stem(w, code) in words.concepts(code) for w in found) for code in ("es", "en")
        )
    return "es" if spanish > english else "en"


class _Reader:
    """Walks over one text and collects units."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lang = detect_language(text)
        self.clauses = cut_clauses(text, self.lang)
        self.code = [(m.start(1), m.end(1)) for m in _CODE_SPAN.finditer(text)]
        self.quoted = [m.span() for m in _QUOTED.finditer(text)]
        self.folded = words.fold(text)
        self.phrases = {m.start(): m.end() for m in words.phrase_pattern().finditer(self.folded)}
        self.roles = read_roles(self.folded)
        self.phases = read_phases(self.folded, self.lang)
        self.units: list[Unit] = []
        self.at_clause = 0
        self.skip_to = 0
        self.last_word = ("", -9, "")  # key, end, kind: what may name the number that follows
        self.latin = "es" if self.lang == "es" else "en"

    def read(self) -> list[Unit]:
        match = _TOKEN.search(self.text)
        while match:
            if not self._phrase(match.start()):
                getattr(self, f"_on_{match.lastgroup}")(match.group(), match.start(), match.end())
            match = _TOKEN.search(self.text, max(match.end(), self.skip_to))
        return self._blame(self.units)

    def _blame(self, units: list[Unit]) -> list[Unit]:
        """Read what a clause speaks ill of: "fork deadlocks" turns down fork and leaves the rest before it open."""
        trouble: dict[int, int] = {}
        for place, unit in enumerate(units):
            if unit.stance >= 0 and not words.trouble().isdisjoint(unit.keys):
                trouble.setdefault(unit.clause, place)
        return [
            self._blamed(unit, place, trouble.get(unit.clause, -1), units) for place, unit in enumerate(units)
        ]

    def _blamed(self, unit: Unit, place: int, trouble: int, units: list[Unit]) -> Unit:
        if place > trouble or unit.stance < 0 or self.clauses[unit.clause].is_else:
            return unit
        opens = place == 0 or units[place - 1].clause != unit.clause
        is_subject = opens and trouble == place + 1 and unit.weight > _LIGHT_WEIGHT
        is_harm = "=harm" in units[trouble].keys  # what stands before "caused" is the cause, all of it
        is_named = unit.kind in HARD or unit.kind in ("name", "number")
        is_culprit = place < trouble and (is_named or is_subject or is_harm)
        stance = -1 if is_culprit else 0
        return unit if stance == unit.stance else replace(unit, stance=stance)

    def _phrase(self, start: int) -> bool:
        end = self.phrases.get(start)
        if end is None:
            return False
        seconds = words.phrases()[self.folded[start:end]]
        self._number(seconds, ("time", 1.0), start, end)
        self.skip_to = end
        return True

    def _in_code(self, start: int) -> bool:
        return any(low <= start < high for low, high in self.code)

    def _stance(self, start: int) -> tuple[int, int]:
        while self.at_clause < len(self.clauses) - 1 and start >= self.clauses[self.at_clause].end:
            self.at_clause += 1
        clause = self.clauses[self.at_clause]
        if clause.is_open or any(low < start < high for low, high in self.quoted):
            return self.at_clause, 0
        stance = 0 if any(low <= start < high for low, high in clause.opened) else 1
        for low, high in clause.flips:
            if low <= start < high:
                stance = -stance
        return self.at_clause, stance

    def _add(self, kind: str, keys: tuple[str, ...], start: int, end: int, **more: object) -> None:
        clause, stance = self._stance(start)
        if kind == "number" and stance < 0 and not self._is_turned_itself(start):
            stance = 0
        if stance < 0 and self.lang == "es" and AGREEING.fullmatch(self.text, start, end):
            stance = 1  # "no … nunca" says never once
        weight = more.pop("weight", None) or _WEIGHT[kind]
        role = self.roles.get(start, 0)
        phase = next((side for low, high, side in self.phases if low <= start < high), 0)
        read = {"sides": _sides(keys), "role": role, "phase": phase, **more}
        self.units.append(Unit(kind, keys, start, end, clause, stance, weight, **read))  # type: ignore[arg-type]
        self.last_word = (keys[0], end, kind)

    def _is_turned_itself(self, start: int) -> bool:
        """Tell "not 10" from "do not exceed 10"."""
        return any(0 <= start - low <= _RIGHT_BEFORE for low, _ in self.clauses[self.at_clause].flips)

    def _on_url(self, raw: str, start: int, end: int) -> None:
        self._add("path", (raw.rstrip(".,;:").lower(),), start, end)

    def _on_date(self, raw: str, start: int, end: int) -> None:
        self._add("label", ("date " + raw,), start, end)

    def _on_flag(self, raw: str, start: int, end: int) -> None:
        parts = tuple(words.stem(part.lower(), "en") for part in _PARTS.findall(raw))
        name = raw.lstrip("-").rstrip("-:_")
        # -v and -V are two options; a long one is written in small letters.
        self._add("flag", ("-" + (name if len(name) == 1 else name.lower()),), start, end, parts=parts)

    def _on_ticket(self, raw: str, start: int, end: int) -> None:
        self._add("label", (raw.lower(),), start, end)

    def _on_hash(self, raw: str, start: int, end: int) -> None:
        self._add("hash", (raw,), start, end)

    def _on_ip(self, raw: str, start: int, end: int) -> None:
        self._add("label", (raw,), start, end)

    def _on_path(self, raw: str, start: int, end: int) -> None:
        if "." in raw or raw[0] in "/~@$\\%" or raw.endswith("/") or raw.count("/") + raw.count("\\") > 1:
            parts = tuple(words.stem(part.lower(), "en") for part in _PARTS.findall(raw))
            self._add(
                "path",
                (raw.strip("/").rstrip(".").removeprefix("./").lower() or raw,),
                start,
                end,
                parts=parts,
            )
            return
        for match in re.finditer(r"[^/\\]+", raw):
            self._on_word(match.group(), start + match.start(), start + match.end())

    def _on_clock(self, raw: str, start: int, end: int) -> None:
        hour, minute = int(re.findall(r"\d+", raw)[0]), re.search(r":(\d+)", raw)
        if raw[:2] in ("午後", "下午"):
            hour += 12
        key = f"{hour}:{minute.group(1) if minute else '00'}"
        self._add("clock", (key,), start, end, dimension="clock", value=hour * 60.0)

    def _on_version(self, raw: str, start: int, end: int) -> None:
        self._add("version", ("v" + raw.lower().lstrip("v").rstrip("."),), start, end)

    def _on_number(self, raw: str, start: int, end: int) -> None:
        low = raw.lstrip("<>≤≥")
        value = _figure(low)
        name, named_end, kind = self.last_word
        unit = _UNIT.match(self.text, end)
        known = words.units().get(unit.group(1).lower()) if unit else None
        near = 0 <= start - named_end <= 1
        if known and not (near and name in words.label_words()):
            self.skip_to = unit.end()  # type: ignore[union-attr]
            self._number(value, known, start, self.skip_to)
        elif (
            near
            and (name in words.label_words() or kind in ("name", "code"))
            and not self._is_sign_before(start)
        ):
            self._add(
                "label",
                (f"{name} {low}", f"n{value:g}"),
                start,
                end,
                dimension="label",
                value=value,
                raw=value,
            )
        else:
            self._number(value, None, start, end)

    def _is_sign_before(self, start: int) -> bool:
        return start > 0 and self.text[start - 1] in "=:<>("

    def _number(self, raw: float, unit: tuple[str, float] | None, start: int, end: int) -> None:
        dimension, factor = unit or ("", 1.0)
        value = raw * factor
        key = f"{dimension} {value:.6g}"
        is_rounded = words.hedges().search(self.folded[max(0, start - 20) : start]) is not None
        self._add(
            "number", (key,), start, end, dimension=dimension, value=value, raw=raw, is_rounded=is_rounded
        )

    def _on_word(self, raw: str, start: int, end: int) -> None:
        raw = _POSSESSIVE.sub("", raw.rstrip("'’"))
        if _APOSTROPHE.search(raw) and words.fold_word(raw).replace("’", "'") in words.stop_words(self.latin):
            return
        is_code = self._in_code(start)
        bare = raw.removesuffix("()")
        if bare.isalpha() and raw == bare and ((bare[0].isupper() and not is_code) or bare.islower()):
            self._plain(bare, start, end, is_code=is_code)
            return
        if raw != bare or _NAME_MARK.search(bare) or _CAMEL.search(bare) or (is_code and "-" in bare):
            self._ident(bare, start, end)
            return
        if "-" in bare or "'" in bare or "’" in bare or ":" in bare:
            for part in re.finditer(r"[^\-:'’]+", bare):
                self._plain(part.group(), start + part.start(), start + part.end(), is_code=is_code)
            return
        self._plain(bare, start, end, is_code=is_code)

    def _ident(self, bare: str, start: int, end: int) -> None:
        parts = tuple(words.stem(part.lower(), "en") for part in _PARTS.findall(bare))
        low = bare.lower().strip("@$.") or bare
        known = words.concepts(self.latin).get(low, ())
        self._add("ident", (low, *("=" + name for name in known)), start, end, parts=parts)

    def _plain(self, raw: str, start: int, end: int, *, is_code: bool) -> None:
        low = words.fold_word(raw)
        if low in _TORN:
            return
        number = words.number_words(self.latin).get(low)
        if number is not None and not is_code:
            unit = _UNIT.match(self.text, end)
            known = words.units().get(unit.group(1).lower()) if unit else None
            if known:
                self.skip_to = unit.end()  # type: ignore[union-attr]
            self._number(number, known, start, max(self.skip_to, end))
            return
        if low in words.stop_words(self.latin) and not is_code and not self._is_letter(raw, start):
            if low != "on" or self._is_predicate(start, end):
                self._axis_only(low, start, end)
            return
        if self.latin == "es" and _ACCENTED_PRONOUN.match(raw):
            low = _PRONOUN.sub("", low)
        key = words.stem(low, self.latin)
        named = words.concepts_of(low, self.latin)
        self._word(raw, key, named, start, end, is_code=is_code)
        if low in words.label_words():
            self.last_word = (low, end, "label word")

    def _is_letter(self, raw: str, start: int) -> bool:
        """Tell the name in "service A" from the article."""
        return len(raw) == 1 and raw != "I" and self._is_proper(raw, start)

    def _is_predicate(self, start: int, end: int) -> bool:
        """Tell the "on" of "leave it on" from the one of "on Friday"."""
        after = self.text[end : end + 2].strip()[:1]
        return (
            not after
            or after in ".,;:)"
            or _SWITCHED.search(self.text[max(0, start - 24) : start]) is not None
        )

    def _axis_only(self, low: str, start: int, end: int) -> None:
        named = words.concepts_of(low, self.latin)
        if named and named[0] in words.opposites().side:
            self._add("word", tuple("=" + n for n in named), start, end, weight=_LIGHT_WEIGHT)

    def _word(
        self, raw: str, key: str, named: tuple[str, ...], start: int, end: int, *, is_code: bool
    ) -> None:
        if named and named[0] in _RANKS and (is_code or not self._is_adverb(start, end)):
            named = (_RANKS[named[0]], *named[1:])
        family = next((words.families()[n] for n in named if n in words.families()), "")
        kind = "word"
        if is_code:
            kind = "code"
        elif not family and ((len(raw) > 1 and raw.isupper()) or self._is_proper(raw, start)):
            kind = "name"
        weight = _LIGHT_WEIGHT if kind == "word" and named and named[0] in words.light_concepts() else None
        keys = (key, *("=" + n for n in named))
        self._add(kind, keys, start, end, weight=weight, family=family)

    def _is_adverb(self, start: int, end: int) -> bool:
        """Tell the "first" of "test first" and "First, test" from the one of "the first page"."""
        before = self.text[:start].rstrip()
        opens = not before or before[-1] in ".,;:!?—–"
        return opens or _IS_ADVERB.match(self.text, end) is not None

    def _is_proper(self, raw: str, start: int) -> bool:
        if not raw[0].isupper():
            return False
        if self.lang in words.CJK:
            return True
        before = self.text[:start].rstrip(" `\"'(")
        return bool(before) and before[-1] not in ".!?:;\n"

    def _on_kata(self, _raw: str, start: int, end: int) -> None:
        self._cjk(start, end)

    def _on_han(self, _raw: str, start: int, end: int) -> None:
        self._cjk(start, end)

    def _cjk(self, start: int, end: int) -> None:
        """Cut a run without spaces at known words; what lies between stays whole."""
        phrase = next((place for place in self.phrases if start < place < end), None)
        if phrase is not None:
            self._cjk(start, phrase)
            self._phrase(phrase)
            return
        at = start
        stop = min(len(self.text), end + _KANA_TAIL)  # a Japanese word may end in kana
        while at < end:
            match = words.word_pattern(self.lang).search(self.text, at, stop)
            if match is None or match.start() >= end or not match.group():
                break
            self._rest(at, match.start())
            word = match.group()
            self._named(word, match.start(), match.end())
            at = match.end()
        self._rest(at, end)
        self.skip_to = max(at, end)

    def _named(self, word: str, start: int, end: int) -> None:
        named = words.concepts(self.lang)[word]
        family = next((words.families()[n] for n in named if n in words.families()), "")
        weight = _LIGHT_WEIGHT if named[0] in words.light_concepts() else 1.0
        self._add("word", (word, *("=" + n for n in named)), start, end, weight=weight, family=family)
        if word in words.label_words():
            self.last_word = (word, end, "label word")

    def _rest(self, start: int, end: int) -> None:
        if start >= end:
            return
        count = _KANJI_COUNT.search(self.text, start, end + 1)
        if count is not None and start < count.start() < end and count.end() <= end:
            self._rest(start, count.start())
            self._rest(count.start(), end)
            return
        raw = self.text[start:end]
        counted = _KANJI_COUNT.match(self.text, start, len(self.text))
        number = words.cjk_number(counted.group()) if counted else None
        if counted and number is not None:
            unit = _UNIT.match(self.text, counted.end())
            known = words.units().get(unit.group(1)) if unit else None
            stop = unit.end() if unit and known else counted.end()
            self._number(number, known, start, stop)
            self._rest(stop, end)
            return
        if raw[0] >= "㐀":
            at = 0
            for gap in words.cjk_gaps(self.lang).finditer(raw):
                self._chunk(raw[at : gap.start()], start + at, start + gap.start())
                at = gap.end()
            self._chunk(raw[at:], start + at, end)
            return
        self._chunk(raw, start, end)

    def _chunk(self, raw: str, start: int, end: int) -> None:
        if not raw:
            return
        if raw[0] < "㐀":
            self._add("word", (raw.rstrip("ー") or raw,), start, end)
            return
        self._add("han", (raw,), start, end, weight=_HAN_CHARACTER_WEIGHT * len(raw))


@lru_cache(maxsize=_CACHE_TEXTS)
def analyse(text: str) -> Analysis:
    """Read one text; only the first 4,000 characters count."""
    # What was redacted is no evidence: two lessons do not speak of one subject because each once held a key.
    bare = _PLACEHOLDER.sub(lambda found: " " * len(found.group()), text[:_LONGEST_TEXT])
    normal = unicodedata.normalize("NFKC", bare).translate(_ONE_SIGN)
    reader = _Reader(normal)
    units = tuple(reader.read())
    index: dict[str, int] = {}
    prefixes: dict[str, int] = {}
    for place, unit in enumerate(units):
        for key in unit.keys:
            index.setdefault(key, place)
        if unit.kind in ("word", "name") and len(unit.keys[0]) >= _PREFIX and unit.keys[0].isascii():
            prefixes.setdefault(unit.keys[0][:_PREFIX], place)
    turning = words.operators(reader.lang)
    has_change = any(
        "change" in turning.kinds[m.group()] for m in turning.pattern.finditer(words.fold(normal))
    )
    return Analysis(
        text=normal,
        lang=reader.lang,
        units=units,
        index=index,
        prefixes=prefixes,
        parts=frozenset(part for unit in units for part in unit.parts),
        bigrams=_bigrams(normal),
        axes=_axes(units),
        weight=sum(unit.weight for unit in units),
        stances=_stances(units),
        turns_down=any(unit.stance < 0 for unit in units),
        tells_sequence=any(not _SEQUENCE.isdisjoint(unit.keys) for unit in units),
        initials="".join(
            unit.keys[0][0] for unit in units if unit.kind in ("word", "name") and unit.keys[0][0] != "="
        ),
        has_change=has_change,
        facts=_facts(units),
    )


_SEQUENCE = frozenset({"=first", "=last", "=before", "=after", "before", "after"})


_RANKS = {"first": "leading", "last": "trailing"}
"""Concepts of a sequence, and what their words mean before a noun."""


def _figure(written: str) -> float:
    """Return the value of digits with separators; 0 for a list such as "1,2,3" and for "1.2.3"."""
    plain = re.sub(r",(?=\d{3}\b)", "", written).replace(",", ".")
    return float(plain) if plain.count(".") < 2 else 0.0  # noqa: PLR2004 (one point is a decimal)


def _stances(units: tuple[Unit, ...]) -> dict[str, int]:
    said: dict[str, set[int]] = {}
    for unit in units:
        said.setdefault(unit.keys[0], set()).add(unit.stance)
    return {key: sum(stances) for key, stances in said.items()}


def _sides(keys: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    known = words.opposites().side
    concepts = [key.removeprefix("=") for key in keys if key[0] == "=" or len(keys) == 1]
    return tuple(known[concept] for concept in concepts if concept in known)


def _bigrams(text: str) -> frozenset[str]:
    found: set[str] = set()
    for run in re.findall(r"[㐀-䶿一-鿿々]{2,}", text):
        found.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(found)


def _axes(units: tuple[Unit, ...]) -> dict[str, int]:
    """Map an axis to the side the text takes: 1 or -1; 0 when it speaks for both, of a weak one when it names both."""
    found: dict[str, int] = {}
    named: dict[str, int] = {}
    strong = words.opposites().strong
    for unit in units:
        if unit.stance:
            for axis, sign in unit.sides:
                signed = sign * unit.stance
                is_one = named.setdefault(axis, sign) == sign or axis in strong
                found[axis] = signed if is_one and found.get(axis, signed) == signed else 0
    return found


def _facts(units: tuple[Unit, ...]) -> dict[str, frozenset[str]]:
    families: dict[str, set[str]] = {}
    for unit in units:
        if unit.family:
            families.setdefault(unit.family, set()).update(
                key[1:] for key in unit.keys if key[0] == "=" and words.families().get(key[1:]) == unit.family
            )
    return {family: frozenset(members) for family, members in families.items()}
