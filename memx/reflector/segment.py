"""From raw text to sentences: trailers, bots, quotations and code are told apart from prose."""

from __future__ import annotations

import re

from memx.record import record
from memx.reflector.language import is_cjk, weight_of
from memx.reflector.pattern import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT = 8000
"""Characters read of one text: a lesson stands early, and a pasted log is none."""

_LEAST_SENTENCE = 18
"""Latin characters of a sentence behind a title's first one."""
TITLE = "title"
PROSE = "prose"
ITEM = "item"
HEADING = "heading"
CODE = "code"
QUOTE = "quote"

_TRAILER = pattern(
    r"^(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)+|Fixes|Closes|Refs?|See|Link|Bug|Issue|PR|Tested|Contributed by|git-svn-id|🤖)"
    r"(?::\s|\s*#\d|\s+https?://|\s+Generated with).*$|^(?:Signed-off-by|Co-authored-by)\b.*$"
    r"|^for more information, see https?://.*$|^\s*https?://\S+\s*$|^\(cherry picked from.*$|^-{3,}\s*$"
    r"|^\[pre-commit\.ci\].*$|^\[\w*:?#\d+\]$",
    re.IGNORECASE,
)
_TRAILER_WORDS = (":", "#", "http", "generated with", "-by", "(cherry", "---", "[")
"""One of them stands in every line that _TRAILER matches."""
_KEY = pattern(r"[A-Za-z][A-Za-z0-9-]*:(?:\s|$)|-{3,}")
_EXPLICIT_KEYS = ("learned:", "gotcha:", "decision:", "memx:")
_EXPLICIT = pattern(r"^((?i:Learned|Gotcha|Decision)|Memx|MEMX):[ \t]*(.*)$")
"""`memx:` in lower case is how memx itself begins a line: see echo.py."""
_ITEM = pattern(
    r"^(\s*)(?:[-*•+‣▪✓]\s+|[・●○◆■－＊①-⑳]\s*|\d{1,2}(?:[.)]\s+|[、．）]\s*|[.)](?=[\u3040-\u30ff\u3400-\u9fff])))(?=\S)"
)
_ITEM_MARKS = "-*•+‣▪✓・●○◆■－＊"
_HEADING = pattern(r"^#{1,6}\s+\S|^\*\*[^*]+\*\*\s*[:：]?$|^[^.。!?！？]{1,60}[:：]$")
_SQUASH_NOISE = pattern(
    r"^(?:Update \S+|\[pre-commit\.ci\].*|Merge \S.*|WIP|wip|fix(?:ed)? (?:typo|lint).*)$"
)
_FENCE = pattern(r"^\s*(?:```|~~~)")
_SENTENCE_END = pattern(r"(?<=[.!?])[\"')\]]*\s+(?=[^\sa-z])|(?<=[。！？])\s*|(?<=[!?？])\s+")
_ABBREVIATION = pattern(r"(?:\b(?:e\.g|i\.e|vs|cf|etc|p\.ej|approx|Dr|No|\d)|\s[A-Z])\.$")
_QUOTED = pattern(
    r"\"[^\"\n]{1,400}\"|“[^”]{1,400}”|«[^»]{1,400}»|「[^」]{1,300}」|『[^』]{1,300}』|`[^`\n]{1,300}`"
    r"|(?<![\w])'[^'\n]{12,300}'(?!\w)"
)


@record
class Sentence:
    """A sentence with its kind, and the same text with quotations blanked out (equal length)."""

    text: str
    masked: str
    kind: str
    block: int = 0
    """Which paragraph or item of the text it stands in, counted from 1; 0 for a title."""


@record
class Passage:
    """A segmented text: title, sentences in order, code blocks, and explicit trailers as (key, text)."""

    title: str
    sentences: tuple[Sentence, ...]
    code: tuple[str, ...] = ()
    explicit: tuple[tuple[str, str], ...] = ()


def mask_quotations(text: str) -> str:
    """Blank out quotations of three words or more; a quoted word or value stays, without its marks."""
    if "`" in text or '"' in text or "'" in text:
        return _QUOTED.sub(_mask, text)
    if text.isascii() or not any(map(text.__contains__, "“«「『")):
        return text
    return _QUOTED.sub(_mask, text)


def _mask(match: re.Match[str]) -> str:
    inner = match.group()[1:-1]
    long = len(inner.split()) >= 3 or (len(inner) >= 8 and any(map(is_cjk, inner)))  # noqa: PLR2004
    return " " * len(match.group()) if long else f" {inner} "


