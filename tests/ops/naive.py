"""What the ops compute, one element at a time in plain loops: the parameters of an element found by its index alone."""

import decimal
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt import numerics
from qrt.types import UniformType

Array = npt.NDArray[Any]


def parameters_at(t: UniformType, index: Sequence[int]) -> tuple[float, int]:
    """(scale, zero point) of the element at `index` of a tensor of this type."""
    if t.is_per_layer:
        return t.scale, t.zero_point
    if t.axis is not None:
        return t.scales[index[t.axis]], t.zero_points[index[t.axis]]
    blocks = dict(t.block_sizes or ())
    flat = 0
    for d, count in enumerate(t.scales_shape):
        flat = flat * count + (index[d] // blocks[d] if d in blocks else 0)
    return t.scales[flat], t.zero_points[flat]


def centred(q: Array, t: UniformType, index: Sequence[int]) -> int:
    return int(q[tuple(index)]) - parameters_at(t, index)[1]


def stored(
    acc: int, rule: str, numerators: Sequence[float], divisor: float, out: UniformType, index: Sequence[int]
) -> int:
    """An accumulator as storage of the result's element at `index`."""
    scale, zero_point = parameters_at(out, index)
    p = numerics.requant_parameters(
        rule, out.storage, out.storage_min, out.storage_max, [tuple(numerators)], [(scale, divisor)], [zero_point]
    )
    return int(numerics.requantize(np.array([acc]), p)[0])


def bias_at(bias: Array, t: UniformType, channel: int, sa: float, sw: float) -> int:
    """The bias of one channel at the accumulator's scale."""
    sb, zb = parameters_at(t, (channel,))
    value = int(bias[channel]) - zb
    if sb == sa * sw:
        return value
    m0, n = numerics.fixed_multiplier(Fraction(sb) / (Fraction(sa) * Fraction(sw)))
    return 0 if n > 62 else (value * m0 + (1 << (n - 1))) >> n if n > 0 else value * m0 << -n


def broadcast_index(index: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """The element of an operand of `shape` that the result's `index` reads."""
    own = list(index)[len(index) - len(shape) :]
    return tuple(0 if size == 1 else i for i, size in zip(own, shape, strict=True))


def matmul(
    a: Array, w: Array, ta: UniformType, tw: UniformType, out: UniformType, rule: str, shape: Sequence[int],
    bias: tuple[Array, UniformType] | None = None,
) -> Array:  # fmt: skip
    result = np.empty(tuple(shape), np.int64)
    for index in np.ndindex(*shape):
        rest = list(index)
        column = [rest.pop()] if w.ndim > 1 else []
        row = [rest.pop()] if a.ndim > 1 else []
        a_batch, w_batch = broadcast_index(rest, a.shape[:-2]), broadcast_index(rest, w.shape[:-2])
        acc = 0
        for k in range(a.shape[-1]):
            acc += centred(a, ta, (*a_batch, *row, k)) * centred(w, tw, (*w_batch, k, *column))
        sa = parameters_at(ta, (*a_batch, *row, 0))[0]
        sw = parameters_at(tw, (*w_batch, 0, *column))[0]
        if bias is not None:
            acc += bias_at(*bias, column[0] if column else 0, sa, sw)
        result[index] = stored(acc, rule, (sa, sw), 1.0, out, index)
    return result


def conv2d(
    x: Array, w: Array, tx: UniformType, tw: UniformType, out: UniformType, rule: str, attributes: dict[str, Any],
    bias: tuple[Array, UniformType] | None = None,
) -> Array:  # fmt: skip
    strides, dilations = attributes.get("strides", (1, 1)), attributes.get("dilations", (1, 1))
    padding, groups = attributes.get("padding", ((0, 0), (0, 0))), attributes.get("groups", 1)
    images, *size, _ = x.shape
    channels, kernel_height, kernel_width, depth = w.shape
    reach = [(k - 1) * d + 1 for k, d in zip((kernel_height, kernel_width), dilations, strict=True)]
    out_size = [(s + sum(p) - r) // t + 1 for s, p, r, t in zip(size, padding, reach, strides, strict=True)]
    result = np.empty((images, *out_size, channels), np.int64)
    for n, i, j, o in np.ndindex(*result.shape):
        group, acc = o // (channels // groups), 0
        for u, v, c in np.ndindex(kernel_height, kernel_width, depth):
            y = i * strides[0] - padding[0][0] + u * dilations[0]
            z = j * strides[1] - padding[1][0] + v * dilations[1]
            if 0 <= y < size[0] and 0 <= z < size[1]:
                acc += centred(x, tx, (n, y, z, group * depth + c)) * centred(w, tw, (o, u, v, c))
        sw = parameters_at(tw, (o, 0, 0, 0))[0]
        if bias is not None:
            acc += bias_at(*bias, o, tx.scale, sw)
        result[n, i, j, o] = stored(acc, rule, (tx.scale, sw), 1.0, out, (n, i, j, o))
    return result


def depthwise_conv2d(
    x: Array, w: Array, tx: UniformType, tw: UniformType, out: UniformType, rule: str, attributes: dict[str, Any],
    bias: tuple[Array, UniformType] | None = None,
) -> Array:  # fmt: skip
    """A convolution of one channel at a time, by conv2d's loops."""
    channels = x.shape[3]
    multiplier = w.shape[2] // max(channels, 1)
    planes = []
    for o in range(w.shape[2]):
        one = [
            t.with_(scales=t.scales[o], zero_points=t.zero_points[o], axis=None) if t.is_per_axis else t
            for t in (tw, out, *([bias[1]] if bias else []))
        ]
        channel = x[..., o // multiplier : o // multiplier + 1]
        own_bias = (bias[0][o : o + 1], one[2]) if bias else None
        planes.append(conv2d(channel, w[None, ..., o, None], tx, one[0], one[1], rule, attributes, own_bias))
    return np.concatenate(planes, axis=3)


def pad(x: Array, t: UniformType, padding: Sequence[Sequence[int]], value: float | None) -> Array:
    result = np.empty([n + sum(p) for n, p in zip(x.shape, padding, strict=True)], np.int64)
    for index in np.ndindex(*result.shape):
        own = tuple(i - before for i, (before, _) in zip(index, padding, strict=True))
        if all(0 <= i < n for i, n in zip(own, x.shape, strict=True)):
            result[index] = x[own]
            continue
        scale, zero_point = parameters_at(t, index)
        if value is None:
            result[index] = min(max(zero_point, t.storage_min), t.storage_max)
        else:
            result[index] = numerics.quantize(value, scale, zero_point, t.storage_min, t.storage_max, "f32")
    return result


def binary(
    kind: str, a: Array, b: Array, ta: UniformType, tb: UniformType, out: UniformType, rule: str, shape: Sequence[int]
) -> Array:
    result = np.empty(tuple(shape), np.int64)
    for index in np.ndindex(*shape):
        i, j = broadcast_index(index, a.shape), broadcast_index(index, b.shape)
        (sa, _), (sb, _), (so, zo) = parameters_at(ta, i), parameters_at(tb, j), parameters_at(out, index)
        x, y = centred(a, ta, i), centred(b, tb, j)
        if kind == "mul":
            result[index] = stored(x * y, rule, (sa, sb), 1.0, out, index)
            continue
        multipliers = [round(Fraction(s) / Fraction(so) * 2**20) for s in (sa, sb)]  # Fraction rounds half to even
        total = x * multipliers[0] + (y if kind == "add" else -y) * multipliers[1]
        result[index] = min(max(((total + 2**19) >> 20) + zo, out.storage_min), out.storage_max)
    return result


def mean(x: Array, t: UniformType, out: UniformType, rule: str, axes: Sequence[int], keepdims: bool = False) -> Array:
    kept = [1 if d in axes else n for d, n in enumerate(x.shape)]
    result = np.empty(kept, np.int64)
    for index in np.ndindex(*kept):
        spans = [range(n) if d in axes else [index[d]] for d, n in enumerate(x.shape)]
        seen = list(product(*spans))
        acc = sum(centred(x, t, e) for e in seen)
        place = index if keepdims else tuple(i for d, i in enumerate(index) if d not in axes)
        result[index] = stored(acc, rule, (parameters_at(t, seen[0])[0],), float(len(seen)), out, place)
    return result if keepdims else result.reshape([n for d, n in enumerate(x.shape) if d not in axes])


def softmax(x: Array, t: UniformType, out: UniformType, axis: int, beta: float) -> Array:
    """Exponentials by libmpdec, sums as integers, the two float64 operations as Python's."""
    result = np.empty(x.shape, np.int64)
    with decimal.localcontext(prec=60):
        step = decimal.Decimal(beta) * decimal.Decimal(t.scale)
        table = [int(((-step * d).exp() * 2**30).to_integral_value(decimal.ROUND_HALF_EVEN)) for d in range(256)]
    for index in np.ndindex(*x.shape):
        line = [int(v) for v in np.moveaxis(x, axis, -1)[tuple(np.delete(index, axis))]]
        entries = [table[max(line) - v] for v in line]
        ratio = float(table[max(line) - int(x[index])]) / (float(sum(entries)) * out.scale)
        rounded = round(ratio) if ratio < 2.0**40 else 2**40  # Python rounds half to even
        result[index] = min(max(rounded + out.zero_point, out.storage_min), out.storage_max)
    return result


def pool(kind: str, x: Array, t: UniformType, out: UniformType, rule: str, attributes: dict[str, Any]) -> Array:
    kernel, strides, padding = attributes["kernel"], attributes["strides"], attributes["padding"]
    images, *size, channels = x.shape
    out_size = [(s + sum(p) - k) // t + 1 for s, p, k, t in zip(size, padding, kernel, strides, strict=True)]
    result = np.empty((images, *out_size, channels), np.int64)
    for n, i, j, c in np.ndindex(*result.shape):
        seen = [
            (n, y, z, c)
            for y in range(i * strides[0] - padding[0][0], i * strides[0] - padding[0][0] + kernel[0])
            for z in range(j * strides[1] - padding[1][0], j * strides[1] - padding[1][0] + kernel[1])
            if 0 <= y < size[0] and 0 <= z < size[1]
        ]
        if kind == "max_pool2d":
            result[n, i, j, c] = max(int(x[e]) for e in seen)
        else:
            acc = sum(centred(x, t, e) for e in seen)
            scale = parameters_at(t, seen[0])[0]
            result[n, i, j, c] = stored(acc, rule, (scale,), float(len(seen)), out, (n, i, j, c))
    return result
