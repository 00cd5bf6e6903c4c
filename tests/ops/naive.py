"""What the ops compute, one element at a time in plain loops: the parameters of an element found by its index alone,
the rounding by `tests.rules`. Nothing is shared with `qrt.numerics`."""

import decimal
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.types import UniformType
from tests import rules

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


def stored(acc: int, rule: str, numerators: Sequence[float], count: int, out: UniformType, index: Sequence[int]) -> int:
    """An accumulator as storage of the result's element at `index`; an average's divided by its `count`."""
    scale, zero_point = parameters_at(out, index)
    return rules.requantize(rule, acc, numerators, scale, (out.storage_min, out.storage_max), zero_point, count)


def bias_at(bias: Array, t: UniformType, channel: int, sa: float, sw: float) -> int:
    """The bias of one channel at the accumulator's scale."""
    sb, zb = parameters_at(t, (channel,))
    value = int(bias[channel]) - zb
    if sb == sa * sw:
        return value
    return rules.fixed(value, *rules.fixed_multiplier(Fraction(sb) / (Fraction(sa) * Fraction(sw))))


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
        result[index] = stored(acc, rule, (sa, sw), 1, out, index)
    return result


def matmul_blocks(
    a: Array, w: Array, ta: UniformType, tw: UniformType, out: UniformType, rule: str, shape: Sequence[int],
    bias: tuple[Array, UniformType] | None = None,
) -> Array:  # fmt: skip
    """Sub-channel weights: the sums of the blocks of K, each with its own scale, then the bias."""
    result = np.empty(tuple(shape), np.int64)
    depth = a.shape[-1]
    block = dict(tw.block_sizes or ()).get(0, depth)
    for index in np.ndindex(*shape):
        *row, n = index
        terms = []
        for first in range(0, depth, block):
            span = range(first, first + block)
            acc = sum(centred(a, ta, (*row, k)) * centred(w, tw, (k, n)) for k in span)
            terms.append((acc, parameters_at(tw, (first, n))[0]))
        own = None if bias is None else (centred(bias[0], bias[1], (n,)), parameters_at(bias[1], (n,))[0])
        if rule == "fixed":
            result[index] = blocks_fixed(terms, own, ta.scale, out, index)
            continue
        largest = [(block * magnitude(ta) * magnitude(tw), s) for _, s in terms]
        largest_own = None if bias is None or own is None else (magnitude(bias[1]), own[1])
        if np.isinf(sum_float32(largest, largest_own, ta.scale)):  # rounding is monotonic
            raise rules.Refused("a sum leaves its float")
        result[index] = blocks_float32(terms, own, ta.scale, out, index)
    return result


def magnitude(t: UniformType) -> int:
    """The largest that a value without its zero point can be."""
    return max(max(abs(t.storage_max - z), abs(t.storage_min - z)) for z in t.zero_points)


Term = tuple[int, float]
"""An integer and its scale."""


def blocks_fixed(terms: list[Term], bias: Term | None, sa: float, out: UniformType, index: Sequence[int]) -> int:
    """Multipliers with the shift of the largest; one rounding of the exact sum."""
    so, zero_point = parameters_at(out, index)
    reals = [(value, Fraction(sa) * Fraction(s) / Fraction(so)) for value, s in terms]
    if bias is not None:
        reals.append((bias[0], Fraction(bias[1]) / Fraction(so)))
    n = rules.fixed_multiplier(max(real for _, real in reals))[1]
    total = sum(value * rules.round_half_even(real * Fraction(2) ** n) for value, real in reals)
    return rules.clamp(rules.fixed(total, 1, n) + zero_point, out.storage_min, out.storage_max)


def blocks_float32(terms: list[Term], bias: Term | None, sa: float, out: UniformType, index: Sequence[int]) -> int:
    so, zero_point = parameters_at(out, index)
    total = Fraction(float(sum_float32(terms, bias, sa)))
    scaled = rules.to_ieee(total * rules.rounded_ratio((sa,), (so,), "f32"), "f32")
    return rules.end_of_float32(scaled, (out.storage_min, out.storage_max), zero_point)


