"""Three-way merge of bullet files: sets as sets, counters as deltas, times by rule, the body as lines.

The result is the same whichever side is called ours (a rebase swaps them),
unless it is a conflict. A conflict never stands in the front matter, which
stays readable: fields that both sides set differently are shown with the
body, between git's own markers.
"""

from __future__ import annotations

from memx.document import FIELD_KINDS, Document, Parts, decode_text, split_front_matter
from memx.errors import FrontMatterError
from memx.merge.field import merge_field, merge_lead
from memx.merge.lines import merge_lines
from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.merge.lines import Chunk

    Sides = tuple[Document, Document, Document]


@record
class MergeOutcome:
    """The merged file; `clean` is False when it holds conflict markers."""

    data: bytes
    clean: bool


LABELS = ("ours", "base", "theirs")


def merge_bullets(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    labels: tuple[str, str, str] = LABELS,
    marker_size: int = 7,
) -> MergeOutcome:
    """Merge two versions of a bullet file; an empty `base` means that both sides added it.

    A side that does not parse makes it a merge of plain text.
    """
    if theirs in (ours, base):
        return MergeOutcome(ours, clean=True)
    if base == ours:
        return MergeOutcome(theirs, clean=True)
    try:
        texts, newline = _with_one_newline(decode_text(base), decode_text(ours), decode_text(theirs))
        documents = tuple(Document(split_front_matter(text)) for text in texts)
        outcome = _merge_documents(documents, labels, marker_size)  # type: ignore[arg-type]
        if outcome is not None:
            text = outcome[0] if newline == "\n" else outcome[0].replace("\n", newline)
            return MergeOutcome(text.encode(), outcome[1])
    except FrontMatterError:
        pass
    return merge_text(base, ours, theirs, labels, marker_size)


def merge_text(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    labels: tuple[str, str, str] = LABELS,
    marker_size: int = 7,
) -> MergeOutcome:
    """Merge line by line whatever the bytes mean, as git itself would."""
    # Latin-1 maps each byte to one character and back.
    sides = [data.decode("latin-1") for data in (base, ours, theirs)]
    ours_label, base_label, theirs_label = (label.encode().decode("latin-1") for label in labels)
    names = (ours_label, base_label, theirs_label)
    newline = "\r\n" if "\r\n" in sides[1] else "\n"
    text, clean = _merge_body(sides[0], sides[1], sides[2], [], names, marker_size, newline)
    return MergeOutcome(text.encode("latin-1"), clean)


def _with_one_newline(*texts: str) -> tuple[list[str], str]:
    """Return the texts with LF when each has one kind of line end, and the kind for the result.

    The side that changed the kind of the base wins. Mixed files are left alone:
    their carriage returns are part of the lines.
    """
    kinds = [_newline_of(text) for text in texts]
    if "" in kinds:
        return list(texts), "\n"
    base, ours, theirs = kinds
    chosen = theirs if ours == base and texts[0] else ours
    if not texts[0] and ours != theirs:
        chosen = "\n"
    return [text.replace("\r\n", "\n") for text in texts], chosen


def _newline_of(text: str) -> str:
    pairs = text.count("\r\n")
    if not pairs:
        return "\n"
    return "\r\n" if pairs == text.count("\n") else ""


def _merge_documents(sides: Sides, labels: tuple[str, str, str], marker_size: int) -> tuple[str, bool] | None:
    """Return the merged text and whether it is clean; None when the front matter would not parse."""
    blocks = [_Block(document) for document in sides]
    stranger = _find_stranger(sides)
    block, disputed = (
        _merge_blocks(blocks[0], blocks[1], blocks[2]) if stranger is None else (stranger.parts.block, [])
    )
    body, clean = _merge_body(
        sides[0].body, sides[1].body, sides[2].body, disputed, labels, marker_size, "\n"
    )
    shells = [document.parts for document in sides]
    mark, opening, closing = (
        _of_three(*(getattr(shell, name) for shell in shells)) for name in ("mark", "opening", "closing")
    )
    if body and closing and not closing.endswith("\n"):
        closing += "\n"
    if block or opening:
        parts = Parts(mark, opening or "---\n", block, closing or "---\n", body)
        try:
            _check(parts, disputed)
        except FrontMatterError:
            return None
        return f"{mark}{parts.opening}{block}{parts.closing}{body}", clean
    return mark + body, clean


def _find_stranger(sides: Sides) -> Document | None:
    """Return the side that is another bullet than the base and the other side, None when all are one.

    Where a bullet was removed and a similar one added, git takes the new file for the old one renamed;
    what the other side changed in the fields of the old one is nothing to the new one.
    """
    fields = [document.get("id") for document in sides]
    base, ours, theirs = (None if field is None else field.value for field in fields)
    if not base or not ours or not theirs or ours == theirs or base not in (ours, theirs):
        return None
    return sides[1] if base == theirs else sides[2]


def _check(parts: Parts, disputed: list[tuple[str, str]]) -> None:
    # A merge of valid parts may still repeat a key or break a list.
    keys = {field.key for field in Document(Parts("", parts.opening, parts.block, parts.closing, "")).fields}
    for ours, _ in disputed:
        if ours and ours.split(":", 1)[0] in FIELD_KINDS and ours.split(":", 1)[0] not in keys:
            raise FrontMatterError("a disputed field is lost")


