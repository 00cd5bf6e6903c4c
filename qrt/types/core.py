"""Base class of all types. Types are immutable and interned: equal types are the same object."""

import threading
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

from qrt.errors import shortened

_readers: list[Callable[[str], "Type"]] = []


def set_reader(read: Callable[[str], "Type"]) -> None:
    """Register the function with which `as_type` parses text; this avoids a circular import of the parser."""
    _readers[:] = [read]


def as_type(given: object) -> object:
    """Parse text as a type; return any other object unchanged."""
    return _readers[0](given) if isinstance(given, str) else given


class Type:
    """An MLIR type. Equal types are the same object; `str` returns the type as upstream MLIR prints it.

    Unless the class docstring lists parameters, the constructor's parameters are the annotated fields of the class, in
    order.
    """

    __slots__ = ("__weakref__", "_text")

    _interned: ClassVar[WeakValueDictionary[tuple[object, ...], Any]] = WeakValueDictionary()
    """All existing types, by class and fields."""
    _lock: ClassVar[threading.Lock] = threading.Lock()
    _text: str | None

    @classmethod
    def _intern(cls, key: tuple[object, ...], fields: Mapping[str, object]) -> Self:
        """Return the existing type with this key, or a new one with these fields; a key begins with the class."""
        new = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(new, name, value)
        object.__setattr__(new, "_text", None)
        with Type._lock:
            one: Self = Type._interned.setdefault(key, new)
            return one

    def spell(self) -> str:
        """Return the type's text; `str` calls it once and caches the text."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, name) for name in type(self).__annotations__)

    def __str__(self) -> str:
        if self._text is None:
            object.__setattr__(self, "_text", self.spell())
        assert self._text is not None
        return self._text

    def _repr_html_(self) -> str:
        """Return the text of ``shown`` as HTML, for notebooks."""
        return f"<code>{escape(self.shown())}</code>"

    def shown(self) -> str:
        """Return the type's text for display, of at most 2,048 characters; long lists of scales are summarized.

        >>> from qrt.types import UniformType
        >>> UniformType("u4", "f32", [0.5] * 31 + [0.75], axis=0).shown()
        '!quant.uniform<u4:f32:0, {32 scales, 0.5 to 0.75}>'
        """
        return shortened(str(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.shown()}>"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")
