"""The memory of machine code: slots (arguments of the function), and buffers (strided views of slots)."""

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from qrt.ops.core import Array, row_major_strides
from qrt.runtime.codegen.elements import Element, element_form
from qrt.types import Type

Shape = tuple[int, ...]


@dataclass(eq=False)
class Slot:
    """One block of memory that a run passes to the function as ``pointer``.

    ``kind`` is "input", "constant" (with its ``array``), "temporary" or "result"; ``number`` is the number of the input
    or result.
    """

    kind: str
    nbytes: int
    pointer: Any
    number: int = -1
    array: Array | None = None
    is_shared: bool = False
    """True if other slots may have the same memory, because the caller passed it for several arguments."""
    last: int = 0
    """The number of the last operation of the function's block that uses the memory; then other values may reuse it."""


@dataclass(frozen=True)
class Index:
    """An index in a register. In every run it is between ``low`` and ``high`` (inclusive)."""

    value: Any
    low: int
    high: int

    @property
    def is_constant(self) -> bool:
        return self.low == self.high


@dataclass(frozen=True)
class Buffer:
    """A view of a slot with a static shape. Strides and the offset are in elements.

    ``base`` is a further offset, which is known only at run time. ``splat`` is the value of every element, if it is
    known.
    """

    slot: Slot
    type: Type
    shape: Shape
    strides: Shape
    offset: int = 0
    base: Any = None
    splat: Any = None
    is_read_only: bool = False
    element: Element = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "element", element_form(self.type))

    @property
    def is_contiguous(self) -> bool:
        return self.size <= 1 or all(
            n == 1 or stride == wanted
            for n, stride, wanted in zip(self.shape, self.strides, row_major_strides(self.shape), strict=True)
        )

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def is_whole(self) -> bool:
        """True if the buffer is its slot's memory from the first byte to the last, in order."""
        fills = self.size * self.element.dtype.itemsize == self.slot.nbytes
        return fills and self.is_contiguous and self.offset == 0 and self.base is None

    def reshaped(self, shape: Shape) -> "Buffer":
        """Return the same elements in another shape; the buffer must be contiguous."""
        return replace(self, shape=shape, strides=row_major_strides(shape))
