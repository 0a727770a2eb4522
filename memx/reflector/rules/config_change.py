"""A setting that got another value."""

from __future__ import annotations

import re

from memx.reflector.pattern import pattern
from memx.reflector.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION = pattern(r"v?\d+\.\d+(?:\.\d+)*[a-z0-9.-]*$", re.IGNORECASE)
_UPGRADE = pattern(
    r"\b(?:bump|upgrad|updat|actualiz)\w*|升级|更新|アップデート|バージョン|版本", re.IGNORECASE
)


class ConfigChangeRule(Rule):
    """`Changed MAX_POOL_SIZE from 10 to 50`: old and new value; a bumped version is not a setting."""

    name = "config_change"
    confidence = 0.6
    tells_deed = True
    negation = "clause"

    def accepts(self, found: re.Match[str], masked: str) -> bool:
        """Refuse equal values and version bumps."""
        groups: Mapping[str, str | None] = found.groupdict()
        old, new = (groups.get("old") or "").strip(), (groups.get("new") or "").strip()
        if old == new:
            return False
        versions = _VERSION.match(old) and _VERSION.match(new)
        released = old.count(".") > 1 and new.count(".") > 1
        return not (versions and (released or _UPGRADE.search(masked)))