def sum_float32(terms: list[Term], bias: Term | None, sa: float) -> np.float32:
    """Added in f32, in order, no fusing. Raises Refused where a factor leaves f32."""
    total = np.float32(0)
    with np.errstate(over="ignore"):
        for value, s in terms:
            total = total + np.float32(value) * np.float32(float(rules.rounded_ratio((s,), (), "f32")))
        if bias is not None:
            total = total + np.float32(bias[0]) * np.float32(float(rules.rounded_ratio((bias[1],), (sa,), "f32")))
    return np.float32(total)


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
        result[n, i, j, o] = stored(acc, rule, (tx.scale, sw), 1, out, (n, i, j, o))
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
        if value is None:
            result[index] = rules.clamp(parameters_at(t, index)[1], t.storage_min, t.storage_max)
        else:
            result[index] = quantized(value, t, index)
    return result


def quantized(value: float, t: UniformType, index: Sequence[int]) -> int:
    """A real value as storage of the element at `index`, by the default rule of casts."""
    scale, zero_point = parameters_at(t, index)
    name, bounds = t.expressed_type.name, (t.storage_min, t.storage_max)
    expressed = rules.to_ieee(value if np.isinf(value) else Fraction(value), name)
    return rules.quantize(float(expressed), scale, zero_point, *bounds, name, "half_even", "before", "divide")


def requantize(x: Array, t: UniformType, out: UniformType, rule: str) -> Array:
    result = np.empty(x.shape, np.int64)
    whole = x.size // 16 * 16
    for number, index in enumerate(np.ndindex(*x.shape)):
        by = ("half_up_twice" if number < whole else "fixed_double") if rule == "half_up_twice_16" else rule
        result[index] = stored(centred(x, t, index), by, (parameters_at(t, index)[0],), 1, out, index)
    return result


def clamp(x: Array, t: UniformType, low: float | None, high: float | None) -> Array:
    result = np.empty(x.shape, np.int64)
    for index in np.ndindex(*x.shape):
        least = t.storage_min if low is None else _bound(low, t, index)
        greatest = t.storage_max if high is None else _bound(high, t, index)
        result[index] = rules.clamp(int(x[index]), least, greatest)
    return result


def _bound(value: float, t: UniformType, index: Sequence[int]) -> int:
    """As storage; one beyond every value of the expressed type is the end on its side."""
    if np.isinf(value) or not isinstance(rules.to_ieee(Fraction(value), t.expressed_type.name), Fraction):
        return t.storage_max if value > 0 else t.storage_min
    return quantized(value, t, index)


def concat(arrays: Sequence[Array], types: Sequence[UniformType], out: UniformType, rule: str, axis: int) -> Array:
    """Each element with the parameters of where it comes to stand; storage of the result's own type is moved."""
    shape = list(arrays[0].shape)
    shape[axis] = sum(array.shape[axis] for array in arrays)
    result, start = np.empty(shape, np.int64), 0
    for x, t in zip(arrays, types, strict=True):
        for own in np.ndindex(*x.shape):
            place = tuple(i + start * (d == axis) for d, i in enumerate(own))
            if t == out:
                result[place] = x[own]
            else:
                result[place] = stored(centred(x, t, own), rule, (parameters_at(t, own)[0],), 1, out, place)
        start += x.shape[axis]
    return result


def binary(
    kind: str, a: Array, b: Array, ta: UniformType, tb: UniformType, out: UniformType, rule: str, shape: Sequence[int]
) -> Array:
    result = np.empty(tuple(shape), np.int64)
    width = max(t.storage_width for t in (ta, tb, out))
    if rule in ("fixed_double", "fixed_double_16") and kind != "mul" and width > 16:
        raise rules.Refused("storage of more than 16 bits")
    left = 20 if width <= 8 else 15
    for number, index in enumerate(np.ndindex(*shape)):
        i, j = broadcast_index(index, a.shape), broadcast_index(index, b.shape)
        (sa, _), (sb, _), (so, zo) = parameters_at(ta, i), parameters_at(tb, j), parameters_at(out, index)
        x, y = centred(a, ta, i), centred(b, tb, j)
        if kind == "mul":
            result[index] = stored(x * y, rule, (sa, sb), 1, out, index)
            continue
        sign, bounds = 1 if kind == "add" else -1, (out.storage_min, out.storage_max)
        if rule == "float32_fused":
            zero_points = parameters_at(ta, i)[1], parameters_at(tb, j)[1], zo
            result[index] = rules.added_fused(int(a[i]), int(b[j]), sign, (sa, sb, so), zero_points, bounds)
            continue
        tail = rule == "fixed_double_16" and number >= result.size // 16 * 16
        by = "fixed_double" if tail else rule
        result[index] = rules.added(by, x, y, sign, (sa, sb, so), bounds, zo, left)
    return result


