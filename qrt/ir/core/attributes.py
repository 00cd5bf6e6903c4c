"""Attributes: immutable values on operations, with upstream MLIR's text."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, shown
from qrt.numerics.float_text import spell
from qrt.types import FloatType, IndexType, IntegerType, Type

_BARE_NAME = re.compile(r"[a-zA-Z_][\w$.]*", re.ASCII)
_ESCAPED = re.compile(rb'[^ !#-\[\]-~]|["\\]')


class Attribute:
    """Base of all attributes. `str` returns text that parses as the same attribute, including the type.

    Examples
    --------
    >>> isinstance(attribute(5), Attribute), str(attribute(5))
    (True, '5 : i64')
    """

    __slots__ = ()

    def spell(self, elide: bool = False) -> str:
        """Return the attribute's text; `elide` omits the default types `: i64` and `: f64`, as array attributes do."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spell()

    @property
    def python(self) -> Any:
        """Equivalent Python value (int, float, str, tuple, dict, ...), as the functions of `qrt.ops` accept it."""
        raise QuantTypeError(f"attribute {self} cannot be converted to a Python value")


@dataclass(frozen=True, slots=True)
class IntegerAttr(Attribute):
    """An integer attribute: `5 : i32`, `true`, `3 : index`.

    For a signless type, `value` is the bits read as a signed number: 255 as i8 becomes -1.

    Examples
    --------
    >>> str(IntegerAttr(255, IntegerType(8))), IntegerAttr(255, IntegerType(8)).value
    ('-1 : i8', -1)
    """

    value: int
    type: Type

    def __post_init__(self) -> None:
        low, high = integer_range(self.type)
        if not low <= self.value <= high:
            raise QuantTypeError(
                f"an integer attribute of type {self.type} must be in [{low}, {high}], got {self.value}"
            )
        if isinstance(self.type, IntegerType) and self.type.is_signless and self.type.width:
            width = self.type.width
            half = 1 << (width - 1)
            value = self.value & 1 if width == 1 else ((self.value + half) & ((1 << width) - 1)) - half
            object.__setattr__(self, "value", value)

    def spell(self, elide: bool = False) -> str:
        if self.is_bool:
            return "true" if self.value else "false"
        return str(self.value) if elide and self.type is _I64 else f"{self.value} : {self.type}"

    @property
    def is_bool(self) -> bool:
        """True for `true` and `false`, integers of type i1."""
        return self.type is _I1

    @property
    def python(self) -> int | bool:
        return bool(self.value) if self.is_bool else self.value


@dataclass(frozen=True, slots=True)
class FloatAttr(Attribute):
    """A float attribute, `1.5 : f32`. `bits` is its bit pattern, so NaN payloads and all float formats are preserved.

    Examples
    --------
    >>> str(FloatAttr.of(0.1, FloatType("f16"))), hex(FloatAttr.of(0.1, FloatType("f16")).bits)
    ('9.997550e-02 : f16', '0x2e66')
    """

    bits: int
    type: FloatType

    @classmethod
    def of(cls, value: float, type: FloatType) -> "FloatAttr":
        """Return the attribute of the double `value`, rounded to `type`."""
        return cls(type.format.encode_float(value), type)

    @property
    def value(self) -> float:
        """The number, as a double."""
        return float(self.type.format.decode(self.bits))

    def spell(self, elide: bool = False) -> str:
        text = spell(self.bits, self.type.format)
        return text if elide and self.type is _F64 and not text.startswith("0x") else f"{text} : {self.type}"

    @property
    def python(self) -> float:
        return self.value


