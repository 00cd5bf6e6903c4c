"""Integer, float, index, none, function, complex and tuple types, and unknown types kept as text."""

from collections.abc import Iterable
from typing import Literal, Self

from qrt.errors import QuantTypeError, shown
from qrt.numerics.float_text import FORMATS, FloatFormat, Special
from qrt.types.core import Type

MAX_INTEGER_WIDTH = (1 << 24) - 1
Signedness = Literal["signless", "signed", "unsigned"]
_PREFIX: dict[Signedness, str] = {"signless": "i", "signed": "si", "unsigned": "ui"}


class IntegerType(Type):
    """An integer type: `iN` (signless), `siN` (signed) or `uiN` (unsigned).

    >>> str(IntegerType(8)), str(IntegerType(8, "unsigned"))
    ('i8', 'ui8')
    """

    __slots__ = ("signedness", "width")
    width: int
    signedness: Signedness

    def __new__(cls, width: int, signedness: Signedness = "signless") -> Self:
        key = cls, width, signedness
        return cls._interned.get(key) or cls._intern(key, cls._checked(width, signedness))

    @staticmethod
    def _checked(width: int, signedness: Signedness) -> dict[str, object]:
        if signedness not in _PREFIX:
            raise QuantTypeError(f"'signedness' must be one of {', '.join(_PREFIX)}, got {shown(signedness)}")
        if not isinstance(width, int) or not 0 <= width <= MAX_INTEGER_WIDTH:
            raise QuantTypeError(
                f"the width of an integer type must be from 0 to {MAX_INTEGER_WIDTH} bits, got {shown(width)}"
            )
        return {"width": int(width), "signedness": signedness}

    @property
    def is_signless(self) -> bool:
        return self.signedness == "signless"

    def spell(self) -> str:
        return f"{_PREFIX[self.signedness]}{self.width}"


class FloatType(Type):
    """A float type, by its MLIR name such as `f32`, `bf16` or `f8E4M3FN`.

    >>> FloatType("bf16").precision, FloatType("f16").largest
    (8, 65504.0)
    """

    __slots__ = ("format", "largest", "name", "smallest")
    name: str
    format: FloatFormat
    smallest: float
    """The smallest positive value as a double (0.0 where a double cannot hold it)."""
    largest: float
    """The largest finite value as a double (infinite where a double cannot hold it)."""

    def __new__(cls, name: str) -> Self:
        key = cls, name
        return cls._interned.get(key) or cls._intern(key, cls._checked(name))

    @staticmethod
    def _checked(name: str) -> dict[str, object]:
        if name not in FORMATS:
            raise QuantTypeError(f"a float type must be one of {', '.join(FORMATS)}, got {shown(name)}")
        form = FORMATS[name]
        largest = float("inf") if form.max_exponent > 1023 else float(form.largest)
        return {"name": name, "format": form, "smallest": float(form.smallest), "largest": largest}

    @property
    def width(self) -> int:
        return self.format.width

    @property
    def precision(self) -> int:
        """Number of significand bits, including the hidden bit."""
        return self.format.precision

    @property
    def min_exponent(self) -> int:
        return self.format.min_exponent

    @property
    def max_exponent(self) -> int:
        return self.format.max_exponent

    @property
    def special(self) -> Special:
        """Encoding of infinities and NaNs: "ieee", "nan", "nan_zero" or "none", as in `FloatFormat.special`."""
        return self.format.special

    def spell(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.name,)


class IndexType(Type):
    """The type `index`."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._intern((cls,), {})

    def spell(self) -> str:
        return "index"


class NoneType(Type):
    """The type `none`."""

    __slots__ = ()

    def __new__(cls) -> Self:
        return cls._intern((cls,), {})

    def spell(self) -> str:
        return "none"


class FunctionType(Type):
    """A function type `(inputs) -> results`.

    >>> str(FunctionType([FloatType("f32")], [IndexType()]))
    '(f32) -> index'
    """

    __slots__ = ("inputs", "results")
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __new__(cls, inputs: Iterable[Type], results: Iterable[Type]) -> Self:
        inputs, results = tuple(inputs), tuple(results)
        return cls._intern((cls, inputs, results), {"inputs": inputs, "results": results})

    def spell(self) -> str:
        results = ", ".join(map(str, self.results))
        if len(self.results) != 1 or isinstance(self.results[0], FunctionType):
            results = f"({results})"
        return f"({', '.join(map(str, self.inputs))}) -> {results}"


class ComplexType(Type):
    """A type `complex<element>`, whose element is a float or integer type."""

    __slots__ = ("element",)
    element: Type

    def __new__(cls, element: Type) -> Self:
        if not isinstance(element, FloatType | IntegerType):
            raise QuantTypeError(f"the element of a complex type must be a float or an integer, got {element}")
        return cls._intern((cls, element), {"element": element})

    def spell(self) -> str:
        return f"complex<{self.element}>"


class TupleType(Type):
    """A type `tuple<elements>`."""

    __slots__ = ("elements",)
    elements: tuple[Type, ...]

    def __new__(cls, elements: Iterable[Type]) -> Self:
        elements = tuple(elements)
        return cls._intern((cls, elements), {"elements": elements})

    def spell(self) -> str:
        return f"tuple<{', '.join(map(str, self.elements))}>"


class OpaqueType(Type):
    """A type of a dialect that qrt does not know, `!dialect.name<...>`, stored as text."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        return cls._intern((cls, text), {"text": text})

    def spell(self) -> str:
        return self.text


_COMMON = (*map(FloatType, FORMATS), *map(IntegerType, (1, 4, 8, 16, 32, 64)), IndexType(), NoneType())
"""Common types, referenced here so that the weak table of interned types does not drop them."""