def mean(
    x: Array,
    t: UniformType,
    out: UniformType,
    rule: str,
    axes: Sequence[int],
    keepdims: bool = False,
    divides: bool = True,
) -> Array:
    """The mean, or the sum."""
    kept = [1 if d in axes else n for d, n in enumerate(x.shape)]
    result = np.empty(kept, np.int64)
    for index in np.ndindex(*kept):
        spans = [range(n) if d in axes else [index[d]] for d, n in enumerate(x.shape)]
        seen = list(product(*spans))
        acc = sum(int(x[e]) if rule.startswith("raw_") else centred(x, t, e) for e in seen)
        place = index if keepdims else tuple(i for d, i in enumerate(index) if d not in axes)
        if rule.startswith("raw_"):
            ends = parameters_at(t, seen[0]), parameters_at(out, place)
            result[index] = rules.raw_mean(acc, *ends, len(seen), (out.storage_min, out.storage_max), divides)
            continue
        count = len(seen) if divides else 1
        result[index] = stored(acc, rule, (parameters_at(t, seen[0])[0],), count, out, place)
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


def softmax_shifted(x: Array, t: UniformType, out: UniformType, axis: int) -> Array:
    """ONNX Runtime's: exponentials by libmpdec, float32 step by step."""
    step, size = np.float32(t.scale), x.shape[axis]
    most = np.float32(math.log(float(np.finfo(np.float32).max / np.float32(size))))
    shift = max(float(most) - 5.0, 0.0) / float(step)
    with decimal.localcontext(prec=60):
        table = [np.float32(float(decimal.Decimal((shift - d) * float(step)).exp())) for d in range(256)]
    units = np.float32(math.floor(np.float32(1) / np.float32(out.scale)))
    result = np.empty(x.shape, np.int64)
    for index in np.ndindex(*x.shape):
        line = [int(v) for v in np.moveaxis(x, axis, -1)[tuple(np.delete(index, axis))]]
        largest, total = max(line), np.float32(0)
        for value in line:
            total = total + table[largest - value]
        ratio = table[largest - int(x[index])] * units / total
        result[index] = min(max(round(float(ratio)) + out.zero_point, out.storage_min), out.storage_max)
    return result


def pool(kind: str, x: Array, t: UniformType, out: UniformType, rule: str, attributes: dict[str, Any]) -> Array:
    kernel, strides, padding = attributes["kernel"], attributes["strides"], attributes["padding"]
    images, *size, channels = x.shape
    out_size = [(s + sum(p) - k) // t + 1 for s, p, k, t in zip(size, padding, kernel, strides, strict=True)]
    result = np.empty((images, *out_size, channels), np.int64)
    is_float = rule.startswith("dequantized")
    if kind == "avg_pool2d" and rule != "integer" and not is_float:
        _check_counts(x, t, out, rule, min(kernel[0], size[0]) * min(kernel[1], size[1]))
    for n, i, j, c in np.ndindex(*result.shape):
        rows, columns = (
            [at for at in range(o * step - before, o * step - before + extent) if 0 <= at < length]
            for o, step, (before, _), extent, length in zip((i, j), strides, padding, kernel, size, strict=True)
        )
        seen = [(n, y, z, c) for y in rows for z in columns]
        if kind == "max_pool2d":
            result[n, i, j, c] = max(int(x[e]) for e in seen)
        elif rule == "integer":
            bounds = out.storage_min, out.storage_max
            result[n, i, j, c] = rules.integer(sum(int(x[e]) for e in seen), len(seen), bounds)
        elif is_float:
            ends = parameters_at(t, seen[0]), parameters_at(out, (n, i, j, c))
            values, bounds = [[int(x[n, y, z, c]) for z in columns] for y in rows], (out.storage_min, out.storage_max)
            result[n, i, j, c] = rules.dequantized(values, *ends, bounds, rule)
        else:
            acc = sum(centred(x, t, e) for e in seen)
            scale = parameters_at(t, seen[0])[0]
            result[n, i, j, c] = stored(acc, rule, (scale,), len(seen), out, (n, i, j, c))
    return result


def _check_counts(x: Array, t: UniformType, out: UniformType, rule: str, most: int) -> None:
    """Raises Refused for a multiplier that any number of elements has, of windows that exist or not."""
    for count, c in product(range(1, most + 1), range(x.shape[3])):
        stored(0, rule, (parameters_at(t, (0, 0, 0, c))[0],), count, out, (0, 0, 0, c))
