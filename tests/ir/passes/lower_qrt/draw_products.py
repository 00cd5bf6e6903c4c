"""Sums of products drawn: matmul and convolutions, with the bias of each."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from qrt.types import FloatType, UniformType
from tests.ir.passes.lower_qrt.draw_types import ANY, OpDraw
from tests.ir.passes.lower_qrt.drawn_op import DrawnOp
from tests.ops import naive
from tests.ops.harness import Array
from tests.ops.strategies import spread_of_product


def draw_matmul(draw: OpDraw, name: str) -> DrawnOp:
    m, k, n = draw.dim(), draw.depth(draw.dim(8)), draw.dim(draw.choice((4, 4, 20)))
    batches = draw.choice([((), ())] * 4 + [((2,), ()), ((2,), (2,)), ((1,), (3,)), ((2, 1), (3,)), ((), (2,))])
    a_shape, w_shape = (*batches[0], m, k), (*batches[1], k, n)
    if draw.chance(0.15) and not any(batches):
        a_shape, w_shape = draw.choice([((k,), (k, n)), ((m, k), (k,)), ((k,), (k,))])
    if len(w_shape) == 2 and 0 not in w_shape and draw.chance(0.25):
        return _matmul_of_blocks(draw, a_shape, w_shape)
    has_bias = draw.chance(0.5)
    own = None if has_bias or len(a_shape) == 1 else draw.choice([None, *range(len(a_shape) - 1)])
    columns = len(w_shape) - 1 if len(w_shape) > 1 else None
    batch = [] if has_bias else list(range(len(w_shape) - 2))
    w_axis = draw.choice([columns, *batch]) if columns else None
    ta = draw.element(a_shape[own] if own is not None else None, own)
    tw = draw.element(w_shape[w_axis] if w_axis is not None else None, w_axis)
    arrays = [draw.array(ta, a_shape), draw.array(tw, w_shape)]
    shape = np.matmul(np.zeros(a_shape), np.zeros(w_shape)).shape
    out_axis = draw.choice(range(len(shape))) if shape else None
    out = product_result(draw, arrays, [ta, tw], k, shape[out_axis] if out_axis is not None else None, out_axis)
    elements = [ta, tw]
    if has_bias:
        _add_bias(draw, arrays, elements, w_shape[-1] if columns else 1)

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        bias = (arrays[2], elements[2]) if has_bias else None
        return naive.matmul(arrays[0], arrays[1], ta, tw, to, draw.rule, size, bias)

    rank = len(shape) - (len(a_shape) > 1) - (len(w_shape) > 1)
    batch_sizes = shape[:rank]

    def may_be_open(own: Sequence[int]) -> list[int]:
        first = rank - max(len(own) - 2, 0)
        return [d for d in range(len(own)) if d >= len(own) - 2 or own[d] == batch_sizes[first + d] != 1]

    open = [may_be_open(a_shape), may_be_open(w_shape), [0]]
    bound = _product_bound(elements, k)
    return DrawnOp("matmul", arrays, elements, out, plain, {"requant": draw.rule}, open[: len(arrays)], bound)


def _matmul_of_blocks(draw: OpDraw, a_shape: Sequence[int], w_shape: Sequence[int]) -> DrawnOp:
    """Sub-channel weights."""
    rule = draw.choice(["fixed", "float32"])
    ta, tw = draw.element(), draw.blocks(w_shape)
    arrays, elements = [draw.array(ta, a_shape), draw.array(tw, w_shape)], [ta, tw]
    shape = (*a_shape[:-1], w_shape[1])
    out = product_result(draw, arrays, elements, w_shape[0], w_shape[1], len(shape) - 1)
    has_bias = draw.chance(0.5)
    if has_bias:
        _add_bias(draw, arrays, elements, w_shape[1])

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        bias = (arrays[2], elements[2]) if has_bias else None
        return naive.matmul_blocks(arrays[0], arrays[1], ta, tw, to, rule, size, bias)

    open = [range(len(a_shape)), (), [0]]
    bound = _product_bound(elements, w_shape[0])
    return DrawnOp("matmul", arrays, elements, out, plain, {"requant": rule}, open[: len(arrays)], bound)


def product_result(
    draw: OpDraw, arrays: Sequence[Array], elements: Sequence[UniformType], depth: int, *channels: int | None
) -> UniformType:
    spread = spread_of_product(*zip(arrays, elements, strict=True), depth=depth)
    return draw.result(prod(t.scales[0] for t in elements), spread, *channels)


def _product_bound(elements: Sequence[UniformType], depth: int) -> int:
    """Of a sum of products and a bias."""
    a, w, *bias = map(naive.magnitude, elements)
    return depth * a * w + sum(bias)


def _add_bias(draw: OpDraw, arrays: list[Array], elements: list[UniformType], channels: int) -> None:
    """Of the accumulator's scale, as it is; of another, from ties to one that is far; with a zero point."""
    a, w = elements
    unit = a.scale * w.scales[0]
    form = FloatType(draw.expressed)
    if draw.chance(0.3) and all(form.smallest <= a.scale * s <= form.largest for s in w.scales):
        axis = 0 if w.is_per_axis and len(w.scales) == channels else None
        scales = [a.scale * s for s in w.scales] if axis is not None else unit
        t = UniformType(
            draw.choice(["i32", "i16"] if 16 in draw.widths else ["i32"]), draw.expressed, scales, axis=axis
        )
    else:
        ratio = draw.choice([0.5, 0.25, 1.0, 2.0, draw.uniform(0.01, 3.0), 10.0 ** draw.uniform(-9, 6)])
        t = draw.element(
            channels, 0, scale=draw.any_scale(min(max(unit, 5e-324), 1e308)) if draw.kind == ANY else unit * ratio
        )
    near = np.clip(draw.rng.integers(-999, 999, channels) + t.zero_points[0], t.storage_min, t.storage_max)
    stored = draw.array(t, (channels,))
    arrays.append(stored if draw.chance(0.3) else near.astype(stored.dtype))
    elements.append(t)


