"""The base of every type: immutable values, interned so that equality is identity."""

import threading
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

from qrt.errors import shortened

_readers: list[Callable[[str], "Type"]] = []


def set_reader(read: Callable[[str], "Type"]) -> None:
    """What reads a type's text: the parser, which knows every type, and stands above them."""
    _readers[:] = [read]


def as_type(given: object) -> object:
    """Text as the type that it spells; what is no text as it is."""
    return _readers[0](given) if isinstance(given, str) else given


class Type:
    """An MLIR type. Equal types are the same object; `str` is upstream's spelling.

    A constructor takes the annotated fields of its class in their order, where the class does not say otherwise."""

    __slots__ = ("__weakref__", "_text")

    _interned: ClassVar[WeakValueDictionary[tuple[object, ...], Any]] = WeakValueDictionary()
    """Every type by its class and what it is made of."""
    _lock: ClassVar[threading.Lock] = threading.Lock()
    _text: str | None

    @classmethod
    def _intern(cls, key: tuple[object, ...], fields: Mapping[str, object]) -> Self:
        """Return the one type of a key, which begins with the class; of these attributes if there is none yet."""
        new = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(new, name, value)
        object.__setattr__(new, "_text", None)
        with Type._lock:
            one: Self = Type._interned.setdefault(key, new)
            return one

    def spell(self) -> str:
        """Build the text form; `str` keeps it."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, name) for name in type(self).__annotations__)

    def __str__(self) -> str:
        if self._text is None:
            object.__setattr__(self, "_text", self.spell())
        assert self._text is not None
        return self._text

    def _repr_html_(self) -> str:
        """What ``shown`` gives, as a notebook shows it."""
        return f"<code>{escape(self.shown())}</code>"

    def shown(self) -> str:
        """The text form for people: long lists of scales and quantiles in short, 2,048 characters at most.

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
