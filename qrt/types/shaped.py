"""Tensor, vector and memref types. Encodings, memory spaces and affine layouts are stored as unparsed text."""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from operator import index
from types import EllipsisType
from typing import Self

from qrt.errors import QuantTypeError, shortened, shown
from qrt.types.builtin import ComplexType, FloatType, IndexType, IntegerType, OpaqueType
from qrt.types.core import Type, as_type
from qrt.types.quantile import QuantileType
from qrt.types.quantized import QuantizedType

Shape = tuple[int | None, ...]
MAX_DIM = (1 << 63) - 1


def _shape(shape: Iterable[int | None]) -> Shape:
    """Return the sizes as a tuple of Python ints and None. Raise QuantTypeError for a wrong type or size."""
    try:
        if type(shape) is not tuple and isinstance(shape, str | bytes | Mapping | Set):
            raise TypeError
        dims = tuple(None if dim is None else index(dim) for dim in shape)
    except TypeError:
        raise QuantTypeError(f"a shape must be a sequence of integers and None, got {shown(shape)}") from None
    for dim in dims:
        if dim is not None and not 0 <= dim <= MAX_DIM:
            raise QuantTypeError(f"a dimension must be from 0 to {MAX_DIM}, or None if dynamic, got {dim}")
    return dims


def _dims(shape: Shape) -> str:
    return "".join("?x" if dim is None else f"{dim}x" for dim in shape)


class _Shaped(Type):
    """Base of tensor and memref types; `shape` is None for an unranked type."""

    __slots__ = ("has_static_shape", "rank", "shape")
    shape: Shape | None
    rank: int | None
    """The number of dimensions; `None` if unranked."""
    has_static_shape: bool
    """True if the type is ranked and all sizes are known."""


def _shape_fields(shape: Shape | None) -> dict[str, object]:
    return {
        "shape": shape,
        "rank": None if shape is None else len(shape),
        "has_static_shape": shape is not None and None not in shape,
    }


class TensorType(_Shaped):
    """A tensor type, such as `tensor<2x?xf32>`.

    Parameters
    ----------
    shape : iterable of int or None, optional
        The sizes, with None for a dynamic size. The shape None is that of an unranked tensor.
    element : Type or str
        The element type.
    encoding : str, optional
        The text of the encoding attribute.

    Raises
    ------
    QuantTypeError
        If a size is negative or needs more than 64 bits, or ``element`` is not allowed as an element type.

    Examples
    --------
    >>> str(TensorType((2, None), FloatType("f32"))), str(TensorType(None, FloatType("f32")))
    ('tensor<2x?xf32>', 'tensor<*xf32>')
    """

    __slots__ = ("element", "encoding")
    shape: Shape | None
    element: Type
    encoding: str | None

    def __new__(cls, shape: Iterable[int | None] | None, element: Type | str, encoding: str | None = None) -> Self:
        dims = None if shape is None else _shape(shape)
        key = cls, dims, as_type(element) if isinstance(element, str) else element, encoding
        try:
            return cls._interned.get(key) or cls._intern(key, cls._checked(*key[1:]))
        except TypeError as error:
            if isinstance(error, QuantTypeError):
                raise
            raise QuantTypeError(f"invalid tensor element type or encoding: {error}") from None

    @staticmethod
    def _checked(shape: Shape | None, element: object, encoding: str | None) -> dict[str, object]:
        allowed = (
            IntegerType | FloatType | IndexType | ComplexType | VectorType | QuantizedType | QuantileType | OpaqueType
        )
        if not isinstance(element, allowed):
            raise QuantTypeError(
                f"invalid tensor element type {element if isinstance(element, Type) else shown(element)}"
            )
        if not isinstance(encoding, str | None):
            raise QuantTypeError(f"an encoding must be text, got {shown(encoding)}")
        if shape is None and encoding is not None:
            raise QuantTypeError("an unranked tensor cannot have an encoding")
        return {**_shape_fields(shape), "element": element, "encoding": encoding}

    def with_(
        self, *, shape: Iterable[int | None] | EllipsisType | None = ..., element: Type | None = None
    ) -> "TensorType":
        """Return a copy with another shape or element type."""
        dims = self.shape if isinstance(shape, EllipsisType) else shape
        return TensorType(dims, self.element if element is None else element, self.encoding)

    def spell(self) -> str:
        return self._spell(str(self.element))

    def shown(self) -> str:
        return shortened(self._spell(self.element.shown()))

    def _spell(self, element: str) -> str:
        dims = "*x" if self.shape is None else _dims(self.shape)
        encoding = "" if self.encoding is None else f", {self.encoding}"
        return f"tensor<{dims}{element}{encoding}>"


