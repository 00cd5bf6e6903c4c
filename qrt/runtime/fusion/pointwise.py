"""Loops that compute each element of a tensor by itself, as the passes that move and fuse them ask for them."""

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
    """Whether an op is a `linalg.generic` whose body computes each element of its only result from what it reads of the
    inputs, in whatever order the loops run."""
    if not isinstance(op, StructuredOp) or op.name != "linalg.generic" or len(op.results) != 1:
        return False
    block = op.regions[0].blocks[0]
    if block.arguments[-1].uses or any(inner.regions or inner.name == "linalg.index" for inner in block):
        return False
    return is_identity(op.indexing_maps[-1]) and set(op.iterators) <= {"parallel"}


def is_identity(map: AffineMapAttr) -> bool:
    """Whether a map leads to the element at the place of the loops."""
    return plain_loops(map) == tuple(range(map.dimensions))


def merged(producer: StructuredOp, consumer: StructuredOp) -> StructuredOp:
    """Loops before the second of two, which compute its result without the first's, that it reads at the place of the
    loops. Where sizes are open, the operand that says the size of the first's result stays, and is not read: a size
    that does not fit is still an error.
    """
    made = producer.result
    init = producer.outputs[0] if consumer.outputs[0] is made else consumer.outputs[0]
    own, others = _inputs(producer), _inputs(consumer)
    sized = [] if _is_static(made) else [(producer.outputs[0], producer.indexing_maps[-1])]
    inputs = list(dict.fromkeys([*own, *sized, *(each for each in others if each[0] is not made)]))
    block = Block([element_of(value.type) for value, _ in inputs] + [element_of(init.type)], consumer.location)
    given = dict(zip(inputs, block.arguments, strict=False))
    inner = Builder(block)
    (value,) = _copied(producer, inner, [given[each] for each in own])
    results = _copied(consumer, inner, [value if each[0] is made else given[each] for each in others])
    inner.emit("linalg.yield", results)
    made_loops = _generic(consumer, inputs, init, consumer.indexing_maps[-1], block)
    names = [name for op in (producer, consumer) for name in names_of(op) or [op.name]]
    made_loops.attributes.update(discardable(consumer) | {FUSED: attribute(names)})
    return made_loops


def reordered(op: StructuredOp, inputs: Sequence[Value | None], init: Value, order: Sequence[int]) -> StructuredOp:
    """Loops before an op, which compute its result with axis ``order[i]`` in the place of axis ``i``. Of ``inputs``
    each that is not None stands in that order, and is read instead of the op's own."""
    dimensions: list[Expression] = [("d", axis) for axis in order]
    identity = AffineMapAttr.identity(len(order))
    read = []
    for (value, map), other in zip(_inputs(op), inputs, strict=True):
        moved = AffineMapAttr(len(order), 0, tuple(substitute(each, dimensions, []) for each in map.results))
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
    """Copies the body for these values of the inputs; returns what it yields."""
    block = op.regions[0].blocks[0]
    values = dict(zip(block.arguments, inputs, strict=False))
    *operations, last = block
    for each in operations:
        builder.insert(each.clone(values))
    return [values.get(value, value) for value in last.operands]


def _generic(
    place: StructuredOp, inputs: Sequence[tuple[Value, AffineMapAttr]], init: Value, map: AffineMapAttr, block: Block
) -> StructuredOp:
    maps = [*(each for _, each in inputs), map]
    values = [value for value, _ in inputs]
    kinds = ["parallel"] * map.dimensions
    (result,) = generic(Builder(place), values, [init], [init.type], maps, kinds, Region([block]))
    made = result.operation
    assert isinstance(made, StructuredOp)
    return made
