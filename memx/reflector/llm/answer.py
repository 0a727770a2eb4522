"""Reading an answer: JSON in or out of a code fence, whole or cut off, checked against the schema. Pure."""

from __future__ import annotations

import json

from memx.record import record
from memx.reflector.llm.port import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import TypeGuard

_LONGEST = 200_000
"""Characters; an answer to a few notes is a few thousand."""


@record
class Judgement:
    """What the LLM says of one note: its number, its score of 0 to 100, its wording of it."""

    number: int
    score: int
    text: str


@record
class Lesson:
    """A lesson that the LLM found in a session, and the numbers of the turns that show it."""

    text: str
    score: int
    turns: tuple[int, ...]


def parse_judgements(text: str, count: int) -> dict[int, Judgement]:
    """Return the valid judgements by number, 1 to `count`; what is missing or malformed is left out.

    Raises LlmError when nothing in the answer is a judgement. A number that is
    answered twice has no answer: which of them is meant cannot be told.
    """
    found: dict[int, Judgement] = {}
    twice: set[int] = set()
    for item in _items(text, "answers"):
        number, score, words = item.get("n"), item.get("score"), item.get("text")
        if not (_is_int(number) and _is_int(score) and isinstance(words, str)):
            continue
        if not (1 <= number <= count and 0 <= score <= 100 and words.strip()):  # noqa: PLR2004 (a score's range)
            continue
        if number in found:
            twice.add(number)
        found[number] = Judgement(number, score, words.strip())
    for number in twice:
        del found[number]
    if not found and count:
        raise failure(f"the LLM's answer has nothing that was asked for: {_shown(text)}")
    return found


def parse_lessons(text: str, numbers: Collection[int]) -> list[Lesson]:
    """Return the valid lessons, each with at least one turn out of `numbers`.

    Raises LlmError when the answer is no JSON with a list of lessons, or was cut off.
    """
    document = _document(text)
    if not isinstance(document, dict) or not isinstance(document.get("lessons"), list):
        raise failure(f"the LLM's answer is not the JSON that was asked for: {_shown(text)}")
    found = []
    for item in document["lessons"]:
        if not isinstance(item, dict):
            continue
        words, score, turns = item.get("text"), item.get("score"), item.get("turns")
        if not (isinstance(words, str) and words.strip() and _is_int(score) and isinstance(turns, list)):
            continue
        shown = tuple(sorted({turn for turn in turns if _is_int(turn) and turn in numbers}))
        if shown and 0 <= score <= 100:  # noqa: PLR2004 (a score's range)
            found.append(Lesson(words.strip(), score, shown))
    return found


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _items(text: str, name: str) -> Iterator[dict[str, object]]:
    """Yield the objects of a list by name; of an answer that was cut off, those before the cut."""
    document = _document(text)
    if isinstance(document, dict):
        listed = document.get(name)
        yield from (item for item in listed if isinstance(item, dict)) if isinstance(listed, list) else ()
    elif isinstance(document, list):
        yield from (item for item in document if isinstance(item, dict))
    elif document is None:
        yield from _whole_objects(text[:_LONGEST], name)


def _document(text: str) -> object:
    """Return the JSON value in an answer, None when there is no whole one."""
    text = text[:_LONGEST]
    opening = min((at for mark in "{[" if (at := text.find(mark)) >= 0), default=-1)
    if opening < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, opening)[0]
    except (ValueError, RecursionError):
        return None


def _whole_objects(text: str, name: str) -> Iterator[dict[str, object]]:
    """Yield the objects that stand whole after `"name": [`, up to the first that does not."""
    at = text.find(f'"{name}"')
    at = text.find("[", at) + 1 if at >= 0 else 0
    decoder = json.JSONDecoder()
    while at > 0:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            yield value


def _shown(text: str) -> str:
    return repr(" ".join(text.split())[:60])
