"""What of the code a bullet speaks about, and whether that still says what it said.

An anchor is `path`, `path:symbol` or `path#L10-L20@blob`. Contents come in as
values; reading them from git is `memx.repo.baseline`.
"""

from __future__ import annotations

import re
from collections import Counter

from memx.amount import amount
from memx.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FRESH, DRIFTED, ORPHANED = "fresh", "drifted", "orphaned"

CHANGED_SHARE = 0.25
"""A file of which at least so much was rewritten is no longer the one that the lesson was about."""
LIMIT_BYTES = 1 << 20
"""Larger files are compared as a whole."""
BLOB_DIGITS = 12

_LINES = re.compile(r"#L(\d{1,9})(?:-L?(\d{1,9}))?(?:@([0-9a-f]{4,64}))?\Z")
_PARTS = re.compile(r"::|->|[.#]")
_CODE_WORD = re.compile(r"`([^`\s]{2,80})`|([A-Za-z_$][\w$]*(?:[._-]\w+)*)")
_KEYWORDS = (
    "def|class|func|function|fn|struct|enum|union|interface|trait|impl|type|const|let|var|val|module|"
    "namespace|record|object|sub|proc|macro_rules!|static|property|package|template|table|view"
)
_CLOSERS = ("}", ")", "]", "end", "fi", "done", "esac")


@record
class Anchor:
    """A place in the code: a file or folder, and in it a symbol or a range of lines as they are in `blob`."""

    path: str
    symbol: str = ""
    first: int = 0
    last: int = 0
    blob: str = ""


@record
class AnchorState:
    """What became of an anchor: fresh, drifted or orphaned, why, and where the place is now if it moved."""

    state: str
    reason: str = ""
    now: str = ""


def parse_anchor(text: str) -> Anchor:
    """Return the parts of an anchor; what is neither lines nor a symbol is a path."""
    found = _LINES.search(text)
    if found:
        first = int(found[1])
        return Anchor(text[: found.start()], "", first, int(found[2] or first), found[3] or "")
    path, _, symbol = text.partition(":")
    return Anchor(path.rstrip("/"), symbol.strip(":"))


def format_anchor(anchor: Anchor) -> str:
    """Return the text of an anchor."""
    if anchor.first:
        blob = f"@{anchor.blob}" if anchor.blob else ""
        return f"{anchor.path}#L{anchor.first}-L{anchor.last}{blob}"
    return f"{anchor.path}:{anchor.symbol}" if anchor.symbol else anchor.path


def code_words(texts: Iterable[str]) -> frozenset[str]:
    """Return the names of code in a lesson: what is in backticks, and identifiers that no prose word looks like."""
    found = set()
    for text in texts:
        for quoted, word in _CODE_WORD.findall(text):
            if quoted or _is_identifier(word):
                found.add(quoted or word)
    return frozenset(found)


def _is_identifier(word: str) -> bool:
    inner = word[1:]
    return (
        "_" in inner
        or "." in inner
        or (len(word) > 2 and word.isupper())  # noqa: PLR2004 (`OK` and `IT` are prose)
        or (not word.isupper() and any(char.isupper() for char in inner))
    )


def check_anchor(
    anchor: Anchor, before: bytes | None, after: bytes | None, words: frozenset[str] = frozenset()
) -> AnchorState:
    """Compare what an anchor's file said when the lesson was learnt with what it says now.

    `before` None: not known; `after` None: the file is gone. `words` are the
    code names of the lesson: a change of their lines counts however small it is.
    """
    if after is None:
        return AnchorState(ORPHANED, "the file is gone")
    if before == after and not (anchor.first or anchor.symbol):
        return AnchorState(FRESH)
    if max(len(after), len(before or b"")) > LIMIT_BYTES or b"\0" in after:
        return AnchorState(FRESH if before in (None, after) else DRIFTED, "the file has changed")
    old = None if before is None else _lines(before)
    if anchor.first:
        return _check_lines(anchor, old, _lines(after))
    if anchor.symbol:
        return _check_symbol(anchor, old, _lines(after))
    return _check_file(old, _lines(after), words)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


