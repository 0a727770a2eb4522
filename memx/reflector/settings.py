"""Values that changed, from removed and added lines of configuration files."""

from __future__ import annotations

import os
import re

from memx.record import record
from memx.reflector.pattern import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CONFIG_PATH = pattern(
    r"\.(?:ya?ml|toml|ini|cfg|conf|properties|env|json|xml|hcl|tf|tfvars)(?:\.[\w-]+)?$|(?:^"
    r"|[/\\])\.env(?:\.\w+)?$|\.conf\.\w+$|(?:^|[/\\])(?:settings|config)[\w.-]*\.\w+$"
    r"|(?:^|[/\\])(?:Dockerfile|Makefile|gradle\.properties|nginx[\w.-]*)$",
    re.IGNORECASE,
)
_NOT_SETTINGS = pattern(
    r"(?:lock|package|composer|changelog|manifest)[\w.-]*\.(?:json|ya?ml|toml)$|\.lock$", re.IGNORECASE
)
_PAIR = pattern(
    r"^\s*[-*]?\s*[\"']?(?P<key>[A-Za-z_][\w.\-]*)[\"']?\s*[:=]\s*(?P<value>[^\s#,;]+"
    r"|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}')\s*[,;]?\s*(?:(?:#|//).*)?$"
)
_VERSION_KEY = pattern(r"version|revision|hash|sha|checksum|integrity|timestamp|updated|date", re.IGNORECASE)
_MAX_CHANGES = 4


@record
class Setting:
    """A key whose value changed in a file."""

    path: str
    key: str
    old: str
    new: str


def is_config_path(path: str) -> bool:
    """Tell whether a file holds settings."""
    name = os.path.basename(path.replace("\\", "/"))
    return bool(_CONFIG_PATH.search(path)) and not _NOT_SETTINGS.search(name)


def changed_settings(path: str, removed: Iterable[str], added: Iterable[str]) -> tuple[Setting, ...]:
    """Return the keys that stand in removed and added lines with different scalar values."""
    if not is_config_path(path):
        return ()
    old, new = _pairs(removed), _pairs(added)
    changes = [
        Setting(path, key, old[key], value)
        for key, value in new.items()
        if key in old and old[key] != value and not _VERSION_KEY.search(key)
    ]
    return tuple(changes) if len(changes) <= _MAX_CHANGES else ()


def edit_settings(path: str, text: str) -> tuple[Setting, ...]:
    """Return changed keys of an edit call, whose text holds `-` and `+` lines."""
    lines = text.splitlines()
    for line in lines:
        if line.startswith("*** Update File: "):
            path = line.removeprefix("*** Update File: ").strip()
    path = path or (lines[0].strip() if lines else "")
    removed = [line[1:] for line in lines if line.startswith("-")]
    added = [line[1:] for line in lines if line.startswith("+")]
    return changed_settings(path, removed, added)


def _pairs(lines: Iterable[str] | Sequence[str]) -> dict[str, str]:
    found = {}
    for line in lines:
        match = _PAIR.match(line)
        if match:
            found[match["key"]] = match["value"].strip("\"'")
    return found
