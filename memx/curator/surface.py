"""What two texts that are written almost alike still differ in: signs, bounds, case, small words, order.

An alignment of content words is blind to these, and each of them makes another
lesson. So two texts are read here as they are written, token by token, and a
difference that is not known to be harmless speaks against a merge.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache

from memx.curator import words
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.curator.features import Comparison
    from memx.curator.tokens import Analysis, Unit

_ALIKE = 0.6  # share of tokens in common, in order, from which two texts are one wording
_ALIKE_LONG = 0.72  # the same for texts of more than _SHORT tokens
_SHORT = 8
_SHORTEST = 3  # tokens of which one may be all the difference
_SAME_BAG = 0.86  # share of tokens in common, in any order, from which the order must be told
_LONGEST = 600  # tokens looked at
_LONGEST_OPENING = 8  # tokens of a circumstance that a sentence begins with
_NEAR = 24  # characters beside a number in which a bound may stand

_CJK = "㐀-䶿一-鿿々ぁ-ゖァ-ヺー"
_SURFACE = re.compile(
    rf"(?P<cjk>[{_CJK}])|(?P<break>[,;:.!?](?=\s|$|[{_CJK}])|[、，。；：！？\n])|(?P<run>[^\s{_CJK}、，。；：！？「」（）]+)"
)
_OPENING = "([{\"'`“‘«¿¡"
_CLOSING = ")]}\"'`”’»…,;:.!?"
_DENYING = ("un", "in", "im", "ir", "il", "non", "non-", "dis", "de", "des", "no ")
_SHORTEST_DENIED = 3  # letters of a stem
_DASHES = frozenset({"-", "--", "—", "–", "·", "•"})
_CONTRACTED = re.compile(r"(?i)^(can|won|[a-z]+?)(?:n't|not)$")
_TAILS = re.compile(r"'(?:s|ll|ve|re|d|m)$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_NUMERAL = re.compile(r"[〇零一二两三四五六七八九十百千万]")
_BIT_UNIT = re.compile(r"[KMGT]i?b(?:ps|/s)?$")
_SIGNED = re.compile(
    r"(?:(?<![^\s(\[=:,、，。\u3040-\u9fff])(?P<mark>[+-])(?=\d)|\b(?P<word>minus|negative)\s"
    r"|(?<!al )(?<!o )\b(?P<es>menos)\s(?!de)|(?P<cjk>负|負の?|マイナス))\s?"
)
_CJK_NEAR = 8  # characters between a bound and its number in Chinese and Japanese
_LAST_CLAUSE = re.compile(rf"[^\s、，。；,;]{{1,{_CJK_NEAR}}}$")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


@record
class Difference:
    """One difference in writing: kind and how each text has it."""

    kind: str
    a: str
    b: str


@record
class _Token:
    key: str
    form: str
    is_break: bool = False


@cache
def _markers() -> dict[str, frozenset[str]]:
    return {
        name: frozenset(body.split())
        for name, _, body in (line.partition(":") for line in words.lines("markers.txt"))
    }


@cache
def _opposed() -> tuple[tuple[str, str], ...]:
    pairs = (line.split() for line in words.lines("opposed.txt"))
    return tuple((pair[0], pair[1]) for pair in pairs)


@cache
def _bounds() -> dict[str, tuple[tuple[str, int], ...]]:
    """Map a place, before or after a number, to its words and sides, the longest first."""
    found: dict[str, list[tuple[str, int]]] = {"before": [], "after": []}
    for line in words.lines("bounds.txt"):
        head, _, body = line.partition(":")
        side, place = head.split()
        found[place] += [(word.strip(), -1 if side == "most" else 1) for word in body.split("|")]
    return {place: tuple(sorted(listed, key=lambda entry: -len(entry[0]))) for place, listed in found.items()}


def differences(comparison: Comparison) -> list[Difference]:
    """Return what speaks against one lesson in how two texts of one language are written."""
    a, b = comparison.a, comparison.b
    found = [*_sign_differences(a, b), *_bound_differences(a, b)]
    if a.lang != b.lang or a.text == b.text:
        return found
    one, two = _tokens(a), _tokens(b)
    found += _replaced(one, two, a.lang)
    found += _reordered(one, two, a.lang)
    return found


def _sign_differences(a: Analysis, b: Analysis) -> list[Difference]:
    if not (_SIGNED.search(a.text) or _SIGNED.search(b.text)):
        return []
    left, right = _signs(a), _signs(b)
    found = []
    for figure in sorted(left.keys() & right.keys()):
        signs = left[figure] ^ right[figure]
        if "-" in signs and not left[figure] & right[figure]:
            found.append(Difference("sign", min(left[figure]) + figure, min(right[figure]) + figure))
    return found


def _signs(text: Analysis) -> dict[str, set[str]]:
    """Map each quantity to the signs that it is written with, "" for none."""
    marked = {
        match.end(): "+" if match.group("mark") == "+" else "-" for match in _SIGNED.finditer(text.text)
    }
    found: dict[str, set[str]] = {}
    for unit in text.units:
        if unit.kind in ("number", "label"):
            figure = _FIGURE.search(text.text, unit.start, unit.end)
            start = figure.start() if figure else unit.start
            found.setdefault(f"{unit.value:g}", set()).add(marked.get(start, ""))
    return found


def _bound_differences(a: Analysis, b: Analysis) -> list[Difference]:
    left, right = _bounded(a), _bounded(b)
    return [
        Difference("bound", left[key][1], right[key][1])
        for key in left.keys() & right.keys()
        if left[key][0] * right[key][0] < 0
    ]


def _bounded(text: Analysis) -> dict[str, tuple[int, str]]:
    """Map a quantity's key to the side of its bound, -1 at most and 1 at least, and its words."""
    found: dict[str, tuple[int, str]] = {}
    for unit in text.units:
        if unit.kind not in ("number", "label"):
            continue
        side, start, end = _bound_of(text.text, unit)
        if side:
            found.setdefault(f"{unit.dimension} {unit.value:g}", (side, text.text[start:end]))
    return found


