"""Dataclasses whose methods cost nothing until they are used: what a process that runs one model imports has many.

``record`` is ``dataclasses.dataclass``, with its meaning and its arguments. The standard one compiles each method of
each class when the class is made, which takes most of the time of a module that has some. A record's ``__init__`` is
compiled when it is first asked for, and its other methods are functions that all records share. ``fields``,
``replace`` and ``match`` know a record as a dataclass. A record and a dataclass do not inherit from each other.

>>> @record(frozen=True, slots=True)
... class Place:
...     line: int
...     column: int = 1
>>> Place(3), Place(3) == Place(3, column=1), len({Place(3), Place(3)})
(Place(line=3, column=1), True, 1)
"""

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["record"]


def _nothing(instance: Any) -> tuple[()]:
    return ()


def _getter(names: list[str]) -> Callable[[Any], Any]:
    """A function from an instance to what it is compared by."""
    return attrgetter(*names) if names else _nothing


class _Factory:
    """The default of a parameter that a function makes."""

    def __repr__(self) -> str:
        return "<factory>"


_MISSING = _Factory()


_OFTEN = 4
"""So many calls cost less than compiling ``__init__`` does, for classes of many fields too."""


class _Written:
    """The ``__init__`` of a class until it has been called often."""

    def __init__(self, owner: type, frozen: bool) -> None:
        self._owner, self._frozen, self._calls = owner, frozen, 0

    def __get__(self, instance: Any, owner: type) -> Any:
        found = self._owner.__dict__["__init__"]
        if found is self and instance is not None and self._calls < _OFTEN:
            self._calls += 1
            return partial(self._fill, instance)
        return (self._compiled() if found is self else found).__get__(instance, owner)

    def _compiled(self) -> Any:
        found = _written(self._owner, self._frozen)
        type.__setattr__(self._owner, "__init__", found)
        return found

    @cached_property
    def _known(self) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
        """The parameters, the defaults, and the functions that make the other defaults."""
        every = fields(self._owner)
        defaults = {each.name: each.default for each in every if each.default is not MISSING}
        made = {each.name: each.default_factory for each in every if each.default_factory is not MISSING}
        return [each.name for each in every if each.init], defaults, made

    def _fill(self, instance: Any, /, *given: Any, **named: Any) -> None:
        """Does what the compiled ``__init__`` does. Arguments that do not fit are left to that one, for its error."""
        names, defaults, made = self._known
        positional = dict(zip(names, given, strict=False))
        values = {**defaults, **positional, **named}
        for name, make in made.items():
            if name not in values:
                values[name] = make()
        fits = len(given) <= len(names) and named.keys() <= {*names} - positional.keys()
        if not fits or not values.keys() >= {*names}:
            self._compiled()(instance, *given, **named)
            return
        assign = object.__setattr__ if self._frozen else setattr
        for name, value in values.items():
            assign(instance, name, value)
        if hasattr(instance, "__post_init__"):
            instance.__post_init__()


def _written(owner: type, frozen: bool) -> Any:
    """The ``__init__`` of a class, compiled from its fields."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    parameters, lines = ["self"], []
    annotations: dict[str, Any] = {}
    for each in fields(owner):
        default, value = f"_default_{each.name}", each.name
        made = each.default_factory is not MISSING
        known[default] = each.default_factory if made else each.default
        if each.init:
            annotations[each.name] = each.type
            optional = "_missing" if made else default if each.default is not MISSING else ""
            parameters.append(f"{each.name}={optional}" if optional else each.name)
            value = f"{default}() if {each.name} is _missing else {each.name}" if made else each.name
        elif made or each.default is not MISSING:
            value = f"{default}()" if made else default
        else:  # __post_init__ sets it
            continue
        lines.append(f"_set(self, {each.name!r}, {value})" if frozen else f"self.{each.name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n ".join(lines or ["pass"])
    exec(f"def __init__({', '.join(parameters)}):\n {body}", known)
    made_init = known["__init__"]
    made_init.__qualname__, made_init.__module__ = f"{owner.__qualname__}.__init__", owner.__module__
    made_init.__annotations__ = {**annotations, "return": None}
    return made_init


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(
        cls: type | None = None, /, *, frozen: bool = False, eq: bool = True, slots: bool = False
    ) -> type | Callable[[type], type]:
        """A class as a dataclass whose methods are not compiled before they are used.

        Parameters
        ----------
        cls : type, optional
            The class, whose annotations are its fields.
        frozen, eq, slots : bool, optional
            As of ``dataclasses.dataclass``: whether fields are fixed, whether they decide on equality, and whether
            instances have no dictionary.

        Returns
        -------
        type or callable
            The class; without one, what makes it of a class.
        """
        if cls is None:
            return lambda given: record(given, frozen=frozen, eq=eq, slots=slots)
        own = cls.__dict__
        methods: dict[str, Any] = {"__repr__": _repr}
        if eq:
            methods["__eq__"] = _equal
            methods["__hash__"] = _hash if frozen else None
        if frozen:
            methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
        if frozen and slots:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
        given = {name for name in methods if own.get(name) is not None}
        init = "__init__" in own
        if cls.__doc__ is None:
            cls.__doc__ = cls.__qualname__  # without one, dataclass spells the signature, which would write __init__
        made = dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
        for name in methods.keys() - given:
            setattr(made, name, methods[name])
        if eq:
            made._compared = staticmethod(_getter([each.name for each in fields(made) if each.compare]))
        if not init:
            made.__init__ = _Written(made, frozen)
        return made
