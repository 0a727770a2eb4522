"""Texts that give orders to an agent: whoever lets one into the store is to know what readers will meet."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.model import Bullet

ORDERS = "this text gives orders to an agent instead of telling what was learnt"


def gives_orders(bullet: Bullet) -> bool:
    """Tell whether a bullet's title or text reads like an instruction to whoever recalls it."""
    from memx.reflector.echo import is_injection

    return is_injection(f"{bullet.title}\n{bullet.text}")
