"""Ops that take or join elements, drawn: pad, concat, reshape, transpose, slice, tile, extremes and resized images."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.types import UniformType
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.ir.passes.lower_qrt.drawn_op import DrawnOp, any_element, open_of
from tests.ops import naive
from tests.ops import test_resize as resized
from tests.ops.harness import Array, tensor
from tests.ops.strategies import spread_of_product


def draw_pad(draw: OpDraw, name: str) -> DrawnOp:
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


def draw_concat(draw: OpDraw, name: str) -> DrawnOp:
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


def draw_movement(draw: OpDraw, name: str) -> DrawnOp:
    """reshape and transpose: storage that NumPy moves."""
    shape = draw.dims(draw.randint(0, 4), 5)
    if name == "transpose":
        t, permutation = any_element(draw, shape), tuple(draw.sample(range(len(shape)), len(shape)))
        x = draw.array(t, shape)
        attributes = {"permutation": permutation}
        return DrawnOp(name, [x], [t], None, lambda to, size: x.transpose(permutation), attributes, [open_of(t, shape)])
    rest = draw.randint(0, len(shape))
    new = (*shape[:rest], *([prod(shape[rest:])] if rest < len(shape) or draw.chance(0.5) else []))
    if 0 not in shape and draw.chance(0.3):
        new = (*[1] * draw.randint(0, 2), prod(shape))
    axis = draw.randrange(rest) if rest and new[:rest] == shape[:rest] else None
    t = draw.element(shape[axis] if axis is not None else None, axis)
    x = draw.array(t, shape)
    open = range(len(shape)) if t.is_per_layer else ()  # channels are found by their sizes
    return DrawnOp(name, [x], [t], tensor(new, t), lambda to, size: x.reshape(size), {}, [open])


def draw_slice(draw: OpDraw, name: str) -> DrawnOp:
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


def draw_extreme(draw: OpDraw, name: str) -> DrawnOp:
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


def draw_resize(draw: OpDraw, name: str) -> DrawnOp:
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
