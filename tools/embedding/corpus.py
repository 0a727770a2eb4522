"""Texts to train on: package descriptions with their translations, and docstrings.

Nothing of the evaluation data is read here; `train.py` also drops any text
that equals one of it.
"""

from __future__ import annotations

import ast
import glob
import os
import re
import subprocess
import sysconfig

LANGUAGES = ("en", "es", "ja", "zh_CN")
MOST_CHARACTERS = 600
LEAST_CHARACTERS = 12
MOST_FILES = 1500

Pair = tuple[str, str]


def fetch_descriptions(folder: str) -> None:
    """Let apt fetch the description files of four languages into a folder of its own."""
    if glob.glob(os.path.join(folder, "*Translation-es*")):
        return
    os.makedirs(os.path.join(folder, "partial"), exist_ok=True)
    options = {
        "Acquire::Languages": ",".join(LANGUAGES),
        "Acquire::GzipIndexes": "false",
        "Dir::State::lists": folder,
    }
    arguments = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    subprocess.run(["apt-get", "-q", *arguments, "update"], check=True)


def read_descriptions(folder: str) -> dict[str, dict[str, list[str]]]:
    """Return description hash -> language -> paragraphs, the first of which is the summary."""
    found: dict[str, dict[str, list[str]]] = {}
    for language in LANGUAGES:
        for path in sorted(
            glob.glob(os.path.join(folder, f"*main_i18n_Translation-{language.replace('_', '*')}"))
        ):
            with open(path, encoding="utf-8") as file:
                for stanza in file.read().split("\n\n"):
                    key = re.search(r"^Description-md5: (\w+)", stanza, re.MULTILINE)
                    text = re.search(r"^Description-(?!md5)\w+: (.*(?:\n .*)*)", stanza, re.MULTILINE)
                    if key and text and "<trans>" not in text[1]:
                        found.setdefault(key[1], {})[language] = _paragraphs(text[1])
    return found


def _paragraphs(text: str) -> list[str]:
    summary, _, rest = text.partition("\n")
    paragraphs = [summary.strip()]
    for part in re.split(r"\n \.", rest):
        joined = " ".join(part.split())[:MOST_CHARACTERS]
        if len(joined) >= LEAST_CHARACTERS:
            paragraphs.append(joined)
    return paragraphs


def description_texts(found: dict[str, dict[str, list[str]]]) -> tuple[list[str], list[Pair], list[Pair]]:
    """Return English texts, (summary, first paragraph) pairs and (English, translation) pairs."""
    english: list[str] = []
    short_long: list[Pair] = []
    translations: list[Pair] = []
    for key in sorted(found):
        sides = found[key]
        source = sides.get("en")
        if source is None:
            continue
        english += source[:3]
        if len(source) > 1:
            short_long.append((source[0], source[1]))
        for language, target in sides.items():
            if language != "en" and len(target) == len(source):
                translations += [(a, b) for a, b in zip(source, target, strict=True) if a != b][:4]
    return english, short_long, translations


def translated_summaries(found: dict[str, dict[str, list[str]]]) -> list[Pair]:
    """Return (translated summary, first paragraph) with the paragraph in the same language and in English."""
    pairs: list[Pair] = []
    for key in sorted(found):
        source = found[key].get("en", [])
        for language, target in sorted(found[key].items()):
            if language != "en" and len(target) == len(source) > 1 and target[0] != source[0]:
                pairs.append((target[0], source[1]))
                if target[1] != source[1]:
                    pairs.append((target[0], target[1]))
    return pairs


def docstring_texts() -> tuple[list[str], list[Pair]]:
    """Return docstring paragraphs of the standard library and of what is installed, and (first line, rest)."""
    texts: list[str] = []
    pairs: list[Pair] = []
    for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        paths = sorted(glob.glob(os.path.join(folder, "*", "*.py")))
        for path in paths[:MOST_FILES]:
            for docstring in _docstrings(path):
                first, _, rest = docstring.partition("\n\n")
                first, rest = (" ".join(part.split())[:MOST_CHARACTERS] for part in (first, rest))
                if len(first) >= LEAST_CHARACTERS:
                    texts.append(first)
                    if len(rest) >= 2 * LEAST_CHARACTERS:
                        pairs.append((first, rest))
    return texts, pairs


def _docstrings(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [text for node in nodes if (text := ast.get_docstring(node))]
