"""Lowering of slice, tile and pad.

A slice becomes a tensor.extract_slice, followed by a loop if a stride is negative. A tile becomes a loop that reads the
operand at indices modulo its sizes. A pad becomes a tensor.pad with the padding value of each channel.
"""

from qrt.ir import Attribute, DenseArrayAttr, Operation, Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects.linalg.loop_nest import Index, LoopNest
from qrt.ir.dialects.linalg.lowering import I64, Extent, LoweringContext, static_shape, tensor_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.window import pad_tensor
from qrt.ops.core import Attributes
from qrt.ops.pad import channel_axis, stored_value
from qrt.ops.slices import SliceStep, multiples_of, steps_of
from qrt.types import TensorType

_DYNAMIC = -(1 << 63)
"""The entry of `static_sizes` that stands for a size given as an operand."""


def lower_slice(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.slice and return its result (storage integers if it is quantized)."""
    stored = context.storage(op.operands[0])
    context.stage("slice")
    steps = steps_of((tensor_type(op.operands[0]),), attributes)
    sizes = [_size(context, stored, axis, step) for axis, step in enumerate(steps)]
    if 0 in sizes:
        return context.empty(sizes, tensor_type(stored).element)
    operands = [size for size in sizes if isinstance(size, Value)]
    lists = {
        "static_offsets": [_least(step) for step in steps],
        "static_sizes": [size if isinstance(size, int) else _DYNAMIC for size in sizes],
        "static_strides": [abs(step.stride) for step in steps],
    }
    properties: dict[str, Attribute] = {name: DenseArrayAttr(I64, tuple(values)) for name, values in lists.items()}
    properties[OPERAND_SEGMENTS] = segments(1, 0, len(operands), 0)
    result = TensorType(static_shape(sizes), tensor_type(stored).element)
    ascending = context.emit("tensor.extract_slice", (stored, *operands), (result,), properties).results[0]
    if all(step.stride > 0 for step in steps):
        return ascending
    nest = LoopNest(context, "slice", sizes)
    at: list[Expression] = [
        add(multiply(loop, -1), step.size - 1) if step.size is not None and step.stride < 0 else loop
        for loop, step in zip(nest.loops, steps, strict=True)
    ]
    return nest.finish(nest.read(ascending, at))[0]


def _least(step: SliceStep) -> int:
    """Return the lowest position that the slice reads along an axis."""
    return step.offset if step.size is None or step.stride > 0 else step.offset + (step.size - 1) * step.stride


def _size(context: LoweringContext, stored: Value, axis: int, step: SliceStep) -> Extent:
    """Return the number of elements that the slice reads along an axis; 0 if the offset exceeds the axis."""
    if step.size is not None:
        return step.size
    room = context.value(
        "arith.subi", (context.index(context.extent(stored, axis)), context.constant(step.offset, INDEX)), INDEX
    )
    if step.offset:
        room = context.value("arith.maxsi", (room, context.constant(0, INDEX)), INDEX)
    return (
        room
        if step.stride == 1
        else context.value("arith.ceildivsi", (room, context.constant(step.stride, INDEX)), INDEX)
    )


def lower_tile(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.tile and return its result (storage integers if it is quantized)."""
    stored = context.storage(op.operands[0])
    context.stage("tile")
    multiples = multiples_of((tensor_type(op.operands[0]),), attributes)
    sizes = context.extents(stored)
    extents = [
        size * count
        if isinstance(size, int)
        else context.value("arith.muli", (size, context.constant(count, INDEX)), INDEX)
        for size, count in zip(sizes, multiples, strict=True)
    ]
    nest = LoopNest(context, "tile", extents)
    at: list[Index] = []
    for loop, size, count in zip(nest.loops, sizes, multiples, strict=True):
        if count == 1 or size == 1:
            at.append(loop if count == 1 else nest.constant(0, INDEX))
        else:
            length = nest.constant(size, INDEX) if isinstance(size, int) else size
            at.append(nest.value("arith.remui", (nest.position(loop), length), INDEX))
    return nest.finish(nest.gather(stored, at))[0]


def lower_pad(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.pad and return its result (storage integers if it is quantized)."""
    t = tensor_type(op.operands[0]).element
    stored = context.storage(op.operands[0])
    context.stage("pad")
    padding = tuple((int(before), int(after)) for before, after in attributes["padding"])
    return pad_tensor(context, stored, padding, stored_value(t, attributes["value"]), channel_axis(t))
