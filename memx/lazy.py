"""`cached_property` without `functools`, which brings `collections` and costs 3 ms of every start."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:
        """A value that is computed when first asked for and kept in the instance's `__dict__`."""

        def __init__(self, compute):
            """Take the method that computes the value."""
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name):
            """Remember the name under which the value is kept."""
            self._name = name

        def __get__(self, instance, owner=None):
            """Return the value; it is asked for once, for it then hides this descriptor."""
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._compute(instance)
            return value


__all__ = ["cached_property"]
