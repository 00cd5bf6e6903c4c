"""The context in which operations are lowered: constants, tensors and buffers around loop nests."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.ir import Block, Builder, DenseElementsAttr, IntegerAttr, LocationAttr, Operation, StringAttr, Value
from qrt.ir.core.affine import Expression
from qrt.ir.core.attributes import UNIT
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.named import make_fill
from qrt.numerics import BLOCK, in_blocks
from qrt.types import FloatType, IntegerType, MemRefType, TensorType, Type, UniformType
from qrt.types.scanner import Location

Array = npt.NDArray[Any]
Extent = int | Value
"""The number of iterations of a loop: known, or an index value."""

_EQUAL = 0
"""The predicate `eq` of arith.cmpi."""
_UNEQUAL = StringAttr("a dimension that the types leave open is not as large as the one that it goes with")
I1, I8, I16, I32, I64 = (IntegerType(width) for width in (1, 8, 16, 32, 64))
F32, F64 = FloatType("f32"), FloatType("f64")


def stage_location(stage: str) -> LocationAttr:
    return LocationAttr(f'"{stage}"')


def tensor_type(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)  # operands of qrt ops are
    return value.type


def uniform_type(value: Value) -> UniformType:
    """The quantized element of a tensor. Raises QuantTypeError for others, and where storage is no signless integer."""
    element = tensor_type(value).element
    if not isinstance(element, UniformType) or not element.is_storage_castable:
        raise QuantTypeError(f"{value.type} is not stored in signless integers")
    return element


def constant_storage(x: Value) -> Array | None:
    """The stored values of a quantized tensor that is the cast of a constant, int64; None where it is not."""
    source = x.operation
    constant = constant_of(source.operands[0]) if source is not None and source.name == "quant.scast" else None
    if not isinstance(constant, DenseElementsAttr):
        return None
    element = uniform_type(x)
    bits = np.asarray(constant.python).astype(np.int64) & ((1 << element.storage_width) - 1)
    sign = bits >> (element.storage_width - 1) if element.is_signed else 0
    return np.asarray(bits - (sign << element.storage_width))


class LoweringContext(Builder):
    """A builder where an op is lowered, and the options. With `loops`, nests become loops over buffers. With `in_loop`,
    zero points are subtracted in the loop of a product; else the sum is corrected.
    """

    def __init__(
        self, place: Block | Operation, location: Location | None = None, *, loops: bool = False, in_loop: bool = False
    ) -> None:
        super().__init__(place, location)
        self.loops = loops
        self.in_loop = in_loop
        self._buffers: dict[Value, Value] = {}

    def stage(self, name: str) -> None:
        """Let operations made from here on belong to a stage, which their location names."""
        self.loc = stage_location(name)

    def dense(self, values: Array, element: Type) -> Value:
        """Make a constant tensor of the shape of an array."""
        return self.constant(values, TensorType(values.shape, element))

    def storage(self, x: Value) -> Value:
        """A tensor of quantized values as its signless integers; a border, of no stage. A tensor of others is itself.

        Raises QuantTypeError where it has no rank."""
        if tensor_type(x).shape is None:
            raise QuantTypeError(f"{x.type} has no rank")
        self.loc = None
        if not isinstance(tensor_type(x).element, UniformType):
            return x
        return self.value("quant.scast", (x,), tensor_type(x).with_(element=uniform_type(x).storage_type))

    def in_bytes(self, stored: Value) -> Value:
        """Storage as it is read. Constants of less than a byte are held in bytes: `finalize-memref-to-llvm` of MLIR 22
        reads two elements of i4 from a byte, but lays a constant out with one, and has no loads of other narrow types.
        """
        source = stored.operation
        declared = source.operands[0] if source is not None and source.name == "quant.scast" else None
        if declared is None or not isinstance(tensor_type(declared).element, UniformType):
            return stored
        values = constant_storage(declared) if uniform_type(declared).storage_width < I8.width else None
        return stored if values is None else self.dense(values, I8)

    def extent(self, tensor: Value, axis: int) -> Extent:
        size = (tensor_type(tensor).shape or ())[axis]
        return self.value("tensor.dim", (tensor, self.constant(axis, INDEX)), INDEX) if size is None else size

    def extents(self, tensor: Value) -> tuple[Extent, ...]:
        return tuple(self.extent(tensor, axis) for axis in range(tensor_type(tensor).rank or 0))

    def count(self, extents: Sequence[Extent]) -> Extent:
        """The number of iterations of loops together."""
        count: Extent = prod(extent for extent in extents if isinstance(extent, int))
        for extent in extents:
            if isinstance(extent, Value):
                count = self.value("arith.muli", (self.index(count), extent), INDEX)
        return count

    def in_blocks(self, extents: Sequence[Extent]) -> Extent:
        """How many elements of a tensor stand in whole blocks of a rule that has blocks."""
        self.stage("requantize")
        count = self.count(extents)
        if isinstance(count, int):
            return in_blocks(count)
        block = self.constant(BLOCK, INDEX)
        return self.value("arith.muli", (self.value("arith.divui", (count, block), INDEX), block), INDEX)

    def index(self, extent: Extent) -> Value:
        """An extent as a value."""
        return self.constant(extent, INDEX) if isinstance(extent, int) else extent

    def empty(self, extents: Sequence[Extent], element: Type) -> Value:
        """A tensor whose values are not read."""
        sizes = [extent for extent in extents if isinstance(extent, Value)]
        return self.value("tensor.empty", sizes, TensorType(static_shape(extents), element))

    def filled(self, extents: Sequence[Extent], start: Value) -> Value:
        return make_fill(self, start, self.empty(extents, start.type))

    def buffer(self, tensor: Value) -> Value:
        """The memref of a tensor."""
        found = self._buffers.get(tensor)
        if found is None:
            type = tensor_type(tensor)
            made = self.value("bufferization.to_buffer", (tensor,), MemRefType(type.shape, type.element))
            found = self._buffers[tensor] = made
        return found

    def allocate(self, extents: Sequence[Extent], element: Type) -> Value:
        sizes = [extent for extent in extents if isinstance(extent, Value)]
        type = MemRefType(static_shape(extents), element)
        return self.value("memref.alloc", sizes, type, {OPERAND_SEGMENTS: segments(len(sizes), 0)})

    def as_tensor(self, buffer: Value) -> Value:
        """The tensor of a memref that nothing writes any more."""
        assert isinstance(buffer.type, MemRefType)
        type = TensorType(buffer.type.shape, buffer.type.element)
        made = self.value("bufferization.to_tensor", (buffer,), type, {"restrict": UNIT})
        self._buffers[made] = buffer
        return made

    def erase_unread_tensors(self) -> None:
        """Erases tensors that were only read through their buffers."""
        for value in list(self._buffers):
            if value.operation is not None and value.operation.name == "bufferization.to_tensor" and not value.uses:
                value.operation.erase()


def static_shape(extents: Sequence[Extent]) -> tuple[int | None, ...]:
    return tuple(extent if isinstance(extent, int) else None for extent in extents)


def accumulator_type(bound: int) -> IntegerType:
    """The type that holds an accumulator of at most this magnitude."""
    return I32 if bound < 1 << 31 else I64


def broadcast(context: LoweringContext, left: Sequence[Extent], right: Sequence[Extent]) -> tuple[Extent, ...]:
    """The extents that two operands have together, by NumPy's rules. A dimension is repeated where it is known to be 1;
    one that turns out to be 1 is an error when it runs: loops assert it, a linalg.generic requires equal sizes."""
    rank = max(len(left), len(right))
    padded = [(1,) * (rank - len(extents)) + tuple(extents) for extents in (left, right)]
    pairs = list(zip(*padded, strict=True))
    for a, b in pairs if context.loops else ():
        if a != 1 and b != 1 and not (isinstance(a, int) and isinstance(b, int)):
            equal = context.value(
                "arith.cmpi", (context.index(a), context.index(b)), I1, {"predicate": IntegerAttr(_EQUAL, I64)}
            )
            context.emit("cf.assert", (equal,), (), {"msg": _UNEQUAL})
    return tuple(b if a == 1 or (isinstance(b, int) and b != 1) else a for a, b in pairs)


def broadcast_indices(extents: Sequence[Extent], rank: int) -> list[Expression]:
    """How the last of `rank` loops index an operand of them."""
    first = rank - len(extents)
    return [0 if extent == 1 else ("d", first + i) for i, extent in enumerate(extents)]
