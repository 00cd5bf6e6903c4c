"""Upstream's canonicalization patterns of `shape`."""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Builder, DenseElementsAttr, Operation, Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_of, defining_op
from qrt.ir.dialects._shaped.types import ranked, shaped
from qrt.ir.dialects.shape.ops import broadcast_of
from qrt.ir.dialects.tensor.canonicalize import cast, cast_source
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.ir.text.dense import MAX_FOLDED
from qrt.types import IndexType, TensorType


def _shape(value: Value) -> tuple[int | None, ...] | None:
    return shaped(value).shape


def static_shape(op: Operation, builder: Builder) -> PatternResult:
    shape, type = _shape(op.operands[0]), op.results[0].type
    if shape is None or None in shape:
        return None
    extents = DenseElementsAttr(np.array(shape, np.int64), TensorType((len(shape),), INDEX))
    return [cast(builder, builder.value("shape.const_shape", (), extents.type, {"shape": extents}), type)]


def shape_of_reshape(op: Operation, builder: Builder) -> PatternResult:
    """Replace the `shape_of` of a reshaped tensor by the shape operand of the reshape."""
    reshape = defining_op(op.operands[0], "tensor.reshape")
    if reshape is None:
        return None
    shape, type = reshape.operands[1], op.results[0].type
    if isinstance(ranked(shape).element, IndexType):
        return [cast(builder, shape, type)]
    return [builder.value("arith.index_cast", (shape,), type)] if _shape(shape) == _shape(op.results[0]) else None


def cast_of_shape(op: Operation, builder: Builder) -> PatternResult:
    """Merge a `tensor.cast` of the `shape.shape_of` of a tensor into the `shape_of`, if the tensor is ranked."""
    inner = defining_op(op.operands[0], "shape.shape_of")
    if inner is None or not isinstance(inner.operands[0].type, TensorType):
        return None
    shape, length = _shape(inner.operands[0]), _shape(op.results[0])
    if shape is None or length is None or length[0] not in (None, len(shape)):
        return None
    return [builder.value(inner.name, inner.operands, op.results[0].type)]


def extract_of_shape(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], "shape.shape_of")
    if inner is None or not isinstance(inner.operands[0].type, TensorType):
        return None
    return [builder.value("tensor.dim", (inner.operands[0], op.operands[1]), INDEX)]


def rank_of_shape(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], "shape.shape_of")
    if inner is None or not isinstance(inner.operands[0].type, TensorType):
        return None
    shape = _shape(inner.operands[0])
    return None if shape is None else [builder.constant(len(shape), INDEX)]


# -- ops on any number of shapes ---------------------------------------------------------------------------------------


def _with_shapes(op: Operation, builder: Builder, shapes: Sequence[Value]) -> PatternResult:
    if len(shapes) == len(op.operands) and all(a is b for a, b in zip(shapes, op.operands, strict=True)):
        return None
    return [builder.value(op.name, shapes, op.results[0].type)]


def once(op: Operation, builder: Builder) -> PatternResult:
    return _with_shapes(op, builder, list(dict.fromkeys(op.operands)))


def without_scalars(op: Operation, builder: Builder) -> PatternResult:
    """Drop the operands of a `shape.broadcast` that are shapes of scalars, if other operands remain."""
    others = [value for value in op.operands if _shape(value) != (0,)]
    return _with_shapes(op, builder, others) if others else None


def without_casts(op: Operation, builder: Builder) -> PatternResult:
    return _with_shapes(op, builder, [cast_source(value) or value for value in op.operands])


def only_one(op: Operation, builder: Builder) -> PatternResult:
    return [cast(builder, op.operands[0], op.results[0].type)] if len(op.operands) == 1 else None


def joined_constants(op: Operation, builder: Builder) -> PatternResult:
    """Merge the constant operands of a `shape.broadcast` into one constant, their broadcast shape."""
    others = [value for value in op.operands if constant_of(value) is None]
    constants = [constant for value in op.operands if (constant := constant_of(value)) is not None]
    known: list[int] | None = []
    for constant in constants:
        assert isinstance(constant, DenseElementsAttr)  # the type of a shape
        if constant.array.size > MAX_FOLDED:
            return None
        known = None if known is None else broadcast_of(known, constant.array.tolist())
    if known is None or len(constants) < 2:
        return None
    extents = DenseElementsAttr(np.array(known, np.int64), TensorType((len(known),), INDEX))
    merged = builder.value("shape.const_shape", (), extents.type, {"shape": extents})
    return [builder.value(op.name, [*others, merged], op.results[0].type)]


def known_rank(op: Operation, builder: Builder) -> PatternResult:
    """Make the result length of a `shape.broadcast` static, the greatest operand length, if all these are static."""
    lengths, type = [(_shape(value) or (None,))[0] for value in op.operands], op.results[0].type
    known = [length for length in lengths if length is not None]
    if _shape(op.results[0]) != (None,) or len(known) < len(lengths):
        return None
    return [cast(builder, builder.value(op.name, op.operands, TensorType((max(known),), INDEX)), type)]