def split_sentences(text: str) -> Iterator[str]:
    """Yield sentences; `e.g.` and single initials do not end one."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        piece = text[start : end.start()]
        if not piece.strip() or _ABBREVIATION.search(piece) or piece.count("`") % 2:
            continue
        yield text[start : end.end()].strip()
        start = end.end()
    rest = text[start:].strip()
    if rest:
        yield rest


def join_lines(lines: list[str]) -> str:
    """Unwrap lines into one; between two CJK characters no space is put."""
    joined = ""
    for line in (line.strip() for line in lines):
        if joined and line and not (is_cjk(joined[-1]) and is_cjk(line[0])):
            joined += " "
        joined += line
    return joined


def explicit_lessons(message: str) -> tuple[tuple[str, str], ...]:
    """Return lessons given in so many words by `Learned:`, `Gotcha:`, `Decision:` or `Memx:` lines."""
    if ":" not in message or not any(map(message.lower().__contains__, _EXPLICIT_KEYS)):
        return ()
    lessons: list[tuple[str, list[str]]] = []
    continued = False
    for line in message.splitlines():
        match = _EXPLICIT.match(line)
        if match:
            lessons.append((match[1].lower(), [match[2]]))
            continued = True
        elif continued and _goes_on(line):
            lessons[-1][1].append(line)
        else:
            continued = False
    pairs = ((key, join_lines(lines).strip()) for key, lines in lessons)
    return tuple((key, text) for key, text in pairs if text)


def _goes_on(line: str) -> bool:
    """Say whether a line belongs to the stated lesson above it: people wrap lines, indented or not."""
    return bool(line.strip()) and (line[:1] in (" ", "\t") or not _KEY.match(line))


class _Blocks:
    """Collects lines into blocks of one kind."""

    def __init__(self) -> None:
        self.blocks: list[tuple[str, str]] = []
        self._kind = ""
        self._lines: list[str] = []

    def add(self, kind: str, line: str) -> None:
        if kind != self._kind:
            self.flush()
        self._kind = kind
        self._lines.append(line)

    def open(self, kind: str, line: str) -> None:
        self.flush()
        self._kind, self._lines = kind, [line]

    @property
    def kind(self) -> str:
        return self._kind

    def flush(self) -> None:
        if self._lines:
            text = "\n".join(self._lines) if self._kind == CODE else join_lines(self._lines)
            if text.strip():
                self.blocks.append((self._kind, text.strip()))
        self._kind, self._lines = "", []


def _classify_lines(lines: list[str]) -> list[tuple[str, str]]:
    """Return (kind, text) blocks of a body."""
    out = _Blocks()
    fenced = False
    explicit = False
    after_blank = True
    for line in lines:
        if ("```" in line or "~~~" in line) and _FENCE.match(line):
            fenced = not fenced
            out.flush()
            continue
        if fenced:
            out.add(CODE, line)
            continue
        if not line.strip():
            if out.kind != CODE:
                out.flush()
            after_blank, explicit = True, False
            continue
        explicit = (":" in line and bool(_EXPLICIT.match(line))) or (explicit and _goes_on(line))
        if not explicit:
            _add_line(out, line, after_blank=after_blank)
        after_blank = False
    out.flush()
    return out.blocks


def _add_line(out: _Blocks, line: str, *, after_blank: bool) -> None:
    stripped = line.strip()
    item = _ITEM.match(line) if stripped[0] in _ITEM_MARKS or stripped[0].isdigit() else None
    if any(map(stripped.lower().__contains__, _TRAILER_WORDS)) and _TRAILER.match(stripped):
        out.flush()
    elif stripped.startswith(">"):
        out.add(QUOTE, stripped.lstrip("> "))
    elif item:
        text = line[item.end() :]
        if not _SQUASH_NOISE.match(text.strip()):
            out.open(ITEM, text)
    elif out.kind == ITEM and not after_blank:
        out.add(ITEM, line)
    elif line.startswith(("    ", "\t")) and (after_blank or out.kind == CODE):
        out.add(CODE, line)
    elif (stripped[0] in "#*" or stripped[-1] in ":：") and _HEADING.match(stripped):
        out.open(HEADING, stripped)
    else:
        out.add(PROSE, line)


def segment(message: str) -> Passage:
    """Cut a commit message into title, sentences and code."""
    lines = message[:_LIMIT].strip().splitlines()
    title = lines[0].strip() if lines else ""
    blocks = _classify_lines(lines[1:])
    if _EXPLICIT.match(title) or _TRAILER.match(title) or title.startswith(">") or _FENCE.match(title):
        blocks, title = _classify_lines(lines), ""
    first, *further = _title_sentences(title)
    sentences = [_sentence(TITLE, first)] if first else []
    sentences += [_sentence(PROSE, piece) for piece in further]
    for block, (kind, text) in enumerate(blocks, 1):
        if kind in (HEADING, CODE, QUOTE):
            continue
        sentences += [_sentence(kind, piece, block) for piece in split_sentences(text)]
    code = tuple(text for kind, text in blocks if kind == CODE)
    return Passage(title=title, sentences=tuple(sentences), code=code, explicit=explicit_lessons(message))


def _title_sentences(title: str) -> list[str]:
    """Return the sentences of a first line that holds a whole message; a ticket's number behind a stop is none."""
    pieces = list(split_sentences(title))
    if len(pieces) > 1 and all(weight_of(piece) >= _LEAST_SENTENCE for piece in pieces[1:]):
        return pieces
    return [title]


def segment_prose(text: str) -> Passage:
    """Cut a turn of a conversation into sentences; it has no title."""
    blocks = _classify_lines(text[:_LIMIT].strip().splitlines())
    sentences = tuple(
        _sentence(kind, piece, block)
        for block, (kind, text) in enumerate(blocks, 1)
        if kind in (PROSE, ITEM)
        for piece in split_sentences(text)
    )
    return Passage(title="", sentences=sentences, code=tuple(text for kind, text in blocks if kind == CODE))


def _sentence(kind: str, text: str, block: int = 0) -> Sentence:
    return Sentence(text=text, masked=mask_quotations(text), kind=kind, block=block)
