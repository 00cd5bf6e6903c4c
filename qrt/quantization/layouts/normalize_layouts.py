"""The pass `normalize-layouts`, which rewrites convolutions and pools to the NHWC layout that kernels have."""

from collections.abc import Collection
from dataclasses import dataclass

from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.core.matching import cyclic_operations
from qrt.ir.dialects._shaped.lists import numbers_of, static_values, with_lists
from qrt.ir.rewriting.rewrite import erase_dead, is_dead, replace
from qrt.quantization.forms.elements import body_expression, shape_of, splat_of
from qrt.quantization.forms.movement import padding_of
from qrt.quantization.layouts.carry import Relayouts, carried
from qrt.quantization.layouts.fusable_blocks import blocks_of
from qrt.quantization.layouts.sums import write_sum
from qrt.quantization.layouts.tensors import (
    Layout,
    Sizes,
    arranged,
    divided,
    empty,
    filled,
    loops,
    merged,
    padded,
    ranked,
    restored,
    sizes_of,
    vector,
)
from qrt.quantization.layouts.windows import Convolution, Pool, Role, Window, convolution_of, window_reduction_of


@dataclass(frozen=True)
class NormalizeLayouts:
    """Rewrites convolutions and pools of any layout (axis order) to NHWC, and adds transposes and reshapes around them.

    The pass rewrites convolutions and pools of 1 to 3 dimensions with any order of axes, also with groups or a depth
    multiplier. They may be named operations or `linalg.generic`. Transposes and reshapes of results are moved behind
    element-wise operations, biases and pads, where they cancel those of the next convolution or pool. A slice that
    drops axes becomes a slice that keeps them, and a reshape. A sum that several operations compute, such as an average
    pool from ONNX, becomes one reduction. Sums may be rounded in another order; no value changes otherwise.
    """

    def run(self, module: Module) -> None:
        normalize(module, frozenset())


def normalize(module: Module, unchanged: Collection[Operation]) -> None:
    """Run `normalize-layouts` on a module, except on the operations ``unchanged``, which kernels accept as they are."""
    relayouts: Relayouts = {}
    dead = {inner for block in blocks_of(module.operation) for inner in block if is_dead(inner)}
    for block in blocks_of(module.operation):
        operations = list(block)
        cyclic = cyclic_operations(inner for operation in operations for inner in operation.walk())
        for operation in reversed(operations):  # the last step of a sum before the partial sums
            if operation not in cyclic and operation not in unchanged and not is_dead(operation):
                write_sum(operation)
        for operation in list(block):
            if operation.parent is block and operation not in cyclic and operation not in unchanged:
                _normalize(operation, relayouts)
    erase_dead([inner for block in blocks_of(module.operation) for inner in block if inner not in dead])


def _normalize(operation: Operation, relayouts: Relayouts) -> None:
    if len(operation.results) != 1:
        return
    (value,) = operation.results
    if operation.name == "tensor.extract_slice":
        _keep_axes(operation)
        return
    convolution = convolution_of(value)
    pool = None if convolution is not None else window_reduction_of(value)
    if convolution is not None:
        _write_convolution(convolution, relayouts)
    elif pool is not None:
        _write_pool(pool, relayouts)
    else:
        carried(operation, relayouts)


def _keep_axes(operation: Operation) -> None:
    """Replace a `tensor.extract_slice` that drops axes by one that keeps all axes, and a reshape."""
    sizes, (result,) = static_values(operation, "sizes"), operation.results
    shape = shape_of(result)
    if len(sizes) == len(shape) or None in sizes:
        return
    builder = Builder(operation)
    sliced = ranked(result).with_(shape=sizes)
    whole = builder.value("tensor.extract_slice", operation.operands, sliced, dict(operation.attributes))
    groups: list[list[int]] = [[] for _ in shape]
    place = -1
    for axis, size in enumerate(sizes):
        if place + 1 < len(shape) and (size != 1 or shape[place + 1] == 1):
            place += 1
        if groups:
            groups[max(place, 0)].append(axis)
    replace(operation, [merged(builder, whole, groups)])


# -- convolutions ------------------------------------------------------------------------------------------------------