def _bound_of(text: str, unit: Unit) -> tuple[int, int, int]:
    figure = _FIGURE.search(text, unit.start, unit.end)
    start = figure.start() if figure else unit.start
    before = words.fold(text[max(0, start - _NEAR) : start]).rstrip()
    for word, side in _bounds()["before"]:
        if before.endswith(word) and _is_whole(before, len(before) - len(word), word):
            return side, start - len(word) - 1, unit.end
    clause = _LAST_CLAUSE.search(before)
    for word, side in _bounds()["before"]:
        if clause and not word.isascii() and word in clause.group():
            return side, start - _CJK_NEAR, unit.end
    after = words.fold(text[unit.end : unit.end + _NEAR]).lstrip(" (回次個个件条秒分")
    for word, side in _bounds()["after"]:
        if after.startswith(word) and not (word.isascii() and after[len(word) : len(word) + 1].isalpha()):
            return side, unit.start, unit.end + len(word) + 1
    return 0, 0, 0


def _is_whole(text: str, at: int, word: str) -> bool:
    return not (word[0].isascii() and word[0].isalpha() and at > 0 and text[at - 1].isalpha())


def _tokens(text: Analysis) -> list[_Token]:
    """Return a text's tokens: quantities with their unit, runs without spaces, single CJK characters."""
    spans = tuple(
        (unit.start, unit.end, unit.keys[0])
        for unit in text.units
        if unit.kind == "number" and unit.dimension
    )
    return _cut(text.text, text.lang, spans)


