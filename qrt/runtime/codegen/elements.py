"""Element types in machine code: their register types, and the dtypes that represent them in the memory of arrays."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir as ll

from qrt.errors import QuantTypeError
from qrt.ops.core import Array, element_dtype
from qrt.types import FloatType, IndexType, IntegerType, MemRefType, TensorType, Type, UniformType, VectorType

I1, I8, I32, I64 = (ll.IntType(width) for width in (1, 8, 32, 64))
POINTER = ll.PointerType()
_FLOATS = {"f32": ll.FloatType(), "f64": ll.DoubleType()}


@dataclass(frozen=True)
class Element:
    """An element type in machine code.

    A register has exactly the bits of the type, ``iN``. Memory has the dtype of a NumPy array. A store extends the bits
    of a register to the dtype: by zeros for an unsigned dtype and for ``bool``, else by the sign.
    """

    dtype: np.dtype[Any]
    register: Any
    memory: Any

    @property
    def is_narrow(self) -> bool:
        """True if the memory has more bits than the register."""
        return str(self.register) != str(self.memory)

    def load(self, builder: Any, address: Any) -> Any:
        """Emit a load and return the value in a register."""
        value = builder.load(address, align=self.dtype.itemsize, typ=self.memory)
        if self.dtype.kind == "b":
            return builder.icmp_unsigned("!=", value, _zero(self.memory))
        return builder.trunc(value, self.register) if self.is_narrow else value

    def store(self, builder: Any, value: Any, address: Any) -> None:
        """Emit a store of a value in a register."""
        if self.is_narrow:
            extend = builder.sext if self.dtype.kind == "i" else builder.zext
            value = extend(value, self.memory)
        builder.store(value, address, align=self.dtype.itemsize)

    def constant(self, number: Any) -> Any:
        """Return a NumPy scalar (an array for a vector) as a constant in a register, with the same bits."""
        if isinstance(self.register, ll.VectorType):
            lane = Element(self.dtype, self.register.element, self.memory.element)
            return ll.Constant(self.register, [lane.constant(one) for one in number])
        if self.dtype.kind == "f":
            bits = ll.IntType(self.dtype.itemsize * 8)
            return bits(int(number.view(f"u{self.dtype.itemsize}"))).bitcast(self.register)
        return self.register(int(number) & ((1 << self.register.width) - 1))


@lru_cache(maxsize=256)
def element_form(t: Type) -> Element:
    """Return the representation of an element type in machine code. Raise QuantTypeError for a type without one."""
    if isinstance(t, FloatType):
        if t.name not in _FLOATS:
            raise QuantTypeError(f"values of type {t} have no machine code: expected f32, f64 or integers")
        return Element(element_dtype(t), _FLOATS[t.name], _FLOATS[t.name])
    if isinstance(t, IndexType):
        return Element(np.dtype(np.int64), I64, I64)
    if isinstance(t, VectorType) and len(t.shape) == 1 and not any(t.scalable):
        lane, count = element_form(t.element), t.shape[0]
        return Element(lane.dtype, ll.VectorType(lane.register, count), ll.VectorType(lane.memory, count))
    if not isinstance(t, IntegerType | UniformType):
        raise QuantTypeError(f"values of type {t} have no machine code: expected f32, f64, index or integers")
    dtype = element_dtype(t)
    width = t.storage_width if isinstance(t, UniformType) else t.width
    return Element(dtype, ll.IntType(width), ll.IntType(dtype.itemsize * 8))


def _zero(type: Any) -> Any:
    return ll.Constant(type, [I8(0)] * type.count) if isinstance(type, ll.VectorType) else I8(0)


def scalar_type(t: Type) -> Type:
    """Return the element type of a tensor or memref, and any other type itself."""
    return t.element if isinstance(t, TensorType | MemRefType) else t


def is_buffer(t: Type) -> bool:
    """Return True if a value of the type is in memory: a tensor or a memref."""
    return isinstance(t, TensorType | MemRefType)


def splat_of(array: Array) -> Any:
    """Return the common value of an array's elements; None if two elements differ in any bit, or if there are none."""
    if not array.size:
        return None
    bits = array.view(f"u{array.itemsize}")
    is_splat = not any(array.strides) or bool((bits == bits.reshape(-1)[0]).all())
    return array.reshape(-1)[0] if is_splat else None
