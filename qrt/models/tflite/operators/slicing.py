"""Import of SLICE, STRIDED_SLICE, SPLIT, SPLIT_V, REVERSE_V2, PAD, PADV2 and MIRROR_PAD."""

from collections.abc import Sequence
from typing import NamedTuple

from qrt.errors import plural
from qrt.ir import Value
from qrt.models.importing.data_movement import Shape, axes_of, axis_of, joined, reshaped, taken
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import input_shape, one_integer, settle
from qrt.types import TensorType, UniformType


def slice_(node: Node) -> None:
    """Import SLICE: take a slice with offsets and sizes known at import.

    A size of -1 extends to the end of the axis.
    """
    shape, first, sizes = input_shape(node), node.integers(1, "positions"), node.integers(2, "sizes")
    if not len(first) == len(sizes) == len(shape):
        node.fail(
            f"begin and size must have {plural(len(shape), 'integer')} each, one for each axis, got {list(first)} "
            f"and {list(sizes)}"
        )
    for n, begin, size in zip(shape, first, sizes, strict=True):
        if size < -1 or begin < 0 or (n is not None and begin + max(size, 0) > n):
            node.fail(
                f"a slice must be within its axis of {plural(n or 0, 'element')}, with begin >= 0 and size >= -1, "
                f"got begin = {begin} and size = {size}"
            )
    settle(node, 0, node.emit("qrt.slice", [node.value(0)], {"offsets": list(first), "sizes": list(sizes)}))


class _Step(NamedTuple):
    """The slice of one axis. ``size`` is -1 if the axis is dynamic and all elements from ``first`` on are taken."""

    first: int
    size: int
    stride: int


def strided_slice(node: Node) -> None:
    """Import STRIDED_SLICE: take a slice with begins, ends and strides known at import. All masks are supported."""
    value = node.value(0)
    steps, new_shape = _strided(node, input_shape(node))
    lists = {name: [step[i] for step in steps] for i, name in enumerate(("offsets", "sizes", "strides"))}
    part = node.emit("qrt.slice", [value], lists)
    assert isinstance(part.type, TensorType)
    sizes = iter(part.type.shape or ())
    shape: list[int | None] = []
    for kind in new_shape:
        size = 1 if kind == "new" else next(sizes)
        if kind != "dropped":
            shape.append(size)
    settle(node, 0, reshaped(node, part, tuple(shape)))


def _strided(node: Node, shape: Shape) -> tuple[list[_Step], list[str]]:
    """Return the slice of each input axis, and a list that says how input axes become axes of the result.

    The list has "kept" or "dropped" (by shrink_axis_mask) for each axis of the input. Between these, it has "new" for
    each axis that new_axis_mask adds to the result.
    """
    begins, ends, strides = (node.integers(i, what) for i, what in ((1, "begins"), (2, "ends"), (3, "strides")))
    options = node.options
    if not len(begins) == len(ends) == len(strides):
        node.fail(
            f"begin, end and strides must have the same length, got {len(begins)}, {len(ends)} and {len(strides)}"
        )
    ellipsis, new = options["ellipsis_mask"], options["new_axis_mask"] & ~options["ellipsis_mask"]
    if ellipsis & (ellipsis - 1):
        node.fail(f"ellipsis_mask must have at most one bit set, got {ellipsis}")
    named = sum(not (ellipsis | new) >> i & 1 for i in range(len(begins)))
    if named > len(shape):
        node.fail(f"the input has {plural(len(shape), 'axis', 'axes')}, but begin, end and strides slice {named}")
    steps: list[_Step] = []
    kinds: list[str] = []
    for i in range(len(begins)):
        if ellipsis >> i & 1:
            _take_all(steps, kinds, len(shape) - named)
        elif new >> i & 1:
            kinds.append("new")
        else:
            is_dropped = bool(options["shrink_axis_mask"] >> i & 1)
            masks = bool(options["begin_mask"] >> i & 1), bool(options["end_mask"] >> i & 1)
            steps.append(_step(node, shape[len(steps)], begins[i], ends[i], strides[i], masks, is_dropped))
            kinds.append("dropped" if is_dropped else "kept")
    _take_all(steps, kinds, len(shape) - len(steps))
    return steps, kinds


def _take_all(steps: list[_Step], kinds: list[str], count: int) -> None:
    steps += [_Step(0, -1, 1)] * count
    kinds += ["kept"] * count


def _step(
    node: Node, n: int | None, begin: int, end: int, stride: int, masks: tuple[bool, bool], is_dropped: bool
) -> _Step:
    """Return the slice of an axis with ``n`` elements. ``masks`` has the axis's bits of begin_mask and end_mask.

    Negative positions count from the end of the axis, and positions are clamped to the axis.
    """
    if stride == 0:
        node.fail("strides must not be 0")
    if is_dropped:
        if stride < 0:
            node.fail(f"the stride of an axis of shrink_axis_mask must be positive, got {stride}")
        first = begin if begin >= 0 or n is None else begin + n
        if masks[0]:
            first = 0
        if first < 0 or (n is not None and first >= n):
            if n is None:
                node.refuse("positions counted from an end known only at run time")
            node.fail(f"index {begin} of an axis of shrink_axis_mask is out of bounds: the axis has size {n}")
        return _Step(first, 1, 1)
    if n is None:
        if stride > 0 and masks[1] and (masks[0] or begin >= 0):
            return _Step(0 if masks[0] else begin, -1, stride)
        node.refuse("an end along an axis known only at run time")
    low, high = (0, n) if stride > 0 else (-1, n - 1)

    def clamped(position: int) -> int:
        return min(max(position + n if position < 0 else position, low), high)

    first = (low if stride > 0 else high) if masks[0] else clamped(begin)
    if node.options.get("offset"):
        if stride < 0 or begin < 0 or (masks[0] and begin):
            node.refuse("option offset with a begin that is negative or masked")
        end += begin
        if not masks[1] and max(begin, end) > n:  # LiteRT does not clamp: it reads beyond the input
            node.fail(
                f"with option offset, a slice must be within its axis of size {n}, got begin = {begin} and end = {end}"
            )
    last = (high if stride > 0 else low) if masks[1] else clamped(end)
    size = len(range(first, last, stride))
    return _Step(first if size else 0, size, stride if size > 1 else 1)


