"""Three-way merge of lines (diff3), without `difflib`: that imports `re` and costs more than the merge.

Lines keep their ends. Where both sides changed the same stretch differently,
or changed neighbouring lines, the stretch is a conflict, as in git.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Block = tuple[int, int, int]
    """Where a run of equal lines begins in the base and in the side, and its length."""
    Chunk = tuple[list[str], list[str]] | list[str]
    """Merged lines, or a conflict as (ours, theirs)."""

_TABLE_LIMIT = 250_000


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[Chunk]:
    """Return merged stretches and conflicts in order; swapping the sides swaps the conflicts and nothing else."""
    chunks: list[Chunk] = []
    at_base = at_ours = at_theirs = 0
    for in_base, in_ours, in_theirs, length in _common_runs(base, ours, theirs):
        gap = _merge_gap(
            list(base[at_base:in_base]), list(ours[at_ours:in_ours]), list(theirs[at_theirs:in_theirs])
        )
        chunks.extend(gap)
        chunks.append(list(base[in_base : in_base + length]))
        at_base, at_ours, at_theirs = in_base + length, in_ours + length, in_theirs + length
    return [chunk for chunk in chunks if chunk]


def _merge_gap(base: list[str], ours: list[str], theirs: list[str]) -> list[Chunk]:
    if ours in (theirs, base):
        return [theirs]
    if theirs == base:
        return [ours]
    start = _common_prefix(ours, theirs)
    end = _common_suffix(ours[start:], theirs[start:])
    middle = (ours[start : len(ours) - end], theirs[start : len(theirs) - end])
    return [ours[:start], middle, ours[len(ours) - end :]]


def _common_runs(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of base lines that stand in both sides, and an empty one at the end."""
    left, right = matching_blocks(base, ours), matching_blocks(base, theirs)
    i = j = 0
    while i < len(left) and j < len(right):
        left_base, left_side, left_length = left[i]
        right_base, right_side, right_length = right[j]
        start = max(left_base, right_base)
        end = min(left_base + left_length, right_base + right_length)
        if start < end:
            yield start, left_side + start - left_base, right_side + start - right_base, end - start
        if left_base + left_length < right_base + right_length:
            i += 1
        else:
            j += 1
    yield len(base), len(ours), len(theirs), 0


def matching_blocks(base: Sequence[str], side: Sequence[str]) -> list[Block]:
    """Return the runs of equal lines, in order: common ends, unique lines as anchors, then the longest rest."""
    blocks: list[Block] = []
    stack = [(0, len(base), 0, len(side))]
    while stack:
        low, high, side_low, side_high = stack.pop()
        start = _common_prefix(base[low:high], side[side_low:side_high])
        if start:
            blocks.append((low, side_low, start))
            low, side_low = low + start, side_low + start
        end = _common_suffix(base[low:high], side[side_low:side_high])
        if end:
            blocks.append((high - end, side_high - end, end))
            high, side_high = high - end, side_high - end
        if low == high or side_low == side_high:
            continue
        pairs = _anchors(base, side, low, high, side_low, side_high)
        if not pairs:
            blocks.extend(_longest_common(base, side, low, high, side_low, side_high))
            continue
        for in_base, in_side in (*pairs, (high, side_high)):
            stack.append((low, in_base, side_low, in_side))
            if in_base < high:
                blocks.append((in_base, in_side, 1))
            low, side_low = in_base + 1, in_side + 1
    return _joined(sorted(blocks))


def _anchors(
    base: Sequence[str], side: Sequence[str], low: int, high: int, side_low: int, side_high: int
) -> list[tuple[int, int]]:
    """Return lines that stand once on each side, the longest series in the same order (patience diff)."""
    in_side = _places_of_unique(side, side_low, side_high)
    pairs = [
        (place, in_side[line])
        for line, place in _places_of_unique(base, low, high).items()
        if line in in_side
    ]
    return _longest_increasing(pairs)


def _places_of_unique(lines: Sequence[str], low: int, high: int) -> dict[str, int]:
    places: dict[str, int] = {}
    repeated: set[str] = set()
    for place in range(low, high):
        line = lines[place]
        if line in places:
            repeated.add(line)
        places[line] = place
    return {line: place for line, place in places.items() if line not in repeated}


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of `pairs`, sorted by the first number, in which the second rises."""
    tails: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        low, high = 0, len(tails)
        while low < high:
            middle = (low + high) // 2
            if pairs[tails[middle]][1] < place:
                low = middle + 1
            else:
                high = middle
        before.append(tails[low - 1] if low else -1)
        tails[low : low + 1] = [index]
    series: list[tuple[int, int]] = []
    index = tails[-1] if tails else -1
    while index >= 0:
        series.append(pairs[index])
        index = before[index]
    return series[::-1]


def _longest_common(
    base: Sequence[str], side: Sequence[str], low: int, high: int, side_low: int, side_high: int
) -> list[Block]:
    """Return a longest common subsequence by the table; nothing for a stretch too large for one."""
    rows, columns = high - low, side_high - side_low
    if rows * columns > _TABLE_LIMIT:
        return []
    table = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            if base[low + i] == side[side_low + j]:
                table[i][j] = table[i + 1][j + 1] + 1
            else:
                table[i][j] = max(table[i + 1][j], table[i][j + 1])
    blocks: list[Block] = []
    i = j = 0
    while i < rows and j < columns:
        if base[low + i] == side[side_low + j]:
            blocks.append((low + i, side_low + j, 1))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return blocks


def _joined(blocks: list[Block]) -> list[Block]:
    result: list[Block] = []
    for in_base, in_side, length in blocks:
        if result:
            last_base, last_side, last_length = result[-1]
            if last_base + last_length == in_base and last_side + last_length == in_side:
                result[-1] = (last_base, last_side, last_length + length)
                continue
        result.append((in_base, in_side, length))
    return result


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _common_suffix(one: Sequence[str], other: Sequence[str]) -> int:
    return _common_prefix(one[::-1], other[::-1])
