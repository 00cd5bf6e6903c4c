"""Every op drawn: operands, types, attributes, what the plain loops make of it, and which dimensions a program may
leave open."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from qrt.numerics import AVERAGE_ORDERS
from qrt.types import FloatType, TensorType, UniformType
from tests.ops import naive
from tests.ops import test_resize as resized
from tests.ops.harness import Array, tensor
from tests.ops.strategies import spread_of_product
from tests.passes.lower_qrt.draw_types import ANY, OpDraw


@dataclass
class DrawnOp:
    """An op on arrays. `plain` gives its result by plain loops, of a result type and of the result's shape."""

    name: str
    arrays: list[Array]
    elements: list[UniformType]
    out: UniformType | TensorType | None
    plain: Callable[[UniformType, Sequence[int]], Array]
    attributes: dict[str, Any] = field(default_factory=dict)
    open: list[Collection[int]] = field(default_factory=list)
    """For each operand, the dimensions that need not be known."""
    bound: int = 0
    """The largest magnitude that the accumulator of a rule can have, a bias of its scale included."""

    @property
    def types(self) -> list[TensorType]:
        return [tensor(array.shape, t) for array, t in zip(self.arrays, self.elements, strict=True)]


def draw_op(draw: OpDraw, name: str) -> DrawnOp:
    return DRAWS[name](draw, name)


# -- sums of products ------------------------------------------------------------------------------------------------


def _matmul(draw: OpDraw, name: str) -> DrawnOp:
    m, k, n = draw.dim(), draw.dim(8), draw.dim(draw.choice((4, 4, 20)))
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
    out = _product_result(draw, arrays, [ta, tw], k, shape[out_axis] if out_axis is not None else None, out_axis)
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
    out = _product_result(draw, arrays, elements, w_shape[0], w_shape[1], len(shape) - 1)
    has_bias = draw.chance(0.5)
    if has_bias:
        _add_bias(draw, arrays, elements, w_shape[1])

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        bias = (arrays[2], elements[2]) if has_bias else None
        return naive.matmul_blocks(arrays[0], arrays[1], ta, tw, to, rule, size, bias)

    open = [range(len(a_shape)), (), [0]]
    bound = _product_bound(elements, w_shape[0])
    return DrawnOp("matmul", arrays, elements, out, plain, {"requant": rule}, open[: len(arrays)], bound)


