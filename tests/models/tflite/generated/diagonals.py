"""MATRIX_DIAG, MATRIX_SET_DIAG and SEGMENT_SUM. Hazards: matrices that are wider than high, or higher than wide; zero
points that are not 0; segments of one row, and of all."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

_RUNS = 4
_WHOLE = ("int8", "uint8", "int16", "int32", "int64", "float32")


def _values(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype) if dtype == "float32" else draw.integers(rng, shape, dtype)


def _tensors(rng, dtype, *shapes):
    """Of one type, which has scales or not."""
    scales, zero = (draw.scale(rng), draw.zero_point(rng, dtype)) if dtype in _WHOLE[:3] else (None, 0)
    return [Tensor(tuple(shape), dtype, scales, zero) for shape in shapes]


def diagonal(rng, *, dtype):
    line = draw.shape(rng, int(rng.integers(1, 4)), 300)
    x, y = _tensors(rng, dtype, line, (*line, line[-1]))
    return Case(one_op("MATRIX_DIAG", [x], [y]), [[_values(rng, line, dtype)] for _ in range(_RUNS)])


def set_diagonal(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(2, 5)), 8000)
    line = (*shape[:-2], min(shape[-2:]))
    x, diagonal, y = _tensors(rng, dtype, shape, line, shape)
    runs = [[_values(rng, shape, dtype), _values(rng, line, dtype)] for _ in range(_RUNS)]
    return Case(one_op("MATRIX_SET_DIAG", [x, diagonal], [y]), runs)


def segments(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(1, 4)), 8000)
    often = rng.choice([0.0, 0.3, 0.7, 1.0])
    numbers = np.cumsum(np.append(0, rng.random(shape[0] - 1) < often)).astype("int32")
    operands = [Tensor(shape, dtype), Tensor(numbers.shape, "int32", data=numbers)]
    y = Tensor((int(numbers[-1]) + 1, *shape[1:]), dtype)
    return Case(one_op("SEGMENT_SUM", operands, [y]), [[_values(rng, shape, dtype)] for _ in range(_RUNS)])


CASES = {
    **{f"MATRIX_DIAG {dtype}": partial(diagonal, dtype=dtype) for dtype in _WHOLE},
    **{f"MATRIX_SET_DIAG {dtype}": partial(set_diagonal, dtype=dtype) for dtype in _WHOLE},
    **{f"SEGMENT_SUM {dtype}": partial(segments, dtype=dtype) for dtype in ("int32", "float32")},
}
ONLY = {f"SEGMENT_SUM {dtype}": ("litert",) for dtype in ("int32", "float32")}
