"""Elementwise loops: queries, fusion of two loops, and reordering, for the passes that fuse and move them."""

from collections.abc import Sequence
from typing import TypeGuard

from qrt.ir import Block, Builder, Operation, Region, Value
from qrt.ir.core.affine import AffineMapAttr, Expression, plain_loops, substitute
from qrt.ir.core.attributes import attribute
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.linalg.structure import StructuredOp, generic
from qrt.runtime.fusion.families import discardable, names_of
from qrt.runtime.operations import FUSED
from qrt.types import TensorType


def is_pointwise(op: Operation | None) -> TypeGuard[StructuredOp]:
    """Return True for a `linalg.generic` that computes each element of its only result independently."""
    if not isinstance(op, StructuredOp) or op.name != "linalg.generic" or len(op.results) != 1:
        return False
    block = op.regions[0].blocks[0]
    if block.arguments[-1].uses or any(inner.regions or inner.name == "linalg.index" for inner in block):
        return False
    return is_identity(op.indexing_maps[-1]) and set(op.iterators) <= {"parallel"}


def is_identity(map: AffineMapAttr) -> bool:
    """Return True if a map reads the element at the loops' own indices."""
    return plain_loops(map) == tuple(range(map.dimensions))


def merged(producer: StructuredOp, consumer: StructuredOp) -> StructuredOp:
    """Insert loops before the consumer that compute its result without storing the producer's, and return them.

    If the producer's result has dynamic sizes, its output operand becomes an unread input, so that sizes that do not
    fit are still an error.
    """
    intermediate = producer.result
    init = producer.outputs[0] if consumer.outputs[0] is intermediate else consumer.outputs[0]
    own, others = _inputs(producer), _inputs(consumer)
    sized = [] if _is_static(intermediate) else [(producer.outputs[0], producer.indexing_maps[-1])]
    inputs = list(dict.fromkeys([*own, *sized, *(read for read in others if read[0] is not intermediate)]))
    block = Block([element_of(value.type) for value, _ in inputs] + [element_of(init.type)], consumer.location)
    given = dict(zip(inputs, block.arguments, strict=False))
    inner = Builder(block)
    (value,) = _copied(producer, inner, [given[read] for read in own])
    results = _copied(consumer, inner, [value if read[0] is intermediate else given[read] for read in others])
    inner.emit("linalg.yield", results)
    made_loops = _generic(consumer, inputs, init, consumer.indexing_maps[-1], block)
    names = [name for op in (producer, consumer) for name in names_of(op) or [op.name]]
    made_loops.attributes.update(discardable(consumer) | {FUSED: attribute(names)})
    return made_loops


def reordered(op: StructuredOp, inputs: Sequence[Value | None], init: Value, order: Sequence[int]) -> StructuredOp:
    """Insert loops before an op that compute its result with axis ``order[i]`` as axis ``i``, and return them.

    An input in ``inputs`` that is not None has its axes in that order, and replaces the op's own input."""
    dimensions: list[Expression] = [("d", axis) for axis in order]
    identity = AffineMapAttr.identity(len(order))
    read = []
    for (value, map), other in zip(_inputs(op), inputs, strict=True):
        moved = AffineMapAttr(len(order), 0, tuple(substitute(result, dimensions, []) for result in map.results))
        read.append((value, moved) if other is None else (other, identity))
    block = Block([argument.type for argument in op.regions[0].blocks[0].arguments], op.location)
    inner = Builder(block)
    inner.emit("linalg.yield", _copied(op, inner, block.arguments))
    return _generic(op, read, init, identity, block)


def _inputs(op: StructuredOp) -> list[tuple[Value, AffineMapAttr]]:
    return list(zip(op.inputs, op.indexing_maps, strict=False))


def _is_static(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.has_static_shape


def _copied(op: StructuredOp, builder: Builder, inputs: Sequence[Value]) -> list[Value]:
    """Copy the body of an op with these values for its inputs, and return the yielded values."""
    block = op.regions[0].blocks[0]
    values = dict(zip(block.arguments, inputs, strict=False))
    *operations, last = block
    for operation in operations:
        builder.insert(operation.clone(values))
    return [values.get(value, value) for value in last.operands]


def _generic(
    place: StructuredOp, inputs: Sequence[tuple[Value, AffineMapAttr]], init: Value, map: AffineMapAttr, block: Block
) -> StructuredOp:
    maps = [*(input_map for _, input_map in inputs), map]
    values = [value for value, _ in inputs]
    kinds = ["parallel"] * map.dimensions
    (result,) = generic(Builder(place), values, [init], [init.type], maps, kinds, Region([block]))
    loops = result.operation
    assert isinstance(loops, StructuredOp)
    return loops
