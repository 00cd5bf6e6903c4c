"""Parts of tensors: Slice, Split, Gather, Pad."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from qrt.errors import plural
from qrt.ir import StringAttr, Value
from qrt.models.importing.data_movement import joined, taken
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import Operand, apply, as_value, compare, number_of, select
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.open_slices import Number, SliceRange, bounds, cut_open, inserted
from qrt.models.onnx.operators.operands import I64, axes_of, movable, run_sizes, set_sizes, sizes, spread
from qrt.models.onnx.types import plain_of, signless
from qrt.types import TensorType, Type, UniformType

_END = 2**31 - 1


def slice_(node: Node) -> None:
    """Import Slice: slice a tensor from starts to ends along axes. The axes and steps must be known at import.

    Negative bounds count from the end. With a negative step, the bounds and the size of the axis must be known at
    import too.
    """
    input_shape = node.shape()
    cuts = _cuts(node, len(input_shape))
    if any(cut.step == 0 for cut in cuts.values()):
        node.fail("steps must not be 0")
    array = node.constant(0)
    is_known = all(isinstance(bound, int) for cut in cuts.values() for bound in (cut.start, cut.stop))
    if array is not None and is_known:
        node.set_constant(0, array[tuple(_cut(node, cuts, axis, array.shape[axis]) for axis in range(array.ndim))],
                          node.plain(0))  # fmt: skip
        return
    parts = [_part(cuts.get(axis), size) for axis, size in enumerate(input_shape)]
    open_cuts = {axis: _open_cut(node, cuts[axis]) for axis, part in enumerate(parts) if part is None}
    known = [(0, -1, 1) if part is None else part for part in parts]
    known_sizes = sizes(node, 0)
    value = movable(node)
    if not open_cuts or any(part != (0, -1, 1) for part in known):
        lists = dict(zip(("offsets", "sizes", "strides"), map(list, zip(*known, strict=True)), strict=True))
        value = node.emit("qrt.slice", [value], lists)
    node.set(0, cut_open(node, value, open_cuts) if open_cuts else value)
    if known_sizes is not None and len(input_shape) == 1 and is_known:
        cut = cuts.get(0, slice(None))
        set_sizes(node, known_sizes[_cut(node, {0: cut}, 0, len(known_sizes))])


def _cuts(node: Node, rank: int) -> dict[int, Any]:
    """Return a Python slice for each axis that the node names. Its bounds are ints or values of the program."""
    starts: Sequence[Number]
    ends: Sequence[Number]
    if node.opset < 10:
        starts, ends = node.ints("starts", ()), node.ints("ends", ())
        named, steps = node.ints("axes", tuple(range(len(starts)))), (1,) * len(starts)
    else:
        given = node.integers(4, "steps") if node.has(4) else ()
        if min(given, default=1) < 0:
            starts, ends = node.integers(1, "starts of steps backwards"), node.integers(2, "ends of steps backwards")
        else:
            starts, ends = bounds(node, 1), bounds(node, 2)
        named = node.integers(3, "axes") if node.has(3) else tuple(range(len(starts)))
        steps = given if node.has(4) else (1,) * len(starts)
    if not len(starts) == len(ends) == len(named) == len(steps):
        node.fail(
            f"starts, ends, axes and steps must have the same length, got {len(starts)}, {len(ends)}, "
            f"{len(named)} and {len(steps)}"
        )
    return {
        node.axis(axis, rank): slice(start, end, step)
        for axis, start, end, step in zip(named, starts, ends, steps, strict=True)
    }


def _open_cut(node: Node, cut: Any) -> SliceRange:
    if cut.step < 0:
        node.refuse("a dynamic dimension backwards")
    return SliceRange(cut.start, cut.stop, cut.step)


def _cut(node: Node, cuts: dict[int, Any], axis: int, size: int) -> slice:
    cut = cuts.get(axis)
    if cut is None:
        return slice(None)
    start, stop, step = _bounds(cut, size)
    return slice(start, None if stop < 0 else stop, step)


def _bounds(cut: Any, size: int) -> tuple[int, int, int]:
    """Return a slice's start, end and step, with the bounds clamped to an axis of ``size`` elements.

    The end is -1 if a negative step reaches the first element.
    """
    step: int = cut.step
    start, stop = (bound + size if bound < 0 else bound for bound in (cut.start, cut.stop))
    if step > 0:
        return min(max(start, 0), size), min(max(stop, 0), size), step
    return min(max(start, 0), size - 1), min(max(stop, -1), size - 1), step


def _part(cut: Any, size: int | None) -> tuple[int, int, int] | None:
    """Return the offset, count and stride of a slice, or None if they are known only at run time.

    A count of -1 means all elements from the offset on.
    """
    if cut is None:
        return 0, -1, 1
    if not isinstance(cut.start, int) or not isinstance(cut.stop, int):
        return None
    if size is None:
        is_rest = cut.start >= 0 and cut.step == 1 and cut.stop >= _END
        return (cut.start, -1, 1) if is_rest else None
    start, stop, step = _bounds(cut, size)
    return start, max(0, -(-(stop - start) // step)), step


def split(node: Node) -> None:
    """Import Split: split a tensor along an axis into parts of equal sizes, or of sizes that are known at import."""
    input_shape = node.shape()
    axis = node.axis(node.attribute("axis", 0), len(input_shape))
    size, count = input_shape[axis], len(node.op.outputs)
    if node.opset < 13:
        parts = node.ints("split", ())
    else:
        parts = node.integers(1, "sizes") if node.has(1) else ()
    if size is None:
        _split_open(node, axis, parts)
        return
    if not parts:
        equal = -(-size // count)
        parts = tuple(min(equal, size - equal * i) for i in range(count))
    if len(parts) != count or sum(parts) != size or min(parts) < 0:
        node.fail(
            f"'split' must have {plural(count, 'size')}, one for each output, which add up to the size of the axis, "
            f"{size}, got {list(parts)}"
        )
    array, value, first = node.constant(0), None if node.constant(0) is not None else movable(node), 0
    for i, part in enumerate(parts):
        if array is not None:
            node.set_constant(i, array.take(range(first, first + part), axis), node.plain(0))
        elif value is not None:
            node.set(i, taken(node, value, axis, first, part))
        first += part


def _split_open(node: Node, axis: int, parts: Sequence[int]) -> None:
    """Split an axis whose size is known only at run time. If the parts do not add up to this size, the run fails."""
    value, count, context = movable(node), len(node.op.outputs), lowering_context(node)
    size = context.index(context.extent(value, axis))
    if parts and (len(parts) != count or min(parts) < 0):
        node.fail(f"'split' must have {plural(count, 'size')}, one for each output, got {list(parts)}")
    starts: list[Number] = [sum(parts[:i]) for i in range(count)]
    if not parts:
        part = node.emit("arith.ceildivsi", [size, context.index(count)])
        starts = [0, *(node.emit("arith.muli", [part, context.index(i)]) for i in range(1, count))]
    if parts or node.opset < 18:
        total = context.index(sum(parts)) if parts else node.emit("arith.muli", [part, context.index(count)])
        fits = node.emit("arith.cmpi", [size, total], {"predicate": "eq"})
        node.make("cf.assert", [fits], {"msg": StringAttr("the parts must add up to the size of the axis")}, [])
    for i, (start, end) in enumerate(zip(starts, [*starts[1:], size], strict=True)):
        node.set(i, cut_open(node, value, {axis: SliceRange(start, end, 1)}))


def gather(node: Node) -> None:
    """Import Gather: take elements along an axis at positions, which may be known at import or computed.

    Negative positions count from the end.
    """
    input_shape = node.shape()
    axis = node.axis(node.attribute("axis", 0), len(input_shape))
    if node.dtype(1) not in ("int32", "int64"):
        node.refuse(f"indices of {node.dtype(1)}")
    size, array, where = input_shape[axis], node.constant(0), node.constant(1)
    if where is not None:
        if size is not None and where.size and not (where.min() >= -size and where.max() < size):
            node.fail(
                f"indices must be from {-size} to {size - 1}, because the axis has size {size}, got {where.min()} "
                f"to {where.max()}"
            )
        if size is not None:
            where = np.where(where < 0, where + size, where).astype(where.dtype)
    if array is not None and where is not None:
        node.set_constant(0, array.take(where, axis), node.plain(0))
        return
    known_sizes = sizes(node, 0)
    value = movable(node)
    is_from_end = where is None or (size is None and where.size > 0 and where.min() < 0)
    at_positions = positions(node, 1, value, axis) if where is None or is_from_end else node.dense(where, node.plain(1))
    node.set(0, node.emit("qrt.gather", [value, at_positions], {"axis": axis}))
    if known_sizes is not None and where is not None and len(input_shape) == 1:
        set_sizes(node, tuple(known_sizes[int(at)] for at in where.ravel()))


def positions(node: Node, i: int, value: Value, axis: int) -> Value:
    """Return the positions in input ``i`` along an axis of ``value``. Negative positions count from the end."""
    element, given = node.plain(i), node.value(i)
    below = compare(node, "slt", given, number_of(0, element), element)
    wrapped = apply(node, "arith.addi", [given, _size(node, value, axis, element)], [element, element], element)
    wrapped_positions = select(node, below, wrapped, given, element)
    assert isinstance(wrapped_positions, Value)
    return wrapped_positions


def _size(node: Node, value: Value, axis: int, element: Type) -> Operand:
    extent = lowering_context(node).extent(value, axis)
    if isinstance(extent, int):
        return number_of(extent, element)
    number = node.emit("arith.index_cast", [extent], None, element)
    return node.emit("tensor.from_elements", [number], None, TensorType((), element))


def pad(node: Node) -> None:
    """Import Pad: pad with a constant, by reflection, by repetition of the edge, or by wrapping around.

    The widths must be known at import, except in the mode "constant". Negative widths crop the tensor.
    """
    input_shape = node.shape()
    widths: Sequence[Number] = node.ints("pads", ()) if node.opset < 11 else run_sizes(node, 1)
    given = axes_of(node, 3, 18) if node.opset >= 18 else None
    named = (
        tuple(node.axis(axis, len(input_shape)) for axis in given)
        if given is not None
        else tuple(range(len(input_shape)))
    )
    if len(widths) != 2 * len(named):
        node.fail(f"pads must have {2 * len(named)} integers, two for each axis, got {len(widths)}")
    ends = {axis: (widths[i], widths[i + len(named)]) for i, axis in enumerate(named)}
    mode = node.attribute("mode", "constant")
    value = movable(node)
    known = {axis: (a, b) for axis, (a, b) in ends.items() if isinstance(a, int) and isinstance(b, int)}
    if len(known) < len(ends):
        if mode != "constant":
            node.refuse(f"widths known only at run time, in mode {mode}")
        node.set(0, _padded_at_run(node, value, [ends.get(axis, (0, 0)) for axis in range(len(input_shape))]))
        return
    pairs = [known.get(axis, (0, 0)) for axis in range(len(input_shape))]
    value = cropped(node, value, pairs)
    widened = [(max(before, 0), max(after, 0)) for before, after in pairs]
    if mode == "constant":
        number = _constant(node)
        node.set(0, filled(node, value, widened, number))
    elif mode in ("reflect", "edge", "wrap"):
        node.set(0, _mirrored(node, value, widened, mode))
    else:
        node.refuse(f"mode {mode}")


def _padded_at_run(node: Node, value: Value, pairs: list[tuple[Number, Number]]) -> Value:
    """Pad a value with a constant by widths of at least 0, some of which are known only at run time."""
    context, kind = lowering_context(node), value.type
    assert isinstance(kind, TensorType)
    if isinstance(kind.element, UniformType):
        value = node.as_storage(value)
    extents = context.extents(value)

    def total(*numbers: Number) -> Number:
        if all(isinstance(number, int) for number in numbers):
            return sum(number for number in numbers if isinstance(number, int))
        terms = [context.index(number) for number in numbers if number != 0]
        return reduce(lambda left, right: node.emit("arith.addi", [left, right]), terms)

    sizes_of_result = tuple(total(before, size, after) for (before, after), size in zip(pairs, extents, strict=True))
    number = number_of(_constant(node), plain_of(node.type(0).element))
    whole = spread(node, number, node.plain(0), sizes_of_result)
    whole = as_value(node, whole, signless(node.plain(0)))
    offsets = [before for before, _ in pairs]
    result = inserted(node, node.as_storage(value), whole, offsets)
    assert isinstance(result.type, TensorType)
    if isinstance(kind.element, UniformType):
        return node.emit("quant.scast", [result], None, result.type.with_(element=kind.element))
    if result.type.element is not kind.element:
        return node.emit("tensor.bitcast", [result], None, result.type.with_(element=kind.element))
    return result


def _constant(node: Node) -> Any:
    """Return the number with which a Pad of mode "constant" fills. For a quantized input, it is a storage integer."""
    if node.opset < 11:
        return node.attribute("value", 0.0)
    if not node.has(2):
        return 0
    array = node.known(2, "a value")
    if array.size != 1 or node.plain(2) is not node.plain(0):
        node.fail(
            f"the padding value (input 2) must be one element of {node.dtype(0)}, got shape {array.shape} of "
            f"{node.dtype(2)}"
        )
    return array.reshape(()).item()


def filled(node: Node, value: Value, pairs: list[tuple[int, int]], number: Any) -> Value:
    """Pad a value with ``number`` along each axis, by the widths ``(before, after)`` in ``pairs``.

    For a quantized value, ``number`` is a storage integer.
    """
    assert isinstance(value.type, TensorType)
    element = value.type.element
    if isinstance(element, UniformType):
        number = (number - element.zero_point) * element.scale
    if not any(map(any, pairs)):
        return node.emit("qrt.reshape", [value], None, value.type)
    return node.emit("qrt.pad", [value], {"padding": pairs, "value": float(number)})


def cropped(node: Node, value: Value, pairs: list[tuple[int, int]]) -> Value:
    """Crop a value along each axis by the negative widths of ``pairs``, ``(before, after)``; ignore other widths."""
    for axis, (before, after) in enumerate(pairs):
        assert isinstance(value.type, TensorType)
        size = (value.type.shape or ())[axis]
        if min(before, after) >= 0:
            continue
        if size is None:
            end = -max(-after, 0) if after < 0 else _END
            value = cut_open(node, value, {axis: SliceRange(max(-before, 0), end, 1)})
            continue
        first, last = max(-before, 0), size - max(-after, 0)
        if last < first:
            node.fail(
                f"negative pads must not remove more than the {size} elements of axis {axis}, got {before} and {after}"
            )
        value = taken(node, value, axis, first, last - first)
    return value


def _repeated(node: Node, value: Value, axis: int, at: int, count: int) -> Value:
    """Return the slice at index ``at`` of an axis, repeated ``count`` times along that axis."""
    assert isinstance(value.type, TensorType)
    multiples = [count if d == axis else 1 for d in range(value.type.rank or 0)]
    return node.emit("qrt.tile", [taken(node, value, axis, at, 1)], {"multiples": multiples})


def _mirrored(node: Node, value: Value, pairs: list[tuple[int, int]], mode: str) -> Value:
    """Pad a value with its own elements, along each axis by the widths ``(before, after)`` in ``pairs``."""
    for axis, (before, after) in enumerate(pairs):
        assert isinstance(value.type, TensorType)
        size = (value.type.shape or ())[axis]
        if not before and not after:
            continue
        if size is None or mode == "wrap":
            value = _from_positions(node, value, axis, (before, after), mode)
            continue
        if mode == "reflect" and max(before, after) >= size:
            node.fail(
                f"the pads of an axis of size {size} must be at most {size - 1} in mode reflect, got "
                f"{max(before, after)}"
            )
        if mode == "reflect":
            head = [taken(node, value, axis, before, before, -1)] if before else []
            tail = [taken(node, value, axis, size - 2, after, -1)] if after else []
        else:
            head = [_repeated(node, value, axis, 0, before)] if before else []
            tail = [_repeated(node, value, axis, size - 1, after)] if after else []
        value = joined(node, [*head, value, *tail], axis)
    return value


def _from_positions(node: Node, value: Value, axis: int, widths: tuple[int, int], mode: str) -> Value:
    """Pad one axis with elements that are gathered from positions, some of which follow from the size of the axis.

    If the axis is too short, so that a position is out of range, the run fails.
    """
    before, after = (np.arange(width, dtype=np.int64) for width in widths)
    size = _size(node, value, axis, I64)
    of_head = {"reflect": before[::-1] + 1, "edge": before * 0, "wrap": before - len(before)}[mode]
    of_tail = {"reflect": -2 - after, "edge": after * 0 - 1, "wrap": after}[mode]
    parts = [value]
    for place, at in ((0, of_head), (len(parts), of_tail)):
        if not at.size:
            continue
        from_end = at.min() < 0
        positions_of_part = apply(node, "arith.addi", [size, at], [I64, I64], I64) if from_end else at
        part = node.emit("qrt.gather", [value, as_value(node, positions_of_part, I64)], {"axis": axis})
        parts.insert(place if place == 0 else len(parts), part)
    return joined(node, parts, axis)