@lru_cache(maxsize=4096)
def _cut(text: str, lang: str, spans: tuple[tuple[int, int, str], ...]) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    for start, end, key in spans:
        if start >= at:
            found += _plain_tokens(text[at:start], lang)
            raw = text[start:end]
            found.append(_Token(("bit " if _BIT_UNIT.search(raw) else "") + key, raw))
            at = end
    return [*found, *_plain_tokens(text[at:], lang)][:_LONGEST]


def _plain_tokens(text: str, lang: str) -> list[_Token]:
    found: list[_Token] = []
    for match in _SURFACE.finditer(text):
        raw = match.group()
        if match.lastgroup == "cjk":
            found.append(_Token(raw, raw))
        elif match.lastgroup == "break":
            found.append(_Token(raw, raw, is_break=True))
        else:
            found += _run_tokens(raw, lang)
    return found


def _run_tokens(raw: str, lang: str) -> list[_Token]:
    closing = raw.rstrip(_CLOSING)
    is_break = raw[-1] in ",;:.!?" and bool(closing)
    bare = closing.lstrip(_OPENING).removeprefix("**").removesuffix("**") or (raw if raw in "!?" else "")
    found = []
    negated = _CONTRACTED.match(bare)
    if bare in _DASHES or not bare:
        pass
    elif negated:
        verb = {"ca": "can", "wo": "will"}.get(negated.group(1).lower(), negated.group(1).lower())
        known = bare.lower() == "cannot" or "'" in bare
        found = [_Token(words.stem(verb, lang), verb), _Token("not", bare)] if known else [_token(bare, lang)]
    else:
        found = [_token(_TAILS.sub("", bare), lang)]
    return [*found, _Token(raw[-1], raw[-1], is_break=True)] if is_break else found


def _token(bare: str, lang: str) -> _Token:
    if not _WORD.fullmatch(bare):
        return _Token(bare, bare)
    low = words.fold(bare)
    number = words.number_words("es" if lang == "es" else "en").get(low)
    if number is not None:
        return _Token(f"{number:g}", bare)
    is_titled = bare[0].isupper() and bare[1:].islower()
    if bare.islower() or is_titled or _is_shouted(low, lang):
        known = _markers()
        return _Token(low if low in known["acronym"] else words.stem(low, lang), bare)
    return _Token(bare, bare)


def _is_shouted(low: str, lang: str) -> bool:
    """Tell "NEVER" and "API", which mean the same in small letters, from a name such as "UMASK"."""
    latin = "es" if lang == "es" else "en"
    return len(low) > 1 and (
        low in _markers()["acronym"] or low in words.stop_words(latin) or low in words.concepts(latin)
    )


def _replaced(one: list[_Token], two: list[_Token], lang: str) -> list[Difference]:
    """Return the harmful differences between two texts of one wording, place by place."""
    from difflib import SequenceMatcher

    left = [token for token in one if not token.is_break]
    right = [token for token in two if not token.is_break]
    keys = [token.key for token in left], [token.key for token in right]
    common = sum((Counter(keys[0]) & Counter(keys[1])).values())
    shortest = min(len(left), len(right))
    limit = 0.0 if shortest <= _SHORTEST else _ALIKE if shortest <= _SHORT else _ALIKE_LONG
    if 2 * common < limit * (len(left) + len(right)):
        return []
    matcher = SequenceMatcher(None, *keys, autojunk=False)
    if matcher.ratio() < limit:
        return []
    denied = _denials(left, lang) != _denials(right, lang)
    found = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            kind = _harm(left[i:j], right[k:m], lang, is_denied=denied)
            if kind:
                found.append(Difference(kind, _spelt(left[i:j]), _spelt(right[k:m])))
    return found


def _denials(tokens: list[_Token], lang: str) -> int:
    """Count negations; in Spanish two of them agree."""
    count = _count(tokens, "negation")
    return min(count, 1) if lang == "es" else count


def _spelt(tokens: list[_Token]) -> str:
    forms = [token.form for token in tokens]
    return "".join(forms) if all(form > "\u3000" for form in forms) else " ".join(forms)