def _pair(places: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return two tuples of axes, for height and for width, from one or two dimensions of a window.

    A window of one dimension has only a width; the height then gets the empty tuple, an axis of size 1.
    """
    return [()] * (2 - len(places)) + places


def _write_convolution(convolution: Convolution, relayouts: Relayouts) -> None:
    operation, by_role = convolution.operation, convolution.loops
    images, filters, start = operation.operands
    image, weight, out = by_role.image, by_role.filters, by_role.out
    depth_window = by_role.windows[0] if len(by_role.windows) == 3 else None
    windows = by_role.windows[-2:]
    strides, dilations = (
        [1] * (2 - len(windows)) + [getattr(window, name) for window in windows] for name in ("stride", "dilation")
    )
    groups = convolution.group_count
    if groups is None or None in shape_of(filters) or any(shape_of(start)[window.out] is None for window in windows):
        return
    if depth_window is not None and shape_of(start)[depth_window.out] is None:
        return
    builder = Builder(operation)
    pixels = _pair([(window.image,) for window in windows])
    if depth_window is None:
        x = _arranged(builder, images, (image["image"], *pixels, image["group"] + image["depth"]), relayouts)
    else:
        steps = _depth_steps(builder, images, (*pixels, image["group"]), image, depth_window, convolution, relayouts)
        x = _stacked(builder, steps, _annotation(images))
    taps = _pair([(window.tap,) for window in windows])
    inner = ((depth_window.tap,) if depth_window is not None else ()) + weight["depth"]
    channels = weight["group"] + weight["filter"]
    y = _convolved(builder, x, filters, (channels, *taps, inner), groups, (strides, dilations), start)
    front = out["image"] + ((depth_window.out,) if depth_window is not None else ())
    layout: Layout = (front, *_pair([(window.out,) for window in windows]), out["group"] + out["filter"])
    result = restored(builder, y, layout, sizes_of(builder, start))
    relayouts[result] = (y, layout)
    if splat_of(start) != 0:
        result = builder.value("arith.addf", (result, start), result.type)
    replace(operation, [result])
    if result.operation is not None and splat_of(start) != 0:
        carried(result.operation, relayouts)


def _convolved(
    builder: Builder,
    x: Value,
    filters: Value,
    layout: Layout,
    groups: int,
    window: tuple[list[int], list[int]],
    start: Value,
) -> Value:
    """Emit the `linalg` convolution of NHWC images ``x`` with ``filters``, and return its NHWC result.

    ``layout`` maps the axes of ``filters`` to OHWI. ``window`` has the strides and the dilations along height and
    width. ``start`` is the initial accumulator in the program; its element type is that of the result.
    """
    channels, *taps, inner = layout
    shape = [size or 0 for size in shape_of(filters)]
    inputs = _product(shape, inner)
    outputs = _product(shape, channels)
    attributes = {"strides": vector(window[0]), "dilations": vector(window[1])}
    height, width = (
        (shape_of(x)[axis] or 0) - (_product(shape, tap) - 1) * dilation - 1
        for axis, tap, dilation in zip((1, 2), taps, window[1], strict=True)
    )
    size: Sizes = [sizes_of(builder, x)[0], height // window[0][0] + 1, width // window[0][1] + 1]
    if groups == 1:
        w = arranged(builder, filters, layout)
        zeros = filled(builder, 0.0, [*size, outputs], start)
        return loops(builder, "linalg.conv_2d_nhwc_fhwc", (x, w), zeros, attributes)
    per_group = outputs // groups
    if inputs == 1:
        w = arranged(builder, filters, (*taps, inner + channels))
        if per_group == 1:
            zeros = filled(builder, 0.0, [*size, outputs], start)
            return loops(builder, "linalg.depthwise_conv_2d_nhwc_hwc", (x, w), zeros, attributes)
        sizes: Sizes = [*shape_of(w)[:2], groups, per_group]  # type: ignore[list-item]
        w = divided(builder, w, ((0,), (1,), (2, 3)), sizes)
        name = "linalg.depthwise_conv_2d_nhwc_hwcm"
    else:
        w = arranged(builder, filters, layout)
        w = divided(builder, w, ((0, 1), (2,), (3,), (4,)), [groups, per_group, *shape_of(w)[1:]])  # type: ignore[list-item]
        x = divided(builder, x, ((0,), (1,), (2,), (3, 4)), [*sizes_of(builder, x)[:3], groups, inputs])
        name = "linalg.conv_2d_nhwgc_gfhwc"
    zeros = filled(builder, 0.0, [*size, groups, per_group], start)
    return merged(builder, loops(builder, name, (x, w), zeros, attributes), ((0,), (1,), (2,), (3, 4)))


def _product(shape: list[int], axes: tuple[int, ...]) -> int:
    product = 1
    for axis in axes:
        product *= shape[axis]
    return product


def _depth_steps(
    builder: Builder,
    images: Value,
    pixels: Layout,
    image: dict[Role, tuple[int, ...]],
    window: Window,
    convolution: Convolution,
    relayouts: Relayouts,
) -> list[Value]:
    """Return, for each index of a 3-D filter along its depth, the slice of the images that is multiplied there.

    The axes of a slice are image, depth of the output, height, width, group, an axis of size 1, and channel. ``pixels``
    lists the image axes of height, width and group. ``image`` maps the roles of other loops to image axes.
    """
    height, width, group = pixels
    layout: Layout = (image["image"], (window.image,), height, width, group, (), image["depth"])
    filters, start = convolution.operation.operands[1:]
    x = _arranged(builder, images, layout, relayouts)
    count, steps = shape_of(filters)[window.tap] or 0, shape_of(start)[window.out] or 0
    return [_every(builder, x, place * window.dilation, steps, window.stride) for place in range(count)]


def _every(builder: Builder, x: Value, first: int, steps: int, stride: int) -> Value:
    """Return ``steps`` indices of ``x`` along axis 1 as a slice: ``first``, ``first + stride`` and so on."""
    sizes = sizes_of(builder, x)
    taken: Sizes = [sizes[0], steps, *sizes[2:]]
    rest = len(sizes) - 2
    offsets: Sizes = [0, first, *[0] * rest]
    strides: Sizes = [1, stride, *[1] * rest]
    lists = {"offsets": offsets, "sizes": taken, "strides": strides}
    operands, attributes = with_lists(lists, [x])
    return builder.value("tensor.extract_slice", operands, ranked(x).with_(shape=numbers_of(taken)), attributes)


def _annotation(images: Value) -> Operation | None:
    """Return the `quant.stats` that gives the images a single range, before or after they are padded with zeros.

    Return None if there is none.
    """
    source = images.operation
    if source is not None and source.name == "tensor.pad":
        padding = padding_of(images)
        return _annotation(padding.source) if padding is not None and padding.value == 0 else None
    is_range = source is not None and source.name == "quant.stats" and "axisStats" not in source.attributes
    return source if is_range else None


def _stacked(builder: Builder, steps: list[Value], annotation: Operation | None) -> Value:
    """Concatenate the image slices for all depth indices of the filters to the input of a 2-D convolution.

    The depth indices become channels within each group, and the depth of the output joins the image axis. If
    ``annotation`` gives the range of the images, the result is annotated with it.
    """
    joined = steps[0]
    if len(steps) > 1:
        shape = shape_of(joined)
        type = ranked(joined).with_(shape=(*shape[:5], len(steps), shape[6]))
        joined = builder.create("tensor.concat", *steps, dim=5, type=type).results[0]
        if annotation is not None:
            joined = builder.value("quant.stats", [joined], joined.type, dict(annotation.attributes))
    return merged(builder, joined, ((0, 1), (2,), (3,), (4, 5, 6)))


# -- pools -------------------------------------------------------------------------------------------------------------


def _write_pool(pool: Pool, relayouts: Relayouts) -> None:
    operation, by_role = pool.operation, pool.loops
    images, window, start = operation.operands
    computed = body_expression(operation)  # type: ignore[arg-type]  # a reduction is a structured op
    windows = by_role.windows[-2:]
    depth_window = by_role.windows[0] if len(by_role.windows) == 3 else None
    number = splat_of(start)
    if number is None or computed is None or computed[0] not in ("arith.addf", "arith.maximumf"):
        return
    if depth_window is not None and (pool.kind != "max" or shape_of(start)[depth_window.out] is None):
        return
    if any(shape_of(start)[own.out] is None for own in windows):
        return
    builder = Builder(operation)
    pixels = _pair([(own.image,) for own in windows])
    image, out = by_role.image, by_role.out
    if depth_window is None:
        x = _arranged(builder, images, (image["image"], *pixels, image["channel"]), relayouts)
    else:
        x = _arranged(builder, images, (image["image"], (depth_window.image,), *pixels, image["channel"]), relayouts)
        count, steps = shape_of(window)[depth_window.tap] or 0, shape_of(start)[depth_window.out] or 0
        parts = [_every(builder, x, place, steps, depth_window.stride) for place in range(count)]
        x = parts[0]
        for part in parts[1:]:
            x = builder.value("arith.maximumf", (x, part), x.type)
        x = merged(builder, x, ((0, 1), (2,), (3,), (4,)))
    front = out["image"] + ((depth_window.out,) if depth_window is not None else ())
    layout: Layout = (front, *_pair([(own.out,) for own in windows]), out["channel"])
    sizes = sizes_of(builder, start)
    inside = [1] * (2 - len(windows)) + [shape_of(window)[own.tap] or 0 for own in windows]
    outside: Sizes = [sizes[group[0]] if group else 1 for group in layout[1:3]]
    begin = filled(builder, number, [sizes_of(builder, x)[0], *outside, sizes_of(builder, x)[3]], start)
    strides = [1] * (2 - len(windows)) + [own.stride for own in windows]
    attributes = {"strides": vector(strides), "dilations": vector([1, 1])}
    taps = empty(builder, list(inside), start)
    y = loops(builder, f"linalg.pooling_nhwc_{pool.kind}", (x, taps), begin, attributes)
    result = restored(builder, y, layout, sizes)
    relayouts[result] = (y, layout)
    replace(operation, [result])


# -- operands ----------------------------------------------------------------------------------------------------------


def _arranged(builder: Builder, value: Value, layout: Layout, relayouts: Relayouts) -> Value:
    """Return a value in a layout, with as few new transposes and reshapes as possible.

    If transposes and reshapes computed the value from a tensor in this layout, that tensor is returned. If the
    value is a pad, its operand is brought to the layout and padded there.
    """
    source, own = relayouts.get(value, (None, ()))
    if source is not None and own == layout:
        return source
    padding = padding_of(value) if value.operation is not None and value.operation.name == "tensor.pad" else None
    if padding is None or not all(padding.keeps(axis) for group in layout if len(group) > 1 for axis in group):
        return arranged(builder, value, layout)
    inner = _arranged(builder, padding.source, layout, relayouts)
    return padded(builder, inner, layout, padding.low, padding.high, padding.value)