def draw_window(draw: OpDraw) -> tuple[tuple[int, int], dict[str, Any]]:
    """(kernel, strides and paddings)."""
    largest = 5 if draw.is_deep else 3
    kernel = draw.randint(1, largest), draw.randint(1, largest)
    padding = tuple((draw.randint(0, k - 1), draw.randint(0, k - 1)) if draw.chance(0.5) else (0, 0) for k in kernel)
    return kernel, {"strides": (draw.randint(1, 3), draw.randint(1, 3)), "padding": padding}


def draw_image(draw: OpDraw, reach: Sequence[int], padding: Any, channels: int) -> tuple[int, ...]:
    """A shape with room for a window."""
    sizes = [max(r - sum(p), 1) + draw.randint(0, 2) for r, p in zip(reach, padding, strict=True)]
    return draw.choice((0, 1, 1, 1, 1, 1, 2)), *sizes, channels


def draw_convolution(draw: OpDraw, name: str) -> DrawnOp:
    is_depthwise = name == "depthwise_conv2d"
    groups, filters = (draw.choice((1, 1, 2, 3)), draw.randint(1, 3))
    depth = 1 if is_depthwise else draw.depth(draw.randint(1, 3))
    kernel, attributes = draw_window(draw)
    dilations = draw.choice([(1, 1), (1, 1), (2, 1), (1, 2), (2, 3)])
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    x_shape = draw_image(draw, reach, attributes["padding"], groups * depth)
    outputs = groups * filters
    w_shape = (*kernel, outputs) if is_depthwise else (outputs, *kernel, depth)
    axis = w_shape.index(outputs, 2 if is_depthwise else 0)
    tx, tw = draw.element(), draw.element(outputs, axis)
    arrays, elements = [draw.array(tx, x_shape), draw.array(tw, w_shape)], [tx, tw]
    out = product_result(draw, arrays, elements, prod(kernel) * depth, outputs, 3)
    has_bias = draw.chance(0.5)
    if has_bias:
        _add_bias(draw, arrays, elements, outputs)
    attributes |= {"dilations": dilations, "requant": draw.rule} | ({} if is_depthwise else {"groups": groups})
    loops = naive.depthwise_conv2d if is_depthwise else naive.conv2d

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        bias = (arrays[2], elements[2]) if has_bias else None
        return loops(arrays[0], arrays[1], tx, tw, to, draw.rule, attributes, bias)

    free = is_depthwise or groups > 1
    open = [range(3 if free else 4), (range(2) if is_depthwise else range(1, 3) if free else range(4)), ()]
    bound = _product_bound(elements, prod(kernel) * depth)
    return DrawnOp(name, arrays, elements, out, plain, attributes, open[: len(arrays)], bound)
