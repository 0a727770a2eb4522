"""How many tokens a text costs, and which hits fit: whole bullets in rank order, the last one shortened.

tokens = ceil(CJK / cjk_chars_per_token + others / latin_chars_per_token), where
CJK is Han, kana, Hangul, full-width forms and CJK punctuation.
"""

from __future__ import annotations

from memx.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.config import GeneratorConfig

_CJK_RANGES = (
    (0x1100, 0x11FF),
    (0x2E80, 0x303F),
    (0x3040, 0x33FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
    (0x20000, 0x3FFFF),
)

SENTENCE_ENDS = ".!?。！？…．｡\n"
_CLOSING = "\"'”’)]」』）】`*_"
_LEAST_SHARE = 0.25
"""A text is cut at a sentence end only when at least this share of what fits is kept; else at a blank."""

ELLIPSIS = " […]"


@record
class Fitted:
    """A title and a text as they fit the budget: whole, or shortened and marked as such."""

    title: str
    text: str
    tokens: int
    truncated: bool


def estimate_tokens(text: str, config: GeneratorConfig) -> int:
    """Return the estimated tokens of a text, rounded up."""
    return _tokens(count_cjk(text), len(text), config)


def count_cjk(text: str) -> int:
    """Return the number of wide characters in a text."""
    if text.isascii():
        return 0
    return sum(1 for char in text if char >= "\u1100" and _is_wide(ord(char)))


def fit(
    bullets: Sequence[tuple[str, str]], config: GeneratorConfig, budget: int | None = None
) -> list[Fitted]:
    """Return the leading bullets, as (title, text), that fit into the budget (default: the configured one).

    The first one that does not fit is shortened to the rest of the budget and ends the list; it is left out
    when not even a sentence or a few words fit. A title is shortened where it would leave its text no half.
    """
    rest = config.token_budget if budget is None else budget
    fitted: list[Fitted] = []
    for title, text in bullets:
        tokens = estimate_tokens(title + text, config)
        if tokens <= rest:
            fitted.append(Fitted(title, text, tokens, truncated=False))
            rest -= tokens
            continue
        head = title if estimate_tokens(title, config) <= rest // 2 else shorten(title, rest // 2, config)
        room = rest - estimate_tokens(head, config)
        short = text if estimate_tokens(text, config) <= room else shorten(text, room, config)
        if short:
            fitted.append(Fitted(head, short, estimate_tokens(head + short, config), truncated=True))
        break
    return fitted


def shorten(text: str, budget: int, config: GeneratorConfig) -> str:
    """Return the longest beginning that ends with a sentence, marked as shortened; empty when nothing fits."""
    room = _room(text, budget - estimate_tokens(ELLIPSIS, config), config)
    if room <= 0:
        return ""
    end = _sentence_end(text, room)
    if end < room * _LEAST_SHARE:
        blank = max(text.rfind(" ", 0, room + 1), text.rfind("\n", 0, room + 1))
        end = blank if blank >= room * _LEAST_SHARE else room
    kept = text[:end].rstrip()
    return kept + ELLIPSIS if kept else ""


def _room(text: str, budget: int, config: GeneratorConfig) -> int:
    """Return how many characters from the beginning fit into the budget."""
    wide = 0
    for at, char in enumerate(text):
        wide += char >= "\u1100" and _is_wide(ord(char))
        if _tokens(wide, at + 1, config) > budget:
            return at
    return len(text)


def _sentence_end(text: str, room: int) -> int:
    """Return the place after the last sentence that ends within the first `room` characters, 0 if none does."""
    for at in range(room - 1, -1, -1):
        if text[at] not in SENTENCE_ENDS:
            continue
        end = at + 1
        while end < len(text) and text[end] in _CLOSING:
            end += 1
        is_end = text[at] not in ".!?" or end >= len(text) or text[end].isspace()
        if is_end and end <= room:
            return end
    return 0


def _tokens(wide: int, total: int, config: GeneratorConfig) -> int:
    exact = wide / config.cjk_chars_per_token + (total - wide) / config.latin_chars_per_token
    return -int(-(exact - 1e-9) // 1) if exact > 0 else 0


def _is_wide(code: int) -> bool:
    return any(low <= code <= high for low, high in _CJK_RANGES)
