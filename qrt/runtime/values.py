"""Values of a running program as NumPy arrays: conversion and checks of arguments and results, and globals.

Inside a program, a quantized value is its storage array. A tensor of signless ``iN`` is a signed integer array of the
next larger dtype. A scalar is a NumPy scalar in the interpreter, and an array of rank 0 in a plan.
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

from qrt.errors import ModelError, QuantError, QuantTypeError, UndefinedError, shown
from qrt.ops.core import Array, check_bounds, element_dtype, static_shape
from qrt.tensor import QuantTensor
from qrt.tensor.quant_tensor import wrap_storage
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
"""The types whose values are arrays or scalars when a program runs."""


def as_tensor(t: Type) -> TensorType:
    """Return a type as a tensor type: rank 0 for a scalar type, the same shape for a memref or a vector."""
    if isinstance(t, MemRefType | VectorType):
        return TensorType(t.shape, t.element)
    return t if isinstance(t, TensorType) else TensorType((), t)


def of_rank(array: Array, t: Type) -> Any:
    """Return a value of type ``t`` as the interpreter takes it: a NumPy scalar if ``t`` is a scalar, else the array."""
    return array if isinstance(t, ShapedType) else array[()]


def concrete(declared: TensorType, shape: Shape, what: str) -> TensorType:
    """Return the declared type with this static shape.

    Raise QuantTypeError if the shape does not match the declared one, or if per-axis parameters do not fit the shape.
    ``what`` names the value in errors.
    """
    dims = declared.shape
    fits = dims is None or (len(dims) == len(shape) and all(d in (None, s) for d, s in zip(dims, shape, strict=True)))
    if not fits:
        raise QuantTypeError(f"{what} must be {declared}, got shape {list(shape)}")
    if isinstance(declared.element, UniformType):
        check_integrity(declared.element, shape)
    return TensorType(shape, declared.element)


@lru_cache(256)
def at_border(declared: TensorType, shape: Shape, what: str) -> TensorType:
    """Return the cached result of `concrete` for an argument or a result; raise its QuantTypeError as a ModelError."""
    try:
        return concrete(declared, shape, what)
    except QuantTypeError as error:
        raise ModelError(str(error)) from None


def sizes_of(type: TensorType | MemRefType, dynamic: Iterable[Any]) -> Shape:
    """Return the shape of a type, with the sizes in ``dynamic`` for its dynamic dimensions, in order.

    Raise UndefinedError for a negative size, and QuantError if an array of the shape needs 2^63 bytes or more.
    """
    remaining = iter(dynamic)
    shape = tuple(int(next(remaining)) if size is None else size for size in type.shape or ())
    if any(size < 0 for size in shape):
        raise UndefinedError(f"every dimension must be at least 0, got shape {list(shape)}")
    require_addresses(shape, type.element)
    return shape


def require_addresses(shape: Shape, element: Type) -> None:
    """Raise QuantError if an array of this shape needs 2^63 bytes or more.

    Dimensions of size 0 are left out of the product, as in NumPy's check.
    """
    count = prod(filter(None, shape))
    if count >= 1 << 58 and count * element_dtype(element).itemsize >= 1 << 63:
        raise QuantError(f"not enough memory for a tensor of shape {list(shape)} and element type {element}")


def as_index(number: int) -> Any:
    """Return an integer as a value of type index (int64). Raise UndefinedError if it does not fit 64 bits."""
    if not -(1 << 63) <= number < 1 << 63:
        raise UndefinedError(f"the result {number} is out of the range of an index, a signed 64-bit integer")
    return np.int64(number)


def empty(t: TensorType) -> Array:
    """Return an uninitialized array for values of a type with a static shape."""
    return np.empty(static_shape(t, "plan"), element_dtype(t.element))


def incoming(value: Any, declared: TensorType, what: str, in_place: bool = False) -> Array:
    """Return a caller's argument as an array for the program; with ``in_place`` it must be the caller's own array.

    Raise ModelError for a wrong dtype, type or shape. ``what`` names the argument in the error.
    """
    if in_place and not (isinstance(value, np.ndarray) and value.flags.writeable and ready(value) is value):
        raise ModelError(
            f"{what} must be a writable, C-contiguous NumPy array, because the program writes it in place, got "
            f"{shown(value)}"
        )
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
            raise ModelError(
                f"{what} must be of dtype {dtype}, because its type is {declared}, got dtype {array.dtype}"
            )
        check_range(array, declared, what)
    at_border(declared, array.shape, what)
    return ready(array)


def _converted(array: Array, dtype: np.dtype[Any], what: str) -> Array:
    """Convert an array that was made from Python numbers or lists to the dtype.

    Floats for an integer dtype are returned unchanged: the caller raises the error.
    """
    if array.dtype.kind in "iub" and dtype.kind in "iu":
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        if array.size and not least <= int(array.min()) <= int(array.max()) <= most:
            wrong = array.min() if array.min() < least else array.max()
            raise ModelError(f"{what} must have values in [{least}, {most}] for dtype {dtype}, got {wrong}")
        return array.astype(dtype)
    if array.dtype.kind in "fiub" and dtype.kind not in "iub":
        return array.astype(dtype)
    return array


def check_range(array: Array, declared: TensorType, what: str) -> None:
    """Raise ModelError if a value fits the array's dtype but not the type, such as 9 for i4 (stored as int8)."""
    element = declared.element
    if is_whole(element):
        return
    try:
        if isinstance(element, UniformType):
            check_bounds(array, element)
        elif isinstance(element, IntegerType) and array.size:
            low = 0 if element.signedness == "unsigned" else -(1 << (element.width - 1))
            most = low + (1 << element.width) - 1
            if int(array.min()) < low or int(array.max()) > most:
                wrong = array.min() if array.min() < low else array.max()
                raise QuantTypeError(f"the values must be in [{low}, {most}] for element type {element}, got {wrong}")
    except QuantTypeError as error:
        raise ModelError(f"{what}: {error}") from None


