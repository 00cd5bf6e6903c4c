"""The memory of memrefs: the bytes that a program may access, and arrays as views of them.

A memref in a running program is a NumPy array that views a `Memory`: bytes that the program allocated, the bytes of an
array that the caller passed, or a copy of a tensor's elements. Views are checked to stay within the `Memory`, even if
the caller's array is itself a view of a larger array.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np

from qrt.errors import ModelError, QuantError, UndefinedError
from qrt.ir.dialects._shaped.strides import strides_of as layout_of
from qrt.ops.core import Array, element_dtype, row_major_strides
from qrt.types import MemRefType


class Memory:
    """The bytes of a C-contiguous array, or a part of the bytes of another `Memory` (``base``).

    A NumPy array that views the bytes has this object as its attribute ``base``.
    """

    def __init__(self, array: Array, base: "Memory | None" = None) -> None:
        if not array.flags.c_contiguous:
            raise UndefinedError(
                f"the memref must be contiguous, got shape {list(array.shape)} with strides {list(strides_of(array))}"
            )
        self.base = base
        self._owner = array if base is None else base
        data = array.__array_interface__["data"]
        self.__array_interface__ = {"shape": (array.nbytes,), "typestr": "|u1", "data": data, "version": 3}


class Buffer(Memory):
    """Memory that the program allocates, initially zero, and may free."""

    def __init__(self, size: int) -> None:
        try:
            zeros = np.zeros(size, np.uint8)  # untouched pages take no memory
        except (MemoryError, ValueError):
            raise QuantError(f"not enough memory for a buffer of {size} bytes") from None
        super().__init__(zeros)
        self.freed = False


class Span(NamedTuple):
    """The part of a buffer that a memref may access: from the memref's offset 0 to the end, as elements of a dtype."""

    bytes: Array
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        return self.bytes.size // self.dtype.itemsize

    def view(self, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Array:
        """Return an array on these elements; offset and strides are in elements. Raise UndefinedError out of bounds."""
        if any(size < 0 for size in shape):
            raise UndefinedError(f"every dimension must be at least 0, got shape {list(shape)}")
        if all(shape):
            ends = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
            low, high = offset + sum(min(end, 0) for end in ends), offset + sum(max(end, 0) for end in ends)
            if low < 0 or high >= self.size:
                raise UndefinedError(
                    f"elements {low} to {high} are out of bounds of the buffer of {self.size} elements"
                )
        elif not 0 <= offset <= self.size:
            raise UndefinedError(f"element {offset} is out of bounds of the buffer of {self.size} elements")
        step = self.dtype.itemsize
        try:
            return np.ndarray(shape, self.dtype, self.bytes, offset * step, [stride * step for stride in strides])
        except (OverflowError, ValueError):  # with a size of 0, other sizes and strides are unbounded
            raise UndefinedError(f"shape {list(shape)} with strides {list(strides)} is not a valid array") from None

    def from_element(self, offset: int) -> "Span":
        """Return the part of the span that begins at element ``offset``."""
        return Span(self.bytes[offset * self.dtype.itemsize :], self.dtype)


class BaseWithoutElements:
    """The base memref that `memref.extract_strided_metadata` returns for a memref on memory without elements.

    It has rank 0. A program may make empty views of its memory; an access to an element raises UndefinedError.
    """

    ndim, shape, strides = 0, (), ()

    def __init__(self, span: Span) -> None:
        self.span, self.base, self.itemsize = span, span.bytes, span.dtype.itemsize

    def _refuse(self, *arguments: Any, **named: Any) -> NoReturn:
        raise UndefinedError("accesses the base of a memref that has no elements")

    __getitem__ = __setitem__ = __array__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # NumPy looks up special methods
            raise AttributeError(name)
        self._refuse()


def on_memory(array: Array, *, is_constant: bool = False) -> Array:
    """Return a memref on the elements of a C-contiguous array: an array that views a new `Memory` of their bytes.

    Its strides are row-major, also for dimensions of size 1, to which NumPy may have given any stride. If
    ``is_constant``, the memref and its views are not writeable.
    """
    if is_constant:
        array = array.view()
        array.flags.writeable = False
    seen: Array = np.asarray(Memory(array)).view(array.dtype).reshape(array.shape)
    return seen


def view_of_bytes(array: Array, start: int, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return an array of this shape and dtype on a byte buffer from byte ``start`` on.

    Views of the result count their offsets from ``start``.
    """
    outermost = memory_below(array)
    while outermost.base is not None:
        outermost = outermost.base
    following = np.asarray(Memory(array[start:], outermost))
    seen: Array = following[: prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
    return seen


def memref_argument(array: Array, declared: MemRefType, number: int) -> Array:
    """Return argument `number` as a memref on a `Memory` that has only the array's elements.

    Raise ModelError if the array's strides are not those of the declared layout. The memory begins at the array's first
    element, so that the offset is 0. A layout with another static offset is an error, because passes may already have
    replaced reads of the offset by the declared number.
    """
    seen, layout = on_memory(array), layout_of(declared)
    if declared.layout is None or layout is None:
        return seen
    strides = strides_of(seen)
    for size, stride, wanted in zip(seen.shape, strides, layout.strides, strict=True):
        if size > 1 and wanted not in (None, stride) and seen.size:
            raise ModelError(
                f"argument #{number} is declared as {declared}, but an array of shape {list(seen.shape)} has strides "
                f"{list(strides)}: declare these strides or '?', or take a subview of a larger memref in the program"
            )
    if layout.offset not in (None, 0):
        raise ModelError(
            f"argument #{number} is declared as {declared}, but an array begins at offset 0 of its memory: declare "
            f"'offset: ?', or take a subview at {layout.offset} of a larger memref in the program"
        )
    return seen


def strides_of(array: Array) -> tuple[int, ...]:
    """Return the strides of an array in elements instead of bytes."""
    return tuple(stride // array.itemsize for stride in array.strides)


# -- allocation --------------------------------------------------------------------------------------------------------


def allocate(shape: Sequence[int], element: Any, strides: Sequence[int] | None = None, offset: int = 0) -> Array:
    """Return an array of zeros on a new `Buffer`. Strides and offset are in elements; the default is row-major."""
    if strides is None:
        return _zeros(shape, element)
    if any(stride < 0 for stride in strides) or offset < 0:
        raise UndefinedError(
            f"the strides and the offset of new memory must be at least 0, got strides {list(strides)} and offset "
            f"{offset}"
        )
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) if all(shape) else -1
    whole = _zeros((offset + last + 1,), element)
    return span_below(whole)[0].view(offset, shape, strides)


def _zeros(shape: Sequence[int], element: Any) -> Array:
    dtype = element_dtype(element)
    zeros: Array = np.asarray(Buffer(prod(shape) * dtype.itemsize)).view(dtype).reshape(shape)
    return zeros


def allocate_as(shape: Sequence[int], declared: MemRefType) -> Array:
    """Return an array of zeros on a new `Buffer`, with the layout of a memref type."""
    return allocate(shape, declared.element, *_layout(shape, declared))


def laid_out(array: Array, declared: MemRefType, *, is_constant: bool) -> Array:
    """Return a tensor's elements as a memref of the declared layout, on memory that the program cannot free.

    The elements are copied unless the layout is row-major. Raise UndefinedError if elements overlap in the layout.
    """
    strides, offset = _layout(array.shape, declared)
    if (strides, offset) == (list(row_major_strides(array.shape)), 0):
        return on_memory(np.ascontiguousarray(array).reshape(array.shape), is_constant=is_constant)
    copy = allocate(array.shape, declared.element, strides, offset)
    copy[...] = array
    if copy.tobytes() != array.tobytes():
        raise UndefinedError(
            f"elements of the memref type {declared} overlap in memory, so it cannot be the buffer of a tensor"
        )
    span, at = span_below(copy)
    unfreed = span._replace(bytes=on_memory(span.bytes, is_constant=is_constant))
    return unfreed.view(at, array.shape, strides)


def _layout(shape: Sequence[int], declared: MemRefType) -> tuple[list[int], int]:
    """Return the strides and the offset of a new buffer; dynamic strides are row-major, and a dynamic offset is 0."""
    strides = list(row_major_strides(tuple(shape)))
    layout = layout_of(declared)
    if declared.layout is None or layout is None:
        return strides, 0
    pairs = zip(layout.strides, strides, strict=True)
    return [own if stride is None else stride for stride, own in pairs], layout.offset or 0


# -- views -------------------------------------------------------------------------------------------------------------


def span_below(array: Any) -> tuple[Span, int]:
    """Return a memref's whole memory as a span of the memref's dtype, and the memref's offset in it, in elements."""
    if isinstance(array, BaseWithoutElements):
        return array.span, 0
    memory = memory_below(array)
    whole = np.asarray(memory)
    start = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    at, before = divmod(start, array.itemsize)  # a memref.view may start at any byte
    return Span(whole[before:], array.dtype), at


def span_of(array: Any, type: MemRefType) -> tuple[Span, int]:
    """Return the memory from a memref's offset 0 to the end of its buffer, and the offset of its first element.

    If ``type`` has a static offset, offset 0 is that many elements before the first element.
    """
    span, at = span_below(array)
    layout = layout_of(type)
    offset = None if layout is None else layout.offset
    if offset is None:
        return span, at
    if offset > at:
        raise QuantError(f"a memref of type {type} must begin at offset {offset} of its buffer, but begins at {at}")
    return span.from_element(at - offset), offset


def memory_below(array: Any) -> Memory:
    """Return the `Memory` that a memref views. Raise QuantError if there is none."""
    while array is not None and not isinstance(array, Memory):
        array = getattr(array, "base", None)
    if array is None:
        raise QuantError("the buffer of the memref operand is unknown")
    return array


def buffer_of(array: Any) -> Buffer | None:
    """Return the `Buffer` that a memref views; None if the program did not allocate its memory."""
    while array is not None and not isinstance(array, Buffer):
        array = getattr(array, "base", None)
    return array


# -- accesses ----------------------------------------------------------------------------------------------------------


def require_unfreed(array: Any) -> None:
    """Raise UndefinedError if the program has freed the memory of a memref."""
    buffer = buffer_of(array)
    if buffer is not None and buffer.freed:
        raise UndefinedError("accesses freed memory")


def require_writeable(array: Array) -> Array:
    """Return the memref unchanged. Raise UndefinedError if its memory is constant."""
    if not array.flags.writeable:
        raise UndefinedError("writes to constant memory")
    return array