@dataclass(frozen=True, slots=True)
class StringAttr(Attribute):
    """A string attribute: `"text"`, or `"text" : type` with a type.

    Examples
    --------
    >>> print(StringAttr("main"))
    "main"
    """

    value: str
    type: Type | None = None

    def spell(self, elide: bool = False) -> str:
        return quote(self.value) if self.type is None else f"{quote(self.value)} : {self.type}"

    @property
    def python(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class UnitAttr(Attribute):
    """The attribute `unit`, which has no value: only its presence matters.

    Examples
    --------
    >>> str(UnitAttr()), str(DictAttr.of({"inline": UnitAttr()}))
    ('unit', '{inline}')
    """

    def spell(self, elide: bool = False) -> str:
        return "unit"

    @property
    def python(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class ArrayAttr(Attribute):
    """An array attribute `[a, b]`.

    Examples
    --------
    >>> str(ArrayAttr((attribute(1), attribute("a"))))
    '[1, "a"]'
    """

    elements: tuple[Attribute, ...]

    def spell(self, elide: bool = False) -> str:
        return f"[{', '.join(element.spell(elide=True) for element in self.elements)}]"

    @property
    def python(self) -> tuple[Any, ...]:
        return tuple(element.python for element in self.elements)


@dataclass(frozen=True, slots=True)
class DictAttr(Attribute):
    """A dictionary attribute `{a = 1, b}`, with entries sorted by name.

    Examples
    --------
    >>> str(DictAttr.of({"b": attribute(2), "a": attribute(1)}))
    '{a = 1 : i64, b = 2 : i64}'
    """

    items: tuple[tuple[str, Attribute], ...]

    @classmethod
    def of(cls, entries: Mapping[str, Attribute]) -> "DictAttr":
        """Return the dictionary attribute with these entries."""
        return cls(tuple(sorted(entries.items())))

    def get(self, name: str) -> Attribute | None:
        """Return the value of an entry; None if there is none."""
        place = bisect_left(self.items, name, key=itemgetter(0))
        return self.items[place][1] if place < len(self.items) and self.items[place][0] == name else None

    def spell(self, elide: bool = False) -> str:
        return spell_entries(self.items)

    @property
    def python(self) -> dict[str, Any]:
        return {name: value.python for name, value in self.items}


@dataclass(frozen=True, slots=True)
class TypeAttr(Attribute):
    """An attribute whose value is a type.

    Examples
    --------
    >>> str(TypeAttr(IntegerType(8)))
    'i8'
    """

    type: Type

    def spell(self, elide: bool = False) -> str:
        return str(self.type)

    @property
    def python(self) -> Type:
        return self.type


@dataclass(frozen=True, slots=True)
class SymbolRefAttr(Attribute):
    """A symbol reference, `@root::@nested`.

    Examples
    --------
    >>> str(SymbolRefAttr(("main",))), SymbolRefAttr(("module", "main")).python
    ('@main', 'main')
    """

    path: tuple[str, ...]

    def spell(self, elide: bool = False) -> str:
        return "::".join(map(symbol_text, self.path))

    @property
    def python(self) -> str:
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class DenseArrayAttr(Attribute):
    """A dense array, `array<i64: 1, 2>`; float elements are stored as bit patterns.

    Examples
    --------
    >>> str(DenseArrayAttr(IntegerType(64), (1, 2)))
    'array<i64: 1, 2>'
    """

    element: IntegerType | FloatType
    values: tuple[int, ...]

    def spell(self, elide: bool = False) -> str:
        if not self.values:
            return f"array<{self.element}>"
        return f"array<{self.element}: {', '.join(spell_elements(self.values, self.element))}>"

    @property
    def python(self) -> tuple[Any, ...]:
        if isinstance(self.element, FloatType):
            return tuple(float(self.element.format.decode(bits)) for bits in self.values)
        return tuple(map(bool, self.values)) if self.element is _I1 else self.values


@dataclass(frozen=True, slots=True)
class LocationAttr(Attribute):
    """A location attribute `loc(...)`, stored as the text between the parentheses.

    Examples
    --------
    >>> str(LocationAttr("unknown"))
    'loc(unknown)'
    """

    text: str

    def spell(self, elide: bool = False) -> str:
        return f"loc({self.text})"


@dataclass(frozen=True, slots=True)
class OpaqueAttr(Attribute):
    """An attribute stored as uninterpreted text: `#dialect.name<...>`, `strided<...>`, ...

    Examples
    --------
    >>> str(OpaqueAttr("affine_map<(d0) -> (d0)>"))
    'affine_map<(d0) -> (d0)>'
    """

    text: str

    def spell(self, elide: bool = False) -> str:
        return self.text


_I1, _I64, _F64 = IntegerType(1), IntegerType(64), FloatType("f64")


def integer_range(type: Type) -> tuple[int, int]:
    """Return (least, greatest) integer literal allowed for `type`; for signless i8 -128 to 255."""
    if isinstance(type, IndexType):
        return -(1 << 63), (1 << 63) - 1
    if not isinstance(type, IntegerType):
        raise QuantTypeError(f"the type of an integer attribute must be an integer type or index, got {type}")
    if type.width == 0:
        return 0, 0
    signed_low, unsigned_high = -(1 << (type.width - 1)), (1 << type.width) - 1
    if type.signedness == "unsigned":
        return 0, unsigned_high
    return signed_low, -signed_low - 1 if type.signedness == "signed" else unsigned_high


UNIT = UnitAttr()
TRUE, FALSE = IntegerAttr(1, _I1), IntegerAttr(0, _I1)


def attribute(value: Any) -> Attribute:
    """Convert a Python value to an attribute.

    Parameters
    ----------
    value : bool, int, float, str, Type, Attribute, mapping or iterable
        An int becomes an i64 attribute, a float an f64 attribute, a mapping (with str keys) a dictionary, another
        iterable an array. An Attribute is returned unchanged.

    Returns
    -------
    Attribute

    Raises
    ------
    QuantTypeError
        If the value, or an item in it, is of another type.

    Examples
    --------
    >>> str(attribute({"strides": (1, 2), "requant": "fixed"}))
    '{requant = "fixed", strides = [1, 2]}'
    """
    match value:
        case Attribute():
            return value
        case bool() | np.bool_():
            return TRUE if value else FALSE
        case int() | np.integer():
            return _of_i64(int(value))
        case float() | np.floating():
            return FloatAttr.of(float(value), _F64)
        case str():
            return StringAttr(value)
        case Type():
            return TypeAttr(value)
        case Mapping():
            return DictAttr.of({name: attribute(item) for name, item in value.items()})
        case Iterable():
            return ArrayAttr(tuple(map(attribute, value)))
    raise QuantTypeError(
        "an attribute must be an Attribute, a Type, a bool, a number, a string, or an iterable or mapping of these, "
        f"got {shown(value)}"
    )


@lru_cache(maxsize=1024)
def _of_i64(value: int) -> IntegerAttr:
    """Return an i64 attribute, cached because programs repeat a few integers many times."""
    return IntegerAttr(value, _I64)


def quote(text: str) -> str:
    """Return `text` as a quoted MLIR string literal, escaping the same bytes as upstream MLIR."""
    raw = text.encode("utf-8", "surrogateescape")
    return f'"{_ESCAPED.sub(_escape, raw).decode()}"'


def _escape(match: re.Match[bytes]) -> bytes:
    return b"\\\\" if match[0] == b"\\" else b"\\%02X" % match[0][0]


def symbol_text(name: str) -> str:
    return f"@{name}" if _BARE_NAME.fullmatch(name) else f"@{quote(name)}"


def spell_entries(items: Iterable[tuple[str, Attribute]]) -> str:
    """Return the text of a dictionary's entries: `{a = 1 : i64, b}`."""
    entries = []
    for name, value in items:
        key = name if _BARE_NAME.fullmatch(name) else quote(name)
        entries.append(key if isinstance(value, UnitAttr) else f"{key} = {value}")
    return f"{{{', '.join(entries)}}}"


def spell_elements(values: Iterable[int], element: Type) -> list[str]:
    """Return the text of each element of an array or a dense constant; float elements are given as bit patterns."""
    if isinstance(element, FloatType):
        return [spell(bits, element.format) for bits in values]
    if isinstance(element, IntegerType) and element.width == 1:
        return ["true" if value else "false" for value in values]
    return list(map(str, values))


# -- constraints of attributes ----------------------------------------------------------------------------------------

Constraint = Callable[[Attribute], str | None]
"""A function of an attribute that returns an error text, or None if the attribute is valid."""


def one_of(*choices: str) -> Constraint:
    """Return the constraint that an attribute is one of these strings."""

    def check(value: Attribute) -> str | None:
        if isinstance(value, StringAttr) and value.value in choices:
            return None
        return f"must be one of {', '.join(map(repr, choices))}"

    return check


def instance_of(kind: type[Attribute], what: str) -> Constraint:
    """Return the constraint that an attribute is an instance of `kind`, which the error calls `what`."""
    return lambda value: None if isinstance(value, kind) else f"must be {what}"