def split(node: Node) -> None:
    """Import SPLIT: split a tensor into equal parts along an axis."""
    shape = input_shape(node, 1)
    axis = axis_of(node, one_integer(node, 0, "an axis"), len(shape))
    count, size = node.options["num_splits"], shape[axis]
    if size is None:
        node.refuse("an axis known only at run time")
    if count != len(node.outputs) or count < 1 or size % count:
        node.fail(
            f"num_splits must be the number of results, {len(node.outputs)}, and divide the size of the axis, "
            f"{size}, got {count}"
        )
    _parts(node, node.value(1), axis, [size // count] * count)


def split_v(node: Node) -> None:
    """Import SPLIT_V: split a tensor along an axis into parts. Their sizes must be known at import.

    One size may be -1, which means the remaining elements.
    """
    shape, sizes = input_shape(node), list(node.integers(1, "sizes"))
    axis = axis_of(node, one_integer(node, 2, "an axis"), len(shape))
    whole = shape[axis]
    if whole is None:
        node.refuse("an axis known only at run time")
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = whole - (sum(sizes) + 1)
    if len(sizes) != len(node.outputs) or min(sizes, default=0) < 0 or sum(sizes) != whole:
        node.fail(
            f"size_splits must have {plural(len(node.outputs), 'size')}, one for each result, which add up to the "
            f"size of the axis, {whole}, got {sizes}"
        )
    _parts(node, node.value(0), axis, sizes)


def _parts(node: Node, value: Value, axis: int, sizes: Sequence[int]) -> None:
    first = 0
    for i, size in enumerate(sizes):
        settle(node, i, taken(node, value, axis, first, size))
        first += size


def reverse(node: Node) -> None:
    """Import REVERSE_V2: reverse a tensor along axes known at import."""
    value, shape = node.value(0), input_shape(node)
    for axis in axes_of(node, node.integers(1, "axes"), len(shape)):
        size = shape[axis]
        if size is None:
            node.refuse("an axis known only at run time")
        value = taken(node, value, axis, max(size - 1, 0), size, -1)
    settle(node, 0, value)


def paddings_of(node: Node, i: int, rank: int, what: str = "paddings") -> list[tuple[int, int]]:
    """Return the padding (before, after) of each of ``rank`` axes from input ``i``, which must be known at import."""
    ends = node.integers(i, what)
    if len(ends) != 2 * rank or min(ends, default=0) < 0:
        node.fail(f"{what} must have {plural(rank, 'pair')} of non-negative integers (before, after), got {list(ends)}")
    return list(zip(ends[::2], ends[1::2], strict=True))


def pad(node: Node) -> None:
    """Import PAD or PADV2: pad a tensor with zero (the zero point of a quantized type), or with a value.

    The value must be known at import and have the input's type.
    """
    element = node.type(0).element
    if isinstance(element, UniformType) and element.zero_points != node.result_element().zero_points:
        node.refuse("a result whose zero point differs from that of the input, with which kernels pad differently")
    attributes: dict[str, object] = {"padding": paddings_of(node, 1, len(input_shape(node)))}
    if node.has(2):
        attributes["value"] = _pad_value(node)
    settle(node, 0, node.emit("qrt.pad", [node.value(0)], attributes))


def _pad_value(node: Node) -> float:
    array, element, own = node.constant(2), node.type(0).element, node.type(2).element
    if array is None:
        node.refuse("a value known only at run time")
    if array.size != 1 or own is not element:
        node.fail(
            f"the padding value (input 2) must be one value of the type of the input, {element}, got {node.type(2)}"
        )
    if isinstance(element, UniformType):
        return (int(array.flat[0]) - element.zero_point) * element.scale
    return float(array.flat[0])


def mirror_pad(node: Node) -> None:
    """Import MIRROR_PAD: pad a tensor with its elements in reverse order.

    SYMMETRIC repeats the element at the end, REFLECT does not.
    """
    value, shape = node.value(0), input_shape(node)
    skipped = int(node.options["mode"] == "REFLECT")
    for axis, (before, after) in enumerate(paddings_of(node, 1, len(shape))):
        if not before and not after:
            continue
        size = shape[axis]
        if size is None:
            node.refuse("an axis known only at run time")
        if max(before, after) > size - skipped:
            node.fail(
                f"the padding of an axis of size {size} must be at most {size - skipped} in this mode, got "
                f"{max(before, after)}"
            )
        parts = [value]
        if before:
            parts.insert(0, taken(node, value, axis, before - 1 + skipped, before, -1))
        if after:
            parts.append(taken(node, value, axis, size - 1 - skipped, after, -1))
        value = joined(node, parts, axis)
    settle(node, 0, value)