def is_whole(element: Type) -> bool:
    """Return True if every value of the array's dtype is a value of the type.

    That is so for i8, but not for i4 (stored as int8), nor for a quantized i8 with narrower storage bounds.
    """
    if isinstance(element, UniformType):
        return element.has_default_bounds and element.storage_width in (8, 16, 32)
    return not isinstance(element, IntegerType) or element.width in (1, 8, 16, 32, 64)


def outgoing(array: Array, t: TensorType) -> Any:
    """Return a result as the caller gets it: a ``QuantTensor`` if the type is quantized, else the array itself."""
    return wrap_storage(array, t.element) if isinstance(t.element, UniformType) else array


def spelled(value: Any) -> str:
    """Return a NumPy scalar's text as C's `printf` prints it: integers by `%d`, floats by `%g` (six digits)."""
    return str(int(value)) if value.dtype.kind in "iub" else f"{float(value):g}"


@contextmanager
def memory_reported(name: str) -> Iterator[None]:
    """Raise a MemoryError or UndefinedError of the `with` block as a ModelError that names the program."""
    try:
        yield
    except MemoryError as error:
        raise no_memory(name, error) from None
    except UndefinedError as error:  # at a result, not inside an operation
        raise ModelError(f"function {name!r}: {error}") from error


def no_memory(name: str, error: MemoryError) -> ModelError:
    """Return the ModelError for a program that ran out of memory."""
    return ModelError(f"function {name!r} needs more memory than is available: {error}")


class State:
    """The globals of a program that change from call to call.

    ``arrays`` has the current array of each global by name, without those that still have their initial value. A call
    holds ``lock`` while it uses the arrays.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.lock = RLock()
        _LIVING.add(self)


_LIVING: "WeakSet[State]" = WeakSet()


def _unlock() -> None:
    for state in _LIVING:
        state.lock = RLock()


os.register_at_fork(after_in_child=_unlock)  # the thread that holds a lock does not exist in the child


def store(arrays: dict[str, Array], name: str, array: Array) -> None:
    """Set a global: copy ``array`` into its current array, or into a new one if the shape changes."""
    current = arrays.get(name)
    if current is None or current.shape != array.shape:
        arrays[name] = np.array(array)
    else:
        np.copyto(current, array)