def _product_result(
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


def _window(draw: OpDraw) -> tuple[tuple[int, int], dict[str, Any]]:
    """(kernel, strides and paddings)."""
    kernel = draw.randint(1, 3), draw.randint(1, 3)
    padding = tuple((draw.randint(0, k - 1), draw.randint(0, k - 1)) if draw.chance(0.5) else (0, 0) for k in kernel)
    return kernel, {"strides": (draw.randint(1, 3), draw.randint(1, 3)), "padding": padding}


def _image(draw: OpDraw, reach: Sequence[int], padding: Any, channels: int) -> tuple[int, ...]:
    """A shape with room for a window."""
    sizes = [max(r - sum(p), 1) + draw.randint(0, 2) for r, p in zip(reach, padding, strict=True)]
    return draw.choice((0, 1, 1, 1, 1, 1, 2)), *sizes, channels


def _convolution(draw: OpDraw, name: str) -> DrawnOp:
    is_depthwise = name == "depthwise_conv2d"
    groups, filters = (draw.choice((1, 1, 2, 3)), draw.randint(1, 3))
    depth = 1 if is_depthwise else draw.randint(1, 3)
    kernel, attributes = _window(draw)
    dilations = draw.choice([(1, 1), (1, 1), (2, 1), (1, 2), (2, 3)])
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    x_shape = _image(draw, reach, attributes["padding"], groups * depth)
    outputs = groups * filters
    w_shape = (*kernel, outputs) if is_depthwise else (outputs, *kernel, depth)
    axis = w_shape.index(outputs, 2 if is_depthwise else 0)
    tx, tw = draw.element(), draw.element(outputs, axis)
    arrays, elements = [draw.array(tx, x_shape), draw.array(tw, w_shape)], [tx, tw]
    out = _product_result(draw, arrays, elements, prod(kernel) * depth, outputs, 3)
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
        out = _product_result(draw, arrays, elements, 1, channels, axis)
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
    t = _any_element(draw, shape)
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
    return DrawnOp(name, [x], [t], out, plain, {"requant": rule}, [_open_of(t, shape)], bound)


def _any_element(draw: OpDraw, shape: Sequence[int]) -> UniformType:
    """Per layer, per axis or in blocks."""
    if shape and 0 not in shape and draw.chance(0.2):
        return draw.blocks(shape)
    axis = draw.randrange(len(shape)) if shape else None
    return draw.element(shape[axis] if axis is not None else None, axis)


def _open_of(t: UniformType, shape: Sequence[int]) -> Sequence[int]:
    """Blocks need sizes."""
    return () if t.is_sub_channel else range(len(shape))


def _clamp(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(1, 3), 6)
    t = _any_element(draw, shape)
    x = draw.array(t, shape)

    def bound() -> float | None:
        q = draw.randint(t.storage_min, t.storage_max) - draw.choice(t.zero_points) + draw.choice([0, 0.5, 0.3])
        return draw.choice([None, 0.0, q * t.scales[0], q * t.scales[0]])

    low, high = bound(), bound()
    if low is not None and high is not None:
        low, high = sorted((low, high))
    said = {key: value for key, value in (("min", low), ("max", high)) if value is not None}
    return DrawnOp(name, [x], [t], None, lambda to, size: naive.clamp(x, t, low, high), said, [_open_of(t, shape)])


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
    kernel, window = _window(draw)
    channels = draw.randint(1, 4)
    shape = _image(draw, kernel, window["padding"], channels)
    t = draw.element(channels, 3)
    x = draw.array(t, shape)
    attributes = {"kernel": kernel, **window}
    if name == "max_pool2d":
        return DrawnOp(
            name, [x], [t], None, lambda to, size: naive.pool(name, x, t, t, "", attributes), attributes, [range(4)]
        )
    taps = prod(kernel)
    out = draw.result(t.scales[0] / taps, spread_of_product((x, t), depth=taps) / taps, channels, 3)

    rule = draw.choice(("integer", *AVERAGE_ORDERS)) if draw.chance(0.5) else draw.rule
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


# -- movement --------------------------------------------------------------------------------------------------------


def _pad(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(1, 3), 5)
    axis = draw.randrange(len(shape))
    t = draw.element(shape[axis], axis)
    x = draw.array(t, shape)
    sides = [(0, 0) if d == t.axis else (draw.randint(0, 2), draw.randint(0, 2)) for d in range(len(shape))]
    q = draw.randint(t.storage_min, t.storage_max) - t.zero_points[0] + draw.choice([0, 0.5, 0.3])
    value = draw.choice([None, 0.0, q * t.scales[0], 1e9])
    attributes = {"padding": tuple(sides)} | ({} if value is None else {"value": value})

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.pad(x, t, sides, value)

    return DrawnOp(name, [x], [t], None, plain, attributes, [range(len(shape))])


def _concat(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(1, 3), 4)
    axis, count = draw.randrange(len(shape)), draw.randint(1, 4)
    shapes = [tuple(draw.dim(3) if d == axis else n for d, n in enumerate(shape)) for _ in range(count)]
    elements = []
    for own in shapes:
        along = draw.randrange(len(own))
        elements.append(draw.element(own[along], along))
    is_moved = elements[0].axis != axis and draw.chance(0.2)
    elements = elements[:1] * count if is_moved else elements
    arrays = [draw.array(t, own) for t, own in zip(elements, shapes, strict=True)]
    total = tuple(sum(own[axis] for own in shapes) if d == axis else n for d, n in enumerate(shape))
    along = draw.randrange(len(shape))
    spread = spread_of_product((arrays[0], elements[0]), depth=1)
    out = elements[0] if is_moved else draw.result(elements[0].scales[0], spread, total[along], along)

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.concat(arrays, elements, to, draw.rule, axis)

    free = [d for d in range(len(shape)) if d != axis or out.axis != axis]
    bound = max(map(naive.magnitude, elements))
    return DrawnOp(name, arrays, elements, out, plain, {"axis": axis, "requant": draw.rule}, [free] * count, bound)


def _movement(draw: OpDraw, name: str) -> DrawnOp:
    """reshape and transpose: storage that NumPy moves."""
    shape = draw.dims(draw.randint(0, 4), 5)
    if name == "transpose":
        t, permutation = _any_element(draw, shape), tuple(draw.sample(range(len(shape)), len(shape)))
        x = draw.array(t, shape)
        attributes = {"permutation": permutation}
        return DrawnOp(
            name, [x], [t], None, lambda to, size: x.transpose(permutation), attributes, [_open_of(t, shape)]
        )
    rest = draw.randint(0, len(shape))
    new = (*shape[:rest], *([prod(shape[rest:])] if rest < len(shape) or draw.chance(0.5) else []))
    if 0 not in shape and draw.chance(0.3):
        new = (*[1] * draw.randint(0, 2), prod(shape))
    axis = draw.randrange(rest) if rest and new[:rest] == shape[:rest] else None
    t = draw.element(shape[axis] if axis is not None else None, axis)
    x = draw.array(t, shape)
    open = range(len(shape)) if t.is_per_layer else ()  # channels are found by their sizes
    return DrawnOp(name, [x], [t], tensor(new, t), lambda to, size: x.reshape(size), {}, [open])


def _slice(draw: OpDraw, name: str) -> DrawnOp:
    """slice and tile."""
    shape = draw.dims(draw.randint(1, 3), 5)
    axis = draw.randrange(len(shape))
    t = draw.element(shape[axis], axis)
    x = draw.array(t, shape)
    if name == "tile":
        multiples = tuple(draw.choice((0, 1, 1, 2, 3)) for _ in shape)
        open = [d for d in range(len(shape)) if d != t.axis]
        return DrawnOp(name, [x], [t], None, lambda to, size: np.tile(x, multiples), {"multiples": multiples}, [open])
    steps = []
    for n in shape:
        stride, first = draw.choice((1, 1, 2, -1, -2)), draw.randint(0, max(n - 1, 0))
        most = len(range(first, n if stride > 0 else -1, stride)) if n else 0
        steps.append((first, draw.choice((most, draw.randint(0, most), -1 if stride == 1 else most)), stride))
    keys = [np.arange(n)[first:] if size < 0 else np.arange(size) * stride + first
            for n, (first, size, stride) in zip(shape, steps, strict=True)]  # fmt: skip
    attributes = dict(zip(("offsets", "sizes", "strides"), zip(*steps, strict=True), strict=True))
    open = [d for d, (*_, stride) in enumerate(steps) if d != t.axis and shape[d] and stride > 0]
    return DrawnOp(name, [x], [t], None, lambda to, size: x[np.ix_(*keys)], attributes, [open])


def _extreme(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(1, 4), 5)
    axes = tuple(sorted(draw.sample(range(len(shape)), draw.randint(0, len(shape)))))
    shape = tuple(max(n, 1) if d in axes else n for d, n in enumerate(shape))
    kept, keepdims = [d for d in range(len(shape)) if d not in axes], draw.chance(0.5)
    own = draw.choice(kept) if kept else None
    t = draw.element(shape[own] if own is not None else None, own)
    x = draw.array(t, shape)
    plain = np.max if name == "reduce_max" else np.min
    attributes = {"axes": axes, "keepdims": keepdims}
    return DrawnOp(name, [x], [t], None, lambda to, size: plain(x, axis=axes, keepdims=keepdims), attributes,
                   [range(len(shape))])  # fmt: skip


def _resize(draw: OpDraw, name: str) -> DrawnOp:
    """By the loops of tests/ops/test_resize.py."""
    rules = {"fixed11": 8, "fixed10_away": 16, "products_float32": 8}
    rule = draw.choice(list(rules))
    channels = draw.dim(3)
    t = draw.element(channels, 3, width=draw.choice((rules[rule], rules[rule], draw.width(rules[rule]))))
    if rule == "products_float32" and t.is_signed and name == "resize_bilinear":
        rule = "fixed11"
    shape = draw.choice((0, 1, 2)), draw.randint(1, 5), draw.randint(1, 5), channels
    size = draw.randint(1, 7), draw.randint(1, 7)
    form = draw.choice(resized.FORMS)
    x = draw.array(t, shape)
    attributes = {"size": size, "align_corners": form[0], "half_pixel_centers": form[1]}
    if name == "resize_bilinear":
        attributes["rule"] = rule
        return DrawnOp(
            name, [x], [t], None, lambda to, whole: resized.by_loops(x, rule, size, *form), attributes, [(0, 3)]
        )
    rows, columns = (
        [resized.nearest(n, out, at, *form) for at in range(out)] for n, out in zip(shape[1:3], size, strict=True)
    )
    return DrawnOp(name, [x], [t], None, lambda to, whole: x[:, rows][:, :, columns], attributes, [(0, 3)])


DRAWS: dict[str, Callable[[OpDraw, str], DrawnOp]] = {
    "add": _binary,
    "avg_pool2d": _pool,
    "clamp": _clamp,
    "concat": _concat,
    "conv2d": _convolution,
    "depthwise_conv2d": _convolution,
    "lookup": _lookup,
    "matmul": _matmul,
    "max_pool2d": _pool,
    "mean": _mean,
    "mul": _binary,
    "pad": _pad,
    "reduce_max": _extreme,
    "reduce_min": _extreme,
    "requantize": _requantize,
    "reshape": _movement,
    "resize_bilinear": _resize,
    "resize_nearest": _resize,
    "slice": _slice,
    "softmax": _softmax,
    "sub": _binary,
    "sum": _mean,
    "tile": _slice,
    "transpose": _movement,
}

_COUNTS = {
    "matmul": 80, "conv2d": 40, "depthwise_conv2d": 24, "mul": 32, "requantize": 48, "add": 20, "sub": 16,
    "avg_pool2d": 24, "mean": 24, "sum": 16, "concat": 16, "softmax": 16, "lookup": 6, "max_pool2d": 6, "reshape": 6,
    "transpose": 6,
}  # fmt: skip
SAMPLE = {name: _COUNTS.get(name, 8) for name in DRAWS}
"""Programs of each op; a full run has seven times as many."""
