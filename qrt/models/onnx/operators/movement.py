"""Operators that change shapes or the order of elements.

The bits of elements and quantized types do not change.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.errors import plural
from qrt.ir import IntegerAttr, Value
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent
from qrt.models.importing.data_movement import joined
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import BOOL
from qrt.models.onnx.node import Node, Shape
from qrt.models.onnx.operators.operands import (
    Sizes,
    axes,
    axes_of,
    in_shape,
    movable,
    run_sizes,
    set_sizes,
    shape_from,
    sizes,
)
from qrt.models.onnx.types import signless
from qrt.types import TensorType, Type, UniformType


def reshaped(node: Node, shape: Shape, sources: Sequence[int | None]) -> None:
    """Set output 0 to input 0 in another shape. A constant input gives a constant output.

    ``sources`` has an entry for each dimension of ``shape``: the axis of the input from which the size is copied, or
    None. Several sizes known only at run time require a source for each.
    """
    array = node.constant(0)
    if array is not None:
        node.set_constant(0, array.reshape([size or 0 for size in shape]), node.plain(0))
        return
    value = movable(node)
    assert isinstance(value.type, TensorType)
    opened = [-1 if axis is None else axis for axis, size in zip(sources, shape, strict=True) if size is None]
    if opened.count(-1) > 1:
        node.refuse("several sizes known only at run time")
    attributes = {"open_axes": opened} if len(opened) > 1 else None
    node.set(0, node.emit("qrt.reshape", [value], attributes, TensorType(shape, value.type.element)))


def reshape(node: Node) -> None:
    """Import Reshape: change the shape, in which 0 copies the input's size, and -1 fits the number of elements.

    Sizes may be known only at run time.
    """
    wanted = run_sizes(node, 1)
    allows_zero = bool(node.attribute("allowzero", 0))
    sources = [_source(node, size, place, allows_zero) for place, size in enumerate(wanted)]
    shape = _new_shape(node, node.shape(0), wanted, sources, allows_zero)
    computed = [axis for axis, size in zip(sources, shape, strict=True) if size is None and axis is None]
    if len(computed) > 1 and node.constant(0) is None:
        node.set(0, _computed_shape(node, shape, wanted, allows_zero))
    else:
        reshaped(node, shape, sources)
    if len(wanted) == 1:
        set_sizes(node, sizes(node, 0))


def _computed_shape(node: Node, shape: Shape, wanted: Sizes, allows_zero: bool) -> Value:
    """Reshape input 0 to the sizes ``wanted``, several of which are known only at run time.

    ``shape`` is the static shape of the result, with None for the unknown sizes.
    """
    value = movable(node)
    kind = value.type
    assert isinstance(kind, TensorType)
    element = kind.element
    if isinstance(element, UniformType):
        value = node.as_storage(value)
    extents = lowering_context(node).extents(value)
    dimensions: list[Extent] = []
    for place, (size, known) in enumerate(zip(wanted, shape, strict=True)):
        if known is not None:
            dimensions.append(known)
        elif isinstance(size, Value) and not allows_zero and place < len(extents) and not _is_dimension(size):
            dimensions.append(_selected(node, size, 0, extents[place], size))
        else:
            dimensions.append(extents[place] if size == 0 and not allows_zero else size)
    open_places = [
        place for place, size in enumerate(wanted)
        if shape[place] is None and (size == -1 or (isinstance(size, Value) and not _is_dimension(size)))
    ]  # fmt: skip
    if -1 in wanted:
        open_places = [wanted.index(-1)] if shape[wanted.index(-1)] is None else []
    if open_places:
        factors = [
            1 if size == -1 else _selected(node, size, -1, 1, size) if place in open_places else size
            for place, size in enumerate(dimensions)
        ]
        rest = node.emit("arith.divsi", [_product(node, extents), _product(node, factors)])
        for place in open_places:
            dimensions[place] = (
                rest if wanted[place] == -1 else _selected(node, dimensions[place], -1, rest, dimensions[place])
            )
    result = in_shape(node, value, tuple(dimensions))
    if isinstance(element, UniformType):
        return node.emit("quant.scast", [result], None, kind.with_(shape=shape))
    return result


def _is_dimension(size: Value) -> bool:
    """Return True if ``size`` is the size of a tensor's axis, so that it does not have the special meaning of -1 or 0.

    In a Reshape, -1 means an inferred size, and 0 a size that is copied from the input.
    """
    return size.operation is not None and size.operation.name == "tensor.dim"


def _selected(node: Node, size: Extent, number: int, first: Extent, second: Extent) -> Value:
    """Return ``first`` if ``size`` is ``number``, else ``second``."""
    context = lowering_context(node)
    is_number = node.emit("arith.cmpi", [context.index(size), context.index(number)], {"predicate": "eq"})
    return node.emit("arith.select", [is_number, context.index(first), context.index(second)])


def _product(node: Node, extents: Sequence[Extent]) -> Value:
    context = lowering_context(node)
    return context.index(context.count(extents))


def _source(node: Node, size: int | Value, place: int, allows_zero: bool) -> int | None:
    """Return the axis of the input from which a size of the new shape is copied, or None.

    ``place`` is the size's index in the new shape.
    """
    if isinstance(size, int):
        return place if size == 0 and not allows_zero else None
    dim = size.operation
    if dim is None or dim.name != "tensor.dim" or dim.operands[0] is not node.value(0):
        return None
    axis = constant_of(dim.operands[1])
    return axis.python if isinstance(axis, IntegerAttr) else None


def _new_shape(
    node: Node, input_shape: Shape, wanted: Sizes, sources: Sequence[int | None], allows_zero: bool
) -> Shape:
    known = [size for size in wanted if isinstance(size, int)]
    if known.count(-1) > 1 or any(size < -1 for size in known):
        node.fail(f"the new shape must have sizes of at least 0, and at most one -1, got {known}")
    shape: list[int | None] = []
    for place, size in enumerate(wanted):
        if isinstance(size, Value):
            shape.append(None)
        elif size == 0 and not allows_zero:
            if place >= len(input_shape):
                node.fail(
                    f"size {place} of the new shape {known} is 0, so it is copied from the input, but the input "
                    "has only "
                    f"{plural(len(input_shape), 'dimension')}"
                )
            shape.append(input_shape[place])
        else:
            shape.append(size)
    count = prod(size for size in input_shape if size is not None)
    if -1 not in known:
        if None not in input_shape and None not in shape and prod(size or 0 for size in shape) != count:
            node.fail(f"an input of {plural(count, 'element')} cannot be reshaped to {known}")
        return tuple(shape)
    open_axis = shape.index(-1)
    others = [size for place, size in enumerate(shape) if place != open_axis]
    rest = prod(size for size in others if size is not None)
    copied = sorted(axis for axis in sources if axis is not None and input_shape[axis] is None)
    if copied != [axis for axis, size in enumerate(input_shape) if size is None] or len(copied) != others.count(None):
        # the rest depends on sizes that only the run knows
        shape[open_axis] = None
    elif not rest or count % rest:
        node.fail(f"an input of {plural(count, 'element')} cannot be reshaped to {known}")
    else:
        shape[open_axis] = count // rest
    return tuple(shape)


def flatten(node: Node) -> None:
    """Import Flatten: reshape to a matrix, with the axes before ``axis`` as rows and the others as columns."""
    input_shape = node.shape()
    axis = node.attribute("axis", 1)
    if not -len(input_shape) <= axis <= len(input_shape):
        node.fail(f"attribute 'axis' must be from {-len(input_shape)} to {len(input_shape)}, got {axis}")
    axis = axis + len(input_shape) if axis < 0 else axis
    sides = input_shape[:axis], input_shape[axis:]
    shape = tuple(None if None in side else prod(size or 0 for size in side) for side in sides)
    reshaped(node, shape, [first if len(side) == 1 else None for first, side in zip((0, axis), sides, strict=True)])


def squeeze(node: Node) -> None:
    """Import Squeeze: remove the given axes, whose size must be 1, or all axes of size 1."""
    input_shape, given = node.shape(), axes_of(node, 1, 13)
    if given is None and None in input_shape:
        node.refuse(f"without axes, of a tensor of shape {list(input_shape)}")
    named = (
        axes(node, given, len(input_shape))
        if given is not None
        else tuple(d for d, n in enumerate(input_shape) if n == 1)
    )
    if any(input_shape[axis] not in (1, None) for axis in named):
        node.fail(f"the axes must have size 1, got axes {list(named)} of shape {list(input_shape)}")
    remaining = [axis for axis in range(len(input_shape)) if axis not in named]
    reshaped(node, tuple(input_shape[axis] for axis in remaining), remaining)
    set_sizes(node, sizes(node, 0))


def unsqueeze(node: Node) -> None:
    """Import Unsqueeze: insert axes of size 1."""
    input_shape, given = node.shape(), axes_of(node, 1, 13)
    if given is None:
        node.fail("the axes (an attribute or input 1) are required, but missing")
    named = axes(node, given, len(input_shape) + len(given))
    rest = iter(range(len(input_shape)))
    sources = [None if axis in named else next(rest) for axis in range(len(input_shape) + len(named))]
    reshaped(node, tuple(1 if axis is None else input_shape[axis] for axis in sources), sources)
    if len(input_shape) + len(named) == 1:
        set_sizes(node, sizes(node, 0))


def identity(node: Node) -> None:
    """Import Identity or Dropout: copy the input.

    Dropout copies too, because models are not trained here. Its mask is true everywhere.
    """
    if node.op.type == "Dropout" and node.has(2) and node.known(2, "training mode").any():
        node.refuse("in training")
    if node.op.type == "Dropout" and node.returns(1):
        if None in node.shape():
            node.refuse("with a mask of a shape known only at run time")
        kind = TensorType(node.shape(), BOOL)
        node.graph.check_size(node.op, kind)
        node.set_constant(1, np.ones([n or 0 for n in node.shape()], np.bool_), BOOL)
    known = sizes(node, 0) if node.constant(0) is None else None
    reshaped(node, node.shape(), range(len(node.shape())))
    set_sizes(node, known)


def transpose(node: Node) -> None:
    """Import Transpose: permute axes by ``perm``, which reverses the axes by default."""
    rank = len(node.shape())
    order = node.ints("perm", tuple(reversed(range(rank))))
    if sorted(order) != list(range(rank)):
        node.fail(f"attribute 'perm' must have each of the axes 0 to {rank - 1} once, got {list(order)}")
    array = node.constant(0)
    if array is not None:
        node.set_constant(0, np.ascontiguousarray(array.transpose(order)), node.plain(0))
        return
    node.set(0, node.emit("qrt.transpose", [movable(node)], {"permutation": list(order)}))


def concat(node: Node) -> None:
    """Import Concat: join tensors of one type along an axis.

    Quantized tensors with different scales or zero points are joined as their integers.
    """
    count, rank = len(node.op.inputs), len(node.shape())
    axis = node.axis(node.required("axis", int), rank)
    if any(len(node.shape(i)) != rank for i in range(count)):
        node.fail(
            f"its inputs must have the same rank, got {' and '.join(str(len(node.shape(i))) for i in range(count))}"
        )
    if any(node.plain(i) is not node.plain(0) for i in range(count)):
        node.fail(
            f"its inputs must have the same type, got {' and '.join(dict.fromkeys(map(node.dtype, range(count))))}"
        )
    arrays = [node.constant(i) for i in range(count)]
    known = [array for array in arrays if array is not None]
    if len(known) == count:
        try:
            node.set_constant(0, np.concatenate(known, axis), node.plain(0))
        except ValueError:
            node.fail(
                f"the shapes of its inputs must be equal but for axis {axis}, got "
                f"{', '.join(str(array.shape) for array in known)}"
            )
        return
    parts = [sizes(node, i) for i in range(count)] if rank == 1 else []
    result = joined(node, _of_one_type(node, count), axis)
    node.set(0, result)
    if parts and None not in parts:
        set_sizes(node, tuple(size for part in parts for size in part or ()))


def _of_one_type(node: Node, count: int) -> list[Value]:
    values = [movable(node, i) for i in range(count)]
    elements = {value.type.element for value in values if isinstance(value.type, TensorType)}
    if len(elements) == 1:
        return values
    plain = node.plain(0)
    plain_values = []
    for i, value in enumerate(values):
        assert isinstance(value.type, TensorType)
        if isinstance(value.type.element, UniformType):
            value = node.stored(i)
            assert isinstance(value.type, TensorType)
            if value.type.element is not plain:
                value = node.emit("tensor.bitcast", [value], None, value.type.with_(element=plain))
        plain_values.append(value)
    return plain_values


def tile(node: Node) -> None:
    """Import Tile: repeat a tensor along each axis. The numbers of repeats may be known only at run time."""
    counts, rank = run_sizes(node, 1), len(node.shape())
    known = [count for count in counts if isinstance(count, int)]
    if len(counts) != rank or min(known, default=0) < 0:
        node.fail(f"repeats must be {plural(rank, 'non-negative integer')}, one for each axis, got {known}")
    if len(known) == rank:
        node.set(0, node.emit("qrt.tile", [movable(node)], {"multiples": known}))
        return
    value = movable(node)  # an axis of size 1 before each axis is broadcast, and merged with it
    kind, context = value.type, lowering_context(node)
    assert isinstance(kind, TensorType)
    extents = context.extents(value)
    split = tuple(size for own in kind.shape or () for size in (1, own))
    spread = _spread(node, node.emit("qrt.reshape", [node.as_storage(value)], None, TensorType(
        split, signless(node.plain(0)))), tuple(
        size for count in counts for size in (count, 1)))  # fmt: skip
    merged = tuple(context.count([count, own]) for count, own in zip(counts, extents, strict=True))
    _set_shaped(node, kind.element, in_shape(node, spread, merged))


def _set_shaped(node: Node, element: Type, stored: Value) -> None:
    """Set output 0 to ``stored``, a tensor of storage, with its integers reinterpreted as the type ``element``."""
    assert isinstance(stored.type, TensorType)
    if isinstance(element, UniformType):
        node.set(0, node.emit("quant.scast", [stored], None, stored.type.with_(element=element)))
    else:
        node.set_plain(0, stored, element)


def expand(node: Node) -> None:
    """Import Expand: broadcast a tensor by NumPy's rules to a shape.

    If a size of the tensor is known only at run time, the size in the shape must be the same or 1.
    """
    input_shape, given = node.shape(), run_sizes(node, 1)
    if min((size for size in given if isinstance(size, int)), default=0) < 0:
        node.fail(f"the shape (input 1) must have sizes of at least 0, got {list(shape_from(given))}")
    rank = max(len(input_shape), len(given))
    aligned = (*(1,) * (rank - len(input_shape)), *input_shape)
    wanted: Sizes = (*(1,) * (rank - len(given)), *given)
    counts = []
    for size, other in zip(aligned, wanted, strict=True):
        if size is not None and isinstance(other, int) and size not in (1, other) and other != 1:
            node.fail(f"an input of shape {list(input_shape)} cannot be broadcast with {list(shape_from(given))}")
        counts.append(other if size == 1 else 1)
    array = node.constant(0)
    known = [count for count in counts if isinstance(count, int)]
    if array is not None and len(known) == rank and prod(known) * array.size <= 1 << 12:
        node.set_constant(0, np.tile(array.reshape([n or 0 for n in aligned]), known), node.plain(0))
        return
    value = movable(node)
    assert isinstance(value.type, TensorType)
    if input_shape != aligned:
        value = node.emit("qrt.reshape", [value], None, TensorType(aligned, value.type.element))
    is_repeated = all(size is not None or other == 1 for size, other in zip(aligned, wanted, strict=True))
    if len(known) == rank and is_repeated:
        node.set(0, node.emit("qrt.tile", [value], {"multiples": known}))
    else:
        node.set(0, _spread(node, value, wanted))


def _spread_extent(node: Node, size: Extent, other: Extent) -> Extent:
    """Return the size of the result along an axis where the sizes ``size`` and ``other`` broadcast."""
    if isinstance(size, int):
        return other if size == 1 else size
    return other if isinstance(other, int) and other != 1 else size if other == 1 else _selected(
        node, other, 1, size, other)  # fmt: skip


def _spread(node: Node, value: Value, wanted: Sizes) -> Value:
    """Broadcast a tensor along its axes of size 1 to sizes that may be known only at run time."""
    kind = value.type
    assert isinstance(kind, TensorType)
    element, shape, context = kind.element, kind.shape or (), lowering_context(node)
    stored = node.as_storage(value)
    own = context.extents(stored)
    extents = [_spread_extent(node, size, other) for size, other in zip(own, wanted, strict=True)]
    nest = LoopNest(context, "broadcast", extents)
    read = nest.read(stored, [0 if size == 1 else loop for size, loop in zip(shape, nest.loops, strict=True)])
    (result,) = nest.finish(read)
    assert isinstance(result.type, TensorType)
    if isinstance(element, UniformType):
        return node.emit("quant.scast", [result], None, result.type.with_(element=element))
    if result.type.element is not element:
        return node.emit("tensor.bitcast", [result], None, result.type.with_(element=element))
    return result


def blocks(node: Node) -> None:
    """Import DepthToSpace or SpaceToDepth: move elements between the channels and square blocks of an image.

    The channels are in the order DCR or CRD.
    """
    size, input_shape = node.required("blocksize", int), node.shape()
    if len(input_shape) == 4 and size > 0 and input_shape[1] is not None and None in input_shape[2:]:
        _move_open_blocks(node, size, input_shape[1])
        return
    if len(input_shape) != 4 or size < 1 or None in input_shape[1:]:
        node.refuse(f"of shape {list(input_shape)}, in blocks of {size}")
    batch, (channels, height, width) = input_shape[0], (n or 0 for n in input_shape[1:])
    mode = node.attribute("mode", "DCR")
    if node.op.type == "SpaceToDepth":
        split: Shape = (batch, channels, height // size, size, width // size, size)
        order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
        shape = (batch, channels * size * size, height // size, width // size)
        fits = height % size == 0 and width % size == 0
    else:
        rest = channels // (size * size)
        split = (batch, size, size, rest, height, width) if mode == "DCR" else (batch, rest, size, size, height, width)
        order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
        shape, fits = (batch, rest, height * size, width * size), channels % (size * size) == 0
    if not fits or mode not in ("DCR", "CRD"):
        node.fail(
            f"attribute 'blocksize' must divide the axes of the input, of shape {list(input_shape)}, and attribute "
            f"'mode' be DCR or CRD, got {size} and {mode}"
        )
    value = movable(node)
    assert isinstance(value.type, TensorType)
    element = value.type.element
    value = node.emit("qrt.reshape", [value], None, TensorType(split, element))
    value = node.emit("qrt.transpose", [value], {"permutation": list(order)})
    node.set(0, node.emit("qrt.reshape", [value], None, TensorType(shape, element)))


def _move_open_blocks(node: Node, size: int, channels: int) -> None:
    """Move elements between channels and blocks of images whose height and width are known only at run time."""
    value, mode, context = movable(node), node.attribute("mode", "DCR"), lowering_context(node)
    assert isinstance(value.type, TensorType)
    element, stored = value.type.element, node.as_storage(value)
    batch, _, height, width = context.extents(stored)
    rest = channels // (size * size)
    if mode not in ("DCR", "CRD") or (node.op.type == "DepthToSpace" and channels % (size * size)):
        node.fail(f"attribute 'blocksize' must divide the {channels} channels, and attribute 'mode' be DCR or CRD")
    split: list[Extent]
    if node.op.type == "SpaceToDepth":
        order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
        inner = [
            side // size if isinstance(side, int) else node.emit("arith.divui", [side, context.index(size)])
            for side in (height, width)
        ]
        split, result = (
            [batch, channels, inner[0], size, inner[1], size],
            [batch, channels * size * size, *inner],
        )
    else:
        order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
        depth = [size, size, rest] if mode == "DCR" else [rest, size, size]
        split = [batch, *depth, height, width]
        result = [batch, rest, context.count([height, size]), context.count([width, size])]
    stored = in_shape(node, stored, tuple(split))
    stored = node.emit("qrt.transpose", [stored], {"permutation": list(order)})
    _set_shaped(node, element, in_shape(node, stored, tuple(result)))
