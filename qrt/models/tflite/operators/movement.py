"""Import of RESHAPE, SQUEEZE, EXPAND_DIMS, TRANSPOSE, PACK, UNPACK, CONCATENATION, BROADCAST_TO and TILE."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.errors import plural, shown
from qrt.ir import Value
from qrt.ir.core.affine import modulo
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent
from qrt.models.importing.data_movement import Shape, axis_of, joined, reshaped, sizes_of, taken
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import signless, stored
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, input_shape, one_integer, settle, shape_from, sizes
from qrt.ops.core import Array
from qrt.types import UniformType


def reshape(node: Node) -> None:
    """Import RESHAPE: give a tensor another shape.

    The shape is an input, an option in old files, or the shape of the result in the file.
    """
    settle(node, 0, reshaped(node, node.value(0), _new_shape(node)))


def _new_shape(node: Node) -> Shape:
    sizes = sizes_of(node.value(1)) if node.has(1) and node.constant(1) is None else None
    if sizes is not None:
        return _open_shape(node, sizes)
    if node.has(1) and node.constant(1) is None:
        declared = node.result_type().shape or ()
        if declared.count(None) > 1:
            node.refuse("a shape known only at run time")
        return declared  # one dynamic size is determined by the number of elements
    wanted = node.integers(1, "a shape") if node.has(1) else tuple(node.options.get("new_shape") or ())
    if not node.has(1) and wanted == (0,):
        wanted = ()  # old files write (0,) for a scalar
    if wanted.count(-1) > 1 or any(size < -1 for size in wanted):
        node.fail(f"the new shape must have sizes of at least 0, and at most one -1, got {list(wanted)}")
    own = input_shape(node)
    shape: Shape = tuple(None if size < 0 else size for size in wanted)
    if None in own:
        return shape
    count, rest = prod(size or 0 for size in own), prod(size for size in wanted if size >= 0)
    if None in shape and rest and count % rest == 0:
        shape = tuple(count // rest if size is None else size for size in shape)
    if None in shape or prod(size or 0 for size in shape) != count:
        node.fail(f"an input of {plural(count, 'element')} cannot be reshaped to {list(wanted)}")
    return shape


def _open_shape(node: Node, sizes: Sequence[int | Value]) -> Shape:
    """Return the target shape of a RESHAPE. A size that is known only at run time is None in the shape.

    ``sizes`` has integers, and at most one value of the program for a size known only at run time. A size of -1 is
    computed from the number of elements.
    """
    own, wanted = input_shape(node), [None if isinstance(size, Value) else size for size in sizes]
    known = [size for size in wanted if size is not None]
    if known.count(-1) > 1 or any(size < -1 for size in known):
        node.fail(f"the new shape must have sizes of at least 0, and at most one -1, got {known}")
    if -1 in known:
        count, rest = prod(size for size in own if size is not None), prod(size for size in known if size >= 0)
        follows = own.count(None) == wanted.count(None) and rest > 0 and count % rest == 0
        wanted[wanted.index(-1)] = count // rest if follows else None
    if wanted.count(None) > 1:
        node.refuse("several sizes known only at run time")
    return tuple(wanted)


def squeeze(node: Node) -> None:
    """Import SQUEEZE: remove the given axes of size 1, or all axes of size 1 if none is given."""
    shape = input_shape(node)
    named = {axis_of(node, axis, len(shape)) for axis in node.options["squeeze_dims"] or ()}
    if any(shape[axis] not in (1, None) for axis in named):
        node.fail(f"squeeze_dims must name axes of size 1, got {sorted(named)} of shape {list(shape)}")
    if not named:
        if None in shape:
            node.refuse(f"without axes, of a tensor of shape {list(shape)}")
        named = {axis for axis, size in enumerate(shape) if size == 1}
    settle(node, 0, reshaped(node, node.value(0), tuple(n for d, n in enumerate(shape) if d not in named)))


def expand_dims(node: Node) -> None:
    """Import EXPAND_DIMS: add an axis of size 1."""
    shape = input_shape(node)
    axis = axis_of(node, one_integer(node, 1, "an axis"), len(shape) + 1)
    settle(node, 0, reshaped(node, node.value(0), (*shape[:axis], 1, *shape[axis:])))


def transpose(node: Node) -> None:
    """Import TRANSPOSE: transpose a tensor by a permutation known at import."""
    order, rank = node.integers(1, "an order of axes"), len(input_shape(node))
    if sorted(order) != list(range(rank)):
        node.fail(f"the permutation must have each of the axes 0 to {rank - 1} once, got {list(order)}")
    settle(node, 0, node.emit("qrt.transpose", [node.value(0)], {"permutation": list(order)}))


def pack(node: Node) -> None:
    """Import PACK: stack tensors along a new axis."""
    shape = input_shape(node)
    axis = axis_of(node, node.options["axis"], len(shape) + 1)
    if node.options["values_count"] != len(node.inputs):
        node.fail(
            f"option values_count must be the number of inputs, {len(node.inputs)}, got {node.options['values_count']}"
        )
    if any(input_shape(node, i) != shape for i in range(len(node.inputs))):
        node.fail(
            "the inputs must have the same shape, got "
            f"{' and '.join(str(list(input_shape(node, i))) for i in range(len(node.inputs)))}"
        )
    rows = [reshaped(node, node.value(i), (*shape[:axis], 1, *shape[axis:])) for i in range(len(node.inputs))]
    settle(node, 0, joined(node, rows, axis))


def unpack(node: Node) -> None:
    """Import UNPACK: split a tensor along an axis into one tensor for each index, without the axis."""
    shape = input_shape(node)
    axis = axis_of(node, node.options["axis"], len(shape))
    if not node.options["num"] == shape[axis] == len(node.outputs):
        node.fail(
            f"option num must be the size of axis {axis} of {list(shape)} and the number of results, got "
            f"{node.options['num']} and {plural(len(node.outputs), 'result')}"
        )
    rest = (*shape[:axis], *shape[axis + 1 :])
    for i in range(len(node.outputs)):
        settle(node, i, reshaped(node, taken(node, node.value(0), axis, i, 1), rest))


def concatenation(node: Node) -> None:
    """Import CONCATENATION: concatenate tensors of the same type.

    uint8 tensors may have other scales and zero points than the result; a table then requantizes them.
    """
    rank = len(input_shape(node))
    axis = axis_of(node, node.options["axis"], rank)
    if any(len(input_shape(node, i)) != rank for i in range(len(node.inputs))):
        node.fail(
            "the inputs must have the same rank, got "
            f"{' and '.join(str(len(input_shape(node, i))) for i in range(len(node.inputs)))}"
        )
    if node.options["fused_activation_function"] != "NONE":
        node.fail(f"fused_activation_function must be NONE, got {node.options['fused_activation_function']}")
    out = node.result_type().element
    values = [node.value(i) for i in range(len(node.inputs))]
    if isinstance(out, UniformType):
        values = [_rescaled(node, value, node.element(i), out) for i, value in enumerate(values)]
    settle(node, 0, joined(node, values, axis))


def _rescaled(node: Node, value: Value, own: UniformType, out: UniformType) -> Value:
    """Return an input of CONCATENATION, of the quantized type ``own``, requantized to the result's type ``out``."""
    if own is out:
        return value
    if not own.is_per_layer or not out.is_per_layer:
        node.refuse(f"{own.storage} of several scales")
    if own.storage != out.storage:
        node.fail(f"its inputs must have the storage type of its result, {out.storage}, got {own.storage}")
    if out.storage != "u8":
        node.fail(f"its inputs must have the scale and the zero point of the result, {out}, got {own}")
    node.rule("concatenation", storage=out.storage, is_equal=False)
    return node.emit("qrt.lookup", [value, node.dense(_table(own, out), out)])