def _harm(  # noqa: PLR0911 (one rule a line)
    left: list[_Token], right: list[_Token], lang: str, *, is_denied: bool
) -> str:
    """Return the kind of harm that one stretch in place of another does, '' when it is known to be none."""
    neutral = _markers()["neutral"]
    x = [t for t in left if words.fold(t.form) not in neutral or _is_letter(t.form)]
    y = [t for t in right if words.fold(t.form) not in neutral or _is_letter(t.form)]
    joined = [re.sub(r"[-_ ]", "", "".join(t.form for t in side)) for side in (x, y)]
    if joined[0].lower() == joined[1].lower():
        return "" if joined[0] == joined[1] else "case"
    if _is_denied_by_prefix(*joined):
        return "opposite"
    for name in ("negation", "most", "least", "only"):
        if bool(_count(x, name)) != bool(_count(y, name)) and (is_denied or name != "negation"):
            return "small word"
    if _count(x, "negation") and _count(y, "negation"):
        return ""
    if any(_is_operator(t.form) for t in (*x, *y)):
        return "operator"
    if any(_NUMERAL.match(t.form) for t in x) and any(_NUMERAL.match(t.form) for t in y):
        return "numeral"
    if lang in words.CJK and _is_opposed(joined[0], joined[1]):
        return "opposite word"
    if len(x) == len(y) == 1:
        return _word_harm(x[0], y[0], lang)
    return ""


def _word_harm(a: _Token, b: _Token, lang: str) -> str:
    if _are_values(a, b) or not (a.form.isascii() and b.form.isascii()):
        return ""  # values are told by the alignment
    if _is_denied_by_prefix(a.key, b.key):
        return "opposite"
    return "" if _is_synonym(a, b, lang) else "wording"


def _is_denied_by_prefix(a: str, b: str) -> bool:
    """Tell "safe" from "unsafe" and "blocking" from "non-blocking"."""
    short, long = sorted((a.lower(), b.lower()), key=len)
    return len(short) >= _SHORTEST_DENIED and long in {prefix + short for prefix in _DENYING}


def _count(tokens: list[_Token], name: str) -> int:
    listed = _markers()[name]
    text = "".join(token.form for token in tokens)
    return sum(words.fold(token.form) in listed or token.key in listed for token in tokens) + sum(
        word in text for word in listed if len(word) > 1 and word > "\u3000"
    )


def _is_operator(form: str) -> bool:
    return not any(character.isalnum() for character in form) and any(c in "<>=!~^*+|&%" for c in form)


def _is_opposed(a: str, b: str) -> bool:
    return any((p in a and q in b) or (q in a and p in b) for p, q in _opposed())


def _is_synonym(a: _Token, b: _Token, lang: str) -> bool:
    if not (_WORD.fullmatch(a.form) and _WORD.fullmatch(b.form)):
        return _is_same_option(a.form, b.form) or _is_same_file(a.form, b.form)
    if {a.key, b.key} <= _markers()["acronym"]:
        return False
    if {a.form, b.form} <= _markers()["means"]:
        return True
    one = set(words.concepts_of(words.fold(a.form), lang)) if lang in words.LATIN else set()
    two = set(words.concepts_of(words.fold(b.form), lang)) if lang in words.LATIN else set()
    return bool(one & two)


def _are_values(a: _Token, b: _Token) -> bool:
    """Tell whether two tokens are quantities of one dimension."""
    plain = all(_FIGURE.fullmatch(token.form) for token in (a, b))
    return plain or (" " in a.key and a.key.rpartition(" ")[0] == b.key.rpartition(" ")[0])


def _is_same_option(a: str, b: str) -> bool:
    """Tell whether one is the short form of the other, as `-p` is of `--previous`."""
    short, long = sorted((a, b), key=len)
    return len(short) == 2 and short[0] == "-" and long.startswith("-" + short)  # noqa: PLR2004 (a dash and a letter)


