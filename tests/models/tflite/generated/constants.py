"""DEQUANTIZE of constants and of float16. Hazards: float16 below its normal numbers; scales along an axis; two integers
in a byte; weights that are dequantized before an operator that takes constants otherwise than computed tensors."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.products import _window
from tests.models.tflite.writing import Operator, Subgraph, Tensor, write

_SMALL = {"int2": (-2, 1), "int4": (-8, 7), "uint4": (0, 15)}


def _halves(rng, shape):
    """Numbers of float16 of every size: the least are below its normal numbers."""
    return (rng.normal(size=shape) * 2.0 ** rng.integers(-24, 8, shape)).astype(np.float16)


def _constant(rng, shape, dtype, axis=None, has_zero_points=False):
    """A constant that DEQUANTIZE takes, with a scale for each index of an axis if one is given."""
    if dtype in ("float16", "float32"):
        return Tensor(shape, dtype, data=rng.normal(size=shape).astype(dtype))
    low, high = _SMALL.get(dtype, (None, None))
    data = draw.integers(rng, shape, "int8" if dtype in _SMALL else dtype, low, high)
    if axis is None:
        zero_point = int(rng.integers(low, high + 1)) if dtype in _SMALL else draw.zero_point(rng, dtype)
        return Tensor(shape, dtype, draw.around(rng, 2.0**-6), zero_point, data=data)
    scales = [draw.around(rng, 2.0**-6) for _ in range(shape[axis])]
    zero_points = draw.weights(rng, shape[axis : axis + 1], dtype) if has_zero_points else 0
    return Tensor(shape, dtype, scales, zero_points, axis, data=data)


def _case(name, x, constants, y, options, version=2):
    """An operator on an input and on dequantized constants."""
    floats = [constant if constant.dtype == "float32" else Tensor(constant.shape, "float32") for constant in constants]
    dequantized = [
        Operator("DEQUANTIZE", [constant], [result], version=6)
        for constant, result in zip(constants, floats, strict=True)
        if result is not constant
    ]
    operator = Operator(name, [x, *floats], [y], options, version)
    return Case(write([Subgraph([x], [y], [*dequantized, operator])]), ulp=0)


def fully_connected(rng, *, dtype, axis=None):
    rows, depth, units = draw.size(rng, 33), draw.size(rng, 65), draw.size(rng)
    x, y = Tensor((rows, depth), "float32"), Tensor((rows, units), "float32")
    bias = _constant(rng, (units,), dtype if axis is None else "float32")
    constants = [_constant(rng, (units, depth), dtype, axis), bias]
    options = {"fused_activation_function": draw.activation(rng)}
    return _case("FULLY_CONNECTED", x, constants, y, options, 4)


def conv(rng, *, dtype, axis=None):
    image, window, result, options = _window(rng)
    depth, channels = draw.size(rng, 20), draw.size(rng, 20)
    x, y = Tensor((1, *image, depth), "float32"), Tensor((1, *result, channels), "float32")
    bias = _constant(rng, (channels,), dtype if axis is None else "float32")
    constants = [_constant(rng, (channels, *window, depth), dtype, axis), bias]
    return _case("CONV_2D", x, constants, y, options)


def multiply(rng, *, dtype, is_per_axis=False, has_zero_points=False):
    shape = draw.shape(rng, 3)
    x, y = Tensor(shape, "float32"), Tensor(shape, "float32")
    axis = int(rng.choice(np.flatnonzero(np.array(shape) == max(shape)))) if is_per_axis else None
    return _case("MUL", x, [_constant(rng, shape, dtype, axis, has_zero_points)], y, {}, 1)


def computed(rng):
    """float16 that the run gives."""
    shape = draw.shape(rng)
    x, y = Tensor(shape, "float16"), Tensor(shape, "float32")
    runs = [[_halves(rng, shape)], [np.full(shape, rng.choice([np.inf, -np.inf, 65504, -0.0]), np.float16)]]
    return Case(write([Subgraph([x], [y], [Operator("DEQUANTIZE", [x], [y], version=3)])]), runs, ulp=0)


CASES = {
    "DEQUANTIZE f16": computed,
    "DEQUANTIZE f16, constants of MUL": partial(multiply, dtype="float16"),
    "DEQUANTIZE f16, weights of CONV_2D": partial(conv, dtype="float16"),
    "DEQUANTIZE f16, weights of FULLY_CONNECTED": partial(fully_connected, dtype="float16"),
    "DEQUANTIZE i2, constants of MUL": partial(multiply, dtype="int2"),
    "DEQUANTIZE i2 per axis, constants of MUL": partial(multiply, dtype="int2", is_per_axis=True),
    "DEQUANTIZE u4, constants of MUL": partial(multiply, dtype="uint4"),
    "DEQUANTIZE i4, constants of MUL": partial(multiply, dtype="int4"),
    "DEQUANTIZE i4 per axis, constants of MUL": partial(multiply, dtype="int4", is_per_axis=True),
    "DEQUANTIZE i8, constants of MUL": partial(multiply, dtype="int8"),
    "DEQUANTIZE i8 per axis, constants of MUL": partial(multiply, dtype="int8", is_per_axis=True),
    **{
        f"DEQUANTIZE {short} per axis, zero points, constants of MUL": partial(
            multiply, dtype=dtype, is_per_axis=True, has_zero_points=True
        )
        for short, dtype in (("i2", "int2"), ("i4", "int4"), ("u4", "uint4"), ("i8", "int8"), ("u8", "uint8"))
    },
    "DEQUANTIZE i8, weights of CONV_2D": partial(conv, dtype="int8"),
    "DEQUANTIZE i8 per axis, weights of FULLY_CONNECTED": partial(fully_connected, dtype="int8", axis=0),
    "DEQUANTIZE u8, constants of MUL": partial(multiply, dtype="uint8"),
    "DEQUANTIZE i16, constants of MUL": partial(multiply, dtype="int16"),
}
