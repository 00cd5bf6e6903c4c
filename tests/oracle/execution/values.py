"""Values as bits: of the integer and float types that LLVM executes."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from qrt.numerics.float_text import FORMATS
from qrt.ops.core import element_dtype
from qrt.types import parse_type

INTEGERS = ("i1", "i4", "i7", "i8", "i13", "i16", "i32", "i64", "index")
STORED = ("i8", "i13", "i16", "i32", "i64", "index")
"""Elements of tensors and memrefs: mlir-opt 22 ends where memrefs of less than 8 bits are read, but of i4, whose copies
are wrong."""
FLOATS = ("f16", "bf16", "f32", "f64")
_SHAPED = re.compile(r"(tensor|memref|vector)<((?:[\d?]+x)*)(\w+)(?:,.*)?>")

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Type:
    """A scalar's or a shaped value's type, taken apart."""

    text: str
    container: str
    """Empty for a scalar."""
    shape: tuple[int | None, ...]
    element: str


@cache
def type_of(text: str) -> Type:
    match = _SHAPED.fullmatch(text)
    if match is None:
        return Type(text, "", (), text)
    dims = tuple(None if dim == "?" else int(dim) for dim in match[2].split("x")[:-1])
    return Type(text, match[1], dims, match[3])


def is_float(element: str) -> bool:
    return element in FORMATS


def width(element: str) -> int:
    if is_float(element):
        return FORMATS[element].width
    return 64 if element == "index" else int(element[1:])


@dataclass(frozen=True)
class Value:
    """Elements as unsigned bits, in row-major order. A scalar has the shape ()."""

    element: str
    shape: tuple[int, ...]
    bits: tuple[int, ...]

    def array(self) -> Array:
        """The value as qrt takes it."""
        dtype = element_dtype(parse_type(self.element))
        if self.element == "i1":
            return np.array(self.bits, bool).reshape(self.shape)
        if not is_float(self.element):
            return np.array([signed(bits, width(self.element)) for bits in self.bits], dtype).reshape(self.shape)
        return np.array(self.bits, f"u{dtype.itemsize}").view(dtype).reshape(self.shape).copy()

    def numbers(self) -> list[int]:
        """The bits as signed 64-bit integers, as the driver of a program prints them."""
        return [signed(bits, 64) for bits in self.bits]


def value_of(array: Any, element: str) -> Value:
    """A result of qrt's."""
    array = np.asarray(array)
    wide = array.view(f"u{array.dtype.itemsize}").ravel().tolist()
    return Value(element, array.shape, tuple(bits & (1 << width(element)) - 1 for bits in wide))


def signed(bits: int, size: int) -> int:
    return bits - (1 << size) if bits >> (size - 1) & 1 else bits


def number(bits: int, element: str) -> float:
    """A float of given bits."""
    return float(Value(element, (), (bits,)).array())


def literal(element: str, bits: int) -> str:
    """An element of a dense constant."""
    if is_float(element):
        return f"0x{bits:0{width(element) // 4}X}"
    return ("false", "true")[bits] if element == "i1" else str(signed(bits, width(element)))


def dense(value: Value) -> str:
    """A value of rank 1 or more as a constant's text."""

    def nested(shape: tuple[int, ...], bits: tuple[int, ...]) -> str:
        if not shape:
            return literal(value.element, bits[0])
        step = len(bits) // shape[0]
        return f"[{', '.join(nested(shape[1:], bits[i * step : (i + 1) * step]) for i in range(shape[0]))}]"

    text = nested(value.shape, value.bits) if value.bits else ""
    return f"dense<{text}> : tensor<{''.join(f'{dim}x' for dim in value.shape)}{value.element}>"
