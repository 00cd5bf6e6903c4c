"""Emission of operations that change the shape and the order of axes of float tensors, also with dynamic sizes.

A *layout* describes how a tensor is transposed and reshaped: for each axis of the result, it lists the axes of the
original tensor that are merged into it, in order. An empty entry is a new axis of size 1. For the original NCHW and the
result NHWC, the layout is `((0,), (2,), (3,), (1,))`.
"""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from qrt.ir import Block, Builder, DenseElementsAttr, Region, Value
from qrt.ir.core.attributes import ArrayAttr, Attribute, DenseArrayAttr, IntegerAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects._shaped.lists import numbers_of, with_lists
from qrt.ir.dialects.linalg.named import body_of, make_fill
from qrt.quantization.forms.elements import dense_of, shape_of, tensor_type
from qrt.types import IntegerType, TensorType

Layout = tuple[tuple[int, ...], ...]
"""A layout: for each axis of the result, the axes of the original tensor that it merges; ``()`` for a new axis."""
Sizes = list[int | Value]
_I64 = IntegerType(64)


def ranked(value: Value) -> TensorType:
    """Return the tensor type of a value, which must be a ranked tensor."""
    type = tensor_type(value)
    assert type is not None  # the caller has checked
    return type


def sizes_of(builder: Builder, value: Value) -> Sizes:
    """Return the sizes of a tensor: integers, and a new `tensor.dim` for each dynamic size."""
    return [
        builder.value("tensor.dim", [value, builder.constant(axis, INDEX)], INDEX) if size is None else size
        for axis, size in enumerate(ranked(value).shape or ())
    ]


def filled(builder: Builder, number: float, sizes: Sizes, like: Value) -> Value:
    """Return a tensor of these sizes whose elements all equal ``number``, with the element type of ``like``."""
    element = ranked(like).element
    return make_fill(builder, builder.constant(number, element), empty(builder, sizes, like))


def empty(builder: Builder, sizes: Sizes, like: Value) -> Value:
    """Return an uninitialized tensor of these sizes, with the element type of ``like``."""
    type = TensorType(numbers_of(sizes), ranked(like).element)
    return builder.value("tensor.empty", [size for size in sizes if isinstance(size, Value)], type)


def loops(
    builder: Builder, name: str, inputs: Sequence[Value], start: Value, attributes: Mapping[str, Attribute]
) -> Value:
    """Emit the `linalg` operation ``name`` with the initial value ``start``, and return its result."""
    types = [value.type for value in (*inputs, start)]
    region = body_of(name, types, attributes)
    attributes = {**attributes, OPERAND_SEGMENTS: segments(len(inputs), 1)}
    return builder.emit(name, [*inputs, start], [start.type], attributes, [region]).results[0]


def vector(numbers: Sequence[int]) -> DenseElementsAttr:
    """Return integers, such as strides or dilations, as a dense i64 attribute."""
    return DenseElementsAttr(np.array(numbers, np.int64), TensorType((len(numbers),), _I64))


def _copied(builder: Builder, name: str, source: Value, sizes: Sizes, attribute: str, numbers: Sequence[int]) -> Value:
    start = empty(builder, sizes, source)
    region = body_of("linalg.copy", (source.type, start.type), {})
    attributes: dict[str, Attribute] = {attribute: DenseArrayAttr(_I64, tuple(numbers))}
    return builder.emit(name, [source, start], [start.type], attributes, [region]).results[0]


def transposed(builder: Builder, value: Value, order: Sequence[int]) -> Value:
    """Return a tensor with permuted axes: axis i of the result is axis ``order[i]`` of ``value``."""
    if list(order) == list(range(len(order))):
        return value
    sizes = sizes_of(builder, value)
    return _copied(builder, "linalg.transpose", value, [sizes[axis] for axis in order], "permutation", order)


def spread(builder: Builder, row: Value, axis: int, sizes: Sizes) -> Value:
    """Broadcast the vector ``row`` to these sizes; its only axis becomes ``axis``."""
    others = [other for other in range(len(sizes)) if other != axis]
    return _copied(builder, "linalg.broadcast", row, sizes, "dimensions", others) if others else row


def _reassociation(groups: Sequence[Sequence[int]]) -> ArrayAttr:
    return ArrayAttr(tuple(ArrayAttr(tuple(IntegerAttr(axis, _I64) for axis in group)) for group in groups))


