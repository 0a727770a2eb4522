"""Which bullets are superseded: the one place that decides it, for every reader.

A bullet is superseded by a live one that names it in `supersedes`, unless that one is
superseded by it in turn, over however many bullets: two branches that settled a
contradiction in opposite ways must not hide both sides. Nor does a bullet supersede itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memx.model import Bullet

    Naming = Callable[[str], Iterable[str]]


def superseders(identifier: str, naming: Naming) -> list[str]:
    """Return the bullets that take this one's place; `naming(id)` are the live ones that name an id."""
    return [name for name in naming(identifier) if not _is_behind(identifier, name, naming)]


def rivals(identifier: str, naming: Naming) -> list[str]:
    """Return the other bullets that name this one and are superseded by it: a person must decide."""
    names = dict.fromkeys(naming(identifier))
    return [name for name in names if name != identifier and _is_behind(identifier, name, naming)]


def _is_behind(identifier: str, name: str, naming: Naming) -> bool:
    """Say whether a bullet is among those that supersede `name`, over any number of steps, or is `name`."""
    seen, waiting = {name}, [name]
    while waiting:
        at = waiting.pop()
        if at == identifier:
            return True
        found = set(naming(at)) - seen
        seen |= found
        waiting += found
    return False


class Supersession:
    """Who supersedes whom among live bullets, given as id → what it names in `supersedes`."""

    __slots__ = ("_naming", "superseded")

    @classmethod
    def of(cls, bullets: Iterable[Bullet]) -> Supersession:
        """Return who supersedes whom among these bullets; what several files of one id say adds up."""
        links: dict[str, tuple[str, ...]] = {}
        for bullet in bullets:
            if bullet.supersedes:
                links[bullet.id] = (*links.get(bullet.id, ()), *bullet.supersedes)
        return cls(links)

    def __init__(self, links: Mapping[str, tuple[str, ...]]) -> None:
        """Turn the links around; `superseded` are the ids that leave the search."""
        self._naming: dict[str, list[str]] = {}
        for name, others in links.items():
            for other in others:
                self._naming.setdefault(other, []).append(name)
        self.superseded = frozenset(name for name in self._naming if superseders(name, self.naming))

    def naming(self, identifier: str) -> list[str]:
        """Return the bullets that name this one."""
        return self._naming.get(identifier, [])

    def settles(self, a: str, b: str) -> bool:
        """Say whether one of two bullets has taken the other's place; in a circle neither has."""
        return a in superseders(b, self.naming) or b in superseders(a, self.naming)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the pairs that a cycle links, each sorted and once."""
        return sorted(
            {
                (min(name, rival), max(name, rival))
                for name in self._naming
                for rival in rivals(name, self.naming)
            }
        )

    def cycles(self) -> list[tuple[str, ...]]:
        """Return the bullets of each cycle, sorted; a bullet that names itself alone is one too."""
        groups = {name: {name} for name in self._naming if name in self._naming[name]}
        for a, b in self.pairs():
            joined = groups.get(a, {a}) | groups.get(b, {b})
            for name in joined:
                groups[name] = joined
        return sorted({tuple(sorted(group)) for group in groups.values()})
