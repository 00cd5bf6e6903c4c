"""Tensor, vector and memref types. Encodings and layouts are kept as text: nothing here reads them."""

from collections.abc import Iterable
from operator import index
from types import EllipsisType
from typing import Self

from qrt.errors import QuantTypeError
from qrt.types.builtin import ComplexType, FloatType, IndexType, IntegerType, OpaqueType
from qrt.types.core import Type
from qrt.types.quantile import QuantileType
from qrt.types.quantized import QuantizedType

Shape = tuple[int | None, ...]
MAX_DIM = (1 << 63) - 1


def _shape(shape: Iterable[int | None]) -> Shape:
    """A shape of plain integers, whatever kind they came as."""
    try:
        dims = tuple(None if dim is None else index(dim) for dim in shape)
    except TypeError:
        raise QuantTypeError(f"a shape is a sequence of integers and None, not {shape!r}") from None
    for dim in dims:
        if dim is not None and not 0 <= dim <= MAX_DIM:
            raise QuantTypeError(f"a dimension is 0 to {MAX_DIM}, not {dim}")
    return dims


def _dims(shape: Shape) -> str:
    return "".join("?x" if dim is None else f"{dim}x" for dim in shape)


class TensorType(Type):
    """A tensor of a shape (`None` for a dynamic dimension), or unranked (shape `None`), and an element type.

    >>> str(TensorType((2, None), FloatType("f32"))), str(TensorType(None, FloatType("f32")))
    ('tensor<2x?xf32>', 'tensor<*xf32>')
    """

    __slots__ = ("element", "encoding", "shape")
    shape: Shape | None
    element: Type
    encoding: str | None

    def __new__(cls, shape: Iterable[int | None] | None, element: Type, encoding: str | None = None) -> Self:
        dims = None if shape is None else _shape(shape)
        return cls._intern((dims, element, encoding), lambda: cls._checked(dims, element, encoding))

    @staticmethod
    def _checked(shape: Shape | None, element: Type, encoding: str | None) -> dict[str, object]:
        allowed = (
            IntegerType | FloatType | IndexType | ComplexType | VectorType | QuantizedType | QuantileType | OpaqueType
        )
        if not isinstance(element, allowed):
            raise QuantTypeError(f"invalid tensor element type {element}")
        if shape is None and encoding is not None:
            raise QuantTypeError("an unranked tensor has no encoding")
        return {"shape": shape, "element": element, "encoding": encoding}

    @property
    def rank(self) -> int | None:
        """The number of dimensions; `None` if unranked."""
        return None if self.shape is None else len(self.shape)

    @property
    def has_static_shape(self) -> bool:
        return self.shape is not None and None not in self.shape

    def with_(
        self, *, shape: Iterable[int | None] | EllipsisType | None = ..., element: Type | None = None
    ) -> "TensorType":
        """A copy with another shape or element."""
        dims = self.shape if isinstance(shape, EllipsisType) else shape
        return TensorType(dims, self.element if element is None else element, self.encoding)

    def spell(self) -> str:
        dims = "*x" if self.shape is None else _dims(self.shape)
        encoding = "" if self.encoding is None else f", {self.encoding}"
        return f"tensor<{dims}{self.element}{encoding}>"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.shape, self.element, self.encoding)


class VectorType(Type):
    """A vector; `scalable` marks the dimensions written `[n]`."""

    __slots__ = ("element", "scalable", "shape")
    shape: tuple[int, ...]
    scalable: tuple[bool, ...]
    element: Type

    def __new__(cls, shape: Iterable[int], element: Type, scalable: Iterable[bool] | None = None) -> Self:
        dims = _shape(shape)
        flags = (False,) * len(dims) if scalable is None else tuple(scalable)
        return cls._intern((dims, element, flags), lambda: cls._checked(dims, element, flags))

    @staticmethod
    def _checked(shape: Shape, element: Type, scalable: tuple[bool, ...]) -> dict[str, object]:
        if not isinstance(element, IntegerType | FloatType | IndexType | OpaqueType):
            raise QuantTypeError(f"invalid vector element type {element}")
        if not all(shape) or len(scalable) != len(shape):
            raise QuantTypeError(f"vector sizes are positive integers, not {shape}")
        return {"shape": shape, "element": element, "scalable": scalable}

    def spell(self) -> str:
        dims = "".join(f"[{n}]x" if flag else f"{n}x" for n, flag in zip(self.shape, self.scalable, strict=True))
        return f"vector<{dims}{self.element}>"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.shape, self.element, self.scalable)


class MemRefType(Type):
    """A memref; layout and memory space are kept as one text. A quantized element is an error: memrefs hold `iN`."""

    __slots__ = ("element", "layout", "shape")
    shape: Shape | None
    element: Type
    layout: str | None

    def __new__(cls, shape: Iterable[int | None] | None, element: Type, layout: str | None = None) -> Self:
        dims = None if shape is None else _shape(shape)
        return cls._intern((dims, element, layout), lambda: cls._checked(dims, element, layout))

    @staticmethod
    def _checked(shape: Shape | None, element: Type, layout: str | None) -> dict[str, object]:
        allowed = IntegerType | FloatType | IndexType | ComplexType | VectorType | MemRefType | OpaqueType
        if not isinstance(element, allowed):
            raise QuantTypeError(f"invalid memref element type {element}")
        return {"shape": shape, "element": element, "layout": layout}

    def spell(self) -> str:
        dims = "*x" if self.shape is None else _dims(self.shape)
        layout = "" if self.layout is None else f", {self.layout}"
        return f"memref<{dims}{self.element}{layout}>"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.shape, self.element, self.layout)