def _check_file(old: list[str] | None, new: list[str], words: frozenset[str]) -> AnchorState:
    if old is None:
        return AnchorState(FRESH)
    before, after = _counted(old), _counted(new)
    changed = [*(before - after).elements(), *(after - before).elements()]
    if not changed:
        return AnchorState(FRESH)
    touched = sorted(word for word in words if any(word in line for line in changed))
    if touched:
        return AnchorState(DRIFTED, f"lines with {touched[0]} have changed")
    share = len(changed) / max(1, before.total() + after.total())
    if share >= CHANGED_SHARE:
        return AnchorState(DRIFTED, f"{share:.0%} of its lines have changed")
    return AnchorState(FRESH)


def _counted(lines: Iterable[str]) -> Counter[str]:
    """Count lines without their indentation: a block that moved has not changed."""
    return Counter(stripped for line in lines if (stripped := line.strip()))


def _check_symbol(anchor: Anchor, old: list[str] | None, new: list[str]) -> AnchorState:
    now = find_symbol(new, anchor.symbol)
    if not now:
        return AnchorState(ORPHANED, f"{anchor.symbol} is no longer in the file")
    then = find_symbol(old, anchor.symbol) if old is not None else now
    if not then or _counted(then) == _counted(now):
        return AnchorState(FRESH)
    return AnchorState(DRIFTED, f"{anchor.symbol} has changed")


def find_symbol(lines: Sequence[str], symbol: str) -> list[str]:
    """Return the lines that define a symbol (`Pool.acquire`, `pool::acquire`), else those that name it."""
    block = list(lines)
    for name in filter(None, _PARTS.split(symbol.removesuffix("()"))):
        block = _find_block(block, name)
    return block


def _find_block(lines: list[str], name: str) -> list[str]:
    escaped = re.escape(name)
    edge = rf"(?<![\w$]){escaped}(?![\w$])"
    defines = re.compile(
        rf"\b(?:{_KEYWORDS})\s(?:[^=\n]*\s|[^=\n]*[(*&]\s*)?{edge}"
        rf"|^\s*(?:[\w$<>\[\]*&,.:@\"'-]+\s+){{0,5}}[\"']?{edge}[\"']?\s*(?:[:=(]|$)"
        rf"|^\s*#\s*define\s+{edge}"
    )
    for index, line in enumerate(lines):
        if defines.search(line):
            return _block_at(lines, index)
    mention = re.compile(edge)
    return [line for line in lines if mention.search(line)]


def _block_at(lines: list[str], start: int) -> list[str]:
    """Return a line, what is indented below it, and the line that closes it."""
    depth = _indent(lines[start])
    end = start + 1
    while end < len(lines):
        line = lines[end]
        if line.strip() and _indent(line) <= depth:
            first_word = line.strip().split(" ", 1)[0]
            if first_word == "{":
                end += 1
                continue
            if _indent(line) == depth and first_word.startswith(_CLOSERS):
                end += 1
            break
        end += 1
    return lines[start:end]


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))


def _check_lines(anchor: Anchor, old: list[str] | None, new: list[str]) -> AnchorState:
    if anchor.last < anchor.first:
        return AnchorState(ORPHANED, f"line {anchor.last} is before line {anchor.first}")
    if old is None:
        is_there = 0 < anchor.first <= anchor.last <= len(new)
        size = amount(len(new), "line")
        return AnchorState(FRESH) if is_there else AnchorState(ORPHANED, f"the file has {size}")
    wanted = [line.strip() for line in old[anchor.first - 1 : anchor.last]]
    if anchor.last > len(old) or not any(wanted):
        return AnchorState(ORPHANED, "there were no such lines")
    places = _find_run(wanted, [line.strip() for line in new])
    if not places:
        return AnchorState(DRIFTED, "the lines have changed")
    first = min(places, key=lambda place: abs(place - anchor.first))
    if first == anchor.first:
        return AnchorState(FRESH)
    moved = replace(anchor, first=first, last=first + len(wanted) - 1)
    return AnchorState(FRESH, "the lines have moved", format_anchor(moved))


def _find_run(wanted: list[str], lines: list[str]) -> list[int]:
    """Return the line numbers (from 1) at which a run of lines stands."""
    count = len(wanted)
    return [
        start + 1
        for start in range(len(lines) - count + 1)
        if lines[start] == wanted[0] and lines[start : start + count] == wanted
    ]
