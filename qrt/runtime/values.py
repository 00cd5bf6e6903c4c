"""Values of a running program as NumPy arrays, their checks at its borders, and the values that outlive a call.

Inside, a quantized value is its storage, a signless ``iN`` a signed integer array of the next dtype, a scalar a NumPy
scalar in the interpreter, and an array of rank 0 in a plan.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import prod
from threading import RLock
from typing import Any
from weakref import WeakSet

import numpy as np

from qrt.errors import ModelError, QuantError, QuantTypeError, UndefinedError
from qrt.ops.core import Array, check_bounds, element_dtype
from qrt.tensor import QuantTensor
from qrt.tensor.quant_tensor import made
from qrt.tensor.storage import ready
from qrt.types import (
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    TensorType,
    Type,
    UniformType,
    VectorType,
    check_integrity,
)

Shape = tuple[int, ...]
ShapedType = TensorType | VectorType | MemRefType
SCALARS = (FloatType, IntegerType, IndexType, UniformType)
RUN = (TensorType, *SCALARS)
"""The types of values that are arrays, or scalars, when a program runs."""


def as_tensor(t: Type) -> TensorType:
    """The tensor type of a value; a scalar is a tensor of rank 0, a memref or a vector a tensor of its shape."""
    if isinstance(t, MemRefType | VectorType):
        return TensorType(t.shape, t.element)
    return t if isinstance(t, TensorType) else TensorType((), t)


def of_rank(array: Array, t: Type) -> Any:
    """An array as a running program holds it: that of a scalar type as a NumPy scalar."""
    return array if isinstance(t, ShapedType) else array[()]


def concrete(declared: TensorType, shape: Shape, what: str) -> TensorType:
    """The declared type with a static shape in place of dynamic dimensions, its integrity checked."""
    dims = declared.shape
    fits = dims is None or (len(dims) == len(shape) and all(d in (None, s) for d, s in zip(dims, shape, strict=True)))
    if not fits:
        raise QuantTypeError(f"{what} must be {declared}, got shape {list(shape)}")
    if isinstance(declared.element, UniformType):
        check_integrity(declared.element, shape)
    return TensorType(shape, declared.element)


@lru_cache(256)
def at_border(declared: TensorType, shape: Shape, what: str) -> TensorType:
    """``concrete`` for an argument or a result, whose error names no op. It is cached for the latest types."""
    try:
        return concrete(declared, shape, what)
    except QuantTypeError as error:
        raise ModelError(str(error)) from None


def sizes_of(type: TensorType | MemRefType, dynamic: Iterable[Any]) -> Shape:
    """The shape of a type, its dynamic dimensions as given. Raises UndefinedError for a negative one, and QuantError
    for more bytes than an address says."""
    remaining = iter(dynamic)
    shape = tuple(int(next(remaining)) if size is None else size for size in type.shape or ())
    if any(size < 0 for size in shape):
        raise UndefinedError(f"a dimension is negative: {list(shape)}")
    require_addresses(shape, type.element)
    return shape


def require_addresses(shape: Shape, element: Type) -> None:
    """Raises QuantError for a shape whose array has more bytes than an address says, as NumPy counts them: without the
    dimensions of 0."""
    count = prod(filter(None, shape))
    if count >= 1 << 58 and count * element_dtype(element).itemsize >= 1 << 63:
        raise QuantError(f"not enough memory for a tensor of shape {list(shape)}, of elements {element}")


def as_index(number: int) -> Any:
    """A whole number as a value of type index. Raises UndefinedError for one out of its range."""
    if not -(1 << 63) <= number < 1 << 63:
        raise UndefinedError(f"{number} is out of the range of an index")
    return np.int64(number)


def incoming(value: Any, declared: TensorType, what: str, in_place: bool = False) -> Array:
    """An argument as the program takes it; a wrong dtype, type or shape is a ``ModelError`` that names the argument.
    With ``in_place`` it is the caller's own array."""
    if in_place and not (isinstance(value, np.ndarray) and value.flags.writeable and ready(value) is value):
        raise ModelError(f"{what} is written in place, and must be a writable, C-contiguous array")
    element = declared.element
    if isinstance(value, QuantTensor):
        if value.type != element:
            raise ModelError(f"{what} must be {declared}, got a QuantTensor of {value.type}")
        array = value.storage
    else:
        array = np.asarray(value)
        dtype = element_dtype(element)
        if not isinstance(value, (np.ndarray, np.generic)):
            array = _converted(array, dtype, what)
        if array.dtype.newbyteorder("=") != dtype:
            raise ModelError(f"{what} must be {declared}: dtype {dtype}, got dtype {array.dtype}")
        check_range(array, declared, what)
    at_border(declared, array.shape, what)
    return ready(array)


