"""What a commit's diff tells beyond its message: settings with another value, tools newly in a manifest.

The diff is evidence only where the message speaks of the same thing: a value
that changed by the way teaches nothing.
"""

from __future__ import annotations

import os
import re

from memx.record import record
from memx.reflector.language import detect_language
from memx.reflector.pattern import pattern
from memx.reflector.settings import Setting, changed_settings
from memx.reflector.vocabulary import fold, load_lexicon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.model import Commit, FileChange

_MANIFESTS = {
    "package.json": r"^\s*\"(?P<name>@?[\w./-]+)\"\s*:\s*\"[~^>=<]*\d",
    "pyproject.toml": r"^\s*\"?(?P<name>[A-Za-z][\w.-]*)\"?\s*(?:[~^>=<!]=|=\s*[\"{])",
    "requirements.txt": r"^(?P<name>[A-Za-z][\w.-]*)\s*(?:[~^>=<!]=|$)",
    "Cargo.toml": r"^(?P<name>[a-z][\w-]*)\s*=\s*[\"{]",
    "go.mod": r"^\s*(?:require\s+)?[\w.-]+/(?:[\w.-]+/)*(?P<name>[\w-]+)\s+v\d",
    "Gemfile": r"^\s*gem\s+[\"'](?P<name>[\w-]+)",
    "composer.json": r"^\s*\"(?P<name>[\w-]+/[\w-]+)\"\s*:\s*\"[~^>=<]*\d",
}
_FIELDS = frozenset("name version description license python rust-version edition authors readme".split())  # noqa: SIM905
_LONG_COMMIT = 20
_KEY_PART = pattern(r"[A-Za-z]{3,}")


@record
class DiffEvidence:
    """What the diff shows: the rule that it speaks for, and a sentence with what it adds to the words."""

    rule: str
    confidence: float
    text: str
    needs: tuple[str, ...]
    """Words that the lesson must hold; where one is missing the sentence is put before it."""


def diff_evidence(commit: Commit) -> DiffEvidence | None:
    """Return what a commit's diff and message show together, None where they do not meet."""
    if len(commit.files) > _LONG_COMMIT:
        return None
    said = fold(commit.message)
    for change in commit.files:
        for setting in changed_settings(change.path, change.removed, change.added):
            if _is_spoken_of(setting, said):
                return _of_setting(setting, detect_language(commit.message))
    for name in added_tools(commit.files):
        if f" {fold(name).strip()} " in said:
            return DiffEvidence("new_tool", 0.65, "", (name,))
    return None


def _is_spoken_of(setting: Setting, said: str) -> bool:
    parts = [part.lower() for part in _KEY_PART.findall(setting.key)]
    named = bool(parts) and sum(part in said for part in parts) * 2 > len(parts)
    return named or f" {fold(setting.new).strip()} " in said


def _of_setting(setting: Setting, language: str) -> DiffEvidence:
    name = os.path.basename(setting.path)
    template = load_lexicon(language).templates["config"]
    text = template.format(key=setting.key, path=name, old=setting.old, new=setting.new)
    return DiffEvidence("config_change", 0.6, text, (setting.old, setting.new))


def added_tools(files: Sequence[FileChange]) -> tuple[str, ...]:
    """Return packages that a manifest names now and did not name before."""
    found: list[str] = []
    for change in files:
        dependency = _MANIFESTS.get(os.path.basename(change.path))
        if dependency is None or change.status == "A":
            continue
        old = {m["name"] for line in change.removed if (m := re.match(dependency, line))}
        new = (m["name"] for line in change.added if (m := re.match(dependency, line)))
        found += [name for name in new if name not in old and name not in _FIELDS]
    return tuple(found)
