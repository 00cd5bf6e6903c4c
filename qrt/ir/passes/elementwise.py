"""Builders for element-wise computations on a scalar, on a whole tensor, or in the body of a `linalg.generic`.

The `linalg.generic` is for quantization parameters that differ by channel or block. The emitted operations, and their
order, are those of upstream's `lower-quant-ops`.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from qrt.ir import Attribute, Block, Builder, DenseElementsAttr, FloatAttr, IntegerAttr, Region, Value
from qrt.ir.core.affine import AffineMapAttr, Expression, floordiv
from qrt.ir.dialects._shaped.types import ranked
from qrt.ir.dialects.linalg.structure import generic
from qrt.ir.text.dense import static_shape, storage_dtype
from qrt.types import FloatType, IndexType, IntegerType, TensorType, Type, UniformType

INDEX = IndexType()


class Emitter:
    """A builder of element-wise operations on `x`, a scalar or a whole ranked tensor, for a per-layer quantized type.

    The methods take constants as integers: the bit pattern for a float element type; for an integer element type, the
    number is wrapped to its width.
    """

    def __init__(self, builder: Builder, x: Value) -> None:
        self.builder = builder
        self.x = x
        self._shape = x.type if isinstance(x.type, TensorType) else None
        self._types: dict[Type, Type] = {}
        self._extents: list[Value] | None = None
        self._constants: dict[tuple[object, ...], Value] = {}

    def scalar(self, number: int, element: Type) -> Value:
        """Emit a scalar constant of type `element`."""
        return self.builder.constant(scalar_attribute(number, element), element)

    def parameter(self, numbers: Sequence[int], element: Type) -> Value:
        """Emit a constant with one number per layer, channel or block; `spread` broadcasts it to the shape of `x`."""
        return self.scalar(numbers[0], element)

    def constant(self, numbers: Sequence[int], element: Type) -> Value:
        """Return a constant with one number per layer, channel or block, broadcast to the shape of `x`.

        Equal constants are emitted once.
        """
        key = (*numbers, element)
        shaped = self._constants.get(key)
        if shaped is None:
            varies = any(number != numbers[0] for number in numbers)
            value = self.parameter(numbers, element) if varies else self.scalar(numbers[0], element)
            shaped = self._constants[key] = self.spread(value)
        return shaped

    def spread(self, scalar: Value) -> Value:
        """Return a scalar broadcast to the shape of `x`; the scalar itself if `x` is a scalar."""
        if self._shape is None:
            return scalar
        if self._extents is None:
            self._extents = extents(self.builder, self.x)
        return self.builder.value("tensor.splat", (scalar, *self._extents), self._type(scalar.type))

    def emit(
        self, name: str, operands: Sequence[Value], element: Type, attributes: dict[str, Attribute] | None = None
    ) -> Value:
        """Emit the operation `name`, whose result has the shape of `x` and elements of type `element`."""
        return self.builder.value(name, operands, self._type(element), attributes)

    def _type(self, element: Type) -> Type:
        if self._shape is None:
            return element
        type = self._types.get(element)
        if type is None:
            type = self._types[element] = self._shape.with_(element=element)
        return type

    def finish(self, y: Value) -> Value:
        """Return the result of the computation, given its last value `y`; for this class it is `y` itself."""
        return y


class ChannelEmitter(Emitter):
    """A builder in the body of a `linalg.generic` over the ranked tensor `x`, for per-axis or sub-channel types."""

    def __init__(self, builder: Builder, x: Value, quantized: UniformType, axis: int | None) -> None:
        """Open the body of the `linalg.generic`; an `axis` other than None replaces that of the type `quantized`."""
        assert isinstance(x.type, TensorType)
        assert x.type.rank is not None
        self._outer = builder
        self._body = Block(location=builder.location)
        super().__init__(Builder(self._body), self._body.add_argument(x.type.element))
        self._inputs = [x]
        self._tensor = x.type
        self._parameter_shape = quantized.scales_shape
        self._map = _parameter_map(x.type.rank, quantized, axis)

    def parameter(self, numbers: Sequence[int], element: Type) -> Value:
        type = TensorType(self._parameter_shape, element)
        self._inputs.append(self._outer.constant(_dense(tuple(numbers), type), type))
        return self._body.add_argument(element)

    def finish(self, y: Value) -> Value:
        self.builder.emit("linalg.yield", (y,))
        self._body.add_argument(y.type)
        type = self._tensor.with_(element=y.type)
        empty = self._outer.value("tensor.empty", extents(self._outer, self._inputs[0]), type)
        loops = self._map.dimensions
        identity = AffineMapAttr.identity(loops)
        maps = (identity, *[self._map] * (len(self._inputs) - 1), identity)
        region = Region([self._body])
        return generic(self._outer, self._inputs, [empty], [type], maps, ["parallel"] * loops, region)[0]


def extents(builder: Builder, tensor: Value) -> list[Value]:
    """Return the dynamic sizes of a ranked tensor as index values, by `tensor.dim`; static sizes are left out."""
    sizes = []
    for axis, size in enumerate(ranked(tensor).shape or ()):
        if size is None:
            sizes.append(builder.value("tensor.dim", (tensor, builder.constant(axis, INDEX)), INDEX))
    return sizes


@lru_cache(maxsize=256)
def _parameter_map(rank: int, quantized: UniformType, axis: int | None) -> AffineMapAttr:
    if quantized.is_per_axis:
        return AffineMapAttr(rank, 0, (("d", quantized.axis if axis is None else axis),))
    blocks = dict(quantized.block_sizes or ())
    results: list[Expression] = [floordiv(("d", i), blocks[i]) if i in blocks else 0 for i in range(rank)]
    return AffineMapAttr(rank, 0, tuple(results))


@lru_cache(maxsize=4096)
def scalar_attribute(number: int, element: Type) -> Attribute:
    if isinstance(element, FloatType):
        return FloatAttr(number, element)
    return IntegerAttr(_wrapped(number, element), element)


def _wrapped(number: int, element: Type) -> int:
    """Wrap a number to the signed range of an integer type; return it unchanged for another type."""
    if not isinstance(element, IntegerType):
        return number
    half = 1 << (element.width - 1)
    return ((number + half) & (2 * half - 1)) - half


@lru_cache(maxsize=1024)
def _dense(numbers: tuple[int, ...], type: TensorType) -> Attribute:
    dtype = storage_dtype(type.element)
    if isinstance(type.element, FloatType):
        array = np.array(numbers, f"u{dtype.itemsize}").view(dtype)
    else:
        array = np.array([_wrapped(number, type.element) for number in numbers], np.int64).astype(dtype)
    return DenseElementsAttr(array.reshape(static_shape(type)), type)
