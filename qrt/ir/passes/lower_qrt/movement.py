"""Lowering of reshape, transpose and concat to operations that move storage integers."""

from collections.abc import Sequence

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Attribute, Block, Builder, DenseArrayAttr, IntegerAttr, Operation, Region, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I64, LoweringContext, tensor_type, uniform_type
from qrt.ir.dialects.tensor.slices import concat_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.unary import requantized
from qrt.ops.core import Attributes, one_axis
from qrt.ops.movement import axes_order, concat_pieces, open_axes
from qrt.types import TensorType, UniformType


def lower_reshape(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.reshape and return its result (storage integers if it is quantized).

    Raises QuantTypeError if a dynamic size cannot be computed.
    """
    stored, shape = context.storage(op.operands[0]), tensor_type(op.results[0]).shape or ()
    context.stage("reshape")
    type = TensorType(shape, tensor_type(stored).element)
    if None not in shape:
        sizes = context.dense(np.array(shape, np.int64), INDEX)
        return context.value("tensor.reshape", (stored, sizes), type)
    axes = open_axes((tensor_type(op.operands[0]),), shape, attributes)
    if axes.count(-1) > (0 not in shape):
        raise QuantTypeError(
            "at most one dimension of the result may be dynamic, apart from dimensions that 'open_axes' takes from the "
            f"operand, got {op.results[0].type}"
        )
    opened = {axis: context.index(context.extent(stored, axis)) for axis in axes if axis >= 0}
    if -1 in axes:
        opened[-1] = _open_extent(context, stored, shape, [opened[axis] for axis in axes if axis >= 0])
    sources = iter(axes)
    extents = [opened[next(sources)] if size is None else context.index(size) for size in shape]
    sizes = context.value("tensor.from_elements", extents, TensorType((len(shape),), INDEX))
    return context.value("tensor.reshape", (stored, sizes), type)


def _open_extent(
    context: LoweringContext, tensor: Value, shape: tuple[int | None, ...], opened: Sequence[Value]
) -> Value:
    """Return the size that a reshape infers for one dimension: the number of elements divided by all other sizes.

    `shape` has the static sizes, and `opened` the other dynamic ones.
    """
    total = context.constant(1, INDEX)
    for extent in context.extents(tensor):
        total = context.value("arith.muli", (total, context.index(extent)), INDEX)
    known = int(np.prod([size for size in shape if size is not None], dtype=np.int64))
    others = context.constant(known, INDEX)
    for size in opened:
        others = context.value("arith.muli", (others, size), INDEX)
    if opened:  # one that is 0 divides nothing
        others = context.value("arith.maxsi", (others, context.constant(1, INDEX)), INDEX)
    return context.value("arith.divsi", (total, others), INDEX)


def lower_transpose(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.transpose to linalg.transpose or to loops, and return its result.

    The result is storage integers if it is quantized.
    """
    stored = context.storage(op.operands[0])
    context.stage("transpose")
    order = axes_order((tensor_type(op.operands[0]),), attributes)
    if list(order) == sorted(order):
        return stored
    sizes = context.extents(stored)
    extents = [sizes[axis] for axis in order]
    if context.loops:
        nest = LoopNest(context, "transpose", extents)
        return nest.finish(nest.read(stored, [nest.loops[order.index(axis)] for axis in range(len(order))]))[0]
    element = tensor_type(stored).element
    target = context.empty(extents, element)
    body = Block([element, element], context.location)
    Builder(body).emit("linalg.yield", body.arguments[:1])
    permutation: dict[str, Attribute] = {"permutation": DenseArrayAttr(I64, tuple(order))}
    operands = (stored, target)
    return context.emit("linalg.transpose", operands, [target.type], permutation, [Region([body])]).results[0]


def lower_concat(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.concat and return its result (storage integers if it is quantized).

    An operand of another quantized type is first requantized to the type of the result.
    """
    types = tuple(map(tensor_type, op.operands))
    parts = []
    for x, piece in zip(op.operands, concat_pieces(types, tensor_type(op.results[0]), attributes), strict=True):
        if isinstance(piece.element, UniformType) and uniform_type(x) is not piece.element:
            parts.append(requantized(context, x, piece.element, attributes["requant"]))
        else:
            parts.append(context.storage(x))
    context.stage("concat")
    axis = one_axis("concat", types, attributes)
    type = concat_type([tensor_type(part) for part in parts], axis)
    return context.value("tensor.concat", parts, type, {"dim": IntegerAttr(axis, I64)})