def merged(builder: Builder, value: Value, groups: Sequence[Sequence[int]]) -> Value:
    """Return a tensor in which each group of adjacent axes is merged to one axis (`tensor.collapse_shape`)."""
    type = ranked(value)
    shape = type.shape or ()
    if all(len(group) == 1 for group in groups) and len(groups) == len(shape):
        return value
    sizes = [None if any(shape[axis] is None for axis in group) else prod(shape[axis] or 0 for axis in group)
             for group in groups]  # fmt: skip
    attributes: dict[str, Attribute] = {"reassociation": _reassociation(groups)}
    return builder.value("tensor.collapse_shape", [value], type.with_(shape=tuple(sizes)), attributes)


def divided(builder: Builder, value: Value, groups: Sequence[Sequence[int]], sizes: Sizes) -> Value:
    """Divide axis i of ``value`` into the axes ``groups[i]`` of a tensor of these sizes (`tensor.expand_shape`)."""
    if len(groups) == len(sizes):
        return value
    operands, attributes = with_lists({"output_shape": list(sizes)}, [value])
    attributes.pop(OPERAND_SEGMENTS, None)
    attributes["reassociation"] = _reassociation(groups)
    type = ranked(value).with_(shape=numbers_of(list(sizes)))
    return builder.value("tensor.expand_shape", operands, type, attributes)


def _beside(retained: Sequence[bool]) -> list[list[int]]:
    """Return groups of adjacent axes for a reshape that removes or adds the axes of size 1, False in ``retained``.

    A group has one retained axis and the axes of size 1 that follow it. The first group also has those before it.
    """
    groups: list[list[int]] = []
    before: list[int] = []
    for axis, is_kept in enumerate(retained):
        if is_kept:
            groups.append([*before, axis])
            before = []
        elif groups:
            groups[-1].append(axis)
        else:
            before.append(axis)
    return groups


def arranged(builder: Builder, value: Value, layout: Layout) -> Value:
    """Transpose and reshape a tensor so that it has the axes of a layout; a constant remains a constant."""
    order = [axis for group in layout for axis in group]
    dense = dense_of(value)
    if dense is not None:
        array = np.asarray(dense.array)
        shape = tuple(prod(array.shape[axis] for axis in group) for group in layout)
        array = array.transpose(order).reshape(shape)
        type = ranked(value).with_(shape=shape)
        return builder.constant(DenseElementsAttr(array, type), type)
    value = transposed(builder, value, order)
    places = iter(range(len(order)))
    groups = [[next(places) for _ in group] for group in layout]
    value = merged(builder, value, [group for group in groups if group])
    if all(groups):
        return value
    present = iter(sizes_of(builder, value))
    sizes: Sizes = [next(present) if group else 1 for group in groups]
    return divided(builder, value, _beside([bool(group) for group in groups]), sizes)


def restored(builder: Builder, value: Value, layout: Layout, sizes: Sizes) -> Value:
    """Undo ``arranged``: reshape and transpose ``value``, which has the axes of a layout, to these sizes."""
    order = [axis for group in layout for axis in group]
    places = iter(range(len(layout) + len(order)))
    groups = [[next(places) for _ in group or (0,)] for group in layout]
    whole: Sizes = [size for group in layout for size in ([sizes[axis] for axis in group] if group else [1])]
    value = divided(builder, value, groups, whole)
    is_axis = [bool(group) for group in layout for _ in group or (0,)]
    value = merged(builder, value, _beside(is_axis)) if order else merged(builder, value, [])
    return transposed(builder, value, [order.index(axis) for axis in range(len(order))])


def padded(
    builder: Builder, inner: Value, layout: Layout, low: tuple[int, ...], high: tuple[int, ...], number: float
) -> Value:
    """Pad ``inner``, a tensor in a layout, with ``number``.

    ``low`` and ``high`` are the numbers of elements to add before and after each axis of the original tensor. Axes that
    the layout merges get no padding.
    """
    sides = [[side[group[0]] if len(group) == 1 else 0 for group in layout] for side in (low, high)]
    block = Block([INDEX] * len(layout), builder.location)
    body = Builder(block, builder.location)
    body.emit("tensor.yield", [body.constant(number, ranked(inner).element)])
    operands, attributes = with_lists({"low": list(sides[0]), "high": list(sides[1])}, [inner])
    shape = tuple(
        None if size is None else size + before + after
        for size, before, after in zip(shape_of(inner), *sides, strict=True)
    )
    return builder.emit(
        "tensor.pad", operands, [ranked(inner).with_(shape=shape)], attributes, [Region([block])]
    ).results[0]
