"""DILATE, STABLEHLO_PAD, REDUCE_WINDOW and STABLEHLO_REDUCE_WINDOW. Hazards: axes of one element, numbers that remove
elements, values of the run, windows with gaps, sums that wrap, comparisons of unsigned numbers."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.diagonals import _tensors, _values
from tests.models.tflite.generated.movement import ints
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

_RUNS = 4
_DTYPES = ("int8", "uint8", "int16", "int32", "int64", "float32")


def _given(rng, value, known):
    """The tensor of a value, which is in the file or in a run."""
    data = _values(rng, (), value.dtype) if known else None
    return Tensor(value.shape, value.dtype, value.scales, value.zero_points, data=data)


def dilate(rng, *, dtype, known):
    shape = draw.shape(rng, int(rng.integers(1, 4)), 400)
    factors = [int(n) for n in rng.integers(1, 4, len(shape))]
    result = [(n - 1) * factor + 1 for n, factor in zip(shape, factors, strict=True)]
    x, value, y = _tensors(rng, dtype, shape, (), result)
    value = _given(rng, value, known)
    runs = [[_values(rng, shape, dtype), *([] if known else [_values(rng, (), dtype)])] for _ in range(_RUNS)]
    return Case(one_op("DILATE", [x, ints(factors), value], [y]), runs)


def _pads(rng, shape):
    low, high = (np.maximum(rng.integers(-4, 4, len(shape)), -((np.array(shape) - 1) // 2)) for _ in range(2))
    return low, rng.integers(0, 3, len(shape)), high


def pad(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(1, 4)), 1000)
    low, between, high = _pads(rng, shape)
    result = np.array(shape) + (np.array(shape) - 1) * between + low + high
    x, value, y = _tensors(rng, dtype, shape, (), tuple(int(n) for n in result))
    value = _given(rng, value, True)
    options = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": between}
    return Case(one_op("STABLEHLO_PAD", [x, value], [y], options), [[_values(rng, shape, dtype)] for _ in range(_RUNS)])


def _windows(rng, rank):
    """Sizes, strides and dilations of windows, and the sizes of a tensor and a result that they fit."""
    sizes, strides, dilations = (rng.integers(1, 4, rank) for _ in range(3))
    result, rest = np.array(draw.shape(rng, rank, 3000)), rng.integers(0, strides)
    return sizes, strides, dilations, (sizes - 1) * dilations + 1 + (result - 1) * strides + rest, result


def _start(rng, dtype, function):
    """Of products and sums small numbers, which do not hide those of the window."""
    if function in ("MINIMUM", "MAXIMUM"):
        return _values(rng, (), dtype)
    return np.asarray({"ALL": 1, "ANY": 0}.get(function, rng.integers(-1, 3)), "int64").astype(dtype)


_ZEROS = {"ALL": 0.1, "ANY": 0.9}
"""The share of zeros, by function."""


def _numbers(rng, shape, dtype, function):
    values = _values(rng, shape, dtype)
    return np.where(rng.random(shape) < _ZEROS.get(function, 0), 0, values).astype(dtype)


def reduce_window(rng, *, function, dtype):
    rank = int(rng.integers(1, 5))
    sizes, strides, dilations, shape, result = _windows(rng, rank)
    x, y = Tensor(tuple(shape.tolist()), dtype), Tensor(tuple(result.tolist()), dtype)
    start = Tensor((), dtype, data=_start(rng, dtype, function))
    operands = [x, start, *(ints(numbers, "int64") for numbers in (sizes, strides, dilations))]
    runs = [[_numbers(rng, x.shape, dtype, function)] for _ in range(_RUNS)]
    return Case(one_op("REDUCE_WINDOW", operands, [y], {"reduce_function": function}), runs)


_BODIES = {"ADD": "STABLEHLO_ADD", "MUL": "STABLEHLO_MULTIPLY", "MINIMUM": "STABLEHLO_MINIMUM", "MAXIMUM": "MAXIMUM"}
"""The operator of the body, by function."""


def stablehlo_reduce_window(rng, *, function, dtype):
    rank = int(rng.integers(1, 5))
    sizes, strides, dilations, whole, result = _windows(rng, rank)
    bases = rng.integers(1, 3, rank)
    low = rng.integers(-1, 3, rank)
    shape = np.maximum((whole - low + 1) // bases, 1)
    high = whole - low - ((shape - 1) * bases + 1)
    x, y = Tensor(tuple(shape.tolist()), dtype), Tensor(tuple(result.tolist()), dtype)
    start = Tensor((), dtype, data=_start(rng, dtype, function))
    a, b, c = (Tensor((), dtype) for _ in "abc")
    options = {
        "window_dimensions": sizes, "window_strides": strides, "window_dilations": dilations, "base_dilations": bases,
        "padding": np.stack([low, high], -1).ravel(), "body_subgraph_index": 1,
    }  # fmt: skip
    main = Subgraph([x], [y], [Operator("STABLEHLO_REDUCE_WINDOW", [x, start], [y], options)])
    body = Subgraph([a, b], [c], [Operator(_BODIES[function], [a, b], [c])], "body")
    return Case(write([main, body]), [[_numbers(rng, x.shape, dtype, function)] for _ in range(_RUNS)])


CASES = {
    **{f"DILATE {dtype}": partial(dilate, dtype=dtype, known=True) for dtype in _DTYPES},
    "DILATE int8, value of the run": partial(dilate, dtype="int8", known=False),
    "DILATE float32, value of the run": partial(dilate, dtype="float32", known=False),
    **{f"STABLEHLO_PAD {dtype}": partial(pad, dtype=dtype) for dtype in _DTYPES},
    **{
        f"REDUCE_WINDOW {function} {dtype}": partial(reduce_window, function=function, dtype=dtype)
        for function in ("ADD", "MUL", "MINIMUM", "MAXIMUM", "ALL", "ANY")
        for dtype in ("int8", "uint8", "int16", "int32", "int64", "float32")
        if dtype in ("int32", "float32") or function in ("ADD", "MAXIMUM")
    },
    **{
        f"STABLEHLO_REDUCE_WINDOW {function} {dtype}": partial(stablehlo_reduce_window, function=function, dtype=dtype)
        for function in _BODIES
        for dtype in ("int32", "float32", "int8")
    },
}
