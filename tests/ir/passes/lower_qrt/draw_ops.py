"""Every op drawn, by its name. Those that compute element by element, and over windows and axes, stand here."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

import numpy as np

from qrt.numerics import RULES
from qrt.types import UniformType
from tests.ir.passes.lower_qrt.draw_movement import (
    draw_concat,
    draw_extreme,
    draw_movement,
    draw_pad,
    draw_resize,
    draw_slice,
)
from tests.ir.passes.lower_qrt.draw_products import (
    draw_convolution,
    draw_image,
    draw_matmul,
    draw_window,
    product_result,
)
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.ir.passes.lower_qrt.drawn_op import DrawnOp, any_element, open_of
from tests.ops import naive
from tests.ops.harness import Array
from tests.ops.strategies import spread_of_product


def draw_op(draw: OpDraw, name: str) -> DrawnOp:
    return DRAWS[name](draw, name)


# -- element by element ----------------------------------------------------------------------------------------------


def _binary(draw: OpDraw, name: str) -> DrawnOp:
    in_blocks = name != "mul" and draw.chance(0.25)
    shape = (draw.randint(14, 40),) if in_blocks else draw.dims(draw.randint(0, 3), 6)
    shapes = [shape, tuple(n if draw.chance(0.7) else 1 for n in shape)[draw.randint(0, len(shape)) :]]
    draw.shuffle(shapes)
    shapes = [shape, shape] if in_blocks else shapes
    elements = []
    for own in shapes:
        axis = draw.randrange(len(own)) if own and not in_blocks else None
        elements.append(draw.element(own[axis] if axis is not None else None, axis))
    arrays = [draw.array(t, own) for t, own in zip(elements, shapes, strict=True)]
    rule = draw.rule if name == "mul" else draw.choice(("fixed", "fixed_double", "scaled20", "float32_fused"))
    axis = draw.randrange(len(shape)) if shape and not in_blocks else None
    channels = shape[axis] if axis is not None else None
    if name == "mul":
        out = product_result(draw, arrays, elements, 1, channels, axis)
    else:
        spread = sum(spread_of_product(pair, depth=1) for pair in zip(arrays, elements, strict=True))
        out = draw.result(max(t.scales[0] for t in elements), spread, channels, axis)

    if in_blocks:
        rule = "fixed_double_16"

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.binary(name, *arrays, *elements, to, rule, size)

    open = [[d for d, n in enumerate(own) if n != 1 and n == shape[len(shape) - len(own) + d]] for own in shapes]
    magnitudes = list(map(naive.magnitude, elements))
    if name == "mul":
        bound = prod(magnitudes)
    elif rule != "fixed":
        bound = 0
    else:
        unit = Fraction(min(out.scales)) / 2**20
        bound = sum(m * round(Fraction(max(t.scales)) / unit) for m, t in zip(magnitudes, elements, strict=True))
    return DrawnOp(name, arrays, elements, out, plain, {"requant": rule}, open, bound)


def _requantize(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(0, 3), 7)
    t = any_element(draw, shape)
    x = draw.array(t, shape)
    axis = draw.randrange(len(shape)) if shape else None
    spread = spread_of_product((x, t), depth=1)
    out, rule = draw.result(t.scales[0], spread, shape[axis] if axis is not None else None, axis), draw.rule
    if draw.chance(0.15):
        rule = "fixed8"
    elif t.is_per_layer and out.is_per_layer and t.storage_width <= 8 and draw.chance(0.5):
        rule = "half_up_twice_16"

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.requantize(x, t, to, rule)

    bound = naive.magnitude(t)
    return DrawnOp(name, [x], [t], out, plain, {"requant": rule}, [open_of(t, shape)], bound)


def _clamp(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(1, 3), 6)
    t = any_element(draw, shape)
    x = draw.array(t, shape)

    def bound() -> float | None:
        q = draw.randint(t.storage_min, t.storage_max) - draw.choice(t.zero_points) + draw.choice([0, 0.5, 0.3])
        return draw.choice([None, 0.0, q * t.scales[0], q * t.scales[0]])

    low, high = bound(), bound()
    if low is not None and high is not None:
        low, high = sorted((low, high))
    said = {key: value for key, value in (("min", low), ("max", high)) if value is not None}
    return DrawnOp(name, [x], [t], None, lambda to, size: naive.clamp(x, t, low, high), said, [open_of(t, shape)])


def _lookup(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(0, 3), 6)
    t, out = draw.element(width=draw.width(8)), draw.element()
    least, greatest = t.default_bounds
    x, table = draw.array(t, shape), draw.array(out, (greatest - least + 1,))

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return np.array([int(table[int(q) - least]) for q in x.ravel()], np.int64).reshape(x.shape)

    return DrawnOp(name, [x, table], [t, out], None, plain, {}, [range(len(shape)), ()])


def _softmax(draw: OpDraw, name: str) -> DrawnOp:
    """Lines of equal values have quotients that can be ties."""
    shape = draw.dims(draw.randint(1, 3), 6)
    t = draw.element(width=draw.width(8), scale=draw.choice([0.1, 0.02, 1.5, 10.0]))
    axis, beta = draw.randint(-len(shape), len(shape) - 1), draw.choice([1.0, 0.5, draw.uniform(0.01, 4.0)])
    x = draw.array(t, shape)
    scale = draw.choice([1 / 256, 2.0**-31, 2.0**-16, draw.uniform(1e-4, 1.0)])
    if draw.chance(0.4):
        x[...] = x.flat[0] if x.size else 0
        scale = 2.0 / (max(shape[axis], 1) * draw.choice([1, 3, 5, 7, 9, 101]))
    out = draw.element(scale=scale)

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.softmax(x, t, to, axis, beta)

    return DrawnOp(name, [x], [t], out, plain, {"axis": axis, "beta": beta}, [range(len(shape))])


# -- windows and axes ------------------------------------------------------------------------------------------------


def _pool(draw: OpDraw, name: str) -> DrawnOp:
    kernel, window = draw_window(draw)
    channels = draw.randint(1, 4)
    shape = draw_image(draw, kernel, window["padding"], channels)
    t = draw.element(channels, 3)
    x = draw.array(t, shape)
    attributes = {"kernel": kernel, **window}
    if name == "max_pool2d":
        return DrawnOp(
            name, [x], [t], None, lambda to, size: naive.pool(name, x, t, t, "", attributes), attributes, [range(4)]
        )
    taps = prod(kernel)
    out = draw.result(t.scales[0] / taps, spread_of_product((x, t), depth=taps) / taps, channels, 3)

    rule = (
        draw.choice(("integer", *(name for name, by in RULES.items() if by.order))) if draw.chance(0.5) else draw.rule
    )
    if rule == "dequantized_lanes":
        attributes = {"kernel": shape[1:3], "strides": (1, 1), "padding": ((0, 0), (0, 0))}
    out = t if rule == "integer" else out

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.pool(name, x, t, to, rule, attributes)

    bound = taps * naive.magnitude(t)
    axes = range(4) if rule != "dequantized_lanes" else (0, 3)
    return DrawnOp(name, [x], [t], out, plain, {**attributes, "requant": rule}, [axes], bound)


def _mean(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(1, 4), 5)
    axes = tuple(sorted(draw.sample(range(len(shape)), draw.randint(0, len(shape)))))
    shape = tuple(max(n, 1) if d in axes else n for d, n in enumerate(shape))
    kept, keepdims = [d for d in range(len(shape)) if d not in axes], draw.chance(0.5)
    own, to_axis = (draw.choice(kept) if kept else None for _ in "xy")
    t = draw.element(shape[own] if own is not None else None, own)
    x = draw.array(t, shape)
    count = prod(shape[d] for d in axes)
    channels = shape[to_axis] if to_axis is not None else None
    place = to_axis if keepdims or to_axis is None else kept.index(to_axis)
    terms = count if name == "mean" else 1
    out = draw.result(t.scales[0] / terms, spread_of_product((x, t), depth=count) / terms, channels, place)
    rule = f"raw_{name}" if draw.chance(0.25) else draw.rule
    attributes = {"axes": axes, "keepdims": keepdims, "requant": rule}

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.mean(x, t, to, rule, axes, keepdims, divides=name == "mean")

    return DrawnOp(name, [x], [t], out, plain, attributes, [kept], count * naive.magnitude(t))


DRAWS: dict[str, Callable[[OpDraw, str], DrawnOp]] = {
    "add": _binary,
    "avg_pool2d": _pool,
    "clamp": _clamp,
    "concat": draw_concat,
    "conv2d": draw_convolution,
    "depthwise_conv2d": draw_convolution,
    "lookup": _lookup,
    "matmul": draw_matmul,
    "max_pool2d": _pool,
    "mean": _mean,
    "mul": _binary,
    "pad": draw_pad,
    "reduce_max": draw_extreme,
    "reduce_min": draw_extreme,
    "requantize": _requantize,
    "reshape": draw_movement,
    "resize_bilinear": draw_resize,
    "resize_nearest": draw_resize,
    "slice": draw_slice,
    "softmax": _softmax,
    "sub": _binary,
    "sum": _mean,
    "tile": draw_slice,
    "transpose": draw_movement,
}

_COUNTS = {
    "matmul": 80, "conv2d": 40, "depthwise_conv2d": 24, "mul": 32, "requantize": 48, "add": 20, "sub": 16,
    "avg_pool2d": 24, "mean": 24, "sum": 16, "concat": 16, "softmax": 16, "lookup": 6, "max_pool2d": 6, "reshape": 6,
    "transpose": 6,
}  # fmt: skip
SAMPLE = {name: _COUNTS.get(name, 8) for name in DRAWS}
"""Programs of each op; a full run has seven times as many."""
