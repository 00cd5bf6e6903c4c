"""Slices whose bounds or axis sizes are known only at run time."""

from collections.abc import Sequence
from dataclasses import dataclass

from qrt.ir import Value
from qrt.ir.core.attributes import Attribute, DenseArrayAttr
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.models.importing.node import index, lowering_context
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import I64, sizes
from qrt.types import IndexType, TensorType, UniformType

Number = int | Value
"""A known integer, or a value of type index."""
_OPEN = -(1 << 63)
"""The value in a list of static integers that marks an operand."""
_INDEX = IndexType()


@dataclass(frozen=True)
class SliceRange:
    """The start, the end and the positive step of a slice along an axis. Negative bounds count from the axis's end."""

    start: Number
    end: Number
    step: int


def bounds(node: Node, i: int) -> tuple[Number, ...]:
    """Return the elements of input ``i``, each an integer known at import or a value of type index.

    Raise UnsupportedForm if the number of elements is known only at run time.
    """
    known = sizes(node, i)
    if known is not None:
        return known
    shape = node.shape(i)
    if len(shape) != 1 or shape[0] is None:
        node.refuse(f"bounds of shape {list(shape)}")
    whole = node.value(i)
    elements = [node.emit("tensor.extract", [whole, index(node, at)], None, node.plain(i)) for at in range(shape[0])]
    return tuple(node.emit("arith.index_cast", [element], None, _INDEX) for element in elements)


def cut_open(node: Node, value: Value, cuts: dict[int, SliceRange]) -> Value:
    """Slice a tensor along the axes in ``cuts``, whose bounds or sizes may be known only at run time."""
    kind = value.type
    assert isinstance(kind, TensorType)
    whole = kind.element
    if isinstance(whole, UniformType):
        value = node.as_storage(value)
    shape = kind.shape or ()
    offsets: list[Number] = [0] * len(shape)
    counts: list[Number] = [_extent(node, value, axis) for axis in range(len(shape))]
    strides = [1] * len(shape)
    for axis, cut in cuts.items():
        extent = counts[axis]
        offsets[axis] = start = _within(node, cut.start, extent)
        counts[axis] = _count(node, start, _within(node, cut.end, extent), cut.step)
        strides[axis] = cut.step
    part = _extracted(node, value, offsets, counts, strides)
    if isinstance(whole, UniformType):
        assert isinstance(part.type, TensorType)
        return node.emit("quant.scast", [part], None, part.type.with_(element=whole))
    return part


def _extracted(node: Node, value: Value, *lists: Sequence[Number]) -> Value:
    assert isinstance(value.type, TensorType)
    names = ("static_offsets", "static_sizes", "static_strides")
    operands = [[number for number in numbers if isinstance(number, Value)] for numbers in lists]
    attributes: dict[str, Attribute] = {
        name: DenseArrayAttr(I64, tuple(_OPEN if isinstance(number, Value) else number for number in numbers))
        for name, numbers in zip(names, lists, strict=True)
    }
    attributes[OPERAND_SEGMENTS] = segments(1, *map(len, operands))
    shape = tuple(None if isinstance(size, Value) else size for size in lists[1])
    flat = [operand for part in operands for operand in part]
    kind = value.type.with_(shape=shape)
    return lowering_context(node).value("tensor.extract_slice", (value, *flat), kind, attributes)


def inserted(node: Node, part: Value, whole: Value, offsets: Sequence[Number]) -> Value:
    """Return ``whole`` with ``part`` inserted at the index ``offsets``, which may be known only at run time."""
    assert isinstance(part.type, TensorType)
    counts = [_extent(node, part, axis) for axis in range(part.type.rank or 0)]
    names = ("static_offsets", "static_sizes", "static_strides")
    lists: tuple[Sequence[Number], ...] = (offsets, counts, [1] * len(counts))
    operands = [[number for number in numbers if isinstance(number, Value)] for numbers in lists]
    attributes = {
        name: [_OPEN if isinstance(number, Value) else number for number in numbers]
        for name, numbers in zip(names, lists, strict=True)
    }
    return node.make("tensor.insert_slice", [part, whole, *operands], attributes).result  # type: ignore[list-item]


def _extent(node: Node, value: Value, axis: int) -> Number:
    assert isinstance(value.type, TensorType)
    size = (value.type.shape or ())[axis]
    return node.emit("tensor.dim", [value, index(node, axis)]) if size is None else size


def _within(node: Node, bound: Number, extent: Number) -> Number:
    """Return a slice's bound as a position from 0 to ``extent``, the axis's size.

    A negative bound counts from the end.
    """
    if isinstance(bound, int) and isinstance(extent, int):
        return min(max(bound + extent if bound < 0 else bound, 0), extent)
    if isinstance(bound, int):
        if bound == 0:
            return 0
        if bound < 0:
            return _index_operation(node, "maxsi", _index_operation(node, "addi", bound, extent), 0)
        return _index_operation(node, "minsi", bound, extent)
    below = node.emit("arith.cmpi", [bound, index(node, 0)], {"predicate": "slt"})
    from_end = _index_operation(node, "addi", bound, extent)
    place = node.emit("arith.select", [below, _value(node, from_end), bound])
    return _index_operation(node, "minsi", _index_operation(node, "maxsi", place, 0), extent)


def _count(node: Node, start: Number, end: Number, step: int) -> Number:
    """Return the number of elements from ``start`` to ``end`` by ``step``, or 0 if ``end`` is before ``start``."""
    if isinstance(start, int) and isinstance(end, int):
        return max(0, -((start - end) // step))
    if end == 0:
        return 0
    count = end if start == 0 else _index_operation(node, "maxsi", _index_operation(node, "subi", end, start), 0)
    return count if step == 1 else _index_operation(node, "ceildivsi", count, step)


def _index_operation(node: Node, name: str, left: Number, right: Number) -> Value:
    return node.emit(f"arith.{name}", [_value(node, left), _value(node, right)])


def _value(node: Node, number: Number) -> Value:
    return index(node, number) if isinstance(number, int) else number
