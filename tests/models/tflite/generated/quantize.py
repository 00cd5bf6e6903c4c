"""QUANTIZE and DEQUANTIZE. Hazards: ratios on both sides of what the fast rule takes; zero points 128 apart at equal
scales, which is exact; blocks of 16 that round otherwise than the elements behind them; floats halfway between two
integers, or beyond the range."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op


def rescale(rng, *, source, target, octaves=4.0):
    shape = draw.shape(rng)
    x = draw.tensor(rng, shape, source, draw.scale(rng, -8, 0))
    wider = 2.0 ** (8 * (np.dtype(source).itemsize - np.dtype(target).itemsize))
    y = draw.tensor(rng, shape, target, draw.around(rng, x.scales * wider, octaves))
    inputs = None
    if source == "int32":
        inputs = [[draw.integers(rng, shape, "int32", -bound, bound - 1)] for bound in (1 << 15, 1 << 24, 1 << 31)]
    return Case(one_op("QUANTIZE", [x], [y], version=2), inputs)


def flipped(rng, *, source, target):
    """Equal scales, and zero points 128 apart."""
    shape, scale, zero_point = draw.shape(rng), draw.scale(rng), draw.zero_point(rng, "int8")
    points = {"int8": zero_point, "uint8": zero_point + 128}
    x, y = (Tensor(shape, dtype, scale, points[dtype]) for dtype in (source, target))
    return Case(one_op("QUANTIZE", [x], [y]))


def _several(rng, shape, dtype):
    """A tensor with a scale and a zero point for each index of an axis, and its scales as they broadcast."""
    axis = int(np.argmax(shape))
    scales = [draw.scale(rng, -10, 3) for _ in range(shape[axis])]
    zero_points = draw.integers(rng, shape[axis : axis + 1], dtype) if rng.random() < 0.7 else 0
    y = Tensor(shape, dtype, scales, zero_points, axis)
    return y, np.float32(scales).reshape([-1 if i == axis else 1 for i in range(len(shape))])


def to_several(rng, *, target):
    shape = (*draw.shape(rng), 2)
    y, scales = _several(rng, shape, target)
    values = [
        rng.normal(size=shape) * scales * 80,
        np.float32(np.round(rng.normal(size=shape) * 100)) * (scales / 2),
        rng.uniform(-1, 1, shape) * scales * 300,
    ]
    x = Tensor(shape, "float32")
    return Case(one_op("QUANTIZE", [x], [y], version=2), [[value.astype(np.float32)] for value in values])


def from_several(rng, *, source):
    shape = (*draw.shape(rng), 2)
    x, _ = _several(rng, shape, source)
    return Case(one_op("DEQUANTIZE", [x], [Tensor(shape, "float32")], version=5), ulp=0)


def from_float(rng, *, target):
    shape = draw.shape(rng)
    y = draw.tensor(rng, shape, target, draw.scale(rng, -10, 3))
    half = y.scales / 2
    most = y.scales * 2.0**30  # beyond 32 bits LiteRT converts to an integer as the CPU does
    values = [
        rng.normal(size=shape) * y.scales * 80,
        np.float32(np.round(rng.normal(size=shape) * 100)) * np.float32(half),
        rng.uniform(-1, 1, shape) * y.scales * 300,
        rng.choice([most, -most, 0.0, -0.0, 1e-40], shape),
    ]
    x = Tensor(shape, "float32")
    return Case(one_op("QUANTIZE", [x], [y]), [[value.astype(np.float32)] for value in values])


def to_float(rng, *, source):
    shape = draw.shape(rng)
    x = draw.tensor(rng, shape, source)
    return Case(one_op("DEQUANTIZE", [x], [Tensor(shape, "float32")], version=3), ulp=0)


CASES = {
    "QUANTIZE i8 to i8": partial(rescale, source="int8", target="int8"),
    "QUANTIZE i8 to i8, wide ratio": partial(rescale, source="int8", target="int8", octaves=10.0),
    "QUANTIZE u8 to u8": partial(rescale, source="uint8", target="uint8"),
    "QUANTIZE i8 to u8": partial(rescale, source="int8", target="uint8"),
    "QUANTIZE u8 to i8": partial(rescale, source="uint8", target="int8"),
    "QUANTIZE i8 to u8, flipped": partial(flipped, source="int8", target="uint8"),
    "QUANTIZE u8 to i8, flipped": partial(flipped, source="uint8", target="int8"),
    "QUANTIZE i16 to i8": partial(rescale, source="int16", target="int8"),
    "QUANTIZE i8 to i16": partial(rescale, source="int8", target="int16"),
    "QUANTIZE i16 to i16": partial(rescale, source="int16", target="int16"),
    "QUANTIZE i32 to i16": partial(rescale, source="int32", target="int16"),
    "QUANTIZE f32 to i8": partial(from_float, target="int8"),
    "QUANTIZE f32 to u8": partial(from_float, target="uint8"),
    "QUANTIZE f32 to i16": partial(from_float, target="int16"),
    "QUANTIZE f32 to i8 per axis": partial(to_several, target="int8"),
    "QUANTIZE f32 to u8 per axis": partial(to_several, target="uint8"),
    "QUANTIZE f32 to i16 per axis": partial(to_several, target="int16"),
    "DEQUANTIZE i8 per axis": partial(from_several, source="int8"),
    "DEQUANTIZE u8 per axis": partial(from_several, source="uint8"),
    "DEQUANTIZE i8": partial(to_float, source="int8"),
    "DEQUANTIZE u8": partial(to_float, source="uint8"),
    "DEQUANTIZE i16": partial(to_float, source="int16"),
}