def _converted(array: Array, dtype: np.dtype[Any], what: str) -> Array:
    """Python numbers and lists in the wanted dtype, if they are of its kind: no float becomes an integer."""
    if array.dtype.kind in "iub" and dtype.kind in "iu":
        if array.size and not (np.iinfo(dtype).min <= int(array.min()) and int(array.max()) <= np.iinfo(dtype).max):
            raise ModelError(f"{what}: the values do not fit {dtype}")
        return array.astype(dtype)
    if array.dtype.kind in "fiub" and dtype.kind not in "iub":
        return array.astype(dtype)
    return array


def check_range(array: Array, declared: TensorType, what: str) -> None:
    """Raises ModelError for a value that the dtype has and the type does not."""
    element = declared.element
    if is_whole(element):
        return
    try:
        if isinstance(element, UniformType):
            check_bounds(array, element)
        elif isinstance(element, IntegerType) and array.size:
            low = 0 if element.signedness == "unsigned" else -(1 << (element.width - 1))
            if int(array.min()) < low or int(array.max()) >= low + (1 << element.width):
                raise QuantTypeError(f"values do not fit {element}")
    except QuantTypeError as error:
        raise ModelError(f"{what}: {error}") from None


def is_whole(element: Type) -> bool:
    """Whether every value of the dtype is one of the type."""
    if isinstance(element, UniformType):
        return element.has_default_bounds and element.storage_width in (8, 16, 32)
    return not isinstance(element, IntegerType) or element.width in (1, 8, 16, 32, 64)


def outgoing(array: Array, t: TensorType) -> Any:
    """A result as the caller gets it: quantized ones as ``QuantTensor``."""
    return made(array, t.element) if isinstance(t.element, UniformType) else array


def spelled(value: Any) -> str:
    """A NumPy scalar as C's `printf` and streams spell it: at most six digits of a float."""
    return str(int(value)) if value.dtype.kind in "iub" else f"{float(value):g}"


@contextmanager
def memory_reported(name: str) -> Iterator[None]:
    """Raise ModelError in the name of a program where it needs more memory than is available."""
    try:
        yield
    except MemoryError as error:
        raise no_memory(name, error) from None
    except UndefinedError as error:  # of a result, which no operation makes
        raise ModelError(f"{name} {error}") from error


def no_memory(name: str, error: MemoryError) -> ModelError:
    """Return the error of a program that needs more memory than is available."""
    return ModelError(f"{name} needs more memory than is available: {error}")


class State:
    """The arrays of one stream of calls, by name of the global; one that is not there has its initial value. The call
    that reads and writes them holds the ``lock``."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.lock = RLock()
        _LIVING.add(self)


_LIVING: "WeakSet[State]" = WeakSet()


def _unlock() -> None:
    for state in _LIVING:
        state.lock = RLock()


os.register_at_fork(after_in_child=_unlock)  # a thread that held a lock is not there in the child


def store(arrays: dict[str, Array], name: str, array: Array) -> None:
    """Copies an array to that of a global, which stays where it is as long as its shape does."""
    held = arrays.get(name)
    if held is None or held.shape != array.shape:
        arrays[name] = np.array(array)
    else:
        np.copyto(held, array)