class VectorType(Type):
    """A vector type; `scalable[i]` is True for a scalable dimension, written `[n]`."""

    __slots__ = ("element", "scalable", "shape")
    shape: tuple[int, ...]
    element: Type
    scalable: tuple[bool, ...]

    def __new__(cls, shape: Iterable[int], element: Type, scalable: Iterable[bool] | None = None) -> Self:
        dims = _shape(shape)
        flags = (False,) * len(dims) if scalable is None else tuple(scalable)
        key = cls, dims, element, flags
        return cls._interned.get(key) or cls._intern(key, cls._checked(dims, element, flags))

    @staticmethod
    def _checked(shape: Shape, element: Type, scalable: tuple[bool, ...]) -> dict[str, object]:
        if not isinstance(element, IntegerType | FloatType | IndexType | OpaqueType):
            raise QuantTypeError(f"invalid vector element type {element}")
        if not all(shape) or len(scalable) != len(shape):
            raise QuantTypeError(f"vector sizes must be positive integers, got {shape}")
        return {"shape": shape, "element": element, "scalable": scalable}

    def spell(self) -> str:
        dims = "".join(f"[{n}]x" if flag else f"{n}x" for n, flag in zip(self.shape, self.scalable, strict=True))
        return f"vector<{dims}{self.element}>"


@dataclass(frozen=True, slots=True)
class StridedLayout:
    """The layout `strided<[s0, s1], offset: o>` of a memref, in elements; None is a dynamic stride or offset.

    The element (i, j) has the index `o + i * s0 + j * s1` in the buffer.

    >>> str(StridedLayout((None, 1), None)), str(StridedLayout((4, 1)))
    ('strided<[?, 1], offset: ?>', 'strided<[4, 1]>')
    """

    strides: Shape
    offset: int | None = 0

    def __str__(self) -> str:
        strides = ", ".join("?" if stride is None else str(stride) for stride in self.strides)
        offset = "" if self.offset == 0 else f", offset: {'?' if self.offset is None else self.offset}"
        return f"strided<[{strides}]{offset}>"


def row_major(shape: Iterable[int | None]) -> Shape:
    """Return the strides, in elements, of a contiguous row-major buffer of this shape; None for a dynamic stride.

    >>> row_major((2, None, 3)), row_major((None, 2, 3))
    ((None, 3, 1), (6, 3, 1))
    """
    strides: list[int | None] = []
    step: int | None = 1
    for size in reversed(tuple(shape)):
        strides.append(step)
        step = None if step is None or size is None else step * size
    return tuple(reversed(strides))


class MemRefType(_Shaped):
    """A memref type. Its element must not be quantized: memrefs hold the storage type, such as i8.

    `layout` is None for a contiguous row-major buffer; else it is a StridedLayout, or the text of an affine map.
    `space` is the text of the memory space.

    >>> str(MemRefType((4, None), FloatType("f32"), StridedLayout((None, 1)), "1"))
    'memref<4x?xf32, strided<[?, 1]>, 1>'
    """

    __slots__ = ("element", "layout", "space")
    shape: Shape | None
    element: Type
    layout: StridedLayout | str | None
    space: str | None

    def __new__(
        cls,
        shape: Iterable[int | None] | None,
        element: Type,
        layout: StridedLayout | str | None = None,
        space: str | None = None,
    ) -> Self:
        dims = None if shape is None else _shape(shape)
        if dims is not None and isinstance(layout, str) and _SYMBOLS.sub("", layout) == _identity_map(len(dims)):
            layout = None
        if space is not None and space.partition(" : ")[0] == "0":  # the default space, as any integer
            space = None
        key = cls, dims, element, layout, space
        return cls._interned.get(key) or cls._intern(key, cls._checked(dims, element, layout, space))

    @staticmethod
    def _checked(
        shape: Shape | None, element: Type, layout: StridedLayout | str | None, space: str | None
    ) -> dict[str, object]:
        allowed = IntegerType | FloatType | IndexType | ComplexType | VectorType | MemRefType | OpaqueType
        if not isinstance(element, allowed):
            raise QuantTypeError(f"invalid memref element type {element}")
        if shape is None and layout is not None:
            raise QuantTypeError("cannot have affine map for unranked memref type")
        if shape is not None and isinstance(layout, StridedLayout) and len(layout.strides) != len(shape):
            raise QuantTypeError("expected the number of strides to match the rank")
        return {**_shape_fields(shape), "element": element, "layout": layout, "space": space}

    @property
    def strides(self) -> StridedLayout | None:
        """Strides and offset, in elements; None if the layout is an affine map or the memref is unranked."""
        if self.layout is None:
            return None if self.shape is None else StridedLayout(row_major(self.shape))
        return self.layout if isinstance(self.layout, StridedLayout) else None

    def with_(
        self, *, shape: Iterable[int | None] | EllipsisType | None = ..., element: Type | None = None
    ) -> "MemRefType":
        """Return a copy with another shape or element type."""
        dims = self.shape if isinstance(shape, EllipsisType) else shape
        return MemRefType(dims, self.element if element is None else element, self.layout, self.space)

    def spell(self) -> str:
        dims = "*x" if self.shape is None else _dims(self.shape)
        rest = "".join(f", {part}" for part in (self.layout, self.space) if part is not None)
        return f"memref<{dims}{self.element}{rest}>"


_SYMBOLS = re.compile(r"(?<=\))\[[^\]]*\]")
"""The list of symbols `[s0, s1]` in the text of an affine map."""


def _identity_map(rank: int) -> str:
    names = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({names}) -> ({names})>"