def _of_three(base: str, ours: str, theirs: str) -> str:
    if theirs in (ours, base):
        return ours
    return theirs if ours == base else max(ours, theirs)


class _Block:
    """The front matter as named pieces: the comments that lead a field, and the field's own lines."""

    __slots__ = ("document", "keys", "leads", "owns", "tail")

    def __init__(self, document: Document) -> None:
        lines = document.block_lines
        self.document = document
        self.keys: list[str] = []
        self.leads: dict[str, str] = {}
        self.owns: dict[str, str] = {}
        position = 0
        for field in document.fields:
            first, last = field.first_line - 2, field.last_line - 1
            self.keys.append(field.key)
            self.leads[field.key] = "".join(lines[position:first])
            self.owns[field.key] = "".join(lines[first:last])
            position = last
        self.tail = "".join(lines[position:])


def _merge_blocks(base: _Block, ours: _Block, theirs: _Block) -> tuple[str, list[tuple[str, str]]]:
    """Return the merged block and the fields that both sides set differently, as (ours, theirs)."""
    pieces: list[str] = []
    disputed: list[tuple[str, str]] = []
    for key in _merge_keys(base, ours, theirs):
        olds = [side.owns.get(key, "") for side in (base, ours, theirs)]
        own = _of_three(*olds)
        if olds[1] != olds[2] and olds[0] not in olds[1:]:
            documents = (base.document, ours.document, theirs.document)
            merged = merge_field(key, documents, (olds[0], olds[1], olds[2]))
            if merged is None:
                disputed.append((olds[1], olds[2]))
            own = olds[1] if merged is None else merged
        if own:
            lead = merge_lead(*(side.leads.get(key, "") for side in (base, ours, theirs)))
            pieces += (lead, own)
    pieces.append(merge_lead(base.tail, ours.tail, theirs.tail))
    return "".join(pieces), disputed


def _merge_keys(base: _Block, ours: _Block, theirs: _Block) -> list[str]:
    """Return the keys of both sides in an order that does not depend on which is ours."""
    first, second = sorted((ours.keys, theirs.keys))
    if _in_order_of(base.keys, first) and not _in_order_of(base.keys, second):
        first, second = second, first
    merged = list(first)
    for index, key in enumerate(second):
        if key in merged:
            continue
        place = _place(key, merged, second[:index])
        merged.insert(place, key)
    return merged


def _in_order_of(keys: list[str], others: list[str]) -> bool:
    return [key for key in keys if key in others] == [key for key in others if key in keys]


def _place(key: str, merged: list[str], before: list[str]) -> int:
    """Return where a new key goes: by the canonical order, an unknown one after what it stood after."""
    ranks = list(FIELD_KINDS)
    if key in FIELD_KINDS:
        rank = ranks.index(key)
        behind = [i for i, other in enumerate(merged) if other in FIELD_KINDS and ranks.index(other) < rank]
        return behind[-1] + 1 if behind else 0
    places = [merged.index(other) for other in before if other in merged]
    return places[-1] + 1 if places else 0


def _merge_body(
    base: str,
    ours: str,
    theirs: str,
    disputed: list[tuple[str, str]],
    labels: tuple[str, str, str],
    marker_size: int,
    newline: str,
) -> tuple[str, bool]:
    """Return the merged body with markers where needed; `disputed` fields come first."""
    chunks: list[Chunk] = []
    if disputed:
        chunks.append((_lines("".join(o for o, _ in disputed)), _lines("".join(t for _, t in disputed))))
    ends = [not text or text.endswith("\n") for text in (base, ours, theirs)]
    chunks += merge_lines(*(_lines(text, newline) for text in (base, ours, theirs)))
    clean = not any(isinstance(chunk, tuple) for chunk in chunks)
    pieces: list[str] = []
    for chunk in chunks:
        if isinstance(chunk, tuple):
            pieces += _conflict(chunk, labels, marker_size, newline)
        else:
            pieces += chunk
    text = "".join(pieces)
    is_ended = ends[1] if ends[1] == ends[2] or ends[2] == ends[0] else ends[2]
    return text if is_ended or not clean else text.removesuffix(newline), clean


def _conflict(
    chunk: tuple[list[str], list[str]], labels: tuple[str, str, str], size: int, newline: str
) -> list[str]:
    ours, theirs = chunk
    return [
        _marker("<", size, labels[0], newline),
        *ours,
        "=" * size + newline,
        *theirs,
        _marker(">", size, labels[2], newline),
    ]


def _marker(sign: str, size: int, label: str, newline: str) -> str:
    return f"{sign * size} {label}".rstrip() + newline


def _lines(text: str, newline: str = "\n") -> list[str]:
    """Cut at LF, ends kept; the last line gets one, so that a missing end is no change of the line."""
    lines = text.split("\n")
    last = lines.pop()
    result = [line + "\n" for line in lines]
    return [*result, last + newline] if last else result
