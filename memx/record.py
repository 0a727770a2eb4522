"""Immutable slotted records without the import cost of `dataclasses`.

`dataclasses` pulls in `inspect` and costs more than the interpreter's whole
start (docs/explanation/speed.md); the hot path opens too often to pay that.
Type checkers see an ordinary frozen dataclass.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True)
    def record(cls: type[T]) -> type[T]:
        """Declare a frozen, slotted record."""
        ...

    def replace(instance: T, /, **changes: Any) -> T:
        """Return a copy with some fields changed."""
        ...

else:
    _WORTH_COMPILING, _COST_BY_NAME = 400, 4

    def record(cls):
        """Turn annotations and defaults into a frozen, slotted class."""
        return _make(cls.__name__, cls.__bases__, dict(vars(cls)), tuple(cls.__annotations__))

    def _at_once(name, bases, namespace):
        # As the metaclass of a class statement, which then makes the slotted class and not another one before it:
        # a bundle turns the decorator into that, for classes take half a millisecond of a search.
        if "__annotations__" not in namespace:  # Python 3.14 evaluates them when a class is asked for them
            return record(type(name, bases, namespace))
        return _make(name, bases, namespace, tuple(namespace["__annotations__"]))

    record.at_once = _at_once

    def _make(name, bases, own, names):
        for slot in ("__dict__", "__weakref__"):
            own.pop(slot, None)
        defaults = {field: own.pop(field) for field in names if field in own}
        if own.get("__hash__", __hash__) is None:
            del own["__hash__"]  # Python's answer to an __eq__ of the class's own
        init = _fill_until_compiled(names, defaults)
        namespace = _METHODS | own | {"__slots__": names, "__match_args__": names, "__init__": init}
        return type(name, bases, namespace)

    def replace(instance, /, **changes):
        """Return a copy with some fields changed."""
        values = {name: getattr(instance, name) for name in instance.__slots__}
        unknown = changes.keys() - values.keys()
        if unknown:
            message = f"{type(instance).__name__} has no field {min(unknown)!r}"
            raise TypeError(message)
        return type(instance)(**(values | changes))

    def _fill_until_compiled(names, defaults):
        # Compiling costs 0.2 to 0.7 ms a class, setting slots one by one 1 to 5 µs a record: a search makes
        # 30 classes and less than a hundred records of each.
        spent, setters = 0, ()

        def __init__(self, *args, **kwargs):
            nonlocal spent, setters
            is_plain = len(args) == len(names) and not kwargs
            spent += 1 if is_plain else _COST_BY_NAME
            if is_plain:
                values = args
            else:
                given = dict(zip(names, args, strict=False)) | kwargs
                by_name = defaults | given
                is_regular = len(given) == len(args) + len(kwargs) and by_name.keys() == wanted
                values = [by_name[name] for name in names] if is_regular else None
            if values is None or spent > _WORTH_COMPILING:
                compiled = _make_init(type(self), names, defaults)  # also says what is wrong with a call
                type(self).__init__ = compiled
                compiled(self, *args, **kwargs)
                return
            setters = setters or [getattr(type(self), name).__set__ for name in names]
            for set_slot, value in zip(setters, values, strict=True):
                set_slot(self, value)

        wanted = frozenset(names)
        return __init__

    def _make_init(cls, names, defaults):
        # The slots' own setters pass by our __setattr__ in half the time of object's: 100,000 bullets notice.
        parameters = ", ".join(f"{n}=_defaults[{n!r}]" if n in defaults else n for n in names)
        body = "\n ".join(f"_set_{n}(self, {n})" for n in names) or "pass"
        scope = {f"_set_{n}": getattr(cls, n).__set__ for n in names} | {"_defaults": defaults}
        exec(f"def __init__(self, {parameters}):\n {body}", scope)  # noqa: S102 (names come from our own source)
        return scope["__init__"]

    def __setattr__(self, name, value):
        message = f"{type(self).__name__} is immutable: cannot set {name} to {value!r}"
        raise AttributeError(message)

    def __delattr__(self, name):
        message = f"{type(self).__name__} is immutable: cannot delete {name}"
        raise AttributeError(message)

    def __repr__(self):
        fields = ", ".join(f"{n}={getattr(self, n)!r}" for n in self.__slots__)
        return f"{type(self).__name__}({fields})"

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, n) == getattr(other, n) for n in self.__slots__)

    def __hash__(self):
        return hash(tuple(getattr(self, n) for n in self.__slots__))

    def __getstate__(self):
        return tuple(getattr(self, n) for n in self.__slots__)

    def __setstate__(self, state):
        for name, value in zip(self.__slots__, state, strict=True):
            object.__setattr__(self, name, value)

    _METHODS = {
        method.__name__: method
        for method in (__setattr__, __delattr__, __repr__, __eq__, __hash__, __getstate__, __setstate__)
    }
