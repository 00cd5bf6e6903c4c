"""Builder for the lowering of an operation: constants, tensors and buffers around loop nests."""

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
"""The number of iterations of a loop: an integer, or an index value."""

_EQUAL = 0
"""The predicate `eq` of arith.cmpi."""
_UNEQUAL = StringAttr("two dimensions that must be equal differ, one of which is dynamic in the types")
I1, I8, I16, I32, I64 = (IntegerType(width) for width in (1, 8, 16, 32, 64))
F32, F64 = FloatType("f32"), FloatType("f64")


def stage_location(stage: str) -> LocationAttr:
    return LocationAttr(f'"{stage}"')


def tensor_type(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)  # operands of qrt ops are tensors
    return value.type


def uniform_type(value: Value) -> UniformType:
    """Return the quantized element type of a tensor; raise QuantTypeError unless its storage is a signless integer."""
    element = tensor_type(value).element
    if not isinstance(element, UniformType) or not element.is_storage_castable:
        raise QuantTypeError(f"the storage type must be a signless integer, got {value.type}")
    return element


def constant_storage(x: Value) -> Array | None:
    """Return the stored values of a quantized constant as an int64 array; None if the tensor is not constant."""
    source = x.operation
    constant = constant_of(source.operands[0]) if source is not None and source.name == "quant.scast" else None
    if not isinstance(constant, DenseElementsAttr):
        return None
    element = uniform_type(x)
    bits = np.asarray(constant.python).astype(np.int64) & ((1 << element.storage_width) - 1)
    sign = bits >> (element.storage_width - 1) if element.is_signed else 0
    return np.asarray(bits - (sign << element.storage_width))


class LoweringContext(Builder):
    """Builder at the place of an operation that is lowered, with the options of the lowering.

    With `loops`, nests become `affine.for` loops over buffers instead of `linalg.generic`. With `in_loop`, a product
    subtracts the zero points from its operands inside the loop; otherwise its sum is corrected after the loop. With
    `by_cost`, each sum of products uses the cheaper of these two strategies, and adds the reason to `choices`. With
    `dot_signs`, such as "us" for unsigned by signed bytes, loops use dot products of bytes where they can.
    """

    def __init__(
        self,
        place: Block | Operation,
        location: Location | None = None,
        *,
        loops: bool = False,
        in_loop: bool = False,
        by_cost: bool = False,
        dot_signs: str = "",
    ) -> None:
        super().__init__(place, location)
        self.loops = loops
        self.in_loop = in_loop
        self.by_cost = by_cost
        self.dot_signs = dot_signs
        self.choices: list[str] = []
        self._buffers: dict[Value, Value] = {}

    def stage(self, name: str) -> None:
        """Set the location of the operations that follow to a stage of the lowering, such as "requantize"."""
        self.loc = stage_location(name)

    def dense(self, values: Array, element: Type) -> Value:
        """Build a constant tensor with the shape of an array."""
        return self.constant(values, TensorType(values.shape, element))

    def storage(self, x: Value) -> Value:
        """Build a `quant.scast` of a quantized tensor to its signless integers; return any other tensor unchanged.

        Raise QuantTypeError if the tensor is unranked. This also ends the current stage: the locations of the cast and
        of later operations name no stage.
        """
        if tensor_type(x).shape is None:
            raise QuantTypeError(f"a ranked tensor is required, got {x.type}")
        self.loc = None
        if not isinstance(tensor_type(x).element, UniformType):
            return x
        return self.value("quant.scast", (x,), tensor_type(x).with_(element=uniform_type(x).storage_type))

    def in_bytes(self, stored: Value) -> Value:
        """Return storage integers that loops can load: a constant of elements narrower than a byte is converted to i8.

        `finalize-memref-to-llvm` of MLIR 22 reads two i4 elements per byte, although it stores one element of a
        constant per byte. It has no loads of other narrow types.
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
        """Return the product of the extents: the number of elements."""
        count: Extent = prod(extent for extent in extents if isinstance(extent, int))
        for extent in extents:
            if isinstance(extent, Value):
                count = self.value("arith.muli", (self.index(count), extent), INDEX)
        return count

    def in_blocks(self, extents: Sequence[Extent]) -> Extent:
        """Return the number of elements in the complete blocks of `numerics.BLOCK` elements of a tensor."""
        self.stage("requantize")
        count = self.count(extents)
        if isinstance(count, int):
            return in_blocks(count)
        block = self.constant(BLOCK, INDEX)
        return self.value("arith.muli", (self.value("arith.divui", (count, block), INDEX), block), INDEX)

    def index(self, extent: Extent) -> Value:
        """Return an extent, an int or a value, as a value of type index."""
        return self.constant(extent, INDEX) if isinstance(extent, int) else extent

    def empty(self, extents: Sequence[Extent], element: Type) -> Value:
        """Return a new tensor with undefined elements."""
        sizes = [extent for extent in extents if isinstance(extent, Value)]
        return self.value("tensor.empty", sizes, TensorType(static_shape(extents), element))

    def filled(self, extents: Sequence[Extent], start: Value) -> Value:
        return make_fill(self, start, self.empty(extents, start.type))

    def buffer(self, tensor: Value) -> Value:
        """Return the memref of a tensor, with one `bufferization.to_buffer` for all uses."""
        buffer = self._buffers.get(tensor)
        if buffer is None:
            type = tensor_type(tensor)
            buffer = self.value("bufferization.to_buffer", (tensor,), MemRefType(type.shape, type.element))
            self._buffers[tensor] = buffer
        return buffer

    def allocate(self, extents: Sequence[Extent], element: Type) -> Value:
        sizes = [extent for extent in extents if isinstance(extent, Value)]
        type = MemRefType(static_shape(extents), element)
        return self.value("memref.alloc", sizes, type, {OPERAND_SEGMENTS: segments(len(sizes), 0)})

    def as_tensor(self, buffer: Value) -> Value:
        """Return the tensor of a memref to which no later operation writes."""
        assert isinstance(buffer.type, MemRefType)
        type = TensorType(buffer.type.shape, buffer.type.element)
        tensor = self.value("bufferization.to_tensor", (buffer,), type, {"restrict": UNIT})
        self._buffers[tensor] = buffer
        return tensor

    def erase_unread_tensors(self) -> None:
        """Erase each `bufferization.to_tensor` whose result is unused, because only its buffer is read."""
        for value in list(self._buffers):
            if value.operation is not None and value.operation.name == "bufferization.to_tensor" and not value.uses:
                value.operation.erase()


def static_shape(extents: Sequence[Extent]) -> tuple[int | None, ...]:
    return tuple(extent if isinstance(extent, int) else None for extent in extents)


def accumulator_type(bound: int) -> IntegerType:
    """Return the type of an accumulator whose magnitude is at most `bound`: i32 if that fits, else i64."""
    return I32 if bound < 1 << 31 else I64


def broadcast(context: LoweringContext, left: Sequence[Extent], right: Sequence[Extent]) -> tuple[Extent, ...]:
    """Return the broadcast extents of two operands, by NumPy's rules for static sizes.

    A dynamic size is never broadcast, even if it is 1 at run time: it must equal the other size unless that is a static
    1. If the lowering builds loops, a `cf.assert` checks this; a `linalg.generic` itself requires it.
    """
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
    """Return the index of each dimension of an operand that is broadcast over `rank` loops: a loop, or 0 for size 1."""
    first = rank - len(extents)
    return [0 if extent == 1 else ("d", first + i) for i, extent in enumerate(extents)]
