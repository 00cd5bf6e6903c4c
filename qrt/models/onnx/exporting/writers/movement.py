"""The export of operations that move elements without a change of their storage."""

from qrt.models.onnx.exporting.exported_value import Order, place, shape_in_order
from qrt.models.onnx.exporting.group import Group
from qrt.ops.core import element_dtype
from qrt.ops.pad import stored_value
from qrt.types import UniformType

_PADDED = {"INT8", "UINT8", "INT32", "INT64", "FLOAT", "DOUBLE", "BOOL"}
"""The types whose storage runtimes can pad."""
_FIRST, _LAST = -(1 << 63), (1 << 63) - 1
"""The ends of a slice before the first element, and after the last one."""


def reshape(group: Group) -> None:
    """Export the operation as Reshape, after a Transpose if the operand's tensor has its axes in another order.

    If the two orders differ only in axes of size 1, there is no Transpose.
    """
    order = _unmoved_order(group)
    source, target = shape_in_order(group.operand(0).shape, order), group.result().shape
    sizes: list[int] = []
    for d, size in enumerate(target):
        is_same = size is None and d < len(source) and source[d] is None and source[:d] == target[:d]
        sizes.append(0 if is_same else -1 if size is None else size)
    if sizes.count(-1) > 1 or (0 in sizes and 0 in target):
        group.refuse(f"{group.operand(0).type.shown()} to {group.result().type.shown()}")
    group.set_stored(group.node("Reshape", group.stored(0, order), group.integers(sizes, "shape")))


def _unmoved_order(group: Group) -> Order:
    """Return the order of axes of a tensor that has the operand's elements in the program's row-major sequence."""
    operand = group.operand(0)
    for order in operand.names:
        axes = [axis for axis in order if axis is not None and operand.shape[axis] != 1]
        if axes == sorted(axes) and None not in order:
            return order
    return operand.canonical


def transpose(group: Group) -> None:
    """Export the operation without a node: record that the operand's tensors contain the result, with permuted axes."""
    operand, result = group.operand(0), group.result()
    given = group.attributes["permutation"]
    permutation: tuple[int, ...] = tuple(reversed(range(operand.rank)))
    if given is not None:
        permutation = tuple(axis % operand.rank for axis in given)
    if operand.array is not None:
        result.array = operand.array.transpose(permutation)
        return
    for order, name in operand.names.items():
        if None not in order:
            result.names[tuple(permutation.index(axis) for axis in order if axis is not None)] = name


def concat(group: Group) -> None:
    """Export the operation as Concat: of storage if all operands have the result's type, else of floats."""
    order, element = group.common_order(), group.result().type.element
    axis = place(order, group.attributes["axis"] % len(order))
    is_exact = all(group.operand(i).type.element is element for i in range(group.count))
    operands = [(group.stored if is_exact else group.real)(i, order) for i in range(group.count)]
    result = group.node("Concat", *operands, axis=axis)
    (group.set_stored if is_exact else group.set_real)(result, order)


def pad(group: Group) -> None:
    """Export the operation as Pad. Raise UnsupportedForm if a per-axis type stores the padding as several integers."""
    order, operand = group.common_order(), group.operand(0)
    element, pairs = operand.type.element, group.attributes["padding"]
    around = stored_value(element, group.attributes["value"])
    if (around != around[0]).any():
        group.refuse("a value for each channel")
    sides = [pairs[axis][side] for side in (0, 1) for axis in order if axis is not None]
    pads = group.integers(sides, "pads")
    if operand.data_type in _PADDED:
        if operand.data_type not in ("FLOAT", "DOUBLE", "INT32", "INT64"):
            group.graph.need(13)
        value = group.constant(around[0].astype(element_dtype(element)), "value")
        group.set_stored(group.node("Pad", group.stored(0, order), pads, value), order)
        return
    if not isinstance(element, UniformType):
        group.refuse(f"elements of {element}")
    real = (int(around[0]) - element.zero_points[0]) * element.scales[0]
    group.set_real(group.node("Pad", group.real(0, order), pads, group.floats(real, "value")), order)


def slice_(group: Group) -> None:
    """Export the operation as Slice.

    If a negative stride reaches index 0, the end is a number far below 0, because -1 would mean the last index.
    """
    order, shape = group.common_order(), group.operand(0).shape
    attributes, rank = group.attributes, len(shape)
    offsets, sizes, strides = (
        list(attributes[name]) if attributes[name] is not None else [default] * rank
        for name, default in (("offsets", 0), ("sizes", -1), ("strides", 1))
    )
    lists: list[list[int]] = [[], [], [], []]
    for at, axis in enumerate(axis for axis in order if axis is not None):
        first, size, stride = int(offsets[axis]), int(sizes[axis]), int(strides[axis])
        if (first, size, stride) == (0, shape[axis], 1) or (first, size, stride) == (0, -1, 1):
            continue
        end = first + size * stride
        if size == -1 or end < 0:
            end = _LAST if stride > 0 else _FIRST
        for numbers, number in zip(lists, (first, end, at, stride), strict=True):
            numbers.append(number)
    if not lists[0]:
        group.set_stored(group.node("Identity", group.stored(0, order)), order)
        return
    inputs = [
        group.integers(numbers, name) for numbers, name in zip(lists, ("starts", "ends", "axes", "steps"), strict=True)
    ]
    group.set_stored(group.node("Slice", group.stored(0, order), *inputs), order)


def tile(group: Group) -> None:
    """Export the operation as Tile."""
    order = group.common_order()
    repeats = [group.attributes["multiples"][axis] for axis in order if axis is not None]
    group.set_stored(group.node("Tile", group.stored(0, order), group.integers(repeats, "repeats")), order)


def gather(group: Group) -> None:
    """Export the operation as Gather. Raise UnsupportedForm for batch axes, which Gather lacks."""
    if group.attributes["batch_dims"]:
        group.refuse(f"batch_dims {group.attributes['batch_dims']}")
    axis = group.attributes["axis"] % max(group.operand(0).rank, 1)
    group.set_stored(group.node("Gather", group.stored(0), group.stored(1), axis=axis))


def gather_nd(group: Group) -> None:
    """Export the operation as GatherND, with the positions cast to int64."""
    positions = group.stored(1)
    if group.operand(1).data_type != "INT64":
        positions = group.node("Cast", positions, is_part=True, to=_INT64)
    group.set_stored(group.node("GatherND", group.stored(0), positions))


_INT64 = 7
"""ONNX's number of int64."""
