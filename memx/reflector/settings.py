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
_DATA = pattern(
    r"(?:^|[/\\])(?:data|datasets?|fixtures?|testdata|test-data|__snapshots__|snapshots|cassettes|goldens?|samples?"
    r"|locales?|i18n|translations|lang|messages|vendor|node_modules|dist|results?|reports?|models?|weights)[/\\]",
    re.IGNORECASE,
)
_SETTINGS_JSON = pattern(
    r"(?:config|settings|setting|options|preferences|rc|profile|launch|tasks|policy|limits)[\w.-]*\.jsonc?$"
    r"|^(?:tsconfig|jsconfig|angular|nx|turbo|lerna|vercel|firebase|nest-cli|babel|renovate|devcontainer|daemon"
    r"|appsettings|host|local|function|project|workspace|serverless|app)[\w.-]*\.jsonc?$|^\.\w[\w.-]*\.json$",
    re.IGNORECASE,
)
_PAIR = pattern(
    r"^\s*[-*]?\s*[\"']?(?P<key>[A-Za-z_][\w.\-]*)[\"']?\s*[:=]\s*(?P<value>[^\s#,;]+"
    r"|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}')\s*[,;]?\s*(?:(?:#|//).*)?$"
)
_VERSION_KEY = pattern(r"version|revision|hash|sha|checksum|integrity|timestamp|updated|date", re.IGNORECASE)
_MAX_CHANGES = 4
_MAX_REPEATED = 2
"""How many values of one key a diff may set before the file is taken for data."""


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
    if not _CONFIG_PATH.search(path) or _NOT_SETTINGS.search(name) or _DATA.search(path):
        return False
    # Most JSON is data: coefficients, dumps, recordings. Only a name tells settings from them.
    return not name.lower().endswith(".json") or bool(_SETTINGS_JSON.search(name))


def changed_settings(path: str, removed: Iterable[str], added: Iterable[str]) -> tuple[Setting, ...]:
    """Return the keys that stand in removed and added lines with different scalar values.

    A key that stands there with several values belongs to a list of like things,
    and a file with many changes was written by a program: neither is a setting.
    """
    if not is_config_path(path):
        return ()
    old, new = _pairs(removed), _pairs(added)
    changes = [
        Setting(path, key, old[key][0], values[0])
        for key, values in new.items()
        if len(set(values)) == len(set(old.get(key, ()))) == 1
        and old[key][0] != values[0]
        and not _VERSION_KEY.search(key)
        and len(key) > 1
    ]
    repeated = any(len(set(values)) > _MAX_REPEATED for values in new.values())
    return tuple(changes) if len(changes) <= _MAX_CHANGES and not repeated else ()


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


def _pairs(lines: Iterable[str] | Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        match = _PAIR.match(line)
        if match:
            found.setdefault(match["key"], []).append(match["value"].strip("\"'"))
    return found
