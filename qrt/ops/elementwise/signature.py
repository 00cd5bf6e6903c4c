"""What a binder is given, and what the files of this package share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics.elements import Function
from qrt.types import FloatType, IndexType, IntegerType, Type

I1 = IntegerType(1)


@dataclass(frozen=True)
class Signature:
    """An op with the element types of its operands and results, and its attributes as plain Python values."""

    name: str
    operands: tuple[Type, ...]
    results: tuple[Type, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    saturating: bool = False

    @property
    def operand(self) -> Type:
        return self.operands[0]

    @property
    def result(self) -> Type:
        return self.results[0]


Binder = Callable[[Signature], Function]


@dataclass(frozen=True)
class Integer:
    """A signless integer as it is held: sign-extended in a signed dtype. Its unsigned reading is the low ``width``
    bits. i1 is computed with as a one-bit int8; outside it is a bool, true being -1."""

    width: int
    dtype: np.dtype[Any]

    @property
    def spare(self) -> int:
        """Bits of the dtype that the type has not."""
        return self.dtype.itemsize * 8 - self.width

    @property
    def low(self) -> int:
        return -(1 << (self.width - 1))

    @property
    def unsigned_dtype(self) -> np.dtype[Any]:
        return np.dtype(f"u{self.dtype.itemsize}")

    def wrapped(self, compute: Function) -> Function:
        """``compute``, whose low bits are right, with the sign extended over the spare bits."""
        if not self.spare:
            return compute
        spare = self.spare
        return lambda *x: (compute(*x) << spare) >> spare

    def unsigned(self, x: Any) -> Any:
        """The unsigned reading, in the unsigned dtype."""
        u = x.view(self.unsigned_dtype)
        return u & self.unsigned_dtype.type((1 << self.width) - 1) if self.spare else u

    def signed(self, u: Any) -> Any:
        """What `unsigned` came from; bits above the width are dropped."""
        x = u.view(self.dtype)
        return (x << self.spare) >> self.spare if self.spare else x

    @property
    def sign(self) -> Any:
        """The sign bit of the dtype: flipping it maps the unsigned order to the signed one, also at odd widths, as
        sign extension keeps the unsigned order."""
        return np.iinfo(self.dtype).min + self.dtype.type(0)


@lru_cache(maxsize=128)
def integer(t: Type) -> Integer:
    """How a signless integer or index is held; ``QuantTypeError`` for what does not execute."""
    if isinstance(t, IndexType):
        return Integer(64, np.dtype(np.int64))
    if not isinstance(t, IntegerType) or not t.is_signless or not 1 <= t.width <= 64:
        raise QuantTypeError(f"values of type {t} are not executable: arithmetic is on i1 to i64 and index")
    return Integer(t.width, np.dtype(f"i{next(bits for bits in (8, 16, 32, 64) if t.width <= bits) // 8}"))


def float_type(t: Type) -> FloatType:
    """The type as the float type it must be."""
    if not isinstance(t, FloatType):
        raise QuantTypeError(f"a float is needed, not {t}")
    return t


def arithmetic_type(t: Type) -> FloatType:
    """The type as the float type with a zero that it must be."""
    found = float_type(t)
    if not found.format.has_zero:
        raise QuantTypeError(f"{t} arithmetic is not executable: the format has no zero and no negative numbers")
    return found
