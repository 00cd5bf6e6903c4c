"""Helpers of the passes that fuse and move elementwise `linalg.generic` ops, called loops here."""

from collections.abc import Sequence
from typing import TypeGuard

from qrt.ir import Block, Builder, Operation, Region, Value
from qrt.ir.core.affine import AffineMapAttr, Expression, plain_loops, substitute
from qrt.ir.core.attributes import attribute
from qrt.ir.core.constraints import element_of
from qrt.ir.core.traits import PURE
from qrt.ir.dialects.linalg.structure import StructuredOp, generic
from qrt.runtime.fusion.families import discardable, names_of
from qrt.runtime.operations import FUSED
from qrt.types import TensorType


def is_pointwise(op: Operation | None) -> TypeGuard[StructuredOp]:
    """Return True for a `linalg.generic` with one result, whose elements are computed independently of each other."""
    if not isinstance(op, StructuredOp) or op.name != "linalg.generic" or len(op.results) != 1:
        return False
    block = op.regions[0].blocks[0]
    if block.arguments[-1].uses or any(inner.regions or inner.name == "linalg.index" for inner in block):
        return False
    return is_identity(op.indexing_maps[-1]) and set(op.iterators) <= {"parallel"}


def is_identity(map: AffineMapAttr) -> bool:
    """Return True if an indexing map is the identity."""
    return plain_loops(map) == tuple(range(map.dimensions))


def is_defined(op: Operation) -> bool:
    """Return True if an op is defined for all operand values.

    Return False for conversions of floats to integers: they may raise an error at the op's location, and fusion would
    lose the location.
    """
    is_conversion = op.name in ("arith.fptosi", "arith.fptoui")
    return not is_conversion and op.definition is not None and PURE in op.definition.traits


def merged(producer: StructuredOp, consumer: StructuredOp) -> StructuredOp:
    """Insert a `linalg.generic` before ``consumer`` that computes both ops without storing the producer's result.

    If the producer's result has dynamic sizes, the new op takes the producer's output operand as an input that it does
    not read. So operands whose sizes do not fit still raise an error.
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
    """Insert a `linalg.generic` before ``op`` that computes the result of ``op`` with its axes permuted.

    Axis i of the new result is axis ``order[i]`` of the old one. ``inputs`` has a value for each input that replaces it
    and has its axes in the new order already; None keeps the input and permutes its indexing map. ``init`` is the
    output operand.
    """
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
    """Copy an op's body, with ``inputs`` in place of the block arguments.

    Return the values that the copy would yield.
    """
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
