"""The prompts: data files with a version, one a task and language, and one schema a task."""

from __future__ import annotations

import copy
import json
import os
from functools import cache

from memx.reflector.llm.port import Prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

JUDGE, EXTRACT, COMBINE = "judge", "extract", "combine"
LANGUAGES = ("en", "es", "ja", "zh")
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions")


def judge_prompt(texts: Sequence[str], language: str) -> Prompt:
    """Return the prompt that has notes judged and rewritten; they are numbered from 1."""
    notes = "\n".join(f"<note n={number}>\n{_defused(text)}\n</note>" for number, text in enumerate(texts, 1))
    return _prompt(JUDGE, language, notes, judge_schema(len(texts)))


def extract_prompt(turns: Sequence[tuple[int, str, str]], language: str) -> Prompt:
    """Return the prompt that has lessons found in turns of (number, role, text)."""
    lines = (f"<turn n={number} by={role}>\n{_defused(text)}\n</turn>" for number, role, text in turns)
    return _prompt(EXTRACT, language, "\n".join(lines), load_schema(EXTRACT))


def combine_prompt(texts: Sequence[str], language: str) -> Prompt:
    """Return the prompt that has notes on one lesson written as one."""
    notes = "\n".join(f"<note n={number}>\n{_defused(text)}\n</note>" for number, text in enumerate(texts, 1))
    return _prompt(COMBINE, language, notes, load_schema(COMBINE))


def tiny_prompt() -> Prompt:
    """Return the smallest prompt that still tests the whole way: one note to judge."""
    return judge_prompt(("Run `make check` before you push: CI runs it too and takes 20 minutes.",), "en")


@cache
def load_instructions(task: str, language: str) -> tuple[str, str]:
    """Return (version, text) of a prompt file; a language without one is spoken to in English."""
    name = f"{task}.{language if language in LANGUAGES else 'en'}.txt"
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as stream:
        first, _, text = stream.read().partition("\n")
    return first.removeprefix("version: ").strip(), text.strip()


@cache
def load_schema(task: str) -> Mapping[str, object]:
    """Return the JSON schema of a task's answer."""
    with open(os.path.join(_FOLDER, f"{task}.schema.json"), encoding="utf-8") as stream:
        schema: dict[str, object] = json.load(stream)
    return schema


@cache
def judge_schema(count: int) -> Mapping[str, object]:
    """Return the schema of `count` judgements: a server that makes a grammar of it can neither skip nor ramble."""
    schema: dict[str, Any] = copy.deepcopy(dict(load_schema(JUDGE)))
    answers = schema["properties"]["answers"]
    answers |= {"minItems": count, "maxItems": count}
    answers["items"]["properties"]["n"] |= {"minimum": 1, "maximum": max(1, count)}
    return schema


def _prompt(task: str, language: str, data: str, schema: Mapping[str, object]) -> Prompt:
    version, instructions = load_instructions(task, language)
    return Prompt(instructions, data, schema, f"{task}-{version}")


def _defused(text: str) -> str:
    """Keep a text from closing the fence that it stands in."""
    return text.replace("</note", "<\u2215note").replace("</turn", "<\u2215turn").strip()