def _table(own: UniformType, out: UniformType) -> Array:
    """Return the result's storage for each uint8 storage value of an input, computed in float32.

    The values are rounded half away from zero.
    """
    ratio = np.float32(own.scale) * (np.float32(1) / np.float32(out.scale))
    q = np.arange(256, dtype=np.float32)
    scaled = q * ratio + np.float32(-own.zero_point) * ratio
    away = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype(np.int64)
    stored: Array = np.clip(away + out.zero_point, 0, 255).astype(np.uint8)
    return stored


def tile(node: Node) -> None:
    """Import TILE: repeat a tensor along each axis.

    The numbers of repeats are known at import, or computed from the sizes of tensors.
    """
    own, counts = input_shape(node), sizes(node, 1, "multiples")
    if len(counts) != len(own):
        node.fail(
            f"multiples must be {plural(len(own), 'non-negative integer')}, one for each axis, got "
            f"{list(shape_from(counts))}"
        )
    known = [1 if isinstance(count, Value) else count for count in counts]
    tiled = node.emit("qrt.tile", [node.value(0)], {"multiples": known})
    if None not in shape_from(counts):
        settle(node, 0, tiled)
        return
    context = lowering_context(node)
    extents, periods = list(context.extents(tiled)), list[int | None]([None] * len(own))
    for axis, (size, count) in enumerate(zip(own, counts, strict=True)):
        if not isinstance(count, Value):
            continue
        if size is None:
            node.refuse(
                f"dimension {axis} of {shown(node.input(0).name)} and its multiple, both known only at run time"
            )
        extents[axis] = context.count([size, count])
        periods[axis] = size
    _repeat(node, tiled, extents, periods)


def broadcast_to(node: Node) -> None:
    """Import BROADCAST_TO: broadcast a tensor by NumPy's rules.

    The shape is known at import, or computed from the sizes of tensors. If a dimension of the tensor, or its size in
    the shape, is known only at run time, the two must be equal in a run.
    """
    own, wanted = input_shape(node), sizes(node, 1, "a shape")
    aligned = (*(1,) * (len(wanted) - len(own)), *own)
    pairs = list(zip(aligned, wanted, strict=False))
    is_open = [n is None or (n != 1 and isinstance(size, Value)) for n, size in pairs]
    fits = all(n in (1, size) or opened for (n, size), opened in zip(pairs, is_open, strict=True))
    if len(own) > len(wanted) or not fits:
        node.fail(f"an input of shape {list(own)} cannot be broadcast to {list(shape_from(wanted))}")
    value = reshaped(node, node.value(0), aligned)
    if None in (*own, *shape_from(wanted)):
        _repeat(node, value, wanted, [1 if n == 1 else None for n in aligned])
        return
    counts = [size if n == 1 else 1 for n, size in pairs]
    settle(node, 0, node.emit("qrt.tile", [value], {"multiples": counts}))


def _repeat(node: Node, value: Value, extents: Sequence[Extent], periods: Sequence[int | None]) -> None:
    """Set output 0 to a tensor of the given sizes, in which ``value`` repeats along each axis that has a period.

    The period is the size of the axis in ``value``.
    """
    element = signless(node.type(0).element)
    nest = LoopNest(lowering_context(node), "repeat", extents)
    places = [
        loop if period is None else modulo(loop, period) for loop, period in zip(nest.loops, periods, strict=True)
    ]
    finish(node, 0, nest.finish(nest.read(stored(node, value, element), places))[0])