def _is_same_file(a: str, b: str) -> bool:
    """Tell whether one path is the other with more of its folders; a leading slash is no folder."""
    short, long = sorted((a, b), key=len)
    return "/" in long and long.strip("/") != short.strip("/") and long.endswith("/" + short)


def _reordered(one: list[_Token], two: list[_Token], lang: str) -> list[Difference]:
    """Return a difference when two texts have the same words in an order that no moved clause explains."""
    left, right = _canonical(one, lang), _canonical(two, lang)
    common = sum((Counter(left) & Counter(right)).values())
    if common < _SAME_BAG * max(len(left), len(right), 1):
        return []
    if any(common == _longest_common(*pair) for pair in _turnings(left, right)):
        return []
    if any(common == _longest_common(turned, right) for turned in _openings(one)) or any(
        common == _longest_common(left, turned) for turned in _openings(two)
    ):
        return []
    place = next(
        (i for i, (p, q) in enumerate(zip(left, right, strict=False)) if p != q),
        min(len(left), len(right)) - 1,
    )
    return [Difference("word order", " ".join(left[place : place + 3]), " ".join(right[place : place + 3]))]


def _turnings(left: list[str], right: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield two sequences, and each with what it begins with moved to its end if that is a circumstance."""
    yield left, right
    for one, two in ((left, right), (right, left)):
        if one and one[0] in _markers()["opener"]:
            yield from ((one[at:] + one[:at], two) for at in range(1, min(len(one), _LONGEST_OPENING)))


def _openings(tokens: list[_Token]) -> Iterator[list[str]]:
    """Yield a text with what its first clause begins with at that clause's end, if that is a circumstance."""
    end = next((at for at, token in enumerate(tokens) if token.is_break), len(tokens))
    first = _telling(tokens[:end])
    rest = _telling([token for token in tokens[end:] if not token.is_break])
    if first and words.fold(tokens[0].form) in _markers()["opener"]:
        yield from (first[at:] + first[:at] + rest for at in range(1, min(len(first), _LONGEST_OPENING)))


def _canonical(tokens: list[_Token], lang: str) -> list[str]:
    """Return the telling keys in order, with a leading circumstance behind what it belongs to."""
    found: list[str] = []
    sentence: list[list[_Token]] = [[]]
    for token in [*tokens, _Token(".", ".", is_break=True)]:
        if not token.is_break:
            sentence[-1].append(token)
        elif token.form in ",，、":
            sentence.append([])
        else:
            if len(sentence) > 1 and _is_circumstance(sentence[0], lang):
                sentence = [*sentence[1:], sentence[0]]
            found += [key for clause in sentence for key in _telling(clause)]
            sentence = [[]]
    return found


def _is_circumstance(clause: list[_Token], lang: str) -> bool:
    if not clause:
        return False
    if lang in words.LATIN:
        return words.fold(clause[0].form) in _markers()["opener"]
    text = "".join(token.form for token in clause)
    return text.endswith(tuple(_markers()["closer"])) or text.startswith(
        tuple(word for word in _markers()["opener"] if word > "\u3000")
    )


def _telling(clause: list[_Token]) -> list[str]:
    skipped = _markers()["neutral"] | _markers()["adverb"] | _markers()["negation"]
    return [token.key for token in clause if token.form.lower() not in skipped or _is_letter(token.form)]


def _is_letter(form: str) -> bool:
    """Tell a name such as "A" from the article."""
    return len(form) == 1 and form.isupper()


def _longest_common(a: list[str], b: list[str]) -> int:
    """Return the length of the longest common subsequence, by bits (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, key in enumerate(a):
        places[key] = places.get(key, 0) | 1 << at
    whole = (1 << len(a)) - 1
    row = whole
    for key in b:
        hit = row & places.get(key, 0)
        row = ((row + hit) | (row - hit)) & whole
    return len(a) - row.bit_count()
